/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/cleanup.h"
#include "observe/address.h"

/* Replaces IP addresses so that two that share their first n bits share them afterwards too, and no more than
 * these: subnets stay subnets, and routes lead where they led. Behind each prefix a coin decides whether the
 * next bit is turned; the coins come from getrandom(2) and are not kept. What tells the kind of an address
 * stays: the first byte (10, ULA, multicast), 172.16/12, 192.168/16, 169.254/16, 100.64/10, fe80::/64, and
 * the prefix of IPv6 addresses that hold an IPv4 one, which is replaced as such. */
typedef struct AddressMap AddressMap;

AddressMap *address_map_new(void); /* NULL = memory was short */
AddressMap *address_map_free(AddressMap *m);
DEFINE_CLEANUP(AddressMap, address_map_free)

/* Whether an address names nobody and stays as it is: loopback, the unspecified one, netmasks. */
bool address_is_fixed(const Address *a);

/* bits: the length of the prefix that the address stands for; when its other bits are 0, they stay so. 32 or
 * 128 for a host. Returns 0, -ENOMEM, or the errno of getrandom(2). */
int address_map(AddressMap *m, const Address *from, unsigned bits, Address *ret);
