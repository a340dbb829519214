/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Things that go while a machine is read: before each single file that a look opens, once. Linked with
 * --wrap=syscall, through which basic/root.c opens everything. */
#include "model/knob-file.h"
#include "plan/plan.h"
#include "tree.h"

#include <sys/syscall.h>

#define PCI       "sys/devices/pci0000:00/"
#define HBA       "0000:00:02.0"
#define NIC       "0000:00:03.0"
#define NVME      "0000:00:04.0"
#define ASIDE_MAX 16

typedef struct Victim {
        const char *name;
        const char *paths[ASIDE_MAX]; /* what goes, in this order; files and folders */
        const char *to[ASIDE_MAX];    /* where it goes; NULL = away */
        const char *device;           /* the device that it is of; NULL = none */
        bool moves_home;              /* another node's CPUs are right afterwards */
} Victim;

typedef struct Scene {
        Machine m;
        Policy *policy;
        Snapshot *whole; /* nothing was missing */
        Plan *plan;
        const Victim *victim;
        unsigned opens, at; /* the victim goes before this open; 0 = never */
        bool stepwise;      /* one path with each open, as when a driver takes its time */
        size_t gone;        /* so many paths of it */
} Scene;

static Scene *scene; /* for the hook: the linker's wrapper has no argument for it */

static void move(const Scene *s, size_t i, bool back)
{
        _cleanup_(freep) char *here = strf("%s/%s", s->m.dir, s->victim->paths[i]);
        const char *to = s->victim->to[i];
        _cleanup_(freep) char *aside = to ? strf("%s/%s", s->m.dir, to) : strf("%s/aside/%zu", s->m.dir, i);

        assert_int_equal(back ? rename(aside, here) : rename(here, aside), 0);
}

static void on_open(Scene *s)
{
        s->opens++;
        if (s->at == 0 || s->opens < s->at)
                return;
        while (s->gone < ASIDE_MAX && s->victim->paths[s->gone]) {
                move(s, s->gone++, false);
                if (s->stepwise)
                        break;
        }
}

static void bring_back(Scene *s)
{
        while (s->gone > 0)
                move(s, --s->gone, true);
}

long __real_syscall(long number, long a, long b, long c, long d);
long __wrap_syscall(long number, long a, long b, long c, long d);

long __wrap_syscall(long number, long a, long b, long c, long d)
{
        if (number == SYS_openat2 && scene)
                on_open(scene);
        return __real_syscall(number, a, b, c, d);
}

static void put_hba(const Machine *m)
{
        tree_put_pci(m, HBA, "0x010700\n", "1\n", "mpt3sas");
        for (unsigned i = 0; i < 3; i++) {
                _cleanup_(freep) char *action = strf("mpt3sas0-msix%u", i);

                tree_put_vector(m, HBA, 30 + i, action, "0-7\n", "0\n");
        }
        tree_folder(m, PCI HBA "/host0/scsi_host/host0");
        tree_link(m, "sys/class/scsi_host/host0", PCI HBA "/host0/scsi_host/host0");
        tree_put(m, "ff\n", "sys/devices/virtual/workqueue/scsi_tmf_0/cpumask");
        tree_put(m, "0\n", "sys/devices/virtual/workqueue/scsi_tmf_0/per_cpu");
}

static void put_nic(const Machine *m)
{
        tree_put_pci(m, NIC, "0x020000\n", "0\n", "ixgbe");
        for (unsigned i = 0; i < 4; i++) {
                _cleanup_(freep) char *action = strf("eth0-TxRx-%u", i);

                tree_put_vector(m, NIC, 40 + i, action, "0-7\n", "5\n");
        }
        tree_put_vector(m, NIC, 44, "eth0", "0-7\n", "6\n");
        tree_put(m, "2\n", PCI NIC "/net/eth0/ifindex");
        tree_link(m, PCI NIC "/net/eth0/device", PCI NIC);
        tree_link(m, "sys/class/net/eth0", PCI NIC "/net/eth0");
}

static void put_nvme(const Machine *m)
{
        tree_put_pci(m, NVME, "0x010802\n", "1\n", "nvme");
        tree_put_vector(m, NVME, 50, "nvme0q0", "0-7\n", "1\n");
        tree_put_vector(m, NVME, 51, "nvme0q1", "0-7\n", "1\n");
}

/* Between one node and the whole machine: CPUs 0-7, four for each of two nodes; all vectors misplaced. */
static int setup(void **state)
{
        Scene *s = calloc(1, sizeof(*s));
        PlanInput in = { 0 };

        tree_init(&s->m);
        tree_put_nodes(&s->m);
        for (unsigned cpu = 0; cpu < 8; cpu++) {
                tree_put(&s->m, "1\n", "sys/devices/system/cpu/cpu%u/online", cpu);
                machine_put(&s->m, "aside/x", "");
        }
        put_hba(&s->m);
        put_nic(&s->m);
        put_nvme(&s->m);
        assert_int_equal(policy_new_default(&s->policy), 0);
        scene = s;
        s->whole = tree_observe(&s->m);
        in = (PlanInput) { .snapshot = s->whole, .policy = s->policy };
        assert_int_equal(plan(&in, &s->plan), 0);
        assert_int_equal(s->plan->n_changes, 3 + 5 + 2 + 1);
        *state = s;
        return 0;
}

static int teardown(void **state)
{
        Scene *s = *state;

        scene = NULL;
        plan_free(s->plan);
        snapshot_free(s->whole);
        policy_free(s->policy);
        machine_done(&s->m);
        free(s);
        return 0;
}

/* The file belongs to this device on the whole machine, and the value lies in its home. */
static void check_change(const Scene *s, const Change *c)
{
        const Device *owner = snapshot_device(s->whole, c->device);
        _cleanup_(cpuset_freep) CpuSet *to = NULL;
        KnobFile f = { 0 };

        assert_non_null(owner);
        assert_int_equal(device_find_file(s->whole, owner, c->path, &f), 1);
        knob_file_clear(&f);
        assert_int_equal(
                c->irq >= 0 ? cpuset_parse_list(c->desired, &to) : cpuset_parse_mask(c->desired, &to), 0);
        assert_false(cpuset_is_empty(to));
        if (!s->victim->moves_home)
                assert_true(cpuset_is_subset(to, snapshot_node(s->whole, owner->node)->cpus));
}

/* All that the victim does not concern is there, and as it was. */
static void check_others(const Scene *s, const Snapshot *seen)
{
        for (size_t i = 0; i < s->whole->n_devices; i++) {
                const Device *want = &s->whole->devices[i], *d;

                if (s->victim->device && strcmp(s->victim->device, want->id) == 0)
                        continue;
                d = snapshot_device(seen, want->id);
                assert_non_null(d);
                assert_int_equal(d->n_vectors, want->n_vectors);
                if (!s->victim->moves_home)
                        assert_int_equal(d->node, want->node);
                for (size_t k = 0; k < d->n_vectors; k++)
                        assert_string_equal(d->vectors[k].key, want->vectors[k].key);
        }
}

static void look_once(Scene *s)
{
        _cleanup_(snapshot_freep) Snapshot *seen = NULL;
        _cleanup_(plan_freep) Plan *p = NULL;
        PlanInput in = { .policy = s->policy };

        s->opens = 0;
        assert_int_equal(observe(s->m.root, NULL, 0, &seen), 0);
        in.snapshot = seen;
        assert_int_equal(plan(&in, &p), 0);
        check_others(s, seen);
        for (size_t i = 0; i < p->n_changes; i++)
                check_change(s, &p->changes[i]);
}

static void let_go(Scene *s, const Victim *victim)
{
        unsigned n;

        s->victim = victim;
        s->at = 0;
        look_once(s);
        n = s->opens;
        assert_true(n > 50);
        for (s->at = 1; s->at <= n; s->at++) {
                look_once(s);
                bring_back(s);
        }
        s->at = 0;
        look_once(s);
        assert_int_equal(s->opens, n); /* all of it is back */
        print_message("%s: before each of %u opens\n", victim->name, n);
}

/* In the order in which a driver and the bus take them away, with links that dangle for a moment, or last. */
static const Victim hba = {
        .name = "an HBA",
        .device = "pci:" HBA,
        .paths = { "proc/irq/30", "proc/irq/31", "proc/irq/32", PCI HBA "/msi_irqs",
                   "sys/devices/virtual/workqueue/scsi_tmf_0", "sys/class/scsi_host/host0", PCI HBA "/host0",
                   PCI HBA "/driver", PCI HBA, "sys/bus/pci/devices/" HBA },
};
static const Victim nic = {
        .name = "a NIC",
        .device = "pci:" NIC,
        .paths = { PCI NIC "/net/eth0", "sys/class/net/eth0", "proc/irq/44", "proc/irq/41", "proc/irq/40",
                   "proc/irq/43", "proc/irq/42", PCI NIC "/msi_irqs/41", PCI NIC "/msi_irqs", PCI NIC,
                   "sys/bus/pci/devices/" NIC },
};

static void devices_go_at_once(void **state)
{
        let_go(*state, &hba);
        let_go(*state, &nic);
}

static void devices_go_bit_by_bit(void **state)
{
        Scene *s = *state;

        s->stepwise = true;
        let_go(s, &hba);
        let_go(s, &nic);
}

static void single_files_go(void **state)
{
        static const Victim victims[] = {
                { "a bus's link", { "sys/bus/pci/devices/" HBA }, { 0 }, "pci:" HBA, false },
                { "a device without its links", { PCI NIC }, { 0 }, "pci:" NIC, false },
                { "an interrupt", { "proc/irq/31" }, { 0 }, "pci:" HBA, false },
                { "an action", { "proc/irq/42/eth0-TxRx-2" }, { 0 }, "pci:" NIC, false },
                { "a mask", { "proc/irq/42/smp_affinity_list" }, { 0 }, "pci:" NIC, false },
                { "an effective mask", { "proc/irq/42/effective_affinity_list" }, { 0 }, "pci:" NIC, false },
                { "the list of vectors", { PCI NVME "/msi_irqs" }, { 0 }, "pci:" NVME, false },
                { "a node's number", { PCI HBA "/numa_node" }, { 0 }, "pci:" HBA, false },
                { "a driver", { PCI HBA "/driver" }, { 0 }, "pci:" HBA, false },
                { "a class", { PCI HBA "/class" }, { 0 }, "pci:" HBA, false },
                { "an interface", { PCI NIC "/net/eth0" }, { 0 }, "pci:" NIC, false },
                { "a workqueue", { "sys/devices/virtual/workqueue/scsi_tmf_0" }, { 0 }, "pci:" HBA, false },
        };

        for (size_t i = 0; i < ARRAY_SIZE(victims); i++)
                let_go(*state, &victims[i]);
}

/* The HBA frees its last interrupt and the NIC gets the number for one queue more. */
static const Victim reused = {
        .name = "a number that is reused",
        .device = "pci:" HBA,
        .paths = { PCI HBA "/msi_irqs/32", "proc/irq/32/mpt3sas0-msix2", PCI NIC "/msi_irqs/45" },
        .to = { PCI HBA "/32", "proc/irq/32/eth0-TxRx-4", PCI NIC "/msi_irqs/32" },
};

static void check_owner(const Scene *s, const Snapshot *seen)
{
        const Device *d = snapshot_device(seen, reused.device);

        for (size_t i = 0; i < d->n_vectors; i++)
                assert_memory_equal(d->vectors[i].action, "mpt3sas0", 8);
}

/* Whoever looks finds it with the one or the other, never with the HBA and the NIC's action. */
static void a_number_is_reused(void **state)
{
        Scene *s = *state;
        unsigned n;

        machine_put(&s->m, PCI NIC "/msi_irqs/45", "msix\n"); /* not requested */
        s->victim = &reused;
        for (s->at = n = 1; s->at <= n; s->at++) {
                _cleanup_(snapshot_freep) Snapshot *seen = NULL;

                s->opens = 0;
                assert_int_equal(observe(s->m.root, NULL, 0, &seen), 0);
                n = s->opens;
                check_owner(s, seen);
                bring_back(s);
        }
        assert_true(n > 50);
}

static void cpus_and_nodes_go(void **state)
{
        static const Victim victims[] = {
                { "a CPU", { "sys/devices/system/cpu/cpu5" }, { 0 }, NULL, false },
                { "a node", { "sys/devices/system/node/node1" }, { 0 }, NULL, true },
                { "a node's list", { "sys/devices/system/node/node1/cpulist" }, { 0 }, NULL, true },
                { "the list of nodes", { "sys/devices/system/node/online" }, { 0 }, NULL, false },
                { "the list of CPUs", { "sys/devices/system/cpu/online" }, { 0 }, NULL, false },
                { "all nodes", { "sys/devices/system/node" }, { 0 }, NULL, true },
        };

        for (size_t i = 0; i < ARRAY_SIZE(victims); i++)
                let_go(*state, &victims[i]);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        const struct CMUnitTest tests[] = {
                TEST(devices_go_at_once), TEST(devices_go_bit_by_bit), TEST(single_files_go),
                TEST(a_number_is_reused), TEST(cpus_and_nodes_go),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
