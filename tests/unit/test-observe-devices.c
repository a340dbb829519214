/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tree.h"

#define PCI "sys/devices/pci0000:00"

static int setup(void **state)
{
        Machine *m = malloc(sizeof(*m));

        assert_non_null(m);
        tree_init(m);
        tree_put_nodes(m);
        *state = m;
        return 0;
}

static int teardown(void **state)
{
        machine_done(*state);
        free(*state);
        return 0;
}

static void functions_become_devices_by_class(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        tree_put_pci(m, "0000:00:01.0", "0x060400\n", "0\n", "pcieport");
        tree_put_pci(m, "0000:00:02.0", "0x010802\n", "0\n", "nvme");
        tree_put_pci(m, "0000:00:03.0", "0x010700\n", "0\n", "hisi_sas_v3_hw");
        tree_put_pci(m, "0000:00:04.0", "0x0c0400\n", "0\n", "lpfc");
        tree_put_pci(m, "0000:00:05.0", "0x020000\n", "0\n", "vfio-pci"); /* without netdev, still a NIC */
        tree_put_pci(m, "0000:00:06.0", "0x020700\n", "0\n", "mlx5_core");
        tree_put_pci(m, "0000:00:07.0", "0x028000\n", "0\n", "iwlwifi");
        tree_put_pci(m, "0000:00:08.0", "0x020000\n", "0\n", NULL); /* no driver, no interrupts */
        tree_put_pci(m, "0000:00:09.0", "0x0c0330\n", "0\n", "xhci_hcd");
        tree_folder(m, PCI "/0000:00:06.0/net/ib0");
        tree_folder(m, PCI "/0000:00:09.0/usb1/1-2/1-2:1.0/net/usb0");
        tree_link(m, "sys/class/net/ib0", PCI "/0000:00:06.0/net/ib0");
        tree_link(m, "sys/class/net/usb0", PCI "/0000:00:09.0/usb1/1-2/1-2:1.0/net/usb0");
        s = tree_observe(m);
        assert_int_equal(s->n_devices, 5);
        assert_int_equal(tree_device(s, "pci:0000:00:02.0")->class, DEVICE_NVME);
        assert_int_equal(tree_device(s, "pci:0000:00:03.0")->class, DEVICE_HBA);
        assert_int_equal(tree_device(s, "pci:0000:00:04.0")->class, DEVICE_HBA);
        assert_int_equal(tree_device(s, "pci:0000:00:05.0")->class, DEVICE_NIC);
        assert_string_equal(tree_device(s, "pci:0000:00:06.0")->netdevs.items[0], "ib0");
        assert_null(snapshot_device_of_netdev(s, "usb0"));
}

static void a_virtio_device_has_its_childs_driver(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        tree_put_pci(m, "0000:00:02.0", "0x010000\n", "1\n", "virtio-pci");
        tree_put_pci(m, "0000:00:03.0", "0x020000\n", "1\n", "virtio-pci");
        tree_put_pci(m, "0000:00:04.0", "0x010000\n", "1\n", "virtio-pci");
        tree_link(m, PCI "/0000:00:02.0/virtio0/driver", "sys/bus/virtio/drivers/virtio_scsi");
        tree_put(m, "0x1041\n", PCI "/0000:00:03.0/device"); /* a capture without the child */
        tree_folder(m, PCI "/0000:00:03.0/virtio1/net/eth0");
        s = tree_observe(m);
        assert_string_equal(tree_device(s, "pci:0000:00:02.0")->driver, "virtio_scsi");
        assert_string_equal(tree_device(s, "pci:0000:00:03.0")->driver, "virtio_net");
        assert_string_equal(tree_device(s, "pci:0000:00:03.0")->netdevs.items[0], "eth0");
        assert_string_equal(tree_device(s, "pci:0000:00:04.0")->driver, "virtio-pci");
}

/* As lspci has them: addresses are hexadecimal, and a long domain comes after the short ones. */
static void devices_are_in_order_of_address(void **state)
{
        static const char *const addresses[] = { "0000:02:00.0", "0000:18:00.0", "0000:18:00.1",
                                                 "0000:1a:00.0", "0000:3e:00.0", "0000:af:00.0",
                                                 "0001:01:00.0", "10000:01:00.0" };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        for (size_t i = ARRAY_SIZE(addresses); i-- > 0;)
                tree_put_pci(m, addresses[i], "0x010400\n", "0\n", "a");
        s = tree_observe(m);
        assert_int_equal(s->n_devices, ARRAY_SIZE(addresses));
        for (size_t i = 0; i < s->n_devices; i++)
                assert_string_equal(s->devices[i].pci, addresses[i]);
}

static void hosts_and_disks_find_their_device(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const Device *hba, *nvme;
        Machine *m = *state;

        tree_put_pci(m, "0000:00:02.0", "0x010400\n", "0\n", "megaraid_sas");
        tree_put_pci(m, "0000:00:03.0", "0x010802\n", "1\n", "nvme");
        tree_put_pci(m, "0000:00:09.0", "0x0c0330\n", "0\n", "xhci_hcd");
        tree_folder(m, PCI "/0000:00:02.0/host3/scsi_host/host3");
        tree_folder(m, PCI "/0000:00:02.0/host10/scsi_host/host10");
        tree_folder(m, PCI "/0000:00:09.0/usb1/1-1/host0/scsi_host/host0");
        tree_link(m, "sys/class/scsi_host/host3", PCI "/0000:00:02.0/host3/scsi_host/host3");
        tree_link(m, "sys/class/scsi_host/host10", PCI "/0000:00:02.0/host10/scsi_host/host10");
        tree_link(m, "sys/class/scsi_host/host0", PCI "/0000:00:09.0/usb1/1-1/host0/scsi_host/host0");
        tree_folder(m, PCI "/0000:00:02.0/host3/target3:0:0/3:0:0:0/block/sdb/sdb1");
        tree_link(m, "sys/class/block/sdb", PCI "/0000:00:02.0/host3/target3:0:0/3:0:0:0/block/sdb");
        tree_link(m, "sys/class/block/sdb1", PCI "/0000:00:02.0/host3/target3:0:0/3:0:0:0/block/sdb/sdb1");
        tree_folder(m, PCI "/0000:00:03.0/nvme/nvme1/nvme1n1/nvme1n1p1");
        tree_folder(m, PCI "/0000:00:03.0/nvme/nvme1/nvme4c1n2");
        tree_link(m, "sys/class/block/nvme1n1", PCI "/0000:00:03.0/nvme/nvme1/nvme1n1");
        tree_link(m, "sys/class/block/nvme1n1p1", PCI "/0000:00:03.0/nvme/nvme1/nvme1n1/nvme1n1p1");
        tree_link(m, "sys/class/block/nvme4c1n2", PCI "/0000:00:03.0/nvme/nvme1/nvme4c1n2");
        s = tree_observe(m);
        hba = tree_device(s, "pci:0000:00:02.0");
        nvme = tree_device(s, "pci:0000:00:03.0");
        assert_int_equal(hba->n_scsi_hosts, 2);
        assert_int_equal(hba->scsi_hosts[0], 3);
        assert_int_equal(hba->scsi_hosts[1], 10);
        assert_int_equal(hba->disks.n, 1);
        assert_string_equal(hba->disks.items[0], "sdb");
        assert_int_equal(nvme->disks.n, 2);
        assert_true(strv_contains(&nvme->disks, "nvme1n1"));
        assert_true(strv_contains(&nvme->disks, "nvme4n2"));
        assert_int_equal(snapshot_device_of_scsi_host(s, 0), -1);
}

/* The database's file of one function, NULL = none, and the model that it makes. */
static void check_model(const char *text, const char *want)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine m;

        tree_init(&m);
        tree_put_nodes(&m);
        tree_put_pci(&m, "0000:21:00.0", "0x010400\n", "0\n", "megaraid_sas");
        tree_put(&m, "E:ID_VENDOR_FROM_DATABASE=Other\n", "run/udev/data/+pci:10000:21:00.0");
        if (text)
                tree_put(&m, text, "run/udev/data/+pci:0000:21:00.0");
        s = tree_observe(&m);
        if (want)
                assert_string_equal(tree_device(s, "pci:0000:21:00.0")->model, want);
        else
                assert_null(tree_device(s, "pci:0000:21:00.0")->model);
        machine_done(&m);
}

static void udev_knows_the_model(void **state)
{
        check_model("I:21671405\nE:ID_PCI_CLASS_FROM_DATABASE=Mass storage controller\n"
                    "E:ID_VENDOR_FROM_DATABASE=Broadcom / LSI\n"
                    "E:ID_MODEL_FROM_DATABASE=MegaRAID SAS 1078\nE:ID_PATH=pci-0000:21:00.0\nV:1\n",
                    "Broadcom / LSI MegaRAID SAS 1078");
        check_model("E:ID_MODEL_FROM_DATABASE=A=B\nE:ID_VENDOR_FROM_DATABASE=\n", "A=B");
        check_model("E:ID_VENDOR_FROM_DATABASE=Intel Corporation", "Intel Corporation");
        check_model("E:ID_MODEL_FROM_DATABASE=old\nE:ID_MODEL_FROM_DATABASE=new\n", "new");
}

static void without_udevs_words_there_is_no_model(void **state)
{
        check_model(NULL, NULL);
        check_model("", NULL);
        check_model("\n\nE\nE:\nE:=\nE:ID_MODEL_FROM_DATABASE\nE:ID_MODEL_FROM_DATABASE=", NULL);
        check_model("ID_MODEL_FROM_DATABASE=x\nS:ID_MODEL_FROM_DATABASE=x\n"
                    "E:ID_MODEL_FROM_DATABASE_ENC=x\nE:MY_ID_VENDOR_FROM_DATABASE=x\n",
                    NULL);
}

/* A folder in the file's place is as good as none. */
static void an_odd_database_is_no_error(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        tree_put_pci(m, "0000:21:00.0", "0x010400\n", "0\n", "megaraid_sas");
        tree_folder(m, "run/udev/data/+pci:0000:21:00.0");
        s = tree_observe(m);
        assert_null(tree_device(s, "pci:0000:21:00.0")->model);
}

static void check_node(const Snapshot *s, const char *id, int node, NodeSource source, const char *text)
{
        const Device *d = tree_device(s, id);

        assert_int_equal(d->node, node);
        assert_int_equal(d->node_source, source);
        assert_non_null(strstr(d->node_text, text));
}

static void the_node_of_a_device(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        tree_put_pci(m, "0000:00:02.0", "0x010400\n", "1\n", "a");
        tree_put_pci(m, "0000:00:03.0", "0x010400\n", "-1\n", "a");
        tree_put(m, "0-3\n", PCI "/0000:00:03.0/local_cpulist");
        tree_put_pci(m, "0000:00:04.0", "0x010400\n", "-1\n", "a");
        tree_put(m, "0-7\n", PCI "/0000:00:04.0/local_cpulist");
        tree_put_pci(m, "0000:00:05.0", "0x010400\n", "-1\n", "a");
        tree_put(m, "3-4\n", PCI "/0000:00:05.0/local_cpulist"); /* over two nodes */
        tree_put_pci(m, "0000:00:06.0", "0x010400\n", "-1\n", "a");
        tree_put(m, "00000000,000000f0\n", PCI "/0000:00:06.0/local_cpus"); /* list missing */
        tree_put_pci(m, "0000:00:07.0", "0x010400\n", "-1\n", "a");
        tree_put(m, "0-7\n", PCI "/0000:00:07.0/local_cpulist");
        tree_put(m, "0xf\n", PCI "/0000:00:07.0/local_cpus"); /* malformed, and in doubt the list counts */
        tree_put_pci(m, "0000:00:08.0", "0x010400\n", "9\n", "a"); /* no such node */
        s = tree_observe(m);
        check_node(s, "pci:0000:00:02.0", 1, NODE_SOURCE_DEVICE, "0000:00:02.0");
        check_node(s, "pci:0000:00:03.0", 0, NODE_SOURCE_LOCAL_CPULIST, "local_cpulist of 0000:00:03.0");
        check_node(s, "pci:0000:00:04.0", NODE_UNKNOWN, NODE_SOURCE_UNKNOWN, "0000:00:04.0");
        check_node(s, "pci:0000:00:05.0", NODE_UNKNOWN, NODE_SOURCE_UNKNOWN, "0000:00:05.0");
        check_node(s, "pci:0000:00:06.0", 1, NODE_SOURCE_LOCAL_CPULIST, "local_cpus of 0000:00:06.0");
        check_node(s, "pci:0000:00:07.0", NODE_UNKNOWN, NODE_SOURCE_UNKNOWN, "0000:00:07.0");
        check_node(s, "pci:0000:00:08.0", NODE_UNKNOWN, NODE_SOURCE_UNKNOWN, "0000:00:08.0");
}

static void the_nearest_ancestor_tells_the_node(void **state)
{
        const char *folder = PCI "/0000:00:01.0/0000:01:00.0/10000:02:00.0";
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        tree_put(m, "0\n", PCI "/0000:00:01.0/numa_node");
        tree_put(m, "1\n", PCI "/0000:00:01.0/0000:01:00.0/numa_node");
        tree_put(m, "-1\n", "%s/numa_node", folder);
        tree_put(m, "0x010802\n", "%s/class", folder);
        tree_put(m, "0-3\n", "%s/local_cpulist", folder);
        tree_link(m, "sys/bus/pci/devices/10000:02:00.0", folder);
        tree_link(m, PCI "/0000:00:01.0/0000:01:00.0/10000:02:00.0/driver", "sys/bus/pci/drivers/nvme");
        s = tree_observe(m);
        check_node(s, "pci:10000:02:00.0", 1, NODE_SOURCE_ANCESTOR, "0000:01:00.0");
}

static void a_machine_without_numa_has_node_0(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine m;

        tree_init(&m);
        machine_put(&m, "sys/devices/system/cpu/online", "0-3\n");
        tree_put_pci(&m, "0000:00:02.0", "0x020000\n", "-1\n", "e1000e");
        s = tree_observe(&m);
        check_node(s, "pci:0000:00:02.0", 0, NODE_SOURCE_SINGLE, "no NUMA");
        machine_done(&m);
}

static const Workqueue *find_workqueue(const Snapshot *s, const char *name)
{
        for (size_t i = 0; i < s->n_workqueues; i++)
                if (strcmp(s->workqueues[i].name, name) == 0)
                        return &s->workqueues[i];
        return NULL;
}

static void workqueues_belong_to_hosts(void **state)
{
        static const char *const unbound[] = { "scsi_tmf_3", "scsi_wq_3",  "scsi_tmf_33", "scsi_tmf_3x",
                                               "iscsi_q_",   "iscsi_ctrl", "writeback",   "firmware:scmi" };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        tree_put_pci(m, "0000:00:02.0", "0x010400\n", "0\n", "megaraid_sas");
        tree_folder(m, PCI "/0000:00:02.0/host3/scsi_host/host3");
        tree_link(m, "sys/class/scsi_host/host3", PCI "/0000:00:02.0/host3/scsi_host/host3");
        machine_put(m, "sys/devices/virtual/workqueue/cpumask", "0f\n");
        machine_put(m, "sys/devices/virtual/workqueue/uevent", "");
        machine_put(m, "sys/devices/virtual/workqueue/power/control", "auto\n");
        machine_put(m, "sys/devices/virtual/workqueue/ib-comp-wq/max_active", "256\n");
        for (size_t i = 0; i < ARRAY_SIZE(unbound); i++) {
                tree_put(m, "1\n", "sys/devices/virtual/workqueue/%s/max_active", unbound[i]);
                tree_put(m, "30\n", "sys/devices/virtual/workqueue/%s/cpumask", unbound[i]);
        }
        machine_put(m, "sys/devices/virtual/workqueue/scsi_tmf_3/numa", "1\n");
        s = tree_observe(m);
        assert_cpus(s->workqueue_mask, "0-3");
        assert_int_equal(s->n_workqueues, ARRAY_SIZE(unbound) + 1);
        assert_int_equal(find_workqueue(s, "scsi_tmf_3")->device, 0);
        assert_int_equal(find_workqueue(s, "scsi_tmf_3")->numa, 1);
        assert_cpus(find_workqueue(s, "scsi_tmf_3")->cpumask, "4-5");
        assert_int_equal(find_workqueue(s, "scsi_tmf_3")->settable, SETTABLE_YES);
        assert_int_equal(find_workqueue(s, "scsi_wq_3")->device, 0);
        for (size_t i = 2; i < ARRAY_SIZE(unbound); i++)
                assert_int_equal(find_workqueue(s, unbound[i])->device, -1);
        assert_int_equal(find_workqueue(s, "writeback")->numa, -1);
        assert_true(find_workqueue(s, "ib-comp-wq")->per_cpu);
        assert_null(find_workqueue(s, "ib-comp-wq")->cpumask);
        assert_null(find_workqueue(s, "power"));
}

#define WORKQUEUES "sys/devices/virtual/workqueue/"

/* Errors of the file are remembered, those of a value are not; and a file that nobody may write is not tried
 * at all. */
static void refused_workqueues_are_not_settable(void **state)
{
        static const KnownRefusal refusals[] = {
                { WORKQUEUES "iscsi_q_4/cpumask", -EPERM },  { WORKQUEUES "iscsi_q_5/cpumask", -EINVAL },
                { WORKQUEUES "iscsi_q_66/cpumask", -EPERM }, { WORKQUEUES "iscsi_q_6/numa", -EPERM },
                { "proc/irq/6/smp_affinity_list", -EIO },
        };
        static const struct {
                const char *name;
                Settable want;
        } rows[] = {
                { "iscsi_q_4", SETTABLE_NO },  { "iscsi_q_5", SETTABLE_YES }, { "iscsi_q_6", SETTABLE_YES },
                { "iscsi_q_66", SETTABLE_NO }, { "iscsi_q_7", SETTABLE_NO },  { "per-cpu", SETTABLE_NO },
        };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;
        _cleanup_(freep) char *read_only = strf("%s/" WORKQUEUES "iscsi_q_7/cpumask", m->dir);

        for (size_t i = 0; i + 1 < ARRAY_SIZE(rows); i++)
                tree_put(m, "ff\n", WORKQUEUES "%s/cpumask", rows[i].name);
        machine_put(m, WORKQUEUES "per-cpu/max_active", "256\n");
        assert_int_equal(chmod(read_only, 0444), 0);
        assert_int_equal(observe(m->root, refusals, ARRAY_SIZE(refusals), &s), 0);
        assert_int_equal(s->n_workqueues, ARRAY_SIZE(rows));
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                if (find_workqueue(s, rows[i].name)->settable != rows[i].want)
                        fail_msg("%s: %s expected", rows[i].name, settable_to_string(rows[i].want));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        const struct CMUnitTest tests[] = {
                CASE(functions_become_devices_by_class),
                CASE(a_virtio_device_has_its_childs_driver),
                CASE(devices_are_in_order_of_address),
                CASE(hosts_and_disks_find_their_device),
                CASE(udev_knows_the_model),
                CASE(without_udevs_words_there_is_no_model),
                CASE(an_odd_database_is_no_error),
                CASE(the_node_of_a_device),
                CASE(the_nearest_ancestor_tells_the_node),
                cmocka_unit_test(a_machine_without_numa_has_node_0),
                CASE(workqueues_belong_to_hosts),
                CASE(refused_workqueues_are_not_settable),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
