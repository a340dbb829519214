/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"
#include "model/snapshot.h"

/* The way from a netdev down to the hardware. */
typedef struct NetPath {
        char *chain; /* "bond0 > eth1": the netdevs on the way */
        char *nic;   /* the netdev of the physical NIC; NULL = there is none, or several on different nodes */
        char *device; /* its device id; NULL = not a device of the snapshot */
        int node;     /* NODE_UNKNOWN when there is no NIC or its node is not known */
        char *text;   /* for people: where the node came from, or why it is unknown */
} NetPath;

void netpath_clear(NetPath *p);

/* Descends vlan, bond, team, bridge and macvlan by the links sys/class/net/X/lower_* to physical NICs. Of a
 * bond with an active slave only that one counts; of several NICs the first in natural order, as long as they
 * share a node. Needs topology and devices. Returns 0 or -ENOMEM. */
int netpath_descend(const Root *root, const Snapshot *s, const char *netdev, NetPath *ret);
