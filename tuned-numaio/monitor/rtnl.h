/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "monitor/links.h"
#include "monitor/monitor.h"

#include <linux/netlink.h>

/* What one rtnetlink notification says. Returns 1 when it matters, *ret is filled then and its strings live
 * as long as h and links; 0 when not; -EBADMSG when it is not well formed. h was checked by nlmsg_ok(). Takes
 * the state of links over.
 *
 * Not: links that are told again without a change (see links.h) or as ports of a bridge; addresses that
 * cannot be used yet or no more (duplicate address detection: the kernel tells them again); routes of the
 * local table, local, broadcast, anycast and multicast routes, cloned routes. */
int rtnl_parse(LinkTable *links, struct nlmsghdr *h, MonitorEvent *ret);
