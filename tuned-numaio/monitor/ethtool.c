/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/ethtool.h"

#include "monitor/source.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

int ethtool_parse(int family, struct nlmsghdr *h, MonitorEvent *ret)
{
        /* Both kinds of message begin with the header that names the interface. */
        static const struct nla_policy policy[] = {
                [ETHTOOL_A_CHANNELS_HEADER] = { .type = NLA_NESTED },
        };
        static const struct nla_policy header_policy[] = {
                [ETHTOOL_A_HEADER_DEV_NAME] = { .type = NLA_STRING, .maxlen = IFNAMSIZ },
        };
        struct nlattr *attr[ETHTOOL_A_CHANNELS_HEADER + 1], *header[ETHTOOL_A_HEADER_DEV_NAME + 1];
        const char *subsystem;

        _Static_assert((int)ETHTOOL_A_CHANNELS_HEADER == (int)ETHTOOL_A_RINGS_HEADER, "one parser for both");
        if (h->nlmsg_type != family)
                return 0;
        if (!genlmsg_valid_hdr(h, 0))
                return -EBADMSG;
        switch (((struct genlmsghdr *)nlmsg_data(h))->cmd) {
        case ETHTOOL_MSG_CHANNELS_NTF:
                subsystem = "channels";
                break;
        case ETHTOOL_MSG_RINGS_NTF:
                subsystem = "rings";
                break;
        default:
                return 0;
        }
        if (genlmsg_parse(h, 0, attr, ETHTOOL_A_CHANNELS_HEADER, policy) < 0 ||
            !attr[ETHTOOL_A_CHANNELS_HEADER] ||
            nla_parse_nested(header, ETHTOOL_A_HEADER_DEV_NAME, attr[ETHTOOL_A_CHANNELS_HEADER],
                             header_policy) < 0 ||
            !header[ETHTOOL_A_HEADER_DEV_NAME])
                return -EBADMSG;
        *ret = (MonitorEvent) { .source = "ethtool",
                                .subsystem = subsystem,
                                .action = "change",
                                .object = nla_get_string(header[ETHTOOL_A_HEADER_DEV_NAME]) };
        return 1;
}

static void on_message(Monitor *m, struct nlmsghdr *h)
{
        MonitorEvent e;

        if (ethtool_parse(m->ethtool_family, h, &e) > 0)
                source_emit(m, &e);
}

static int on_ethtool(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
        Monitor *m = userdata;
        int r = netlink_drain(m, fd, on_message);

        if (r < 0)
                source_give_up(m, SOURCE_ETHTOOL, r);
        else if (r > 0)
                source_emit_overrun(m, SOURCE_ETHTOOL);
        return 0;
}

int ethtool_source_open(Monitor *m)
{
        int r, group;

        m->ethtool = nl_socket_alloc();
        if (!m->ethtool)
                return -ENOMEM;
        r = genl_connect(m->ethtool);
        if (r < 0)
                return netlink_errno(r);
        m->ethtool_family = genl_ctrl_resolve(m->ethtool, ETHTOOL_GENL_NAME);
        if (m->ethtool_family < 0)
                return netlink_errno(m->ethtool_family);
        group = genl_ctrl_resolve_grp(m->ethtool, ETHTOOL_GENL_NAME, ETHTOOL_MCGRP_MONITOR_NAME);
        if (group < 0)
                return netlink_errno(group);
        r = nl_socket_add_memberships(m->ethtool, group, 0);
        if (r < 0)
                return netlink_errno(r);
        netlink_prepare(m->ethtool);
        return source_watch(m, SOURCE_ETHTOOL, nl_socket_get_fd(m->ethtool), on_ethtool);
}
