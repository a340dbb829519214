/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/ethtool.h"
#include "monitor/iscsi.h"
#include "monitor/links.h"
#include "monitor/rtnl.h"
#include "monitor/uevent.h"
#include "test.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <string.h>

#define SAS "/devices/pci0000:20/0000:20:00.0/0000:21:00.0/host0"

static void test_uevents_that_matter(void **state)
{
        assert_true(uevent_is_relevant("pci", "add", "/devices/pci0000:20/0000:20:00.0"));
        assert_true(uevent_is_relevant("pci", "bind", "/devices/pci0000:20/0000:20:00.0"));
        assert_true(uevent_is_relevant("pci", "unbind", "/devices/pci0000:20/0000:20:00.0"));
        assert_true(uevent_is_relevant("scsi_host", "add", SAS "/scsi_host/host0"));
        assert_true(uevent_is_relevant("scsi", "add", SAS "/target0:0:0"));
        assert_true(uevent_is_relevant("block", "add", SAS "/target0:0:0/0:0:0:0/block/sda"));
        assert_true(
                uevent_is_relevant("block", "remove", "/devices/pci0000:40/0000:40:00.0/nvme/nvme0/nvme0n1"));
        assert_true(
                uevent_is_relevant("block", "add", "/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1"));
        assert_true(uevent_is_relevant("nvme", "change", "/devices/pci0000:40/0000:40:00.0/nvme/nvme0"));
        assert_true(uevent_is_relevant("block", "add", "/devices/virtual/block/dm-0"));
        assert_true(uevent_is_relevant("block", "change", "/devices/virtual/block/dm-12"));
        assert_true(uevent_is_relevant("block", "remove", "/devices/virtual/block/dm-0"));
        assert_true(uevent_is_relevant("net", "move", "/devices/pci0000:20/0000:22:00.0/net/ens1"));
        assert_true(uevent_is_relevant("iscsi_session", "add", "/devices/platform/host4/session1/x"));
        assert_true(uevent_is_relevant("workqueue", "add", "/devices/virtual/workqueue/iscsi_q_4"));
        assert_true(uevent_is_relevant("cpu", "offline", "/devices/system/cpu/cpu3"));
        assert_true(uevent_is_relevant("node", "remove", "/devices/system/node/node1"));
}

static void test_uevents_that_do_not(void **state)
{
        assert_false(uevent_is_relevant("tty", "add", "/devices/virtual/tty/tty1"));
        assert_false(
                uevent_is_relevant("queues", "add", "/devices/pci0000:20/0000:22:00.0/net/ens1/queues/rx-0"));
        assert_false(uevent_is_relevant("block", "change", SAS "/target0:0:0/0:0:0:0/block/sda"));
        assert_false(uevent_is_relevant("block", "add", SAS "/target0:0:0/0:0:0:0/block/sda/sda1"));
        assert_false(uevent_is_relevant("block", "add", "/devices/x/nvme/nvme0/nvme0n1/nvme0n1p2"));
        assert_false(uevent_is_relevant("block", "add", "/devices/virtual/block/loop0"));
        assert_false(uevent_is_relevant("block", "change", "/devices/virtual/block/md0"));
        assert_false(uevent_is_relevant("block", "add", "/devices/virtual/block/dm-0/dm-0p1"));
        assert_false(uevent_is_relevant("net", "add", "/devices/virtual/net/veth1"));
        assert_false(uevent_is_relevant("scsi", "bind", SAS "/target0:0:0/0:0:0:0"));
        assert_false(uevent_is_relevant("scsi", "change", SAS "/target0:0:0/0:0:0:0"));
        assert_false(uevent_is_relevant(NULL, "add", "/devices/x"));
        assert_false(uevent_is_relevant("pci", NULL, "/devices/x"));
        assert_false(uevent_is_relevant("pci", "add", NULL));
        assert_false(uevent_is_relevant("", "", ""));
}

static void test_link_table(void **state)
{
        LinkTable t = { 0 };
        LinkState eth = { .index = 2, .name = "eth0" };

        assert_string_equal(link_table_update(&t, &eth), "add");
        assert_null(link_table_update(&t, &eth));
        eth.flags = IFF_UP;
        assert_string_equal(link_table_update(&t, &eth), "up");
        eth.flags |= IFF_RUNNING;
        assert_string_equal(link_table_update(&t, &eth), "change");
        eth.flags |= IFF_PROMISC | IFF_ALLMULTI;
        assert_null(link_table_update(&t, &eth));
        eth.master = 7;
        assert_string_equal(link_table_update(&t, &eth), "change");
        eth.lower = 8;
        assert_string_equal(link_table_update(&t, &eth), "change");
        strcpy(eth.name, "ens1");
        assert_string_equal(link_table_update(&t, &eth), "rename");
        eth.flags = 0;
        assert_string_equal(link_table_update(&t, &eth), "down");
        for (int i = 3; i < 40; i++) {
                LinkState other = { .index = i };
                assert_string_equal(link_table_update(&t, &other), "add");
        }
        assert_string_equal(link_table_find(&t, 2)->name, "ens1");
        link_table_remove(&t, 2);
        link_table_remove(&t, 2);
        assert_null(link_table_find(&t, 2));
        assert_int_equal(link_table_find(&t, 39)->index, 39);
        assert_string_equal(link_table_update(&t, &eth), "add");
        link_table_clear(&t);
}

static int parse_and_free(LinkTable *links, struct nl_msg *msg, MonitorEvent *e)
{
        *e = (MonitorEvent) { .source = "none" };
        int r = rtnl_parse(links, nlmsg_hdr(msg), e);
        if (r > 0) {
                assert_string_equal(e->source, "rtnetlink");
                assert_false(e->overrun);
        } else {
                assert_string_equal(e->source, "none");
        }
        nlmsg_free(msg);
        return r;
}

static struct nl_msg *link_message(int type, int family, const char *name, unsigned flags)
{
        struct ifinfomsg info = { .ifi_family = (unsigned char)family, .ifi_index = 2, .ifi_flags = flags };
        struct nl_msg *msg = nlmsg_alloc_simple(type, 0);

        assert_int_equal(nlmsg_append(msg, &info, sizeof(info), NLMSG_ALIGNTO), 0);
        if (name)
                assert_int_equal(nla_put_string(msg, IFLA_IFNAME, name), 0);
        return msg;
}

static void test_link_messages(void **state)
{
        LinkTable links = { 0 };
        MonitorEvent e;

        struct nl_msg *msg = link_message(RTM_NEWLINK, AF_UNSPEC, "eth0", 0);
        assert_int_equal(rtnl_parse(&links, nlmsg_hdr(msg), &e), 1);
        assert_string_equal(e.subsystem, "link");
        assert_string_equal(e.action, "add");
        assert_string_equal(e.object, "eth0");
        nlmsg_free(msg);

        assert_int_equal(parse_and_free(&links, link_message(RTM_NEWLINK, AF_UNSPEC, "eth0", 0), &e), 0);
        assert_int_equal(parse_and_free(&links, link_message(RTM_NEWLINK, AF_UNSPEC, "eth0", IFF_UP), &e), 1);
        assert_string_equal(e.action, "up");
        /* Leaving a bridge is not the end of the link. */
        assert_int_equal(parse_and_free(&links, link_message(RTM_DELLINK, AF_BRIDGE, "eth0", 0), &e), 0);
        assert_non_null(link_table_find(&links, 2));
        assert_int_equal(parse_and_free(&links, link_message(RTM_NEWLINK, AF_UNSPEC, NULL, 0), &e), -EBADMSG);
        assert_int_equal(parse_and_free(&links,
                                        link_message(RTM_NEWLINK, AF_UNSPEC, "a-name-that-is-too-long", 0),
                                        &e),
                         -EBADMSG);
        assert_int_equal(parse_and_free(&links, link_message(RTM_DELLINK, AF_UNSPEC, "eth0", 0), &e), 1);
        assert_string_equal(e.action, "remove");
        assert_null(link_table_find(&links, 2));
        assert_int_equal(parse_and_free(&links, nlmsg_alloc_simple(RTM_NEWLINK, 0), &e), -EBADMSG);
        assert_int_equal(parse_and_free(&links, nlmsg_alloc_simple(RTM_NEWNEIGH, 0), &e), 0);
        link_table_clear(&links);
}

static struct nl_msg *addr_message(int type, uint32_t flags)
{
        struct ifaddrmsg addr = { .ifa_family = AF_INET6, .ifa_index = 2 };
        struct nl_msg *msg = nlmsg_alloc_simple(type, 0);

        assert_int_equal(nlmsg_append(msg, &addr, sizeof(addr), NLMSG_ALIGNTO), 0);
        assert_int_equal(nla_put_u32(msg, IFA_FLAGS, flags), 0);
        return msg;
}

static void test_addr_messages(void **state)
{
        LinkTable links = { 0 };
        LinkState eth = { .index = 2, .name = "eth0" };
        MonitorEvent e;

        link_table_update(&links, &eth);
        assert_int_equal(parse_and_free(&links, addr_message(RTM_NEWADDR, IFA_F_PERMANENT), &e), 1);
        assert_string_equal(e.subsystem, "addr");
        assert_string_equal(e.action, "add");
        assert_string_equal(e.object, "eth0");
        assert_int_equal(parse_and_free(&links, addr_message(RTM_NEWADDR, IFA_F_TENTATIVE), &e), 0);
        assert_int_equal(parse_and_free(&links, addr_message(RTM_NEWADDR, IFA_F_DADFAILED), &e), 0);
        assert_int_equal(parse_and_free(&links, addr_message(RTM_DELADDR, IFA_F_TENTATIVE), &e), 1);
        assert_string_equal(e.action, "remove");
        assert_int_equal(parse_and_free(&links, nlmsg_alloc_simple(RTM_DELADDR, 0), &e), -EBADMSG);
        link_table_clear(&links);
}

static struct nl_msg *route_message(int type, int table, int kind, unsigned flags, int oif)
{
        struct rtmsg route = { .rtm_family = AF_INET,
                               .rtm_table = RT_TABLE_UNSPEC,
                               .rtm_type = (unsigned char)kind,
                               .rtm_flags = flags };
        struct nl_msg *msg = nlmsg_alloc_simple(type, 0);

        assert_int_equal(nlmsg_append(msg, &route, sizeof(route), NLMSG_ALIGNTO), 0);
        assert_int_equal(nla_put_u32(msg, RTA_TABLE, (uint32_t)table), 0);
        if (oif)
                assert_int_equal(nla_put_u32(msg, RTA_OIF, (uint32_t)oif), 0);
        return msg;
}

static void test_route_messages(void **state)
{
        LinkTable links = { 0 };
        LinkState eth = { .index = 2, .name = "eth0" };
        MonitorEvent e;

        link_table_update(&links, &eth);
        assert_int_equal(
                parse_and_free(&links, route_message(RTM_NEWROUTE, RT_TABLE_MAIN, RTN_UNICAST, 0, 2), &e), 1);
        assert_string_equal(e.subsystem, "route");
        assert_string_equal(e.object, "eth0");
        /* A table of its own with more than one next hop. */
        assert_int_equal(parse_and_free(&links, route_message(RTM_DELROUTE, 1000, RTN_UNICAST, 0, 0), &e), 1);
        assert_string_equal(e.action, "remove");
        assert_string_equal(e.object, "");
        assert_int_equal(parse_and_free(&links, route_message(RTM_NEWROUTE, 1000, RTN_BLACKHOLE, 0, 0), &e),
                         1);
        assert_int_equal(
                parse_and_free(&links, route_message(RTM_NEWROUTE, RT_TABLE_LOCAL, RTN_UNICAST, 0, 2), &e),
                0);
        assert_int_equal(
                parse_and_free(&links, route_message(RTM_NEWROUTE, RT_TABLE_MAIN, RTN_MULTICAST, 0, 2), &e),
                0);
        assert_int_equal(
                parse_and_free(&links, route_message(RTM_NEWROUTE, RT_TABLE_MAIN, RTN_LOCAL, 0, 2), &e), 0);
        assert_int_equal(
                parse_and_free(&links,
                               route_message(RTM_NEWROUTE, RT_TABLE_MAIN, RTN_UNICAST, RTM_F_CLONED, 2), &e),
                0);
        assert_int_equal(parse_and_free(&links, nlmsg_alloc_simple(RTM_NEWROUTE, 0), &e), -EBADMSG);
        link_table_clear(&links);
}

static void test_rule_messages(void **state)
{
        struct fib_rule_hdr rule = { .family = AF_INET };
        MonitorEvent e;

        struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWRULE, 0);
        assert_int_equal(nlmsg_append(msg, &rule, sizeof(rule), NLMSG_ALIGNTO), 0);
        assert_int_equal(parse_and_free(NULL, msg, &e), 1);
        assert_string_equal(e.subsystem, "rule");
        assert_int_equal(parse_and_free(NULL, nlmsg_alloc_simple(RTM_DELRULE, 0), &e), -EBADMSG);
}

static int parse_ethtool(int family, int cmd, const char *name)
{
        MonitorEvent e = { .source = "none" };
        struct nl_msg *msg = nlmsg_alloc();

        assert_non_null(genlmsg_put(msg, 0, 0, 21, 0, 0, (uint8_t)cmd, 1));
        if (name) {
                struct nlattr *header = nla_nest_start(msg, ETHTOOL_A_CHANNELS_HEADER);
                assert_int_equal(nla_put_u32(msg, ETHTOOL_A_HEADER_DEV_INDEX, 2), 0);
                assert_int_equal(nla_put_string(msg, ETHTOOL_A_HEADER_DEV_NAME, name), 0);
                nla_nest_end(msg, header);
        }
        assert_int_equal(nla_put_u32(msg, ETHTOOL_A_CHANNELS_COMBINED_COUNT, 4), 0);
        int r = ethtool_parse(family, nlmsg_hdr(msg), &e);
        if (r > 0) {
                assert_string_equal(e.source, "ethtool");
                assert_string_equal(e.object, name);
                assert_string_equal(e.subsystem, cmd == ETHTOOL_MSG_CHANNELS_NTF ? "channels" : "rings");
        } else {
                assert_string_equal(e.source, "none");
        }
        nlmsg_free(msg);
        return r;
}

static void test_ethtool_messages(void **state)
{
        MonitorEvent e;

        assert_int_equal(parse_ethtool(21, ETHTOOL_MSG_CHANNELS_NTF, "eth0"), 1);
        assert_int_equal(parse_ethtool(21, ETHTOOL_MSG_RINGS_NTF, "eth0"), 1);
        assert_int_equal(parse_ethtool(21, ETHTOOL_MSG_FEATURES_NTF, "eth0"), 0);
        assert_int_equal(parse_ethtool(22, ETHTOOL_MSG_CHANNELS_NTF, "eth0"), 0);
        assert_int_equal(parse_ethtool(21, ETHTOOL_MSG_CHANNELS_NTF, NULL), -EBADMSG);
        assert_int_equal(parse_ethtool(21, ETHTOOL_MSG_CHANNELS_NTF, "a-name-that-is-too-long"), -EBADMSG);
        struct nl_msg *msg = nlmsg_alloc_simple(21, 0);
        assert_int_equal(ethtool_parse(21, nlmsg_hdr(msg), &e), -EBADMSG);
        nlmsg_free(msg);
}

static void test_iscsi_events(void **state)
{
        MonitorEvent e = { 0 };

        assert_int_equal(iscsi_parse(101, &e), 0);
        assert_null(e.source);
        assert_int_equal(iscsi_parse(102, &e), 1);
        assert_string_equal(e.subsystem, "iscsi_connection");
        assert_string_equal(e.action, "error");
        assert_int_equal(iscsi_parse(104, &e), 1);
        assert_string_equal(e.subsystem, "iscsi_session");
        assert_string_equal(e.action, "remove");
        assert_int_equal(iscsi_parse(106, &e), 1);
        assert_string_equal(e.action, "add");
        assert_int_equal(iscsi_parse(0, &e), 0);
        assert_int_equal(iscsi_parse(~0u, &e), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_uevents_that_matter), cmocka_unit_test(test_uevents_that_do_not),
                cmocka_unit_test(test_link_table),          cmocka_unit_test(test_link_messages),
                cmocka_unit_test(test_addr_messages),       cmocka_unit_test(test_route_messages),
                cmocka_unit_test(test_rule_messages),       cmocka_unit_test(test_ethtool_messages),
                cmocka_unit_test(test_iscsi_events),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
