/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/rtnl.h"

#include "monitor/source.h"

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <string.h>

static const char *name_of(const LinkTable *links, int index)
{
        const LinkState *link = link_table_find(links, index);
        return link ? link->name : "";
}

static int parse_link(LinkTable *links, struct nlmsghdr *h, MonitorEvent *ret)
{
        static const struct nla_policy policy[IFLA_MAX + 1] = {
                [IFLA_IFNAME] = { .type = NLA_STRING, .maxlen = IFNAMSIZ },
                [IFLA_MASTER] = { .type = NLA_U32 },
                [IFLA_LINK] = { .type = NLA_U32 },
        };
        struct nlattr *attr[IFLA_MAX + 1];
        const struct ifinfomsg *info = nlmsg_data(h);

        if (nlmsg_parse(h, sizeof(*info), attr, IFLA_MAX, policy) < 0 || !attr[IFLA_IFNAME])
                return -EBADMSG;
        /* A port of a bridge; a change of its master is told for the link itself too. */
        if (info->ifi_family != AF_UNSPEC)
                return 0;

        LinkState link = { .index = info->ifi_index, .flags = info->ifi_flags };
        nla_strlcpy(link.name, attr[IFLA_IFNAME], sizeof(link.name));
        link.master = attr[IFLA_MASTER] ? (int)nla_get_u32(attr[IFLA_MASTER]) : 0;
        link.lower = attr[IFLA_LINK] ? (int)nla_get_u32(attr[IFLA_LINK]) : 0;

        ret->subsystem = "link";
        ret->object = nla_get_string(attr[IFLA_IFNAME]);
        if (h->nlmsg_type == RTM_DELLINK) {
                link_table_remove(links, link.index);
                ret->action = "remove";
        } else {
                ret->action = link_table_update(links, &link);
        }
        return ret->action != NULL;
}

static int parse_addr(LinkTable *links, struct nlmsghdr *h, MonitorEvent *ret)
{
        static const struct nla_policy policy[IFA_MAX + 1] = {
                [IFA_FLAGS] = { .type = NLA_U32 },
        };
        struct nlattr *attr[IFA_MAX + 1];
        const struct ifaddrmsg *addr = nlmsg_data(h);

        if (nlmsg_parse(h, sizeof(*addr), attr, IFA_MAX, policy) < 0)
                return -EBADMSG;
        unsigned flags = attr[IFA_FLAGS] ? nla_get_u32(attr[IFA_FLAGS]) : addr->ifa_flags;
        if (h->nlmsg_type == RTM_NEWADDR && (flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED)))
                return 0;
        ret->subsystem = "addr";
        ret->action = h->nlmsg_type == RTM_NEWADDR ? "add" : "remove";
        ret->object = name_of(links, (int)addr->ifa_index);
        return 1;
}

static bool route_matters(const struct rtmsg *route, unsigned table)
{
        if (table == RT_TABLE_LOCAL || (route->rtm_flags & RTM_F_CLONED))
                return false;
        switch (route->rtm_type) {
        case RTN_LOCAL:
        case RTN_BROADCAST:
        case RTN_ANYCAST:
        case RTN_MULTICAST:
                return false;
        default:
                return true;
        }
}

static int parse_route(LinkTable *links, struct nlmsghdr *h, MonitorEvent *ret)
{
        static const struct nla_policy policy[RTA_MAX + 1] = {
                [RTA_TABLE] = { .type = NLA_U32 },
                [RTA_OIF] = { .type = NLA_U32 },
        };
        struct nlattr *attr[RTA_MAX + 1];
        const struct rtmsg *route = nlmsg_data(h);

        if (nlmsg_parse(h, sizeof(*route), attr, RTA_MAX, policy) < 0)
                return -EBADMSG;
        if (!route_matters(route, attr[RTA_TABLE] ? nla_get_u32(attr[RTA_TABLE]) : route->rtm_table))
                return 0;
        ret->subsystem = "route";
        ret->action = h->nlmsg_type == RTM_NEWROUTE ? "add" : "remove";
        ret->object = attr[RTA_OIF] ? name_of(links, (int)nla_get_u32(attr[RTA_OIF])) : "";
        return 1;
}

static int parse_rule(struct nlmsghdr *h, MonitorEvent *ret)
{
        if (!nlmsg_valid_hdr(h, sizeof(struct fib_rule_hdr)))
                return -EBADMSG;
        ret->subsystem = "rule";
        ret->action = h->nlmsg_type == RTM_NEWRULE ? "add" : "remove";
        ret->object = "";
        return 1;
}

int rtnl_parse(LinkTable *links, struct nlmsghdr *h, MonitorEvent *ret)
{
        MonitorEvent e = { .source = "rtnetlink" };
        int r;

        switch (h->nlmsg_type) {
        case RTM_NEWLINK:
        case RTM_DELLINK:
                r = parse_link(links, h, &e);
                break;
        case RTM_NEWADDR:
        case RTM_DELADDR:
                r = parse_addr(links, h, &e);
                break;
        case RTM_NEWROUTE:
        case RTM_DELROUTE:
                r = parse_route(links, h, &e);
                break;
        case RTM_NEWRULE:
        case RTM_DELRULE:
                r = parse_rule(h, &e);
                break;
        default:
                return 0;
        }
        if (r > 0)
                *ret = e;
        return r;
}

static int on_link(struct nl_msg *msg, void *userdata)
{
        struct nlmsghdr *h = nlmsg_hdr(msg);
        MonitorEvent e;

        if (h->nlmsg_type == RTM_NEWLINK)
                (void)parse_link(userdata, h, &e);
        return NL_OK;
}

/* The links that exist now, so that the next word about one can be told from news. Without them every link is
 * news once, which does no harm: errors are not passed on. This is a plain dump: libnl-route, whose cache
 * does the same, is a tenth of the memory of a daemon, and nothing else here needs it. */
static void learn_links(LinkTable *links)
{
        struct ifinfomsg all = { .ifi_family = AF_UNSPEC };
        struct nl_sock *sk = nl_socket_alloc();

        link_table_clear(links);
        if (sk && nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_link, links) >= 0 &&
            nl_connect(sk, NETLINK_ROUTE) >= 0 &&
            nl_send_simple(sk, RTM_GETLINK, NLM_F_DUMP, &all, sizeof(all)) >= 0)
                (void)nl_recvmsgs_default(sk);
        nl_socket_free(sk);
}

static void on_message(Monitor *m, struct nlmsghdr *h)
{
        MonitorEvent e;

        if (rtnl_parse(&m->links, h, &e) > 0)
                source_emit(m, &e);
}

static int on_rtnl(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
        Monitor *m = userdata;
        int r = netlink_drain(m, fd, on_message);

        if (r < 0) {
                source_give_up(m, SOURCE_RTNL, r);
        } else if (r > 0) {
                learn_links(&m->links);
                source_emit_overrun(m, SOURCE_RTNL);
        }
        return 0;
}

int rtnl_source_open(Monitor *m)
{
        int r;

        m->rtnl = nl_socket_alloc();
        if (!m->rtnl)
                return -ENOMEM;
        r = nl_connect(m->rtnl, NETLINK_ROUTE);
        if (r < 0)
                return netlink_errno(r);
        r = nl_socket_add_memberships(m->rtnl, RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
                                      RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV4_RULE,
                                      RTNLGRP_IPV6_RULE, 0);
        if (r < 0)
                return netlink_errno(r);
        netlink_prepare(m->rtnl);
        learn_links(&m->links);
        return source_watch(m, SOURCE_RTNL, nl_socket_get_fd(m->rtnl), on_rtnl);
}
