/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/address.h"

#include "basic/parse.h"
#include "basic/strv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

int address_parse(const char *text, Address *ret)
{
        Address a = { .family = strchr(text, ':') ? AF_INET6 : AF_INET };
        char plain[INET6_ADDRSTRLEN + 2];
        size_t n = strlen(text);

        if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
                text++;
                n -= 2;
        }
        if (n >= sizeof(plain))
                return -EINVAL;
        memcpy(plain, text, n);
        plain[n] = '\0';
        if (inet_pton(a.family, plain, a.bytes) != 1)
                return -EINVAL;
        *ret = a;
        return 0;
}

int endpoint_parse(const char *text, Address *ret, unsigned *ret_port)
{
        const char *colon = strrchr(text, ':');
        char address[INET6_ADDRSTRLEN + 4];
        unsigned port;
        Address a;

        if (!colon || (size_t)(colon - text) >= sizeof(address))
                return -EINVAL;
        memcpy(address, text, (size_t)(colon - text));
        address[colon - text] = '\0';
        if (parse_unsigned(colon + 1, &port) < 0 || port > 65535 || address_parse(address, &a) < 0)
                return -EINVAL;
        *ret = a;
        *ret_port = port;
        return 0;
}

char *endpoint_format(const char *address, unsigned port)
{
        return strf(strchr(address, ':') && address[0] != '[' ? "[%s]:%u" : "%s:%u", address, port);
}

unsigned address_size(const Address *a)
{
        return a->family == AF_INET ? 4 : 16;
}

unsigned address_bits(const Address *a)
{
        return address_size(a) * 8;
}

bool address_equal(const Address *a, const Address *b)
{
        return address_in_prefix(a, b, address_bits(b));
}

bool address_in_prefix(const Address *a, const Address *prefix, unsigned bits)
{
        unsigned whole = bits / 8, rest = bits % 8;

        if (a->family != prefix->family || bits > address_bits(a) ||
            memcmp(a->bytes, prefix->bytes, whole) != 0)
                return false;
        return rest == 0 || (a->bytes[whole] ^ prefix->bytes[whole]) >> (8 - rest) == 0;
}
