/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/anonymise-internal.h"

#include "basic/strv.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define ATTEMPTS 64

/* Kinds in their order, and in each the natural order, by which what is replaced is sorted elsewhere. */
static int compare_order(const void *a, const void *b)
{
        const Secret *x = *(Secret *const *)a, *y = *(Secret *const *)b;
        int r;

        if (x->kind != y->kind)
                return x->kind < y->kind ? -1 : 1;
        r = natural_compare(x->text, y->text);
        return r ? r : strcmp(x->text, y->text);
}

static int choose_mark(Anonymiser *a)
{
        static const char letters[] = "ghjkmnpqrstvwxyz"; /* none of them is a hexadecimal digit */
        unsigned char random[2 * MARK_LENGTH];

        if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
                return -errno;
        for (size_t i = 0; i < MARK_LENGTH; i++) {
                a->mark[i] = letters[random[i] % (sizeof(letters) - 1)];
                a->digits[i] = (char)('0' + random[MARK_LENGTH + i] % 10);
        }
        return 0;
}

/* `length` digits, of which the last say the number: what stood for a number stands for one again. */
static char *digits_of(const Anonymiser *a, size_t length, size_t number)
{
        _cleanup_(freep) char *end = strf("%s%06zu", a->digits, number);
        char *text = end ? malloc(length + 1) : NULL;
        size_t n = end ? strlen(end) : 0;

        if (!text)
                return NULL;
        for (size_t i = 0; i < length; i++)
                text[length - 1 - i] = i < n ? end[n - 1 - i] : '0';
        text[length] = '\0';
        return text;
}

/* 02 says that an address is nobody's: locally administered. */
static char *mac_of(const Anonymiser *a, size_t length, size_t number)
{
        char *text = digits_of(a, length, number);

        if (text && length >= 2) {
                text[0] = '0';
                text[1] = '2';
        }
        return text;
}

static bool is_digits(const char *text)
{
        return text[strspn(text, "0123456789abcdef")] == '\0';
}

/* Each is one word, so that no host name can stand in it. */
static char *replacement(const Anonymiser *a, const Secret *s, size_t number)
{
        size_t length = strlen(s->text);

        switch (s->kind) {
        case SECRET_MAC:
                return mac_of(a, length, number);
        case SECRET_IQN:
                return strf("%.4s2000-01.invalid:name%s%zu", s->text, a->mark, number);
        case SECRET_WWN:
                return digits_of(a, length, number);
        case SECRET_UUID:
                return strf("00000000000040008000%s%06zu", a->digits, number % 1000000);
        case SECRET_SERIAL:
                return is_digits(s->text) ? digits_of(a, length, number)
                                          : strf("serial%s%zu", a->mark, number);
        case SECRET_HOST:
                return strf("host%s%zu", a->mark, number);
        case SECRET_DOMAIN:
                return strf("domain%s%zu.invalid", a->mark, number);
        default:
                return strdup("");
        }
}

static int choose_replacements(Anonymiser *a)
{
        size_t number = 0;

        if (a->n > 1)
                qsort(a->secrets, a->n, sizeof(*a->secrets), compare_order);
        for (size_t i = 0; i < a->n; i++) {
                Secret *s = a->secrets[i];

                number = i > 0 && a->secrets[i - 1]->kind == s->kind ? number + 1 : 1;
                free(s->replacement);
                s->replacement = replacement(a, s, number);
                if (!s->replacement)
                        return -ENOMEM;
        }
        return 0;
}

/* Whether something would become what the machine has too: the copy of a copy. */
static bool texts_clash(const Anonymiser *a)
{
        for (size_t i = 0; i < a->n; i++) {
                Secret image = { .kind = a->secrets[i]->kind, .text = a->secrets[i]->replacement };

                if (!is_address(image.kind) && anonymiser_lookup(a, &image))
                        return true;
        }
        return false;
}

static int choose_texts(Anonymiser *a)
{
        for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
                int r = choose_mark(a);

                if (r == 0)
                        r = choose_replacements(a);
                if (r < 0 || !texts_clash(a))
                        return r;
        }
        return -EEXIST;
}

/* Whether an address would become itself, or (any) one that the machine has too. */
static int clashes(const Anonymiser *a, const Secret *s, bool any)
{
        Secret image = { .kind = s->kind };
        int r;

        r = address_map(a->map, &s->address, 128, &image.address);
        if (r < 0)
                return r;
        return any ? anonymiser_lookup(a, &image) != NULL : address_equal(&image.address, &s->address);
}

/* A few addresses in a large net hardly clash; where they fill their net, no more is asked for than that none
 * becomes itself. */
static int choose_map(Anonymiser *a)
{
        for (unsigned attempt = 0; attempt < 2 * ATTEMPTS; attempt++) {
                int r = 0;

                address_map_free(a->map);
                a->map = address_map_new();
                if (!a->map)
                        return -ENOMEM;
                for (size_t i = 0; r == 0 && i < a->n; i++)
                        if (is_address(a->secrets[i]->kind))
                                r = clashes(a, a->secrets[i], attempt < ATTEMPTS);
                if (r <= 0)
                        return r;
        }
        return -EEXIST;
}

/* Digits are also written with 0x before them, which makes another word of them. */
static int add_digits(Anonymiser *a, Secret *s)
{
        _cleanup_(freep) char *text = strf("0x%s", s->text);
        char *replaced = strf("0x%s", s->replacement);

        if (!text || !replaced) {
                free(replaced);
                return -ENOMEM;
        }
        return phrases_add(&a->known, text, true, replaced, &s->used);
}

/* What has no form of its own is looked for by its text, and so are the digits of a MAC or WWN alone. */
static int add_phrases(Anonymiser *a)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < a->n; i++) {
                Secret *s = a->secrets[i];
                bool word = s->kind >= SECRET_SERIAL;
                char *copy;

                if (!word && s->kind != SECRET_MAC && s->kind != SECRET_WWN)
                        continue;
                copy = strdup(s->replacement);
                r = copy ? phrases_add(&a->known, s->text, true, copy, &s->used) : -ENOMEM;
                if (r == 0)
                        r = phrases_add(&a->hidden, s->text, word, NULL, NULL);
                if (r == 0 && is_digits(s->text))
                        r = add_digits(a, s);
        }
        phrases_sort(&a->known);
        phrases_sort(&a->hidden);
        return r;
}

int anonymiser_choose(Anonymiser *a)
{
        int r;

        r = choose_texts(a);
        if (r == 0)
                r = choose_map(a);
        return r < 0 ? r : add_phrases(a);
}
