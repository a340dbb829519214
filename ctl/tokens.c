/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/tokens.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAC_PAIRS_MIN 6
#define IQN_LEAST     strlen("iqn.1")

/* Not those of the locale: the bytes of UTF-8 are neither letters nor digits here. */
static bool is_word(char c)
{
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c)
{
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

bool word_begins(const char *text, size_t at)
{
        return at == 0 || !is_word(text[at - 1]);
}

bool word_ends(const char *text, size_t size, size_t at)
{
        return at >= size || !is_word(text[at]);
}

static size_t hex_run(const char *text, size_t size)
{
        size_t n = 0;

        while (n < size && is_hex(text[n]))
                n++;
        return n;
}

static bool starts(const char *text, size_t size, const char *with)
{
        return size >= strlen(with) && strncasecmp(text, with, strlen(with)) == 0;
}

static bool ends_iqn(char c)
{
        return (unsigned char)c <= ' ' || c == 0x7f || strchr("/,;\"'<>()[]{}|=", c);
}

static bool is_iqn(const char *text, size_t size, Token *ret)
{
        size_t n = 0;

        if (!starts(text, size, "iqn.") && !starts(text, size, "nqn."))
                return false;
        while (n < size && !ends_iqn(text[n]))
                n++;
        *ret = (Token) { .kind = TOKEN_IQN, .length = n };
        return n >= IQN_LEAST;
}

static bool is_wwn(const char *text, size_t size, Token *ret)
{
        size_t n;

        if (!starts(text, size, "eui.") && !starts(text, size, "naa."))
                return false;
        n = hex_run(text + 4, size - 4);
        *ret = (Token) { .kind = TOKEN_WWN, .skip = 4, .length = n };
        return (n == 16 || n == 32) && word_ends(text, size, 4 + n);
}

static bool is_uuid(const char *text, size_t size, Token *ret)
{
        static const size_t groups[] = { 8, 4, 4, 4, 12 };
        size_t n = 0;

        for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
                if (i > 0 && (n >= size || text[n++] != '-'))
                        return false;
                if (hex_run(text + n, size - n) != groups[i])
                        return false;
                n += groups[i];
        }
        *ret = (Token) { .kind = TOKEN_UUID, .length = n };
        return word_ends(text, size, n);
}

/* All zeros and all ones name nobody. */
static bool is_filler(const char *text, size_t n)
{
        char first = (char)tolower((unsigned char)text[0]);

        for (size_t i = 0; i < n; i++)
                if (is_hex(text[i]) && tolower((unsigned char)text[i]) != first)
                        return false;
        return first == '0' || first == 'f';
}

static bool is_mac(const char *text, size_t size, Token *ret)
{
        char separator = size > 2 ? text[2] : '\0';
        size_t pairs = 0, n = 0;

        if (separator != ':' && separator != '-')
                return false;
        while (hex_run(text + n, size - n) == 2) {
                pairs++;
                n += 2;
                if (n >= size || text[n] != separator)
                        break;
                n++;
        }
        if (n > 0 && text[n - 1] == separator)
                n--;
        *ret = (Token) { .kind = TOKEN_MAC, .length = n };
        return pairs >= MAC_PAIRS_MIN && word_ends(text, size, n) && !is_filler(text, n);
}

/* The name that udev gives a NIC by its address. */
static bool is_enx(const char *text, size_t size, Token *ret)
{
        *ret = (Token) { .kind = TOKEN_MAC, .skip = 3, .length = 12 };
        return starts(text, size, "enx") && hex_run(text + 3, size - 3) == 12 && word_ends(text, size, 15);
}

static bool parses(int family, const char *text, size_t n, unsigned char bytes[16])
{
        char plain[INET6_ADDRSTRLEN];

        if (n >= sizeof(plain))
                return false;
        memcpy(plain, text, n);
        plain[n] = '\0';
        return inet_pton(family, plain, bytes) == 1;
}

static bool is_ipv6(const char *text, size_t size, Token *ret)
{
        static const unsigned char loopback[16] = { [15] = 1 }, any[16] = { 0 };
        unsigned char bytes[16];
        size_t n = 0, colons = 0;

        for (; n < size && n < INET6_ADDRSTRLEN && (is_hex(text[n]) || text[n] == ':' || text[n] == '.'); n++)
                colons += text[n] == ':';
        if (colons < 2 || !word_ends(text, size, n))
                return false;
        /* A sentence may go on after it. */
        if (!parses(AF_INET6, text, n, bytes) && !parses(AF_INET6, text, --n, bytes))
                return false;
        *ret = (Token) { .kind = TOKEN_IPV6, .length = n };
        return memcmp(bytes, loopback, 16) != 0 && memcmp(bytes, any, 16) != 0;
}

static bool is_ipv4(const char *text, size_t size, Token *ret)
{
        unsigned char bytes[16];
        size_t n = 0;

        while (n < size && n < INET_ADDRSTRLEN && (is_digit(text[n]) || text[n] == '.'))
                n++;
        if (n > 0 && text[n - 1] == '.')
                n--;
        *ret = (Token) { .kind = TOKEN_IPV4, .length = n };
        return word_ends(text, size, n) && parses(AF_INET, text, n, bytes) && bytes[0] != 0 &&
               bytes[0] != 127 && bytes[0] < 240;
}

bool token_at(const char *text, size_t size, size_t at, Token *ret)
{
        const char *p = text + at;
        size_t n = size - at;

        /* An IPv6 address may begin with colons, everything else is a word. */
        if (at > 0 && (p[0] == ':' ? text[at - 1] == ':' || is_word(text[at - 1]) : is_word(text[at - 1])))
                return false;
        if (is_iqn(p, n, ret) || is_wwn(p, n, ret) || is_enx(p, n, ret))
                return true;
        if (!is_hex(p[0]) && p[0] != ':')
                return false;
        if (is_uuid(p, n, ret) || is_mac(p, n, ret) || is_ipv6(p, n, ret))
                return true;
        /* Not the end of a longer number with dots, such as a version. */
        return !(at > 1 && text[at - 1] == '.' && is_digit(text[at - 2])) && is_ipv4(p, n, ret);
}

char *token_text(const char *text, size_t at, const Token *token)
{
        const char *p = text + at + token->skip;
        char *copy = malloc(token->length + 1);
        size_t n = 0;

        if (!copy)
                return NULL;
        for (size_t i = 0; i < token->length; i++)
                if (token->kind == TOKEN_IQN || is_word(p[i]))
                        copy[n++] = (char)tolower((unsigned char)p[i]);
        copy[n] = '\0';
        return copy;
}
