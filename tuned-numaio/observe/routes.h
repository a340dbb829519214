/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"
#include "observe/address.h"

/* What only netlink knows: which netdev packets to an address leave by, who has an address, what a socket is
 * bound to. On the live root the kernel is asked; elsewhere ROOT/netlink.json is read:
 *   {"addresses": [{"address", "prefixlen", "dev"}],
 *    "routes": [{"dst": "10.9.0.0/24" | "default", "dev", "src", "gateway"}],
 *    "sockets": [{"local": "10.9.0.1:40000", "remote": "10.9.0.2:3260", "dev"}]}
 * A missing or malformed file knows nothing. */
typedef struct Routes Routes;

/* All return 0 and the name of a netdev, which the caller frees; -ENOENT when there is none; another negative
 * errno when the kernel did not answer. */
typedef struct RoutesOps {
        /* The netdev that packets to dst leave by when they come from src (NULL = any). */
        int (*route_lookup)(Routes *r, const Address *dst, const Address *src, char **ret);
        /* The netdev that has an address. */
        int (*address_owner)(Routes *r, const Address *address, char **ret);
        /* The netdev that a TCP connection's socket is bound to (SO_BINDTODEVICE); ports in host order. */
        int (*socket_device)(Routes *r, const Address *local, unsigned local_port, const Address *remote,
                             unsigned remote_port, char **ret);
        void (*free)(Routes *r);
} RoutesOps;

struct Routes {
        const RoutesOps *ops;
};

/* Opens the source of a root. The caller frees. Returns 0 or a negative errno. */
int routes_new(const Root *root, Routes **ret);
Routes *routes_free(Routes *r);
DEFINE_CLEANUP(Routes, routes_free)

/* The two implementations. */
int routes_file_new(const Root *root, Routes **ret);
int routes_netlink_new(Routes **ret);
