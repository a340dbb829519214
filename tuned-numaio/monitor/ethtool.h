/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "monitor/monitor.h"

#include <linux/netlink.h>

/* What one message of the ethtool monitor says, as rtnl_parse(): 1 when queues or rings of an interface
 * changed (drivers allocate vectors anew then), 0 when not, -EBADMSG. family is the number of the ethtool
 * family. */
int ethtool_parse(int family, struct nlmsghdr *h, MonitorEvent *ret);
