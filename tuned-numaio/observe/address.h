/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/* An IPv4 or IPv6 address. */
typedef struct Address {
        int family; /* AF_INET or AF_INET6 */
        unsigned char bytes[16];
} Address;

/* Parses "10.9.0.1" or "fe80::1" (also in brackets). Returns 0 or -EINVAL. */
int address_parse(const char *text, Address *ret);

/* Parses "10.9.0.1:3260" or "[fe80::1]:3260". Returns 0 or -EINVAL. */
int endpoint_parse(const char *text, Address *ret, unsigned *ret_port);

/* "10.9.0.1:3260", an IPv6 address in brackets; NULL when memory is short. The caller frees. */
char *endpoint_format(const char *address, unsigned port);

unsigned address_bits(const Address *a); /* 32 or 128 */
unsigned address_size(const Address *a); /* 4 or 16 bytes */
bool address_equal(const Address *a, const Address *b);

/* Whether the first `bits` bits agree; never over two families. */
bool address_in_prefix(const Address *a, const Address *prefix, unsigned bits);
