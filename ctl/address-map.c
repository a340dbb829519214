/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/address-map.h"

#include <errno.h>
#include <search.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

typedef struct Coin {
        int family;
        unsigned bits;
        unsigned char prefix[16]; /* the first `bits` bits, then 0 */
        unsigned char turn;
} Coin;

struct AddressMap {
        void *coins;
};

AddressMap *address_map_new(void)
{
        return calloc(1, sizeof(AddressMap));
}

AddressMap *address_map_free(AddressMap *m)
{
        if (m)
                tdestroy(m->coins, free);
        free(m);
        return NULL;
}

static int compare(const void *a, const void *b)
{
        const Coin *x = a, *y = b;

        if (x->family != y->family)
                return x->family < y->family ? -1 : 1;
        if (x->bits != y->bits)
                return x->bits < y->bits ? -1 : 1;
        return memcmp(x->prefix, y->prefix, sizeof(x->prefix));
}

static unsigned bit_of(const unsigned char *bytes, unsigned i)
{
        return bytes[i / 8] >> (7 - i % 8) & 1;
}

static void clear_from(unsigned char *bytes, unsigned size, unsigned bits)
{
        for (unsigned i = bits; i < size * 8; i++)
                bytes[i / 8] &= (unsigned char)~(1u << (7 - i % 8));
}

/* The coin behind the first `bits` bits of an address: 0 or 1. */
static int toss(AddressMap *m, const Address *a, unsigned bits)
{
        Coin key = { .family = a->family, .bits = bits }, *coin;
        void *found;

        memcpy(key.prefix, a->bytes, address_size(a));
        clear_from(key.prefix, sizeof(key.prefix), bits);
        found = tfind(&key, &m->coins, compare);
        if (found)
                return (*(Coin **)found)->turn;
        if (getrandom(&key.turn, 1, 0) != 1)
                return -errno;
        key.turn &= 1;
        coin = malloc(sizeof(*coin));
        if (!coin)
                return -ENOMEM;
        *coin = key;
        if (!tsearch(coin, &m->coins, compare)) {
                free(coin);
                return -ENOMEM;
        }
        return coin->turn;
}

/* How many of the first bits stay. */
static unsigned kept_ipv4(const unsigned char *b)
{
        if (b[0] == 0 || b[0] == 127 || b[0] >= 240)
                return 32;
        if (b[0] == 172 && b[1] >> 4 == 1)
                return 12;
        if (b[0] == 100 && b[1] >> 6 == 1)
                return 10;
        /* Beside a special range: none may come to lie in it. */
        return b[0] == 100 || b[0] == 169 || b[0] == 172 || b[0] == 192 ? 16 : 8;
}

static unsigned kept_ipv6(const unsigned char *b)
{
        static const unsigned char zero[15] = { 0 }, link_local[8] = { 0xfe, 0x80 };

        if (memcmp(b, zero, 15) == 0 && b[15] <= 1)
                return 128;
        if (memcmp(b, link_local, 8) == 0)
                return 64;
        return b[0] == 0xfe || b[0] == 0xff ? 16 : 8;
}

/* The prefixes behind which the last 32 bits are an IPv4 address. */
static bool holds_ipv4(const Address *a)
{
        static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff },
                                   translated[12] = { 0x00, 0x64, 0xff, 0x9b };

        return a->family == AF_INET6 &&
               (memcmp(a->bytes, mapped, 12) == 0 || memcmp(a->bytes, translated, 12) == 0);
}

bool address_is_fixed(const Address *a)
{
        if (holds_ipv4(a))
                return kept_ipv4(a->bytes + 12) == 32;
        return a->family == AF_INET ? kept_ipv4(a->bytes) == 32 : kept_ipv6(a->bytes) == 128;
}

static int map_held(AddressMap *m, const Address *from, unsigned bits, Address *ret)
{
        Address inner = { .family = AF_INET }, out;
        int r;

        memcpy(inner.bytes, from->bytes + 12, 4);
        r = address_map(m, &inner, bits > 96 ? bits - 96 : 32, &out);
        if (r < 0)
                return r;
        *ret = *from;
        memcpy(ret->bytes + 12, out.bytes, 4);
        return 0;
}

int address_map(AddressMap *m, const Address *from, unsigned bits, Address *ret)
{
        unsigned kept = from->family == AF_INET ? kept_ipv4(from->bytes) : kept_ipv6(from->bytes);
        Address out = *from, network = *from;

        if (holds_ipv4(from))
                return map_held(m, from, bits, ret);
        for (unsigned i = kept; i < address_bits(from); i++) {
                int turn = toss(m, from, i);

                if (turn < 0)
                        return turn;
                if (bit_of(from->bytes, i) ^ (unsigned)turn)
                        out.bytes[i / 8] |= (unsigned char)(1u << (7 - i % 8));
                else
                        out.bytes[i / 8] &= (unsigned char)~(1u << (7 - i % 8));
        }
        clear_from(network.bytes, address_size(from), bits);
        if (bits < address_bits(from) && memcmp(network.bytes, from->bytes, address_size(from)) == 0)
                clear_from(out.bytes, address_size(from), bits);
        *ret = out;
        return 0;
}
