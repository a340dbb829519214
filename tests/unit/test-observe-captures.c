/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture.h"
#include "observe/interrupts.h"
#include "observe/names.h"

/* Real machines with interrupts, held against figures that were worked out from the files apart from this
 * code. usage: test-observe-captures CAPTURES */

enum { BDF, CLASS, DRIVER, NODE, IRQS, ACTIVE, EFF_OFF, EFF_OFF_ACTIVE, SMP_OFF, EFF_EMPTY, COLUMNS };

/* One vector of a managed driver is for its own commands: megasas-msix0, nvme0q0, virtio's config. */
static unsigned managed_of(const char *driver, unsigned irqs)
{
        static const char *const drivers[] = { "megaraid_sas", "nvme", "virtio_blk" };

        for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
                if (strcmp(drivers[i], driver) == 0)
                        return irqs - 1;
        return 0;
}

static bool is_device_class(const char *class)
{
        return strncmp(class, "0x01", 4) == 0 || strncmp(class, "0x0200", 6) == 0;
}

static void check_row(const Snapshot *s, char *fields[COLUMNS])
{
        _cleanup_(freep) char *id = strf("pci:%s", fields[BDF]);
        const Device *d = tree_device(s, id);
        VectorCounts c = device_count_vectors(s, d, d->node);
        unsigned irqs = (unsigned)strtoul(fields[IRQS], NULL, 10);
        unsigned off = (unsigned)strtoul(fields[EFF_OFF], NULL, 10);

        assert_int_equal(d->node, (int)strtol(fields[NODE], NULL, 10));
        assert_int_equal(c.total, irqs);
        assert_int_equal(c.managed, managed_of(d->driver, irqs));
        assert_int_equal(c.remote, off);
        assert_int_equal(c.local, d->node == NODE_UNKNOWN ? 0 : irqs - off);
        for (size_t i = 0; i < d->n_vectors; i++) {
                const Vector *v = &d->vectors[i];

                assert_int_equal(v->settable, v->managed ? SETTABLE_NO : SETTABLE_YES);
                /* Nothing that could be moved is remote: irqbalance ran on these machines. */
                if (d->node != NODE_UNKNOWN && !v->managed)
                        assert_true(cpuset_is_subset(vector_target(v), snapshot_node(s, d->node)->cpus));
        }
}

static void check_truth(const Snapshot *s, const char *name)
{
        _cleanup_(freep) char *path = strf("openshift-cnto/%s.truth.tsv", name), *text = NULL;
        _cleanup_(root_freep) Root *root = NULL;
        char *rest, *line;
        size_t rows = 0;

        assert_int_equal(root_open(captures, &root), 0);
        assert_int_equal(root_read(root, &text, "%s", path), 0);
        rest = text;
        while ((line = strsep(&rest, "\n"))) {
                char *fields[COLUMNS] = { 0 };

                for (int i = 0; i < COLUMNS; i++)
                        fields[i] = strsep(&line, "\t");
                if (!fields[EFF_EMPTY] || !is_device_class(fields[CLASS]))
                        continue;
                check_row(s, fields);
                rows++;
        }
        assert_int_equal(s->n_devices, rows);
}

static unsigned count_role(const Device *d, VectorRole role)
{
        unsigned n = 0;

        for (size_t i = 0; i < d->n_vectors; i++)
                n += d->vectors[i].role == role;
        return n;
}

static void count_lines(const Root *root, size_t want)
{
        Interrupts i = { 0 };
        char *text = NULL;

        assert_int_equal(root_read(root, &text, "proc/interrupts"), 0);
        assert_int_equal(interrupts_parse(text, &i), 0);
        assert_int_equal(i.n_lines, want);
        interrupts_clear(&i);
}

static void worker1(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const Device *nic, *hba, *nvme;
        Machine m;

        capture_open(&m, "openshift-cnto/bare-metal-worker1.sysinfo.tgz");
        s = tree_observe(&m);
        check_truth(s, "bare-metal-worker1");
        count_lines(m.root, 542);
        assert_cpus(s->isolated, ""); /* isolcpus=managed_irq alone */
        assert_cpus(s->nohz_full, "0-4,11-79");
        nic = tree_device(s, "pci:0000:19:00.0");
        assert_int_equal(count_role(nic, VECTOR_SLOW), 2); /* misc and fdir-TxRx-0 */
        assert_int_equal(count_role(nic, VECTOR_QUEUE), 80);
        assert_string_equal(nic->vectors[0].key, "slow-misc");
        assert_string_equal(nic->vectors[81].key, "slow-fdir");
        hba = tree_device(s, "pci:0000:18:00.0");
        assert_string_equal(hba->vectors[0].key, "slow-admin");
        assert_string_equal(hba->vectors[80].key, "q80");
        nvme = tree_device(s, "pci:0000:3e:00.0");
        assert_string_equal(nvme->vectors[0].key, "slow-admin");
        assert_int_equal(count_role(nvme, VECTOR_QUEUE), 80);
        assert_string_equal(tree_device(s, "pci:0000:00:17.0")->vectors[0].key, "q0");
        assert_int_equal(snapshot_cpu(s, 41)->core, 1);
        assert_int_equal(snapshot_cpu(s, 41)->thread, 1);
        assert_int_equal(s->nodes[0].distance[1], 21);
        machine_done(&m);
}

static void worker2(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const Device *d;
        Machine m;

        capture_open(&m, "openshift-cnto/bare-metal-worker2.sysinfo.tgz");
        s = tree_observe(&m);
        check_truth(s, "bare-metal-worker2");
        count_lines(m.root, 233);
        d = tree_device(s, "pci:0000:19:00.0");
        assert_int_equal(count_role(d, VECTOR_QUEUE), 32);
        assert_string_equal(d->vectors[32].action, "eno1");
        assert_string_equal(d->vectors[32].key, "slow-misc");
        /* proc/irq/71/node says 0; the device and its CPU are on node 1. */
        d = tree_device(s, "pci:0000:af:00.0");
        assert_int_equal(tree_vector(d, 71)->role, VECTOR_SLOW);
        assert_cpus(tree_vector(d, 71)->effective, "31");
        assert_int_equal(d->node, 1);
        machine_done(&m);
}

static void sno_kvm(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const Device *blk;
        Machine m;

        capture_open(&m, "openshift-cnto/sno-kvm.sysinfo.tgz");
        s = tree_observe(&m);
        check_truth(s, "sno-kvm");
        count_lines(m.root, 57);
        blk = tree_device(s, "pci:0000:04:00.0");
        assert_string_equal(blk->driver, "virtio_blk");
        assert_string_equal(tree_vector(blk, 66)->key, "q11");
        assert_string_equal(tree_device(s, "pci:0000:01:00.0")->vectors[1].key, "rx0");
        machine_done(&m);
}

/* The only capture with msi_irqs and /proc/interrupts: the hwirq names the function that lists the IRQ. */
static void hwirqs_agree_with_msi_irqs(void **state)
{
        static const char *const names[] = { "scsi_tmf_0", "scsi_tmf_4", "nvme-wq" };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        Interrupts i = { 0 };
        uint64_t nvme = 0, nic = 0;
        char *text = NULL;
        unsigned found = 0;
        Machine m;

        capture_open(&m, "pcp/scsi-map-root-001.tgz");
        assert_int_equal(root_read(m.root, &text, "proc/interrupts"), 0);
        assert_int_equal(interrupts_parse(text, &i), 0);
        assert_int_not_equal(pci_address("0000:04:00.0", &nvme), 0);
        assert_int_not_equal(pci_address("0000:00:1f.6", &nic), 0);
        for (unsigned irq = 124; irq <= 132; irq++) {
                assert_non_null(interrupts_find(&i, irq));
                assert_true(interrupts_find(&i, irq)->has_function);
                assert_int_equal(interrupts_find(&i, irq)->function, nvme);
        }
        assert_int_equal(interrupts_find(&i, 136)->function, nic);
        interrupts_clear(&i);
        assert_int_equal(observe(m.root, NULL, 0, &s), -ENODATA); /* it has no CPU */
        tree_put(&m, "0-7\n", "sys/devices/system/cpu/online");
        s = tree_observe(&m);
        for (size_t k = 0; k < s->n_workqueues; k++) {
                assert_int_equal(s->workqueues[k].device, -1); /* USB and pseudo hosts alone */
                for (size_t n = 0; n < ARRAY_SIZE(names); n++)
                        found += strcmp(names[n], s->workqueues[k].name) == 0;
                assert_int_equal(s->workqueues[k].per_cpu, strcmp(s->workqueues[k].name, "ib-comp-wq") == 0);
        }
        assert_int_equal(found, 3);
        assert_int_equal(s->n_workqueues, 12);
        machine_done(&m);
}

/* A machine whose msi_irqs are files for some functions and folders for others; interrupts are made up. */
static void both_forms_of_msi_irqs(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        const char *top;
        Machine m;

        capture_open(&m, "hwloc/32em64t-2n8c+dax+nvme+mic+dimms.tar.bz2");
        top = root_path(m.root) + strlen(m.dir) + 1; /* the folder in the archive */
        for (unsigned irq = 46; irq <= 247; irq++) {
                tree_put(&m, "0-15\n", "%s/proc/irq/%u/smp_affinity_list", top, irq);
                tree_folder(&m, "%s/proc/irq/%u/foo-%u", top, irq, irq);
        }
        s = tree_observe(&m);
        assert_int_equal(tree_device(s, "pci:0000:00:02.0")->n_vectors, 8);
        assert_int_equal(tree_device(s, "pci:0000:00:02.0")->vectors[0].irq, 46);
        assert_int_equal(tree_device(s, "pci:0000:00:1f.2")->n_vectors, 1);
        assert_int_equal(tree_device(s, "pci:0000:02:00.0")->n_vectors, 9);
        assert_int_equal(tree_device(s, "pci:0000:02:00.0")->vectors[0].irq, 101);
        assert_int_equal(tree_device(s, "pci:0000:02:00.3")->n_vectors, 9);
        assert_int_equal(tree_device(s, "pci:0000:82:00.0")->n_vectors, 128);
        assert_string_equal(tree_device(s, "pci:0000:82:00.0")->netdevs.items[0], "ib0");
        machine_done(&m);
}

int main(int argc, char **argv)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(worker1),
                cmocka_unit_test(worker2),
                cmocka_unit_test(sno_kvm),
                cmocka_unit_test(hwirqs_agree_with_msi_irqs),
                cmocka_unit_test(both_forms_of_msi_irqs),
        };

        if (!captures_there(argc, argv))
                return 77;
        return cmocka_run_group_tests(tests, NULL, NULL);
}
