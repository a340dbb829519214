/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/managed.h"
#include "tree.h"

#define PCI "sys/devices/pci0000:00"
#define HBA "0000:00:02.0"
#define NIC "0000:00:03.0"

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

static void vectors_are_those_with_an_action(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const Device *d;
        Machine *m = *state;

        tree_put_pci(m, NIC, "0x020000\n", "1\n", "ixgbe");
        tree_put_vector(m, NIC, 100, "eth0-TxRx-1", "4\n", "4\n");
        tree_put_vector(m, NIC, 99, "eth0-TxRx-0", "0-7\n", "2\n");
        tree_put_vector(m, NIC, 101, NULL, "0-7\n", "0\n");                   /* freed by the driver */
        tree_put(m, "msix\n", "sys/devices/pci0000:00/" NIC "/msi_irqs/102"); /* never requested */
        tree_put_vector(m, NIC, 103, "eth0", "0-3\n", "5\n");
        tree_put_irq(m, 104, "eth0-TxRx-2", "1\n", "1\n"); /* somebody else's, whatever its name */
        s = tree_observe(m);
        d = tree_device(s, "pci:" NIC);
        assert_int_equal(d->n_vectors, 3);
        assert_int_equal(d->vectors[0].irq, 99);
        assert_int_equal(d->vectors[0].index, 0);
        assert_string_equal(d->vectors[0].key, "q0");
        assert_cpus(d->vectors[0].affinity, "0-7");
        assert_cpus(d->vectors[0].effective, "2");
        assert_false(d->vectors[0].pending);
        assert_int_equal(d->vectors[2].index, 4);
        assert_string_equal(d->vectors[2].key, "slow-misc");
        assert_true(d->vectors[2].pending); /* changed, and has not fired since */
        assert_int_equal(device_count_vectors(s, d, d->node).local, 2);
}

static void msi_irqs_may_be_folders(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        tree_put_pci(m, NIC, "0x020000\n", "1\n", "igb");
        tree_put(m, "msix\n", "sys/devices/pci0000:00/" NIC "/msi_irqs/101/mode");
        tree_put_irq(m, 101, "eth0-TxRx-0", "1\n", "1\n");
        s = tree_observe(m);
        assert_int_equal(tree_device(s, "pci:" NIC)->n_vectors, 1);
}

static void actions_may_stand_elsewhere(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const Device *d;
        Machine *m = *state;

        tree_put_pci(m, HBA, "0x010400\n", "0\n", "foo");
        tree_put_vector(m, HBA, 50, NULL, "1\n", "1\n");
        machine_put(m, "sys/kernel/irq/50/actions", "foo/a,foo b\n"); /* a name that cannot be a folder */
        tree_put_vector(m, HBA, 51, NULL, "1\n", "1\n");
        machine_put(m, "sys/kernel/irq/51/actions", "\n"); /* nobody: the other table is not asked */
        tree_put_vector(m, HBA, 52, NULL, "1\n", "1\n");
        tree_put_vector(m, HBA, 53, "foo-admin", "1\n", "1\n");
        tree_folder(m, "proc/irq/53/other");
        tree_put_vector(m, HBA, 54, "foo-old-3", "1\n", "1\n"); /* its folder keeps the first name */
        machine_put(m, "sys/kernel/irq/54/actions", "foo-3\n");
        tree_put_vector(m, HBA, 55, "foo,4", "1\n", "1\n"); /* one name with a comma */
        machine_put(m, "sys/kernel/irq/55/actions", "foo,4\n");
        machine_put(m, "proc/interrupts",
                    "  CPU0\n 51: 1  IR-PCI-MSI 1-edge  gone\n 52: 1  IR-PCI-MSI 1-edge  foo-2\n");
        s = tree_observe(m);
        d = tree_device(s, "pci:" HBA);
        assert_int_equal(d->n_vectors, 5);
        assert_string_equal(tree_vector(d, 50)->action, "foo/a, foo b");
        assert_string_equal(tree_vector(d, 52)->action, "foo-2");
        assert_string_equal(tree_vector(d, 53)->action, "foo-admin, other");
        assert_string_equal(tree_vector(d, 54)->action, "foo-3");
        assert_string_equal(tree_vector(d, 55)->action, "foo,4");
}

/* Equal names on two functions, and an action that names the other function: the hwirq decides. */
static void lines_tell_owners_where_msi_irqs_are_missing(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        tree_put_pci(m, HBA, "0x010400\n", "0\n", "megaraid_sas");
        tree_put_pci(m, NIC, "0x020000\n", "1\n", "mlx5_core");
        tree_put(m, "68\n", "sys/devices/pci0000:00/" HBA "/irq");
        for (unsigned irq = 68; irq < 74; irq++)
                tree_put_irq(m, irq, NULL, "0\n", "0\n");
        machine_put(m, "proc/interrupts",
                    "           CPU0\n"
                    " 68:          0   IO-APIC   1-fasteoi   i801_smbus\n"
                    " 69:          0   IR-PCI-MSI 32768-edge      megasas\n"
                    " 70:          0   IR-PCI-MSI 32769-edge      megasas\n"
                    " 71:          0   IR-PCI-MSIX-0000:00:03.0    0-edge      megasas\n"
                    " 72:          0   IR-PCI-MSIX-0000:00:03.0    1-edge      mlx5_comp1@pci:0000:00:02.0\n"
                    " 73:          0   IR-PCI-MSI 32770-edge\n");
        s = tree_observe(m);
        assert_int_equal(tree_device(s, "pci:" HBA)->n_vectors, 2);
        assert_string_equal(tree_vector(tree_device(s, "pci:" HBA), 70)->key, "q1");
        assert_int_equal(tree_device(s, "pci:" NIC)->n_vectors, 2);
        assert_string_equal(tree_vector(tree_device(s, "pci:" NIC), 72)->key, "q1");
}

/* A line interrupt of one function: its driver, the action that somebody requested it with, and whether it is
 * the function's. The function has the netdev eth1, the virtio child virtio3, and a driver of the module
 * 3w_9xxx. */
static void line_actions_tell_the_owner(void **state)
{
        static const struct {
                const char *driver, *action;
                bool own;
        } rows[] = {
                { "ata_piix", "ata_piix", true },
                { "sata-sil", "sata_sil", true },
                { "nvme", "nvme0q0", true },
                { "qla2xxx", "qla2xxx (default)", true },
                { "ahci", "ahci[0000:00:03.0]", true },
                { "foo", "bar@pci:0000:00:03.0", true },
                { "foo", "3w-9xxx", true }, /* the module */
                { "foo", "eth1", true },
                { "foo", "eth1-rx", true },
                { "virtio_blk", "virtio3", true },
                { "virtio_blk", "virtio3-config", true },
                { "vmd", "i801_smbus", false },
                { "nvme", "my_nvme", false },
                { "bnx2", "bnx2x", false },
                { "ahci", "ahci[0000:00:1f.2]", false },
                { "ahci", "ahci[10000:00:03.0]", false },
                { "foo", "eth10", false },
                { "virtio_blk", "virtio31", false },
                { "virtio_blk", "virtio", false },
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                _cleanup_(snapshot_freep) Snapshot *s = NULL;
                size_t found;
                Machine m;

                tree_init(&m);
                tree_put_nodes(&m);
                tree_put_pci(&m, NIC, "0x020000\n", "0\n", rows[i].driver);
                tree_link(&m, "sys/bus/pci/drivers/foo/module", "sys/module/3w_9xxx");
                tree_put(&m, "11\n", PCI "/" NIC "/irq");
                tree_folder(&m, PCI "/" NIC "/virtio3");
                tree_folder(&m, PCI "/" NIC "/net/eth1");
                tree_link(&m, "sys/class/net/eth1", PCI "/" NIC "/net/eth1");
                tree_put_irq(&m, 11, rows[i].action, "0-7\n", "0\n");
                s = tree_observe(&m);
                found = tree_device(s, "pci:" NIC)->n_vectors;
                if (found != rows[i].own)
                        fail_msg("%s, %s: %zu vectors", rows[i].driver, rows[i].action, found);
                machine_done(&m);
        }
}

static void a_line_interrupt_is_a_queue(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const Device *d;
        Machine *m = *state;

        tree_put_pci(m, HBA, "0x010100\n", "0\n", "ata_piix");
        tree_put(m, "11\n", PCI "/" HBA "/irq");
        tree_put_irq(m, 11, "ata_piix", "0-7\n", "0\n");
        s = tree_observe(m);
        d = tree_device(s, "pci:" HBA);
        assert_int_equal(d->n_vectors, 1);
        assert_string_equal(d->vectors[0].key, "q0");
        assert_int_equal(d->vectors[0].role, VECTOR_QUEUE);
        assert_int_equal(d->vectors[0].settable, SETTABLE_YES);
}

/* HBA and NIC on one line, with these actions as folders and, when not NULL, in the kernel's file. */
static void check_shared(const char *nic_driver, const char *folder, const char *other_folder,
                         const char *actions, size_t want_of_hba)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine m;

        tree_init(&m);
        tree_put_nodes(&m);
        tree_put_pci(&m, HBA, "0x010100\n", "0\n", "ata_piix");
        tree_put_pci(&m, NIC, "0x020000\n", "1\n", nic_driver);
        tree_put(&m, "11\n", PCI "/" HBA "/irq");
        tree_put(&m, "11\n", PCI "/" NIC "/irq");
        tree_put_irq(&m, 11, folder, "0-7\n", "0\n");
        if (other_folder)
                tree_folder(&m, "proc/irq/11/%s", other_folder);
        if (actions)
                machine_put(&m, "sys/kernel/irq/11/actions", actions);
        s = tree_observe(&m);
        assert_int_equal(tree_device(s, "pci:" HBA)->n_vectors, want_of_hba);
        assert_int_equal(tree_device(s, "pci:" NIC)->n_vectors, 0);
        machine_done(&m);
}

static void a_shared_line_belongs_to_nobody(void **state)
{
        check_shared("e1000", "ata_piix", NULL, NULL, 1); /* the NIC has not requested it */
        check_shared("e1000", "ata_piix", NULL, "ata_piix\n", 1);
        check_shared("e1000", "ata_piix", "eth0", NULL, 0);
        check_shared("e1000", "ata_piix", "uhci_hcd", NULL, 0);
        check_shared("e1000", "ata_piix", NULL, "ata_piix,ata_piix\n", 0); /* two of one name: one folder */
        check_shared("ata_piix", "ata_piix", NULL, "ata_piix\n", 0);       /* whose of the two? */
        check_shared("e1000", "ata_piix", NULL, "\n", 0);
        check_shared("e1000", NULL, NULL, NULL, 0);
}

/* The folder of an action keeps the name that its netdev had first. */
static void a_renamed_netdev_owns_its_line(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL, *again = NULL;
        Machine *m = *state;

        tree_put_pci(m, NIC, "0x020000\n", "1\n", "e1000");
        tree_put(m, "11\n", PCI "/" NIC "/irq");
        tree_folder(m, PCI "/" NIC "/net/enp0s3");
        tree_link(m, "sys/class/net/enp0s3", PCI "/" NIC "/net/enp0s3");
        tree_put_irq(m, 11, "eth0", "0-7\n", "0\n");
        machine_put(m, "proc/interrupts", "  CPU0\n 11: 1  IO-APIC 11-fasteoi  enp0s3\n");
        s = tree_observe(m);
        assert_int_equal(tree_device(s, "pci:" NIC)->n_vectors, 1);
        machine_put(m, "proc/interrupts", "  CPU0\n 11: 1  IO-APIC 11-fasteoi  enp0s3, enp0s3\n");
        again = tree_observe(m);
        assert_int_equal(tree_device(again, "pci:" NIC)->n_vectors, 0);
}

/* With MSI the file irq holds the number of the line, which is not used. */
static void the_line_is_not_taken_beside_msi(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        tree_put_pci(m, HBA, "0x010400\n", "0\n", "foo");
        tree_put(m, "16\n", "sys/devices/pci0000:00/" HBA "/irq");
        tree_put_irq(m, 16, "i801_smbus", "0-7\n", "0\n");
        tree_put_vector(m, HBA, 50, "foo", "1\n", "1\n");
        s = tree_observe(m);
        assert_int_equal(tree_device(s, "pci:" HBA)->n_vectors, 1);
        assert_int_equal(tree_device(s, "pci:" HBA)->vectors[0].irq, 50);
}

/* An HBA whose vectors, from IRQ 60 on, have these names and masks. */
static void put_hba(const Machine *m, const char *driver, const char *const (*vectors)[2], size_t n)
{
        tree_put_pci(m, HBA, "0x010400\n", "0\n", driver);
        for (size_t i = 0; i < n; i++)
                tree_put_vector(m, HBA, 60 + (unsigned)i, vectors[i][0], vectors[i][1], "0\n");
}

static void check_settable(const Snapshot *s, unsigned irq, bool managed, Settable settable)
{
        const Vector *v = tree_vector(tree_device(s, "pci:" HBA), irq);

        assert_int_equal(v->managed, managed);
        assert_int_equal(v->settable, settable);
}

static void masks_that_divide_up_the_cpus_are_managed(void **state)
{
        static const char *const vectors[][2] = { { "nvme0q0", "0-3\n" },
                                                  { "nvme0q1", "0-1,6\n" },
                                                  { "nvme0q2", "2-4\n" },
                                                  { "nvme0q3", "5,7\n" } };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        put_hba(m, "nvme", vectors, ARRAY_SIZE(vectors));
        s = tree_observe(m);
        check_settable(s, 60, false, SETTABLE_YES);
        for (unsigned irq = 61; irq < 64; irq++)
                check_settable(s, irq, true, SETTABLE_NO);
}

/* Linux spreads over the possible CPUs, of which some may be absent or offline. */
static void possible_cpus_count(void **state)
{
        static const char *const vectors[][2] = { { "lpfc:0", "0-3,8-11\n" }, { "lpfc:1", "4-7,12-15\n" } };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        machine_put(m, "sys/devices/system/cpu/possible", "0-15\n");
        put_hba(m, "lpfc", vectors, ARRAY_SIZE(vectors));
        s = tree_observe(m);
        check_settable(s, 60, true, SETTABLE_NO);
        check_settable(s, 61, true, SETTABLE_NO);
}

/* nvme.write_queues: every kind of queue is spread over all CPUs by itself. */
static void two_sets_of_managed_vectors(void **state)
{
        static const char *const vectors[][2] = {
                { "nvme0q0", "0-7\n" }, { "nvme0q1", "0-3\n" }, { "nvme0q2", "4-7\n" }, { "nvme0q3", "0-7\n" }
        };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        put_hba(m, "nvme", vectors, ARRAY_SIZE(vectors));
        s = tree_observe(m);
        for (unsigned irq = 61; irq < 64; irq++)
                check_settable(s, irq, true, SETTABLE_NO);
}

/* megaraid_sas keeps one vector for itself, and nothing in its name tells. */
static void a_vector_before_the_managed_ones(void **state)
{
        static const char *const vectors[][2] = { { "megasas0-msix0", "0-7\n" },
                                                  { "megasas0-msix1", "0-3\n" },
                                                  { "megasas0-msix2", "4-7\n" } };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const Vector *v;
        Machine *m = *state;

        put_hba(m, "megaraid_sas", vectors, ARRAY_SIZE(vectors));
        s = tree_observe(m);
        check_settable(s, 60, false, SETTABLE_YES);
        check_settable(s, 61, true, SETTABLE_NO);
        check_settable(s, 62, true, SETTABLE_NO);
        v = tree_vector(tree_device(s, "pci:" HBA), 60);
        assert_int_equal(v->role, VECTOR_SLOW);
        assert_int_equal(v->queue, -1);
        assert_string_equal(v->key, "slow-admin");
}

static void masks_that_do_not_are_in_doubt(void **state)
{
        static const char *const vectors[][2] = { { "mpt3sas0-msix0", "0-3\n" },
                                                  { "mpt3sas0-msix1", "4-6\n" } };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        put_hba(m, "mpt3sas", vectors, ARRAY_SIZE(vectors));
        s = tree_observe(m);
        check_settable(s, 60, false, SETTABLE_UNKNOWN);
        check_settable(s, 61, false, SETTABLE_UNKNOWN);
}

/* What every new vector gets is no division. */
static void equal_masks_are_in_doubt(void **state)
{
        static const char *const vectors[][2] = { { "nvme0q1", "0-7\n" }, { "nvme0q2", "0-7\n" } };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        put_hba(m, "nvme", vectors, ARRAY_SIZE(vectors));
        s = tree_observe(m);
        check_settable(s, 60, false, SETTABLE_UNKNOWN);
        check_settable(s, 61, false, SETTABLE_UNKNOWN);
}

/* One queue beside a config vector is managed or not, its mask looks the same; a function's only vector never
 * is. */
static void one_queue_is_in_doubt_and_one_vector_is_not(void **state)
{
        static const char *const vectors[][2] = { { "virtio2-config", "0-3\n" },
                                                  { "virtio2-req.0", "0-7\n" } };
        _cleanup_(snapshot_freep) Snapshot *s = NULL, *alone = NULL;
        static const char *const one[][2] = { { "megasas1-msix0", "0-7\n" } };
        Machine *m = *state, other;

        put_hba(m, "virtio_blk", vectors, ARRAY_SIZE(vectors));
        s = tree_observe(m);
        check_settable(s, 60, false, SETTABLE_YES);
        check_settable(s, 61, false, SETTABLE_UNKNOWN);
        tree_init(&other);
        tree_put_nodes(&other);
        put_hba(&other, "megaraid_sas", one, ARRAY_SIZE(one));
        alone = tree_observe(&other);
        check_settable(alone, 60, false, SETTABLE_YES);
        machine_done(&other);
}

/* The same masks under a driver that does not ask for management: somebody set them. */
static void other_drivers_are_settable(void **state)
{
        static const char *const vectors[][2] = { { "aacraid", "0-3\n" }, { "aacraid", "4-7\n" } };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;

        put_hba(m, "aacraid", vectors, ARRAY_SIZE(vectors));
        s = tree_observe(m);
        check_settable(s, 60, false, SETTABLE_YES);
        check_settable(s, 61, false, SETTABLE_YES);
        assert_true(driver_uses_managed("hisi_sas_v3_hw"));
        assert_false(driver_uses_managed("hisi_sas_v2_hw"));
        assert_false(driver_uses_managed(""));
}

static void read_only_files_are_managed(void **state)
{
        static const char *const vectors[][2] = { { "aacraid", "0-3\n" }, { "aacraid", "0-3\n" } };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Machine *m = *state;
        _cleanup_(freep) char *path = strf("%s/proc/irq/61/smp_affinity_list", m->dir);

        put_hba(m, "aacraid", vectors, ARRAY_SIZE(vectors));
        assert_int_equal(chmod(path, 0444), 0);
        s = tree_observe(m);
        check_settable(s, 60, false, SETTABLE_YES);
        check_settable(s, 61, true, SETTABLE_NO);
}

static void check_refusal(const Machine *m, const char *path, int error, bool managed, Settable settable,
                          int refused)
{
        const KnownRefusal refusals[] = { { "proc/irq/7/smp_affinity_list", -EIO }, { path, error } };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;

        assert_int_equal(observe(m->root, refusals, ARRAY_SIZE(refusals), &s), 0);
        check_settable(s, 61, managed, settable);
        assert_int_equal(tree_vector(tree_device(s, "pci:" HBA), 61)->refused, refused);
        check_settable(s, 60, false, managed ? SETTABLE_UNKNOWN : SETTABLE_YES);
}

static void a_refusal_is_remembered(void **state)
{
        static const char *const mpt[][2] = { { "mpt3sas0-msix0", "0-7\n" }, { "mpt3sas0-msix1", "0-7\n" } };
        static const char *const aac[][2] = { { "aacraid", "0-3\n" }, { "aacraid", "0-3\n" } };
        Machine *m = *state, other;

        put_hba(m, "mpt3sas", mpt, ARRAY_SIZE(mpt));
        check_refusal(m, "proc/irq/61/smp_affinity_list", -EIO, true, SETTABLE_NO, -EIO);
        check_refusal(m, "proc/irq/61/smp_affinity", -EPERM, true, SETTABLE_NO, -EPERM);
        tree_init(&other);
        tree_put_nodes(&other);
        put_hba(&other, "aacraid", aac, ARRAY_SIZE(aac));
        check_refusal(&other, "proc/irq/61/smp_affinity_list", -EACCES, false, SETTABLE_NO, -EACCES);
        check_refusal(&other, "proc/irq/61/smp_affinity_list", -ENOSPC, false, SETTABLE_YES, 0);
        check_refusal(&other, "sys/61", -EIO, false, SETTABLE_YES, 0);
        machine_done(&other);
}

static void old_kernels_show_only_masks(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const Vector *v;
        Machine *m = *state;

        tree_put_pci(m, HBA, "0x010400\n", "0\n", "foo");
        tree_put(m, "msix\n", "sys/devices/pci0000:00/" HBA "/msi_irqs/50");
        machine_put(m, "proc/irq/50/smp_affinity", "f0\n");
        tree_folder(m, "proc/irq/50/foo");
        s = tree_observe(m);
        v = tree_vector(tree_device(s, "pci:" HBA), 50);
        assert_cpus(v->affinity, "4-7");
        assert_cpus(v->effective, "");
        assert_false(v->pending);
        assert_int_equal(v->settable, SETTABLE_YES);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        const struct CMUnitTest tests[] = {
                CASE(vectors_are_those_with_an_action),
                CASE(msi_irqs_may_be_folders),
                CASE(actions_may_stand_elsewhere),
                CASE(lines_tell_owners_where_msi_irqs_are_missing),
                CASE(line_actions_tell_the_owner),
                CASE(a_line_interrupt_is_a_queue),
                CASE(a_shared_line_belongs_to_nobody),
                CASE(a_renamed_netdev_owns_its_line),
                CASE(the_line_is_not_taken_beside_msi),
                CASE(masks_that_divide_up_the_cpus_are_managed),
                CASE(possible_cpus_count),
                CASE(two_sets_of_managed_vectors),
                CASE(a_vector_before_the_managed_ones),
                CASE(masks_that_do_not_are_in_doubt),
                CASE(equal_masks_are_in_doubt),
                CASE(one_queue_is_in_doubt_and_one_vector_is_not),
                CASE(other_drivers_are_settable),
                CASE(read_only_files_are_managed),
                CASE(a_refusal_is_remembered),
                CASE(old_kernels_show_only_masks),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
