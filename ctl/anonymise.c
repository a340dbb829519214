/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/anonymise-internal.h"

#include "basic/array.h"
#include "basic/parse.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <string.h>

#define DIGITS_LEAST 8 /* of a serial number that is only digits */
#define SERIAL_LEAST 6
#define NAME_MOST    8 /* of what may be a name of the kernel, such as nvme10n1 */

const char *secret_kind_to_string(SecretKind kind)
{
        static const char *const names[_SECRET_KIND_MAX] = {
                [SECRET_MAC] = "MAC addresses",
                [SECRET_IPV4] = "IPv4 addresses",
                [SECRET_IPV6] = "IPv6 addresses",
                [SECRET_IQN] = "IQNs",
                [SECRET_WWN] = "WWNs",
                [SECRET_UUID] = "UUIDs",
                [SECRET_SERIAL] = "serial numbers",
                [SECRET_HOST] = "host names",
                [SECRET_DOMAIN] = "domains",
        };

        return names[kind];
}

Anonymiser *anonymiser_new(void)
{
        return calloc(1, sizeof(Anonymiser));
}

static void keep_secret(void *p)
{
        /* The array owns them. */
}

Anonymiser *anonymiser_free(Anonymiser *a)
{
        if (!a)
                return NULL;
        for (size_t i = 0; i < a->n; i++) {
                free(a->secrets[i]->text);
                free(a->secrets[i]->replacement);
                free(a->secrets[i]);
        }
        free(a->secrets);
        tdestroy(a->tree, keep_secret);
        tdestroy(a->words, free);
        tdestroy(a->images, free);
        phrases_clear(&a->known);
        phrases_clear(&a->hidden);
        address_map_free(a->map);
        free(a);
        return NULL;
}

static int compare_secrets(const void *a, const void *b)
{
        const Secret *x = a, *y = b;

        if (x->kind != y->kind)
                return x->kind < y->kind ? -1 : 1;
        return is_address(x->kind) ? memcmp(x->address.bytes, y->address.bytes, sizeof(x->address.bytes))
                                   : strcmp(x->text, y->text);
}

Secret *anonymiser_lookup(const Anonymiser *a, const Secret *key)
{
        void *found = tfind(key, &a->tree, compare_secrets);

        return found ? *(Secret **)found : NULL;
}

/* Takes text in any case. */
static int add(Anonymiser *a, SecretKind kind, char *text, const Address *address)
{
        Secret key = { .kind = kind, .text = text }, *s, **slot;

        if (address)
                key.address = *address;
        if (!text || anonymiser_lookup(a, &key)) {
                free(text);
                return text ? 0 : -ENOMEM;
        }
        s = malloc(sizeof(*s));
        slot = s ? ARRAY_APPEND(a->secrets, a->n) : NULL;
        if (!slot) {
                free(s);
                free(text);
                return -ENOMEM;
        }
        *s = key;
        *slot = s;
        return tsearch(s, &a->tree, compare_secrets) ? 0 : -ENOMEM;
}

/* ---- learning ---- */

static int parse_address(const char *text, const Token *t, char **ret, Address *address)
{
        char *copy = strndup(text, t->length);

        if (!copy)
                return -ENOMEM;
        if (address_parse(copy, address) < 0) {
                free(copy);
                return -EINVAL;
        }
        *ret = copy;
        return 0;
}

static int learn_token(Anonymiser *a, const char *text, size_t at, const Token *t)
{
        _cleanup_(freep) char *seen = strndup(text + at + t->skip, t->length);
        Address address = { 0 };
        char *copy = NULL;
        int r;

        if (!seen)
                return -ENOMEM;
        if (!is_address((SecretKind)t->kind)) {
                r = phrases_add(&a->hidden, seen, false, NULL, NULL);
                return r < 0 ? r : add(a, (SecretKind)t->kind, token_text(text, at, t), NULL);
        }
        r = parse_address(text + at, t, &copy, &address);
        if (r == 0 && address_is_fixed(&address)) {
                free(copy);
                return 0;
        }
        if (r == 0)
                r = add(a, (SecretKind)t->kind, copy, &address);
        return r < 0 ? r : phrases_add(&a->hidden, seen, true, NULL, NULL);
}

int anonymiser_learn(Anonymiser *a, const char *text, size_t size)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < size; i++) {
                Token t;

                if (!token_at(text, size, i, &t))
                        continue;
                r = learn_token(a, text, i, &t);
                i += t.skip + t.length - 1;
        }
        return r;
}

static bool is_only(const char *text, const char *characters)
{
        return text[strspn(text, characters)] == '\0';
}

static void fold(char *text)
{
        for (; *text; text++)
                *text = (char)tolower((unsigned char)*text);
}

static int compare_words(const void *a, const void *b)
{
        return strcmp(a, b);
}

/* Words that also stand in /proc/interrupts and in what a capture writes itself: a host that has one of them
 * for a name cannot be told by it, and replacing it would spoil the names of interrupts. */
static const char *const plain_names[] = {
        "localhost", "localdomain",   "none",    "default", "linux",      "local",    "invalid",
        "iqn",       "nqn",           "pci",     "msi",     "msix",       "apic",     "io-apic",
        "timer",     "edge",          "level",   "fasteoi", "interrupts", "remapped", "ipi",
        "gic",       "its",           "abn",     "admin",   "adminq",     "aeq",      "ahci",
        "async",     "atio",          "aux",     "ceq",     "channel",    "cmd",      "comp",
        "config",    "configuration", "control", "ctrl",    "ecc",        "err",      "error",
        "event",     "exn",           "fatal",   "fcs",     "fdir",       "fpts",     "fweventq",
        "fwevt",     "hwc",           "input",   "link",    "lpi",        "lsc",      "mac",
        "mailbox",   "mbox",          "mbx",     "mcc",     "mgmnt",      "mgmt",     "misc",
        "nondata",   "notify",        "other",   "output",  "pages",      "phy",      "ptp",
        "qpair",     "queue",         "queues",  "req",     "request",    "ring",     "rxq",
        "rxtx",      "txq",           "txrx",    "vector",  "wol",
};

/* A name that stands for many things beside the host; a number could stand for anything. */
static bool is_plain_name(const Anonymiser *a, const char *name)
{
        if (strlen(name) < PHRASE_LEAST || is_only(name, "0123456789") ||
            tfind(name, &a->words, compare_words))
                return true;
        for (size_t i = 0; i < ARRAY_SIZE(plain_names); i++)
                if (strcmp(name, plain_names[i]) == 0)
                        return true;
        return false;
}

int anonymiser_learn_name(Anonymiser *a, const char *name)
{
        _cleanup_(freep) char *host = strdup(name);
        char *dot;
        int r = 0;

        if (!host)
                return -ENOMEM;
        fold(host);
        dot = strchr(host, '.');
        if (dot)
                *dot++ = '\0';
        if (!is_plain_name(a, host))
                r = add(a, SECRET_HOST, strdup(host), NULL);
        if (r == 0 && dot && strchr(dot, '.'))
                r = add(a, SECRET_DOMAIN, strdup(dot), NULL);
        return r;
}

/* Groups of small letters and few digits, such as virtio0 or nvme0n1. */
static bool may_be_kernel_name(const char *text)
{
        if (strlen(text) > NAME_MOST || strspn(text, "abcdefghijklmnopqrstuvwxyz") == 0)
                return false;
        while (*text) {
                size_t digits;

                text += strspn(text, "abcdefghijklmnopqrstuvwxyz");
                digits = strspn(text, "0123456789");
                if (digits > 3 || (digits == 0 && *text))
                        return false;
                text += digits;
        }
        return true;
}

/* A word with a digit in it that is not one character over and over. */
static bool is_serial(const char *text)
{
        size_t n = strlen(text);
        Token t;

        return n >= (is_only(text, "0123456789") ? DIGITS_LEAST : SERIAL_LEAST) && !strchr(text, '/') &&
               strpbrk(text, "0123456789") && text[strspn(text, (const char[]) { text[0], '\0' })] &&
               !may_be_kernel_name(text) && !token_at(text, n, 0, &t);
}

int anonymiser_learn_serial(Anonymiser *a, const char *text)
{
        size_t end = strlen(text), begin;
        _cleanup_(freep) char *word = NULL;
        int r;

        r = anonymiser_learn(a, text, end);
        while (end > 0 && (unsigned char)text[end - 1] <= ' ')
                end--;
        for (begin = end; begin > 0 && (unsigned char)text[begin - 1] > ' ';)
                begin--;
        if (strncmp(text + begin, "0x", 2) == 0)
                begin += 2;
        word = strndup(text + begin, end - begin);
        if (r < 0 || !word)
                return -ENOMEM;
        if (!is_serial(word))
                return 0;
        fold(word);
        return add(a, SECRET_SERIAL, STEAL_PTR(word), NULL);
}

/* Adds a word to a tree of words; takes it in any case. */
static int add_word(void **tree, char *word)
{
        char **node = word ? tsearch(word, tree, compare_words) : NULL;

        if (!node || *node != word)
                free(word);
        return node ? 0 : -ENOMEM;
}

int anonymiser_keep_words(Anonymiser *a, const char *text)
{
        int r = 0;

        while (r == 0 && *text) {
                size_t n = 0;
                char *word;

                while (isalnum((unsigned char)text[n]))
                        n++;
                if (n > 0) {
                        word = strndup(text, n);
                        if (word)
                                fold(word);
                        r = add_word(&a->words, word);
                }
                text += n ? n : 1;
        }
        return r;
}

/* ---- replacing ---- */

static int put(FILE *f, const char *text, size_t n)
{
        return fwrite(text, 1, n, f) == n ? 0 : -ENOMEM;
}

/* The number behind "/", or all bits. */
static unsigned prefix_bits(const char *text, size_t size, size_t end)
{
        char digits[4] = "";
        unsigned bits;

        if (end >= size || text[end] != '/')
                return 128;
        for (size_t i = 0; i < 3 && end + 1 + i < size && isdigit((unsigned char)text[end + 1 + i]); i++)
                digits[i] = text[end + 1 + i];
        return parse_unsigned(digits, &bits) < 0 ? 128 : bits;
}

static void note_used(const Anonymiser *a, const Address *address)
{
        const Secret key = { .kind = address->family == AF_INET ? SECRET_IPV4 : SECRET_IPV6,
                             .address = *address };
        Secret *s = anonymiser_lookup(a, &key);

        if (s)
                s->used = true;
}

static int put_address(Anonymiser *a, const char *text, size_t size, size_t at, const Token *t, FILE *f)
{
        _cleanup_(freep) char *copy = NULL;
        char out[INET6_ADDRSTRLEN];
        Address from, to;
        int r;

        r = parse_address(text + at, t, &copy, &from);
        if (r == 0)
                r = address_map(a->map, &from, prefix_bits(text, size, at + t->length), &to);
        if (r < 0)
                return r;
        if (!inet_ntop(to.family, to.bytes, out, sizeof(out)))
                return -errno;
        note_used(a, &from);
        r = add_word(&a->images, strdup(out));
        return r < 0 ? r : put(f, out, strlen(out));
}

/* Puts the replacement's digits where the token's were, with the signs between them, and then zeros. */
static int put_digits(const char *token, size_t length, const char *digits, FILE *f)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < length; i++) {
                if (!isalnum((unsigned char)token[i]))
                        r = put(f, token + i, 1);
                else
                        r = put(f, *digits ? digits++ : "0", 1);
        }
        return r;
}

static int put_token(Anonymiser *a, const char *text, size_t size, size_t at, const Token *t, FILE *f)
{
        Secret key = { .kind = (SecretKind)t->kind };
        Secret *s;
        int r;

        if (is_address(key.kind))
                return put_address(a, text, size, at, t, f);
        key.text = token_text(text, at, t);
        if (!key.text)
                return -ENOMEM;
        s = anonymiser_lookup(a, &key);
        free(key.text);
        r = put(f, text + at, t->skip);
        if (r == 0 && !s) /* it came to be beside something that was replaced */
                return put_digits(text + at + t->skip, t->length, "", f);
        if (r < 0)
                return r;
        s->used = true;
        r = s->kind == SECRET_IQN ? put(f, s->replacement, strlen(s->replacement))
                                  : put_digits(text + at + t->skip, t->length, s->replacement, f);
        return r;
}

/* Puts what stands at a place, replaced or not; *ret_n is how much of the text that was. */
static int put_next(Anonymiser *a, const char *text, size_t size, size_t at, FILE *f, size_t *ret_n)
{
        const Phrase *phrase;
        Token t;

        if (token_at(text, size, at, &t)) {
                *ret_n = t.skip + t.length;
                return put_token(a, text, size, at, &t, f);
        }
        phrase = word_begins(text, at) ? phrases_at(&a->known, text, size, at) : NULL;
        *ret_n = phrase ? strlen(phrase->text) : 1;
        if (phrase)
                *phrase->used = true;
        return phrase ? put(f, phrase->replacement, strlen(phrase->replacement)) : put(f, text + at, 1);
}

int anonymiser_replace(Anonymiser *a, const char *text, size_t size, char **ret, size_t *ret_size)
{
        char *out = NULL;
        size_t n_out, n;
        FILE *f = open_memstream(&out, &n_out);
        int r = f ? 0 : -ENOMEM;

        for (size_t i = 0; r == 0 && i < size; i += n)
                r = put_next(a, text, size, i, f, &n);
        if (f && fclose(f) != 0)
                r = -ENOMEM;
        if (r < 0) {
                free(out);
                return r;
        }
        *ret = out;
        *ret_size = n_out;
        return 0;
}

/* ---- checking ---- */

const char *anonymiser_find(const Anonymiser *a, const char *text, size_t size)
{
        for (size_t i = 0; i < size; i++) {
                const Phrase *phrase = phrases_at(&a->hidden, text, size, i);

                /* Where a net is full, an address may become what another one was. */
                if (phrase && !tfind(phrase->text, &a->images, compare_words))
                        return phrase->text;
        }
        return NULL;
}

size_t anonymiser_count(const Anonymiser *a, SecretKind kind)
{
        size_t n = 0;

        for (size_t i = 0; i < a->n; i++)
                n += a->secrets[i]->kind == kind && a->secrets[i]->used;
        return n;
}
