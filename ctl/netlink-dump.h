/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "model/snapshot.h"

#include <jansson.h>

/* What the running kernel says over netlink, in the form of netlink.json (observe/routes.h): all addresses,
 * the routes of the main table, and for each iSCSI connection of the snapshot what the kernel answers about
 * it. Those answers come first, as routes to the peer alone: rules and other tables may lead it elsewhere
 * than the main table says. Of the table no more than NETLINK_ROUTES_MAX are taken. Returns 0 or a negative
 * errno; the caller releases. */
#define NETLINK_ROUTES_MAX 4096
int netlink_dump(const Snapshot *s, json_t **ret);
