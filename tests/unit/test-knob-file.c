/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "model/knob-file.h"
#include "test.h"

#include <string.h>

#define WORKQUEUES "sys/devices/virtual/workqueue/"
#define HBA        "pci:0000:21:00.0"
#define ISCSI      "iscsi:default:iqn.2024-01.test:t1"

static CpuSet *cpus(const char *list)
{
        CpuSet *s;

        assert_int_equal(cpuset_parse_list(list, &s), 0);
        return s;
}

static void add_vector(Device *d, unsigned irq, const char *key, const char *affinity)
{
        Vector *v = ARRAY_APPEND(d->vectors, d->n_vectors);

        *v = (Vector) { .irq = irq, .key = strdup(key), .affinity = cpus(affinity) };
}

static void add_workqueue(Snapshot *s, const char *name, int device, const char *mask)
{
        Workqueue *w = ARRAY_APPEND(s->workqueues, s->n_workqueues);

        *w = (Workqueue) { .name = strdup(name),
                           .path = strf(WORKQUEUES "%s", name),
                           .device = device,
                           .per_cpu = !mask,
                           .cpumask = mask ? cpus(mask) : NULL };
}

/* A host with two sessions and an HBA with two vectors, on 8 CPUs. */
static Snapshot *machine(void)
{
        Snapshot *s = snapshot_new();
        Device *d;

        s->cpu_bits = 8;
        d = ARRAY_APPEND(s->devices, s->n_devices);
        *d = (Device) { .id = strdup(ISCSI) };
        d = ARRAY_APPEND(s->devices, s->n_devices);
        *d = (Device) { .id = strdup(HBA) };
        add_vector(d, 30, "q0", "0-3");
        add_vector(d, 300, "slow-admin", "4");
        add_workqueue(s, "iscsi_ctrl_4:1", 0, "0-7");
        add_workqueue(s, "iscsi_ctrl_4:2", 0, "0-3");
        add_workqueue(s, "iscsi_q_4", 0, "4-7");
        add_workqueue(s, "scsi_tmf_2", 1, "0");
        add_workqueue(s, "scsi_wq_2", 1, NULL);
        add_workqueue(s, "scsi_tmf_20", -1, "1");
        return s;
}

static void paths_name_an_irq(void **state)
{
        static const char *const wrong[] = {
                "proc/irq/45",
                "proc/irq/45/",
                "proc/irq/45/smp_affinity_lists",
                "proc/irq/45/effective_affinity_list",
                "proc/irq/45x/smp_affinity",
                "proc/irq//smp_affinity",
                "proc/irq/-1/smp_affinity",
                "proc/irq/ 45/smp_affinity",
                "proc/irq/4294967296/smp_affinity",
                "/proc/irq/45/smp_affinity",
                "proc/irq/default_smp_affinity",
                "proc/ir",
                "",
        };
        unsigned irq = 7;

        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
                if (irq_of_path(wrong[i], &irq))
                        fail_msg("%s is taken for an IRQ's", wrong[i]);
        assert_int_equal(irq, 7);
        assert_true(irq_of_path("proc/irq/45/smp_affinity", &irq));
        assert_int_equal(irq, 45);
        assert_true(irq_of_path("proc/irq/4294967295/smp_affinity_list", &irq));
        assert_int_equal(irq, UINT32_MAX);
}

static void roles_hold_no_numbers(void **state)
{
        static const char *const want[] = { "iscsi_ctrl", "iscsi_ctrl#2", "iscsi_q",
                                            "scsi_tmf",   "scsi_wq",      "scsi_tmf" };
        _cleanup_(snapshot_freep) Snapshot *s = machine();

        for (size_t i = 0; i < s->n_workqueues; i++) {
                _cleanup_(freep) char *role = workqueue_role(s, i);

                assert_string_equal(role, want[i]);
        }
}

/* role NULL = the device has nothing at the path. */
static void check_file(const Snapshot *s, const char *device, const char *path, const char *role,
                       const char *current)
{
        KnobFile f = { 0 };
        int found = device_find_file(s, snapshot_device(s, device), path, &f);

        assert_int_equal(found, role ? 1 : 0);
        if (role) {
                assert_string_equal(f.role, role);
                assert_string_equal(f.current, current);
        } else {
                assert_null(f.role);
        }
        knob_file_clear(&f);
}

static void files_of_a_device(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();

        check_file(s, HBA, "proc/irq/30/smp_affinity_list", "q0", "0-3");
        check_file(s, HBA, "proc/irq/300/smp_affinity_list", "slow-admin", "4");
        check_file(s, HBA, "proc/irq/30/smp_affinity", NULL, NULL); /* another form */
        check_file(s, HBA, "proc/irq/3/smp_affinity_list", NULL, NULL);
        check_file(s, ISCSI, "proc/irq/30/smp_affinity_list", NULL, NULL);
        check_file(s, ISCSI, WORKQUEUES "iscsi_ctrl_4:2/cpumask", "iscsi_ctrl#2", "0000000f");
        check_file(s, ISCSI, WORKQUEUES "iscsi_q_4/cpumask", "iscsi_q", "000000f0");
        check_file(s, ISCSI, WORKQUEUES "iscsi_q_4", NULL, NULL);
        check_file(s, ISCSI, WORKQUEUES "iscsi_q_4/numa", NULL, NULL);
        check_file(s, ISCSI, WORKQUEUES "iscsi_q_/cpumask", NULL, NULL);
        check_file(s, ISCSI, WORKQUEUES "scsi_tmf_2/cpumask", NULL, NULL); /* the HBA's */
        check_file(s, HBA, WORKQUEUES "scsi_tmf_2/cpumask", "scsi_tmf", "00000001");
        check_file(s, HBA, WORKQUEUES "scsi_tmf_20/cpumask", NULL, NULL); /* nobody's */
        check_file(s, HBA, WORKQUEUES "scsi_wq_2/cpumask", NULL, NULL);   /* it has none */
        check_file(s, HBA, "sys/x", NULL, NULL);
}

/* The same numbers may later be another vector's, or another device's. */
static void a_change_is_at_its_file(void **state)
{
        static const struct {
                const char *id, *path;
                int want;
        } rows[] = {
                { HBA "~irq.affinity~q0", "proc/irq/30/smp_affinity_list", 1 },
                { HBA "~irq.affinity~q1", "proc/irq/30/smp_affinity_list", 0 },
                { HBA "~irq.affinity~slow-admin", "proc/irq/300/smp_affinity_list", 1 },
                { HBA "~irq.affinity~q0", "proc/irq/31/smp_affinity_list", 0 },
                { HBA "~irq.affinity", "proc/irq/30/smp_affinity_list", 0 },
                { HBA, "proc/irq/30/smp_affinity_list", 0 },
                { "pci:0000:21:00.1~irq.affinity~q0", "proc/irq/30/smp_affinity_list", 0 },
                { "", "proc/irq/30/smp_affinity_list", 0 },
                { ISCSI "~workqueue.cpumask~iscsi_q", WORKQUEUES "iscsi_q_4/cpumask", 1 },
                { ISCSI "~workqueue.cpumask~iscsi_ctrl#2", WORKQUEUES "iscsi_ctrl_4:2/cpumask", 1 },
                { ISCSI "~workqueue.cpumask~iscsi_ctrl#2", WORKQUEUES "iscsi_ctrl_4:1/cpumask", 0 },
                { ISCSI "~workqueue.cpumask~iscsi_q", WORKQUEUES "iscsi_q_5/cpumask", 0 },
                { ISCSI "0~workqueue.cpumask~iscsi_q", WORKQUEUES "iscsi_q_4/cpumask", 0 },
                { HBA "~workqueue.cpumask~scsi_tmf", WORKQUEUES "scsi_tmf_2/cpumask", 1 },
        };
        _cleanup_(snapshot_freep) Snapshot *s = machine();

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                if (snapshot_change_is_at(s, rows[i].id, rows[i].path) != rows[i].want)
                        fail_msg("%s at %s: %d expected", rows[i].id, rows[i].path, rows[i].want);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(paths_name_an_irq),
                cmocka_unit_test(roles_hold_no_numbers),
                cmocka_unit_test(files_of_a_device),
                cmocka_unit_test(a_change_is_at_its_file),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
