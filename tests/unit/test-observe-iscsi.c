/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tree.h"

#define PCI "sys/devices/pci0000:00"

/* What one software host looks like; NULL leaves a file out. */
typedef struct Host {
        unsigned host;
        const char *target, *iface;
        const char *ipaddress,
                *local_port; /* missing files stand for the error of a host without connection */
        const char *peer, *netdev;
} Host;

static void put_host(const Machine *m, const char *folder, const Host *h, const char *proc_name)
{
        _cleanup_(freep) char *base = strf("%s/host%u", folder, h->host);
        _cleanup_(freep) char *class = strf("sys/class/iscsi_host/host%u", h->host);
        _cleanup_(freep) char *own = strf("%s/iscsi_host/host%u", base, h->host);
        _cleanup_(freep) char *session = strf("%s/session%u", base, h->host + 1);
        _cleanup_(freep) char *scsi_class = strf("sys/class/scsi_host/host%u", h->host);
        _cleanup_(freep) char *scsi = strf("%s/scsi_host/host%u", base, h->host);

        tree_put(m, h->netdev ? h->netdev : "(null)\n", "%s/netdev", own);
        tree_put(m, proc_name, "%s/proc_name", scsi);
        tree_link(m, class, own);
        tree_link(m, scsi_class, scsi);
        if (h->ipaddress)
                tree_put(m, h->ipaddress, "%s/ipaddress", own);
        if (!h->target)
                return;
        tree_put(m, h->target, "%s/iscsi_session/session%u/targetname", session, h->host + 1);
        tree_put(m, h->iface, "%s/iscsi_session/session%u/ifacename", session, h->host + 1);
        tree_folder(m, "%s/target%u:0:0/%u:0:0:0/block/sd%c", session, h->host, h->host, 'a' + (char)h->host);
        if (!h->peer)
                return;
        tree_put(m, h->peer, "%s/connection%u:0/iscsi_connection/connection%u:0/address", session,
                 h->host + 1, h->host + 1);
        tree_put(m, "3260\n", "%s/connection%u:0/iscsi_connection/connection%u:0/port", session, h->host + 1,
                 h->host + 1);
        if (h->local_port)
                tree_put(m, h->local_port, "%s/connection%u:0/iscsi_connection/connection%u:0/local_port",
                         session, h->host + 1, h->host + 1);
}

static void put_nic(const Machine *m, const char *address, const char *netdev, const char *node)
{
        _cleanup_(freep) char *folder = strf(PCI "/%s/net/%s", address, netdev);
        _cleanup_(freep) char *class = strf("sys/class/net/%s", netdev);
        _cleanup_(freep) char *device = strf(PCI "/%s/net/%s/device", address, netdev);
        _cleanup_(freep) char *function = strf(PCI "/%s", address);

        tree_put_pci(m, address, "0x020000\n", node, "ixgbe");
        tree_link(m, class, folder);
        tree_link(m, device, function);
}

static void put_upper(const Machine *m, const char *netdev, const char *lower)
{
        _cleanup_(freep) char *class = strf("sys/class/net/%s", netdev);
        _cleanup_(freep) char *folder = strf("sys/devices/virtual/net/%s", netdev);
        _cleanup_(freep) char *link = strf("sys/devices/virtual/net/%s/lower_%s", netdev, lower);
        _cleanup_(freep) char *target = strf("sys/class/net/%s", lower);
        _cleanup_(freep) char *there = strf("%s/%s", m->dir, class);

        if (faccessat(AT_FDCWD, there, F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
                tree_folder(m, "%s", folder);
                tree_link(m, class, folder);
        }
        tree_link(m, link, target);
}

/* NICs eth0 and eth1 on node 0, eth2 on node 1, eth3 on a node that is not known. */
static int setup(void **state)
{
        Machine *m = malloc(sizeof(*m));

        assert_non_null(m);
        tree_init(m);
        tree_put_nodes(m);
        put_nic(m, "0000:00:02.0", "eth0", "0\n");
        put_nic(m, "0000:00:03.0", "eth1", "0\n");
        put_nic(m, "0000:00:04.0", "eth2", "1\n");
        put_nic(m, "0000:00:05.0", "eth3", "-1\n");
        *state = m;
        return 0;
}

static int teardown(void **state)
{
        machine_done(*state);
        free(*state);
        return 0;
}

static void check(const Snapshot *s, const char *id, int node, const char *netdev, const char *via,
                  const char *nic)
{
        const Device *d = tree_device(s, id);

        assert_int_equal(d->class, DEVICE_ISCSI_HOST);
        assert_int_equal(d->node, node);
        assert_int_equal(d->node_source, node == NODE_UNKNOWN ? NODE_SOURCE_UNKNOWN : NODE_SOURCE_NETDEV);
        assert_non_null(d->node_text);
        if (netdev)
                assert_string_equal(d->iscsi->netdev, netdev);
        else
                assert_null(d->iscsi->netdev);
        if (via)
                assert_string_equal(d->iscsi->via, via);
        if (nic)
                assert_string_equal(d->iscsi->nic_device, nic);
        else
                assert_null(d->iscsi->nic_device);
}

/* Each source of the netdev answers with another NIC, and the earlier source wins. */
static void sources_in_order(void **state)
{
        static const Host hosts[] = {
                { 0, "iqn.test:netdev\n", "default\n", "10.0.0.1\n", "1000\n", "10.0.0.2\n", "eth0\n" },
                { 1, "iqn.test:socket\n", "default\n", "10.0.0.1\n", "1001\n", "10.0.0.2\n", NULL },
                { 2, "iqn.test:route\n", "default\n", "10.0.0.1\n", "1002\n", "10.0.0.2\n", NULL },
                { 3, "iqn.test:address\n", "default\n", "10.5.0.1\n", "1003\n", "10.5.0.2\n", NULL },
                { 4, "iqn.test:nothing\n", "default\n", "10.6.0.1\n", "1004\n", "10.6.0.2\n", NULL },
                { 5, "iqn.test:unconnected\n", "default\n", NULL, NULL, NULL, NULL },
        };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        for (size_t i = 0; i < ARRAY_SIZE(hosts); i++)
                put_host(m, "sys/devices/platform", &hosts[i], "iscsi_tcp\n");
        machine_put(m, "netlink.json",
                    "{\"addresses\": [{\"address\": \"10.0.0.1\", \"dev\": \"eth1\"},"
                    "                 {\"address\": \"10.5.0.1\", \"dev\": \"eth1\"}],"
                    " \"routes\": [{\"dst\": \"10.0.0.0/24\", \"dev\": \"eth2\"}],"
                    " \"sockets\": [{\"local\": \"10.0.0.1:1001\", \"remote\": \"10.0.0.2:3260\", \"dev\": "
                    "\"eth3\"}]}");
        s = tree_observe(m);
        check(s, "iscsi:default:iqn.test:netdev", 0, "eth0", "netdev of the iscsi interface: eth0",
              "pci:0000:00:02.0");
        check(s, "iscsi:default:iqn.test:socket", NODE_UNKNOWN, "eth3", "socket to 10.0.0.2 bound: eth3",
              "pci:0000:00:05.0");
        check(s, "iscsi:default:iqn.test:route", 1, "eth2", "route to 10.0.0.2: eth2", "pci:0000:00:04.0");
        check(s, "iscsi:default:iqn.test:address", 0, "eth1", "owner of 10.5.0.1: eth1", "pci:0000:00:03.0");
        check(s, "iscsi:default:iqn.test:nothing", NODE_UNKNOWN, NULL, NULL, NULL);
        check(s, "iscsi:default:iqn.test:unconnected", NODE_UNKNOWN, NULL, NULL, NULL);
        assert_string_equal(tree_device(s, "iscsi:default:iqn.test:unconnected")->node_text, "not connected");
}

static void the_facts_of_a_host(void **state)
{
        static const Host host = { 8, "iqn.test:t1\n", "eno1\n", "fe80::1\n", "40000\n", "fe80::2\n", NULL };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const Device *d;
        Machine *m = *state;

        put_host(m, "sys/devices/platform", &host, "iscsi_tcp\n");
        machine_put(m, "netlink.json", "{\"routes\": [{\"dst\": \"fe80::/64\", \"dev\": \"eth2\"}]}");
        machine_put(m, "sys/devices/virtual/workqueue/iscsi_q_8/cpumask", "ff\n");
        machine_put(m, "sys/devices/virtual/workqueue/iscsi_ctrl_8:1/cpumask", "ff\n");
        s = tree_observe(m);
        d = tree_device(s, "iscsi:eno1:iqn.test:t1");
        assert_string_equal(d->driver, "iscsi_tcp");
        assert_string_equal(d->iscsi->transport, "tcp");
        assert_false(d->iscsi->offload);
        assert_null(d->model);
        assert_null(d->pci);
        assert_int_equal(d->n_scsi_hosts, 1);
        assert_int_equal(d->scsi_hosts[0], 8);
        assert_string_equal(d->iscsi->local, "[fe80::1]:40000");
        assert_string_equal(d->iscsi->peer, "[fe80::2]:3260");
        assert_string_equal(d->disks.items[0], "sdi");
        assert_int_equal(d->node, 1);
        assert_int_equal(s->n_workqueues, 2);
        assert_ptr_equal(&s->devices[s->workqueues[0].device], d);
        assert_ptr_equal(&s->devices[s->workqueues[1].device], d);
}

static void down_to_the_hardware(void **state)
{
        static const char *const uppers[][2] = { { "vlan7", "bond0" }, { "bond0", "eth0" },
                                                 { "bond0", "eth1" },  { "br0", "vlan7" },
                                                 { "br0", "tap0" },    { "bond1", "eth0" },
                                                 { "bond1", "eth2" },  { "loop0", "loop1" },
                                                 { "loop1", "loop0" } };
        static const char *const paths[] = { "br0", "bond1", "veth0", "loop0" };
        _cleanup_(snapshot_freep) Snapshot *s = NULL, *active = NULL;
        Machine *m = *state;

        for (size_t i = 0; i < ARRAY_SIZE(uppers); i++)
                put_upper(m, uppers[i][0], uppers[i][1]);
        tree_folder(m, "sys/devices/virtual/net/tap0");
        tree_link(m, "sys/class/net/tap0", "sys/devices/virtual/net/tap0");
        tree_folder(m, "sys/devices/virtual/net/veth0");
        tree_link(m, "sys/class/net/veth0", "sys/devices/virtual/net/veth0");
        for (unsigned i = 0; i < ARRAY_SIZE(paths); i++) {
                _cleanup_(freep) char *target = strf("iqn.test:%s\n", paths[i]);
                const Host host = { i, target, "(null)\n", NULL, NULL, NULL, paths[i] };

                put_host(m, "sys/devices/platform", &host, "iscsi_tcp\n");
        }
        s = tree_observe(m);
        check(s, "iscsi:default:iqn.test:br0", 0, "br0",
              "netdev of the iscsi interface: br0 > vlan7 > bond0 > eth0", "pci:0000:00:02.0");
        check(s, "iscsi:default:iqn.test:bond1", NODE_UNKNOWN, "bond1",
              "netdev of the iscsi interface: bond1", NULL);
        assert_non_null(strstr(tree_device(s, "iscsi:default:iqn.test:bond1")->node_text, "different nodes"));
        check(s, "iscsi:default:iqn.test:veth0", NODE_UNKNOWN, "veth0", NULL, NULL);
        check(s, "iscsi:default:iqn.test:loop0", NODE_UNKNOWN, "loop0", NULL, NULL);
        machine_put(m, "sys/devices/virtual/net/bond1/bonding/active_slave", "eth2\n");
        active = tree_observe(m);
        check(active, "iscsi:default:iqn.test:bond1", 1, "bond1",
              "netdev of the iscsi interface: bond1 > eth2", "pci:0000:00:04.0");
}

static void hosts_of_one_target_are_told_apart(void **state)
{
        static const Host hosts[] = { { 10, "iqn.test:t\n", "default\n", NULL, NULL, NULL, "eth2\n" },
                                      { 9, "iqn.test:t\n", "default\n", NULL, NULL, NULL, "eth0\n" },
                                      { 11, "iqn.test:t\n", "other\n", NULL, NULL, NULL, "eth0\n" } };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        for (size_t i = 0; i < ARRAY_SIZE(hosts); i++)
                put_host(m, "sys/devices/platform", &hosts[i], "iscsi_tcp\n");
        s = tree_observe(m);
        assert_int_equal(tree_device(s, "iscsi:default:iqn.test:t")->iscsi->host, 9);
        assert_int_equal(tree_device(s, "iscsi:default:iqn.test:t#2")->iscsi->host, 10);
        assert_int_equal(tree_device(s, "iscsi:other:iqn.test:t")->iscsi->host, 11);
}

/* The card's function is an HBA with vectors of its own; its SCSI host is the iscsi-host's. */
static void an_offload_host_sits_on_its_card(void **state)
{
        static const Host host = { 17, NULL, NULL, "10.0.0.1\n", NULL, NULL, "eth0\n" };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const Device *d;
        Machine *m = *state;

        tree_put_pci(m, "0000:00:09.4", "0x010000\n", "1\n", "qedi");
        put_host(m, PCI "/0000:00:09.4", &host, "qedi\n");
        tree_put(m, "00:11:22:33:44:55\n", PCI "/0000:00:09.4/host17/iscsi_host/host17/hwaddress");
        tree_put(m, "E:ID_MODEL_FROM_DATABASE=FastLinQ\n", "run/udev/data/+pci:0000:00:09.4");
        s = tree_observe(m);
        d = tree_device(s, "iscsi:qedi.00:11:22:33:44:55:");
        assert_true(d->iscsi->offload);
        assert_string_equal(d->pci, "0000:00:09.4");
        assert_string_equal(d->model, "FastLinQ");
        assert_string_equal(d->iscsi->target, "");
        assert_int_equal(d->node, 1);
        assert_int_equal(d->node_source, NODE_SOURCE_ANCESTOR);
        assert_int_equal(tree_device(s, "pci:0000:00:09.4")->n_scsi_hosts, 0);
        assert_ptr_equal(&s->devices[snapshot_device_of_scsi_host(s, 17)], d);
}

static void without_numa_there_is_nothing_to_find(void **state)
{
        static const Host host = { 0, "iqn.test:t\n", "default\n", NULL, NULL, NULL, NULL };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const Device *d;
        Machine m;

        tree_init(&m);
        machine_put(&m, "sys/devices/system/cpu/online", "0-3\n");
        put_host(&m, "sys/devices/platform", &host, "iscsi_tcp\n");
        s = tree_observe(&m);
        d = tree_device(s, "iscsi:default:iqn.test:t");
        assert_int_equal(d->node, 0);
        assert_int_equal(d->node_source, NODE_SOURCE_SINGLE);
        machine_done(&m);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        const struct CMUnitTest tests[] = {
                CASE(sources_in_order),
                CASE(the_facts_of_a_host),
                CASE(down_to_the_hardware),
                CASE(hosts_of_one_target_are_told_apart),
                CASE(an_offload_host_sits_on_its_card),
                cmocka_unit_test(without_numa_there_is_nothing_to_find),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
