/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "plan/plan.h"
#include "test.h"

#include <string.h>

/* Two nodes of four CPUs, no SMT, one cache for each node. */
static Snapshot *machine(void)
{
        Snapshot *s = snapshot_new();

        s->numa = true;
        s->cpu_bits = 8;
        s->n_nodes = 2;
        s->nodes = calloc(2, sizeof(Node));
        s->n_cpus = 8;
        s->cpus = calloc(8, sizeof(Cpu));
        for (unsigned i = 0; i < 8; i++) {
                int node = i / 4;

                s->cpus[i] = (Cpu) { .id = i, .node = node, .core = (int)i, .cache = node * 4 };
                s->nodes[node].id = node;
                assert_int_equal(cpuset_add(&s->online, i), 0);
                assert_int_equal(cpuset_add(&s->nodes[node].cpus, i), 0);
        }
        return s;
}

static Device *add_device(Snapshot *s, const char *id, DeviceClass class, int node)
{
        Device *d = ARRAY_APPEND(s->devices, s->n_devices);

        *d = (Device) { .id = strdup(id),
                        .class = class,
                        .driver = strdup("driver"),
                        .node = node,
                        .node_source = node < 0 ? NODE_SOURCE_UNKNOWN : NODE_SOURCE_DEVICE,
                        .node_text = strdup("numa_node of the device") };
        if (strncmp(id, "pci:", 4) == 0)
                d->pci = strdup(id + 4);
        return d;
}

static Vector *add_vector(Device *d, VectorRole role, int queue, const char *affinity, const char *effective)
{
        static const char *const prefix[] = { "q", "rx", "tx", "slow" };
        Vector *v = ARRAY_APPEND(d->vectors, d->n_vectors);

        *v = (Vector) { .irq = 100 + (unsigned)d->n_vectors - 1,
                        .index = (unsigned)d->n_vectors - 1,
                        .role = role,
                        .queue = queue,
                        .action = strdup("action"),
                        .key = strf("%s%d", prefix[role], queue) };
        assert_int_equal(cpuset_parse_list(affinity, &v->affinity), 0);
        assert_int_equal(cpuset_parse_list(effective, &v->effective), 0);
        return v;
}

static Workqueue *add_workqueue(Snapshot *s, const char *name, int device, const char *cpus)
{
        Workqueue *w = ARRAY_APPEND(s->workqueues, s->n_workqueues);

        *w = (Workqueue) { .name = strdup(name),
                           .path = strf("sys/devices/virtual/workqueue/%s", name),
                           .device = device };
        assert_int_equal(cpuset_parse_list(cpus, &w->cpumask), 0);
        return w;
}

static Plan *make_with(const char *yaml, PlanInput in)
{
        _cleanup_(policy_freep) Policy *policy = NULL;
        PolicyErrors errors = { 0 };
        Plan *p = NULL;

        if (yaml)
                assert_int_equal(policy_parse("test.yaml", yaml, strlen(yaml), &policy, &errors), 0);
        else
                assert_int_equal(policy_new_default(&policy), 0);
        in.policy = policy;
        assert_int_equal(plan(&in, &p), 0);
        return p;
}

static Plan *make(const Snapshot *s, const char *yaml, const Strv *held)
{
        return make_with(yaml, (PlanInput) { .snapshot = s, .held = held });
}

static const Change *change_of(const Plan *p, const char *id)
{
        for (size_t i = 0; i < p->n_changes; i++)
                if (strcmp(p->changes[i].id, id) == 0)
                        return &p->changes[i];
        return NULL;
}

static const Verdict *verdict_of(const Plan *p, const char *device, const char *knob)
{
        for (size_t i = 0; i < p->n_verdicts; i++)
                if (strcmp(p->verdicts[i].device, device) == 0 && strcmp(p->verdicts[i].knob, knob) == 0)
                        return &p->verdicts[i];
        return NULL;
}

static void misplaced_vectors_go_home(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:21:00.0", DEVICE_HBA, 1);
        bool used[8] = { 0 };
        const Change *slow;

        for (int q = 0; q < 4; q++)
                add_vector(d, VECTOR_QUEUE, q, "0", "0");
        add_vector(d, VECTOR_SLOW, -1, "0", "0");
        free(d->vectors[4].key);
        d->vectors[4].key = strdup("slow-admin");
        p = make(s, NULL, NULL);
        assert_int_equal(p->n_changes, 5);
        for (size_t i = 0; i < 4; i++) {
                int cpu = atoi(p->changes[i].desired);

                assert_true(cpu >= 4 && cpu < 8 && !used[cpu]);
                used[cpu] = true;
                assert_string_equal(p->changes[i].current, "0");
                assert_string_equal(p->changes[i].fallback, "4-7");
                assert_string_equal(p->changes[i].reason.rule, "interrupts");
                assert_true(p->changes[i].reason.line > 0);
        }
        assert_string_equal(p->changes[1].path, "proc/irq/101/smp_affinity_list");
        slow = change_of(p, "pci:0000:21:00.0~irq.affinity~slow-admin");
        assert_non_null(slow);
        assert_string_equal(slow->desired, "4-7");
}

static void what_is_home_stays(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:21:00.0", DEVICE_HBA, 1);

        add_vector(d, VECTOR_QUEUE, 0, "0-7", "5"); /* anywhere by its mask, but at home in effect */
        add_vector(d, VECTOR_QUEUE, 1, "4-7", "6");
        add_vector(d, VECTOR_SLOW, -1, "4", "4");
        p = make(s, NULL, NULL);
        assert_int_equal(p->n_changes, 0);
        assert_int_equal(verdict_of(p, d->id, "irq.affinity")->state, VERDICT_RIGHT);
}

static void evening_out_is_named(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:21:00.0", DEVICE_HBA, 1);

        add_vector(d, VECTOR_QUEUE, 0, "4", "4");
        add_vector(d, VECTOR_QUEUE, 1, "4", "4");
        p = make(s, NULL, NULL);
        assert_int_equal(p->n_changes, 1);
        assert_string_equal(p->changes[0].id, "pci:0000:21:00.0~irq.affinity~q1");
        assert_string_equal(p->changes[0].desired, "5");
        assert_non_null(strstr(p->changes[0].reason.text, "evening out"));
}

/* Of two pairs on one CPU the second goes elsewhere. Its tx vector comes from the other node, which is said.
 */
static void half_a_pair_that_comes_home_is_not_evened_out(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:21:00.0", DEVICE_NIC, 1);

        for (int q = 0; q < 2; q++) {
                add_vector(d, VECTOR_RX, q, "4", "4");
                add_vector(d, VECTOR_TX, q, "0", "0");
        }
        p = make(s, NULL, NULL);
        assert_int_equal(p->n_changes, 3);
        assert_string_equal(p->changes[0].id, "pci:0000:21:00.0~irq.affinity~tx0");
        assert_string_equal(p->changes[0].desired, "4");
        assert_string_equal(p->changes[1].id, "pci:0000:21:00.0~irq.affinity~rx1");
        assert_non_null(strstr(p->changes[1].reason.text, "evening out: queue 1 moves from CPU 4 of node 1"));
        assert_string_equal(p->changes[2].desired, p->changes[1].desired);
        assert_null(strstr(p->changes[2].reason.text, "evening out"));
        assert_non_null(strstr(p->changes[2].reason.text, "it was on CPU 0 of node 0"));
        assert_string_equal(p->changes[2].fallback, "4-7");
}

/* A queue that is on its node, but where no interrupt should be, moves, and the reason says what is wrong. */
static void who_leaves_an_isolated_cpu_says_so(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:21:00.0", DEVICE_HBA, 1);

        assert_int_equal(cpuset_parse_list("5", &s->isolated), 0);
        assert_int_equal(cpuset_parse_list("6-7", &s->nohz_full), 0);
        for (int q = 0; q < 3; q++) {
                char cpu[2] = { (char)('5' + q), '\0' };

                add_vector(d, VECTOR_QUEUE, q, cpu, cpu);
        }
        p = make(s, NULL, NULL);
        assert_int_equal(p->n_changes, 3);
        for (size_t i = 0; i < 3; i++) {
                assert_string_equal(p->changes[i].desired, "4");
                assert_non_null(
                        strstr(p->changes[i].reason.text, "3 of its 4 CPUs are isolated or nohz_full"));
                assert_non_null(strstr(p->changes[i].reason.text,
                                       i ? "of node 1, which is nohz_full" : "of node 1, which is isolated"));
        }
}

static void rx_and_tx_stay_together(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:22:00.0", DEVICE_NIC, 1);

        for (int q = 0; q < 3; q++) {
                add_vector(d, VECTOR_RX, q, "0", "0");
                add_vector(d, VECTOR_TX, q, "1", q == 2 ? "6" : "1"); /* tx of queue 2 is at home */
        }
        p = make(s, NULL, NULL);
        assert_int_equal(p->n_changes, 5);
        for (int q = 0; q < 3; q++) {
                _cleanup_(freep) char *rx = strf("pci:0000:22:00.0~irq.affinity~rx%d", q);
                _cleanup_(freep) char *tx = strf("pci:0000:22:00.0~irq.affinity~tx%d", q);

                assert_non_null(change_of(p, rx));
                if (q == 2)
                        assert_string_equal(change_of(p, rx)->desired, "6");
                else
                        assert_string_equal(change_of(p, rx)->desired, change_of(p, tx)->desired);
        }
        assert_string_not_equal(p->changes[0].desired, p->changes[2].desired);
}

static void managed_vectors_are_never_changes(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:41:00.0", DEVICE_NVME, 1);

        for (int q = 0; q < 4; q++) {
                Vector *v = add_vector(d, VECTOR_QUEUE, q, "0", "0");

                v->managed = true;
                v->settable = SETTABLE_NO;
        }
        p = make(s, NULL, NULL);
        assert_int_equal(p->n_changes, 0);
        assert_int_equal(verdict_of(p, d->id, "irq.affinity")->state, VERDICT_MANAGED);
}

static void refused_vectors_are_shown_as_not_settable(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:21:00.0", DEVICE_HBA, 1);

        add_vector(d, VECTOR_QUEUE, 0, "0", "0")->settable = SETTABLE_NO;
        p = make(s, NULL, NULL);
        assert_int_equal(p->n_changes, 1);
        assert_int_equal(p->changes[0].settable, SETTABLE_NO);
}

static void a_pending_move_is_not_repeated(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:21:00.0", DEVICE_HBA, 1);

        add_vector(d, VECTOR_QUEUE, 0, "5", "0")->pending = true;
        p = make(s, NULL, NULL);
        assert_int_equal(p->n_changes, 0);
}

static void unknown_node_is_left_alone(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:21:00.0", DEVICE_HBA, NODE_UNKNOWN);

        add_vector(d, VECTOR_QUEUE, 0, "0", "0");
        p = make(s, NULL, NULL);
        assert_int_equal(p->n_changes, 0);
        assert_int_equal(verdict_of(p, d->id, "irq.affinity")->state, VERDICT_UNKNOWN_NODE);
}

static void a_policy_may_name_the_node(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:21:00.0", DEVICE_HBA, NODE_UNKNOWN);

        add_vector(d, VECTOR_QUEUE, 0, "0", "0");
        p = make(s, "version: 1\nrules:\n  - name: mine\n    set: {node: 1, cpus: 6-7, irq: {mode: node}}\n",
                 NULL);
        assert_int_equal(p->n_changes, 1);
        assert_string_equal(p->changes[0].desired, "6-7");
        assert_string_equal(p->changes[0].reason.file, "test.yaml");
        assert_int_equal(p->changes[0].reason.line, 4);
        assert_int_equal(verdict_of(p, d->id, "irq.affinity")->node_source, NODE_SOURCE_POLICY);
}

/* What others keep elsewhere is not moved, and counts there: the next device keeps away from that CPU. */
static void what_is_left_counts_where_it_is(void **state)
{
        static const char *const modes[] = { "spread", "node", "0-3" };
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        Device *a = add_device(s, "pci:0000:21:00.0", DEVICE_HBA, 0), *b;
        Strv left = { 0 };

        assert_int_equal(strv_add(&left, "proc/irq/100/smp_affinity_list"), 0);
        add_vector(a, VECTOR_QUEUE, 0, "5", "5");
        add_vector(a, VECTOR_QUEUE, 1, "6", "6");
        for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
                _cleanup_(freep) char *yaml =
                        strf("version: 1\nrules:\n  - name: mine\n    set: {irq: {mode: %s}}\n", modes[i]);
                _cleanup_(plan_freep) Plan *p = make_with(yaml, (PlanInput) { .snapshot = s, .left = &left });
                const Verdict *v = verdict_of(p, "pci:0000:21:00.0", "irq.affinity");

                assert_int_equal(p->n_changes, 1);
                assert_string_equal(p->changes[0].path, "proc/irq/101/smp_affinity_list");
                assert_non_null(strstr(v->reason.text, "; 1 are left to others"));
        }
        b = add_device(s, "pci:0000:22:00.0", DEVICE_HBA, 1);
        for (unsigned q = 0; q < 4; q++)
                add_vector(b, VECTOR_QUEUE, (int)q, "0", "0")->irq = 110 + q;
        for (int with = 0; with < 2; with++) {
                _cleanup_(plan_freep) Plan *p =
                        make_with(NULL, (PlanInput) { .snapshot = s, .left = with ? &left : NULL });
                const Change *last = change_of(p, "pci:0000:22:00.0~irq.affinity~q3");

                assert_int_equal(p->n_changes, with ? 5 : 6);
                assert_string_equal(last->desired, with ? "5" : "7");
        }
        strv_clear(&left);
}

/* The other half of a queue stays at home. */
static void half_a_pair_that_is_left(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:21:00.0", DEVICE_NIC, 1);
        Strv left = { 0 };

        assert_int_equal(strv_add(&left, "proc/irq/100/smp_affinity_list"), 0);
        add_vector(d, VECTOR_RX, 0, "0", "0");
        add_vector(d, VECTOR_TX, 0, "4", "4");
        p = make_with(NULL, (PlanInput) { .snapshot = s, .left = &left });
        assert_int_equal(p->n_changes, 0);
        assert_int_equal(verdict_of(p, d->id, "irq.affinity")->state, VERDICT_RIGHT);
        strv_clear(&left);
}

static void workqueue_that_is_left(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Strv left = { 0 };
        const Verdict *v;

        add_device(s, "pci:0000:21:00.0", DEVICE_HBA, 1);
        add_workqueue(s, "scsi_tmf_1", 0, "0-3");
        add_workqueue(s, "scsi_wq_1", 0, "0-3");
        assert_int_equal(strv_add(&left, "sys/devices/virtual/workqueue/scsi_tmf_1/cpumask"), 0);
        p = make_with(NULL, (PlanInput) { .snapshot = s, .left = &left });
        assert_int_equal(p->n_changes, 1);
        assert_string_equal(p->changes[0].path, "sys/devices/virtual/workqueue/scsi_wq_1/cpumask");
        v = verdict_of(p, "pci:0000:21:00.0", "workqueue.cpumask");
        assert_non_null(strstr(v->reason.text, "1 of 2 workqueues go to"));
        assert_non_null(strstr(v->reason.text, "; 1 are left to others"));
        strv_clear(&left);
}

static void isolated_cpus_by_name_are_an_error(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:21:00.0", DEVICE_HBA, 1);

        assert_int_equal(cpuset_add(&s->isolated, 5), 0);
        add_vector(d, VECTOR_QUEUE, 0, "0", "0");
        p = make(s, "version: 1\nrules:\n  - name: mine\n    set: {irq: {mode: 4-5}}\n", NULL);
        assert_int_equal(p->n_changes, 0);
        assert_int_equal(verdict_of(p, d->id, "irq.affinity")->state, VERDICT_ERROR);
        assert_non_null(strstr(verdict_of(p, d->id, "irq.affinity")->reason.text, "test.yaml:4"));
        assert_non_null(strstr(verdict_of(p, d->id, "irq.affinity")->reason.text, "CPU 5"));
}

/* A policy that names what is not there: an error of the device, with file and line, and no change. */
static void what_cannot_be_is_an_error(void **state)
{
        static const char *const rules[][2] = {
                { "irq: {mode: '4,8'}", "names CPU 8, which this machine does not have" },
                { "cpus: 4-99, irq: {mode: spread}", "names CPU 8-99, which this machine does not have" },
                { "irq: {mode: '7'}", "names CPU 7, which is not online" },
                { "irq: {mode: '6'}", "names CPU 6, which is nohz_full" },
                { "node: 3, irq: {mode: spread}", "says node 3, which this machine does not have" },
                { "node: 2, irq: {mode: spread}",
                  "says node 2, which has no CPU online; node 0 is the nearest" },
        };
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        Device *d = add_device(s, "pci:0000:21:00.0", DEVICE_HBA, 1);

        cpuset_remove(s->online, 7);
        cpuset_remove(s->nodes[1].cpus, 7);
        assert_int_equal(cpuset_add(&s->nohz_full, 6), 0);
        s->nodes = realloc(s->nodes, 3 * sizeof(Node));
        s->nodes[s->n_nodes++] = (Node) { .id = 2, .cpus = cpuset_new(1) };
        add_vector(d, VECTOR_QUEUE, 0, "0", "0");
        for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
                _cleanup_(freep) char *yaml =
                        strf("version: 1\nrules:\n  - name: mine\n    set: {%s}\n", rules[i][0]);
                _cleanup_(plan_freep) Plan *p = make(s, yaml, NULL);
                const Verdict *v = verdict_of(p, d->id, "irq.affinity");

                assert_int_equal(p->n_changes, 0);
                assert_int_equal(v->state, VERDICT_ERROR);
                assert_non_null(strstr(v->reason.text, "test.yaml:4:"));
                if (!strstr(v->reason.text, rules[i][1]))
                        fail_msg("%s: %s", rules[i][0], v->reason.text);
        }
}

static void single_cpus_that_are_offline_are_left_out(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:21:00.0", DEVICE_HBA, 1);

        cpuset_remove(s->online, 7);
        cpuset_remove(s->nodes[1].cpus, 7);
        add_vector(d, VECTOR_QUEUE, 0, "0", "0");
        p = make(s, "version: 1\nrules:\n  - name: mine\n    set: {irq: {mode: 6-7}}\n", NULL);
        assert_int_equal(p->n_changes, 1);
        assert_string_equal(p->changes[0].desired, "6");
        assert_non_null(strstr(p->changes[0].reason.text, "without CPU 7, which is offline"));
}

static void held_devices_are_not_touched(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        Device *d = add_device(s, "pci:0000:21:00.0", DEVICE_HBA, 1);
        Strv held = { 0 };

        add_vector(d, VECTOR_QUEUE, 0, "0", "0");
        assert_int_equal(strv_add(&held, d->id), 0);
        p = make(s, NULL, &held);
        assert_int_equal(p->n_changes, 0);
        assert_int_equal(verdict_of(p, d->id, "irq.affinity")->state, VERDICT_HELD);
        strv_clear(&held);
}

static void workqueues_run_on_the_node(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;
        const Change *c;

        add_device(s, "iscsi:default:iqn.2024-01.test:t1", DEVICE_ISCSI_HOST, 1);
        add_workqueue(s, "iscsi_q_4", 0, "0-7");
        add_workqueue(s, "iscsi_ctrl_4:1", 0, "4-7");
        add_workqueue(s, "scsi_tmf_4", 0, "0-3");
        add_workqueue(s, "writeback", -1, "0-7");
        p = make(s, NULL, NULL);
        assert_int_equal(p->n_changes, 2);
        c = change_of(p, "iscsi:default:iqn.2024-01.test:t1~workqueue.cpumask~iscsi_q");
        assert_non_null(c);
        assert_string_equal(c->desired, "000000f0");
        assert_string_equal(c->current, "000000ff");
        assert_string_equal(c->path, "sys/devices/virtual/workqueue/iscsi_q_4/cpumask");
        assert_non_null(change_of(p, "iscsi:default:iqn.2024-01.test:t1~workqueue.cpumask~scsi_tmf"));
}

static void refused_workqueues_are_said(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *first = NULL, *second = NULL;
        const Verdict *v;

        add_device(s, "iscsi:default:iqn.2024-01.test:t1", DEVICE_ISCSI_HOST, 1);
        add_workqueue(s, "iscsi_q_4", 0, "0-7")->settable = SETTABLE_NO;
        add_workqueue(s, "scsi_tmf_4", 0, "0-3");
        first = make(s, NULL, NULL);
        assert_int_equal(first->n_changes, 2);
        assert_int_equal(first->changes[0].settable, SETTABLE_NO);
        v = verdict_of(first, s->devices[0].id, "workqueue.cpumask");
        assert_int_equal(v->state, VERDICT_CHANGES);
        assert_non_null(strstr(v->reason.text, "1 of 2 workqueues go to"));
        assert_non_null(strstr(v->reason.text, "the kernel refuses to change 1"));
        s->workqueues[1].settable = SETTABLE_NO;
        second = make(s, NULL, NULL);
        v = verdict_of(second, s->devices[0].id, "workqueue.cpumask");
        assert_int_equal(v->state, VERDICT_RIGHT); /* nothing is left to do */
        assert_non_null(strstr(v->reason.text, "0 of 2 workqueues run on"));
}

/* A mask outside the global one is accepted by the kernel and means "everywhere": never written. */
static void masks_outside_the_global_one_are_not_written(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;

        add_device(s, "iscsi:default:iqn.2024-01.test:t1", DEVICE_ISCSI_HOST, 1);
        add_workqueue(s, "iscsi_q_4", 0, "0-7");
        assert_int_equal(cpuset_parse_list("0-3", &s->workqueue_mask), 0);
        p = make(s, NULL, NULL);
        assert_int_equal(p->n_changes, 0);
        assert_int_equal(verdict_of(p, s->devices[0].id, "workqueue.cpumask")->state, VERDICT_ERROR);
}

/* The second device goes where the first one is not; when the first one goes, the second one stays. */
static void devices_share_a_node(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = NULL;

        add_device(s, "pci:0000:21:00.0", DEVICE_HBA, 1);
        add_device(s, "pci:0000:22:00.0", DEVICE_HBA, 1);
        add_vector(&s->devices[0], VECTOR_QUEUE, 0, "4", "4");
        add_vector(&s->devices[0], VECTOR_QUEUE, 1, "5", "5");
        add_vector(&s->devices[1], VECTOR_QUEUE, 0, "0", "0");
        add_vector(&s->devices[1], VECTOR_QUEUE, 1, "0", "0");
        p = make(s, NULL, NULL);
        assert_int_equal(p->n_changes, 2);
        assert_string_equal(p->changes[0].desired, "6");
        assert_string_equal(p->changes[1].desired, "7");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(misplaced_vectors_go_home),
                cmocka_unit_test(what_is_home_stays),
                cmocka_unit_test(evening_out_is_named),
                cmocka_unit_test(half_a_pair_that_comes_home_is_not_evened_out),
                cmocka_unit_test(who_leaves_an_isolated_cpu_says_so),
                cmocka_unit_test(rx_and_tx_stay_together),
                cmocka_unit_test(managed_vectors_are_never_changes),
                cmocka_unit_test(refused_vectors_are_shown_as_not_settable),
                cmocka_unit_test(a_pending_move_is_not_repeated),
                cmocka_unit_test(unknown_node_is_left_alone),
                cmocka_unit_test(a_policy_may_name_the_node),
                cmocka_unit_test(what_is_left_counts_where_it_is),
                cmocka_unit_test(half_a_pair_that_is_left),
                cmocka_unit_test(workqueue_that_is_left),
                cmocka_unit_test(isolated_cpus_by_name_are_an_error),
                cmocka_unit_test(what_cannot_be_is_an_error),
                cmocka_unit_test(single_cpus_that_are_offline_are_left_out),
                cmocka_unit_test(held_devices_are_not_touched),
                cmocka_unit_test(workqueues_run_on_the_node),
                cmocka_unit_test(refused_workqueues_are_said),
                cmocka_unit_test(masks_outside_the_global_one_are_not_written),
                cmocka_unit_test(devices_share_a_node),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
