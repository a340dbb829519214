/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/iscsi-knobs.h"
#include "plugins/plugin.h"
#include "tree.h"

/* What a look finds of a software iSCSI host's transmit work. */

#define BASE  "sys/devices/platform/host3"
#define DISKS BASE "/session4/target3:0:0/3:0:0:0/block/"
#define QUEUE "sys/devices/virtual/workqueue/iscsi_q_3"
#define ID    "iscsi:default:iqn.2024-01.test:t1"

static void put_host(const Machine *m)
{
        tree_put_nodes(m);
        tree_put(m, "(null)\n", BASE "/iscsi_host/host3/netdev");
        tree_put(m, "iscsi_tcp\n", BASE "/scsi_host/host3/proc_name");
        tree_link(m, "sys/class/iscsi_host/host3", BASE "/iscsi_host/host3");
        tree_link(m, "sys/class/scsi_host/host3", BASE "/scsi_host/host3");
        tree_put(m, "iqn.2024-01.test:t1\n", BASE "/session4/iscsi_session/session4/targetname");
        tree_put(m, "default\n", BASE "/session4/iscsi_session/session4/ifacename");
        tree_put(m, "ff\n", QUEUE "/cpumask");
        tree_put(m, "1\n", QUEUE "/max_active");
}

static void put_disk(const Machine *m, const char *name, const char *scheduler)
{
        _cleanup_(freep) char *folder = strf(DISKS "%s", name);
        _cleanup_(freep) char *link = strf("sys/block/%s", name);

        tree_put(m, scheduler, "%s/queue/scheduler", folder);
        tree_link(m, link, folder);
}

/* A device mapper target above a disk or partition, or another target. */
static void put_target(const Machine *m, const char *dm, bool request_based, const char *below)
{
        _cleanup_(freep) char *link = strf("%s/holders/%s", below, dm), *target = strf("sys/block/%s", dm);

        if (request_based)
                tree_folder(m, "sys/block/%s/mq/0", dm);
        else
                tree_folder(m, "sys/block/%s/queue", dm);
        tree_link(m, link, target);
}

static void expect_knob(const Device *d, WriterKind kind, const char *value)
{
        const Knob *k = device_knob(d, kind);

        if (!value) {
                assert_null(k);
                return;
        }
        assert_non_null(k);
        assert_string_equal(k->value, value);
}

static void stock_kernels(void **state)
{
        _cleanup_(machine_done) Machine m;
        _cleanup_(snapshot_freep) Snapshot *old = NULL, *new = NULL;
        const Device *d;

        tree_init(&m);
        put_host(&m);
        put_disk(&m, "sda", "[mq-deadline] none\n");
        tree_put(&m, "0\n", QUEUE "/numa");
        old = tree_observe(&m);
        d = tree_device(old, ID);
        expect_knob(d, WRITER_WORKQUEUE_NUMA, "0");
        expect_knob(d, WRITER_WORKQUEUE_SCOPE, NULL);
        expect_knob(d, WRITER_ISCSI_XMIT_NUMA, NULL);
        assert_int_equal(d->iscsi->xmit.sessions, 1);
        assert_int_equal(d->iscsi->xmit.rx_cpu, -1);
        assert_false(d->iscsi->xmit.counted);
        assert_false(d->iscsi->xmit.receives);
        assert_false(d->iscsi->xmit.no_pools);
        assert_int_equal(d->iscsi->xmit.n_disks, 0);
        assert_cpus(old->possible, "0-7");

        tree_put(&m, "default (cache)\n", QUEUE "/affinity_scope");
        tree_put(&m, "0\n", QUEUE "/affinity_strict");
        tree_put(&m, "Y\n", "sys/module/iscsi_tcp/parameters/recv_from_iscsi_q");
        tree_put(&m, "Y\n", "sys/module/workqueue/parameters/disable_numa");
        tree_folder(&m, BASE "/session5");
        new = tree_observe(&m);
        d = tree_device(new, ID);
        expect_knob(d, WRITER_WORKQUEUE_SCOPE, "default");
        expect_knob(d, WRITER_WORKQUEUE_STRICT, "0");
        assert_int_equal(d->iscsi->xmit.sessions, 2);
        assert_true(d->iscsi->xmit.receives);
        assert_true(d->iscsi->xmit.no_pools);
}

static void patched_kernel(void **state)
{
        _cleanup_(machine_done) Machine m;
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const XmitFacts *x;
        const Device *d;

        tree_init(&m);
        put_host(&m);
        put_disk(&m, "sda", "[none] mq-deadline\n");
        put_disk(&m, "sdb", "none [mq-deadline]\n");
        put_disk(&m, "sdc", "none\n");
        tree_put(&m, "1\n", BASE "/scsi_host/host3/xmit_numa");
        tree_put(&m, "0\n", BASE "/scsi_host/host3/xmit_inline");
        tree_put(&m, "6\n", BASE "/scsi_host/host3/rx_cpu");
        tree_put(&m, "local 4294967297 remote 12\n", BASE "/scsi_host/host3/xmit_stats");
        s = tree_observe(&m);
        d = tree_device(s, ID);
        x = &d->iscsi->xmit;
        expect_knob(d, WRITER_ISCSI_XMIT_NUMA, "1");
        expect_knob(d, WRITER_ISCSI_XMIT_INLINE, "0");
        assert_string_equal(device_knob(d, WRITER_ISCSI_XMIT_INLINE)->path,
                            BASE "/scsi_host/host3/xmit_inline");
        assert_int_equal(x->rx_cpu, 6);
        assert_true(x->counted);
        assert_true(x->local == UINT64_C(4294967297) && x->remote == 12);
        assert_int_equal(x->n_disks, 3);
        assert_string_equal(x->disks[0].scheduler, "none");
        assert_string_equal(x->disks[1].scheduler, "mq-deadline");
        assert_string_equal(x->disks[2].scheduler, "none");
        for (size_t i = 0; i < 3; i++)
                assert_null(x->disks[i].request_based);
}

static void request_based_targets(void **state)
{
        _cleanup_(machine_done) Machine m;
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const IscsiDisk *disks;

        tree_init(&m);
        put_host(&m);
        for (char name[] = "sda"; name[2] <= 'f'; name[2]++)
                put_disk(&m, name, "none\n");
        tree_put(&m, "0\n", BASE "/scsi_host/host3/xmit_inline");
        put_target(&m, "dm-0", true, DISKS "sda");      /* multipath */
        put_target(&m, "dm-1", false, DISKS "sdb");     /* linear */
        put_target(&m, "dm-2", true, DISKS "sdc/sdc1"); /* multipath over a partition */
        put_target(&m, "dm-3", false, DISKS "sdd");
        put_target(&m, "dm-4", true, "sys/block/dm-3"); /* one that is not directly above */
        put_target(&m, "md0", true, DISKS "sde");       /* has queues, and is no device mapper target */
        put_target(&m, "dm-5", false, DISKS "sdf");
        put_target(&m, "dm-5", false, "sys/block/dm-5"); /* no end */
        s = tree_observe(&m);
        disks = tree_device(s, ID)->iscsi->xmit.disks;
        assert_int_equal(tree_device(s, ID)->iscsi->xmit.n_disks, 6);
        assert_string_equal(disks[0].request_based, "dm-0");
        assert_null(disks[1].request_based);
        assert_string_equal(disks[2].request_based, "dm-2");
        assert_string_equal(disks[3].request_based, "dm-4");
        assert_null(disks[4].request_based);
        assert_null(disks[5].request_based);
}

static void counters(void **state)
{
        static const char *const wrong[] = { "",
                                             "local 1",
                                             "local 1 remote",
                                             "local 1 remote 2 other 3",
                                             "remote 1 local 2",
                                             "local x remote 2" };
        XmitFacts x = { 0 };

        assert_int_equal(xmit_stats_parse("local 0 remote 0", &x), 0);
        assert_true(x.counted);
        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
                XmitFacts y = { 0 };

                assert_int_equal(xmit_stats_parse(wrong[i], &y), -EINVAL);
                assert_false(y.counted);
        }
}

/* Whether an affinity scope is heeded is in no file: the kernel's symbols tell, where the policy asks. */
static void order_of_the_queue(void **state)
{
        static const struct {
                const char *symbols, *mode;
                QueueOrder order;
        } rows[] = {
                { "ffffffff813879e0 t wq_update_node_max_active\n", "submitter", QUEUE_NOT_ORDERED },
                { "0000000000000000 t __pfx_wq_update_node_max_active\n"
                  "0000000000000000 t wq_update_node_max_active_old\nwq_update_node_max_active\n",
                  "submitter", QUEUE_STAYS_ORDERED },
                { "0000000000000000 T wq_update_node_max_active\n", "on", QUEUE_ORDER_UNKNOWN },
                { NULL, "submitter", QUEUE_ORDER_UNKNOWN },
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                _cleanup_(freep) char *text =
                        strf("version: 1\nrules: [{name: r, set: {iscsi: {dynamic: %s}}}]\n", rows[i].mode);
                _cleanup_(machine_done) Machine m;
                _cleanup_(snapshot_freep) Snapshot *s = NULL, *again = NULL;
                _cleanup_(policy_freep) Policy *policy = NULL;
                SymbolMemo memo = { 0 };

                tree_init(&m);
                put_host(&m);
                tree_put(&m, "default (cache)\n", QUEUE "/affinity_scope");
                if (rows[i].symbols)
                        tree_put(&m, rows[i].symbols, "proc/kallsyms");
                assert_int_equal(policy_parse("FILE", text, strlen(text), &policy, NULL), 0);
                s = tree_observe(&m);
                assert_int_equal(plugins_complete(m.root, policy, &memo, s), 0);
                assert_int_equal(tree_device(s, ID)->iscsi->xmit.order, rows[i].order);
                assert_int_equal(memo.asked, strcmp(rows[i].mode, "submitter") == 0);
                /* Another look does not read them again. */
                tree_put(&m, "", "proc/kallsyms");
                again = tree_observe(&m);
                assert_int_equal(plugins_complete(m.root, policy, &memo, again), 0);
                assert_int_equal(tree_device(again, ID)->iscsi->xmit.order, rows[i].order);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(stock_kernels),         cmocka_unit_test(patched_kernel),
                cmocka_unit_test(request_based_targets), cmocka_unit_test(counters),
                cmocka_unit_test(order_of_the_queue),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
