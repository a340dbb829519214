/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "plan/plan.h"
#include "test.h"

#include <string.h>

/* iscsi.dynamic and iscsi.transmit on a machine with two nodes of four CPUs and one iSCSI host, number 3. */

#define ID    "iscsi:default:iqn.2024-01.test:t1"
#define QUEUE "sys/devices/virtual/workqueue/iscsi_q_3"
#define HOST  "sys/devices/platform/host3/scsi_host/host3"

#define DYNAMIC  "iscsi.dynamic"
#define TRANSMIT "iscsi.transmit"

static CpuSet *cpus(const char *list)
{
        CpuSet *s;

        assert_int_equal(cpuset_parse_list(list, &s), 0);
        return s;
}

static void add_workqueue(Snapshot *s, const char *name, const char *mask)
{
        Workqueue *w = ARRAY_APPEND(s->workqueues, s->n_workqueues);

        *w = (Workqueue) { .name = strdup(name),
                           .path = strf("sys/devices/virtual/workqueue/%s", name),
                           .cpumask = cpus(mask) };
}

/* The host's connection goes through a NIC on `node`. */
static Snapshot *machine(int node, const char *mask)
{
        Snapshot *s = snapshot_new();
        Device *d;

        s->numa = true;
        s->cpu_bits = 8;
        s->n_nodes = 2;
        s->nodes = calloc(2, sizeof(Node));
        s->n_cpus = 8;
        s->cpus = calloc(8, sizeof(Cpu));
        s->online = cpus("0-6");
        s->possible = cpus("0-7");
        for (unsigned i = 0; i < 8; i++) {
                s->cpus[i] = (Cpu) { .id = i, .node = (int)i / 4, .core = (int)i };
                s->nodes[i / 4].id = (int)i / 4;
                if (i != 7)
                        assert_int_equal(cpuset_add(&s->nodes[i / 4].cpus, i), 0);
        }
        d = ARRAY_APPEND(s->devices, s->n_devices);
        *d = (Device) { .id = strdup(ID),
                        .class = DEVICE_ISCSI_HOST,
                        .driver = strdup("iscsi_tcp"),
                        .node = node,
                        .node_source = node < 0 ? NODE_SOURCE_UNKNOWN : NODE_SOURCE_NETDEV,
                        .node_text = strdup("route to 10.9.0.2"),
                        .iscsi = calloc(1, sizeof(IscsiFacts)) };
        d->iscsi->transport = strdup("tcp");
        d->iscsi->host = 3;
        d->iscsi->xmit.sessions = 1;
        d->iscsi->xmit.rx_cpu = -1;
        add_workqueue(s, "iscsi_q_3", mask);
        add_workqueue(s, "scsi_tmf_3", mask);
        return s;
}

static XmitFacts *xmit(Snapshot *s)
{
        return &s->devices[0].iscsi->xmit;
}

static Knob *add_knob(Snapshot *s, WriterKind kind, const char *folder, const char *role, const char *value)
{
        Knob *k = ARRAY_APPEND(s->devices[0].knobs, s->devices[0].n_knobs);

        *k = (Knob) { .kind = kind,
                      .path = strf("%s/%s", folder, role),
                      .role = strdup(role),
                      .value = strdup(value) };
        return k;
}

/* What the kernels have: up to 6.5, from 6.6 on, and patched. */
static void stock_numa(Snapshot *s, const char *value)
{
        add_knob(s, WRITER_WORKQUEUE_NUMA, QUEUE, "numa", value);
}

static void stock_scope(Snapshot *s, const char *scope, const char *strict, QueueOrder order)
{
        add_knob(s, WRITER_WORKQUEUE_SCOPE, QUEUE, "affinity_scope", scope);
        add_knob(s, WRITER_WORKQUEUE_STRICT, QUEUE, "affinity_strict", strict);
        xmit(s)->order = order;
}

static void patched(Snapshot *s, const char *numa, const char *hint)
{
        add_knob(s, WRITER_ISCSI_XMIT_NUMA, HOST, "xmit_numa", hint);
        stock_numa(s, numa);
        xmit(s)->counted = true;
}

static void add_disk(Snapshot *s, const char *name, const char *scheduler, const char *request_based)
{
        IscsiDisk *disk = ARRAY_APPEND(xmit(s)->disks, xmit(s)->n_disks);

        *disk = (IscsiDisk) { .name = strdup(name),
                              .scheduler = scheduler ? strdup(scheduler) : NULL,
                              .request_based = request_based ? strdup(request_based) : NULL };
}

static Plan *make_with(const Snapshot *s, const char *set, PlanInput in)
{
        _cleanup_(freep) char *yaml =
                strf("version: 1\nrules: [{name: r, match: {class: iscsi-host}, set: {%s}}]\n", set);
        _cleanup_(policy_freep) Policy *policy = NULL;
        PolicyErrors errors = { 0 };
        Plan *p = NULL;

        assert_int_equal(policy_parse("test.yaml", yaml, strlen(yaml), &policy, &errors), 0);
        in.snapshot = s;
        in.policy = policy;
        assert_int_equal(plan(&in, &p), 0);
        return p;
}

static Plan *make(const Snapshot *s, const char *set)
{
        return make_with(s, set, (PlanInput) { 0 });
}

static const Verdict *verdict_of(const Plan *p, const char *knob)
{
        for (size_t i = 0; i < p->n_verdicts; i++)
                if (strcmp(p->verdicts[i].knob, knob) == 0)
                        return &p->verdicts[i];
        fail_msg("no verdict of %s", knob);
        return NULL;
}

static void expect_verdict(const Plan *p, const char *knob, VerdictState state, const char *part)
{
        const Verdict *v = verdict_of(p, knob);

        assert_int_equal(v->state, state);
        if (part && !strstr(v->reason.text, part))
                fail_msg("\"%s\" does not say \"%s\"", v->reason.text, part);
}

/* The plan's changes of a knob as "ROLE=VALUE ..." in their order, masks without leading zeros. */
static char *changes_of(const Plan *p, const char *knob)
{
        char *text = strdup("");

        for (size_t i = 0; i < p->n_changes; i++) {
                const Change *c = &p->changes[i];
                const char *value = c->desired;
                char *longer;

                if (strcmp(c->knob, knob) != 0)
                        continue;
                while (*value == '0' && value[1])
                        value++;
                assert_int_equal(strncmp(c->id, ID "~", strlen(ID "~")), 0);
                longer = strf("%s%s%s=%s", text, *text ? " " : "", strrchr(c->id, '~') + 1, value);
                free(text);
                text = longer;
        }
        return text;
}

static void expect_changes(const Plan *p, const char *knob, const char *want)
{
        _cleanup_(freep) char *text = changes_of(p, knob);

        assert_string_equal(text, want);
}

static bool is_claimed(const Plan *p)
{
        for (size_t i = 0; i < p->n_claims; i++)
                if (strcmp(p->claims[i].path, QUEUE "/cpumask") == 0) {
                        assert_string_equal(p->claims[i].knob, DYNAMIC);
                        assert_string_equal(p->claims[i].device, ID);
                        return true;
                }
        return false;
}

/* One plan of iscsi.dynamic beside workqueue.cpumask. */
static void expect(const Snapshot *s, const char *mode, VerdictState state, const char *part,
                   const char *changes, const char *others)
{
        _cleanup_(freep) char *set = strf("workqueue: {cpumask: node}, iscsi: {dynamic: %s}", mode);
        _cleanup_(plan_freep) Plan *p = make(s, set);

        expect_verdict(p, DYNAMIC, state, part);
        expect_changes(p, DYNAMIC, changes);
        expect_changes(p, "workqueue.cpumask", others);
        /* One knob decides about the queue: both never change it, and the other says who does. */
        assert_int_equal(is_claimed(p), strstr(others, "iscsi_q") == NULL);
        if (is_claimed(p))
                expect_verdict(p, "workqueue.cpumask", VERDICT_CHANGES, "iscsi_q_3 is held by iscsi.dynamic");
        else
                assert_null(strstr(verdict_of(p, "workqueue.cpumask")->reason.text, "held"));
}

static void stock_runs_where_it_receives(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(1, "0-7"), *late = machine(1, "0-7"),
                                           *bare = machine(0, "0-7");

        stock_numa(s, "0");
        expect(s, "on", VERDICT_CHANGES, "node 1 (route to", "iscsi_q=70", "scsi_tmf=70");
        expect(s, "off", VERDICT_RIGHT, "one pool", "", "iscsi_q=70 scsi_tmf=70");
        stock_scope(late, "default", "0", QUEUE_STAYS_ORDERED);
        expect(late, "on", VERDICT_CHANGES, NULL, "iscsi_q=70", "scsi_tmf=70");
        expect(bare, "on", VERDICT_CHANGES, NULL, "iscsi_q=f", "scsi_tmf=f");
}

static void stock_follows_the_submitter(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *old = machine(1, "4-6"), *ordered = machine(1, "0-7"),
                                           *later = machine(1, "0-7"), *bare = machine(1, "0-7"),
                                           *untold = machine(1, "0-7"), *disabled = machine(1, "0-7");

        stock_numa(old, "0");
        /* The mask is widened first. */
        {
                _cleanup_(plan_freep) Plan *p = make(old, "iscsi: {dynamic: submitter}");

                expect_changes(p, DYNAMIC, "iscsi_q=ff numa=1");
                expect_verdict(p, DYNAMIC, VERDICT_CHANGES, "by numa");
        }
        stock_scope(ordered, "default", "0", QUEUE_STAYS_ORDERED);
        expect(ordered, "submitter", VERDICT_ABSENT, "only its cpumask works", "", "iscsi_q=70 scsi_tmf=70");
        stock_scope(later, "default", "0", QUEUE_NOT_ORDERED);
        expect(later, "submitter", VERDICT_CHANGES, "affinity_scope", "affinity_scope=numa affinity_strict=1",
               "scsi_tmf=70");
        stock_scope(untold, "default", "0", QUEUE_ORDER_UNKNOWN);
        expect(untold, "submitter", VERDICT_CHANGES, "cannot be told",
               "affinity_scope=numa affinity_strict=1", "scsi_tmf=70");
        expect(bare, "submitter", VERDICT_ABSENT, "from 6.9 on", "", "iscsi_q=70 scsi_tmf=70");
        stock_numa(disabled, "0");
        xmit(disabled)->no_pools = true;
        expect(disabled, "submitter", VERDICT_ABSENT, "workqueue.disable_numa", "", "iscsi_q=70 scsi_tmf=70");
}

/* Whatever one mode has set, the next one and off take back. */
static void modes_take_back_the_others(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *numa = machine(1, "0-7"), *scope = machine(1, "0-7"),
                                           *cache = machine(1, "0-7"), *hint = machine(1, "0-7");

        stock_numa(numa, "1");
        expect(numa, "off", VERDICT_CHANGES, NULL, "numa=0", "iscsi_q=70 scsi_tmf=70");
        expect(numa, "on", VERDICT_CHANGES, NULL, "iscsi_q=70 numa=0", "scsi_tmf=70");
        expect(numa, "submitter", VERDICT_RIGHT, NULL, "", "scsi_tmf=70");
        stock_scope(scope, "numa", "1", QUEUE_NOT_ORDERED);
        expect(scope, "off", VERDICT_CHANGES, NULL, "affinity_strict=0 affinity_scope=default",
               "iscsi_q=70 scsi_tmf=70");
        expect(scope, "on", VERDICT_CHANGES, NULL, "iscsi_q=70 affinity_strict=0 affinity_scope=default",
               "scsi_tmf=70");
        /* Of other scopes nothing is known here. */
        stock_scope(cache, "cache", "1", QUEUE_NOT_ORDERED);
        expect(cache, "off", VERDICT_RIGHT, NULL, "", "iscsi_q=70 scsi_tmf=70");
        patched(hint, "1", "1");
        expect(hint, "off", VERDICT_CHANGES, NULL, "xmit_numa=0 numa=0", "iscsi_q=70 scsi_tmf=70");
        expect(hint, "submitter", VERDICT_CHANGES, NULL, "xmit_numa=0", "scsi_tmf=70");
        expect(hint, "on", VERDICT_RIGHT, NULL, "", "scsi_tmf=70");
}

static void patched_kernel_follows_by_itself(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(1, "4-6"), *receives = machine(1, "0-7");

        patched(s, "0", "0");
        {
                _cleanup_(plan_freep) Plan *p = make(s, "workqueue: {cpumask: node}, iscsi: {dynamic: on}");

                expect_changes(p, DYNAMIC, "iscsi_q=ff xmit_numa=1");
                expect_verdict(p, DYNAMIC, VERDICT_CHANGES, "xmit_numa");
                assert_true(is_claimed(p));
        }
        /* The kernel would answer EBUSY. */
        patched(receives, "0", "0");
        xmit(receives)->receives = true;
        expect(receives, "on", VERDICT_CHANGES, "recv_from_iscsi_q", "iscsi_q=70", "scsi_tmf=70");
        expect(receives, "submitter", VERDICT_LEFT, "recv_from_iscsi_q", "", "iscsi_q=70 scsi_tmf=70");
}

/* There xmit_numa alone says near which CPU, and the queue's own files how near. */
static void patched_kernel_with_scopes(void **state)
{
        const ControlTarget on = { .device = ID, .knob = DYNAMIC, .level = 1, .text = "" },
                            off = { .device = ID, .knob = DYNAMIC, .level = 0, .text = "" };
        _cleanup_(snapshot_freep) Snapshot *s = machine(1, "0-7"), *done = machine(1, "0-7");
        _cleanup_(plan_freep) Plan *step = NULL, *back = NULL;

        add_knob(s, WRITER_ISCSI_XMIT_NUMA, HOST, "xmit_numa", "0");
        stock_scope(s, "default", "0", QUEUE_NOT_ORDERED);
        xmit(s)->counted = true;
        expect(s, "on", VERDICT_CHANGES, "by xmit_numa", "affinity_scope=numa affinity_strict=1 xmit_numa=1",
               "scsi_tmf=70");
        step = make_with(s, "iscsi: {dynamic: auto}", (PlanInput) { .targets = &on, .n_targets = 1 });
        expect_changes(step, DYNAMIC, "affinity_scope=numa affinity_strict=1 xmit_numa=1");

        add_knob(done, WRITER_ISCSI_XMIT_NUMA, HOST, "xmit_numa", "1");
        stock_scope(done, "numa", "1", QUEUE_NOT_ORDERED);
        xmit(done)->counted = true;
        expect(done, "on", VERDICT_RIGHT, NULL, "", "scsi_tmf=70");
        expect(done, "submitter", VERDICT_CHANGES, NULL, "xmit_numa=0", "scsi_tmf=70");
        expect(done, "off", VERDICT_CHANGES, NULL, "xmit_numa=0 affinity_strict=0 affinity_scope=default",
               "iscsi_q=70 scsi_tmf=70");
        back = make_with(done, "iscsi: {dynamic: auto}", (PlanInput) { .targets = &off, .n_targets = 1 });
        expect_changes(back, DYNAMIC, "xmit_numa=0 affinity_strict=0 affinity_scope=default");
}

/* With the node unknown only what needs none is done. */
static void unknown_node(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(NODE_UNKNOWN, "4-6"),
                                           *hint = machine(NODE_UNKNOWN, "4-6");
        _cleanup_(plan_freep) Plan *p = NULL, *q = NULL;

        stock_numa(s, "0");
        p = make(s, "iscsi: {dynamic: on}");
        expect_verdict(p, DYNAMIC, VERDICT_UNKNOWN_NODE, "left alone");
        assert_int_equal(p->n_changes, 0);
        assert_false(is_claimed(p));
        patched(hint, "0", "0");
        q = make(hint, "iscsi: {dynamic: on}");
        expect_changes(q, DYNAMIC, "iscsi_q=ff xmit_numa=1");
}

static void never_touched(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *shared = machine(1, "0-7"), *card = machine(1, "0-7"),
                                           *bare = machine(1, "0-7"), *hidden = machine(1, "0-7");

        stock_numa(shared, "0");
        xmit(shared)->sessions = 2;
        expect(shared, "submitter", VERDICT_LEFT, "all sessions", "", "iscsi_q=70 scsi_tmf=70");
        /* cxgb3i has a queue for all sessions of a port. */
        card->devices[0].iscsi->offload = true;
        expect(card, "on", VERDICT_LEFT, "never made dynamic", "", "iscsi_q=70 scsi_tmf=70");
        free(bare->workqueues[0].name);
        bare->workqueues[0].name = strdup("iscsi_q_4");
        bare->devices[0].iscsi->offload = true;
        {
                _cleanup_(plan_freep) Plan *p = make(bare, "iscsi: {dynamic: on, transmit: inline}");

                expect_verdict(p, DYNAMIC, VERDICT_NONE, NULL);
                expect_verdict(p, TRANSMIT, VERDICT_NONE, NULL);
                assert_int_equal(p->n_changes, 0);
        }
        free(hidden->workqueues[0].name);
        hidden->workqueues[0].name = strdup("iscsi_q_4");
        {
                _cleanup_(plan_freep) Plan *p = make(hidden, "iscsi: {dynamic: on}");

                expect_verdict(p, DYNAMIC, VERDICT_ABSENT, "does not show iscsi_q_3");
        }
}

static void only_what_is_asked_for(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(1, "0-7");
        _cleanup_(plan_freep) Plan *none = NULL, *node = NULL, *held = NULL, *wrong = NULL, *left = NULL;
        Strv devices = { 0 }, files = { 0 };

        patched(s, "0", "0");
        none = make(s, "workqueue: {cpumask: leave}");
        expect_verdict(none, DYNAMIC, VERDICT_LEFT, "no rule");
        expect_verdict(none, TRANSMIT, VERDICT_LEFT, "no rule");
        assert_int_equal(none->n_changes, 0);
        node = make(s, "node: leave, iscsi: {dynamic: on}");
        expect_verdict(node, DYNAMIC, VERDICT_LEFT, "the policy says leave");
        assert_int_equal(node->n_changes, 0);
        wrong = make(s, "node: 7, iscsi: {dynamic: on}");
        expect_verdict(wrong, DYNAMIC, VERDICT_ERROR, "node 7");
        assert_int_equal(wrong->n_changes, 0);

        assert_int_equal(strv_add(&devices, ID), 0);
        held = make_with(s, "iscsi: {dynamic: on}", (PlanInput) { .held = &devices });
        expect_verdict(held, DYNAMIC, VERDICT_HELD, NULL);
        assert_int_equal(held->n_changes, 0);
        assert_true(is_claimed(held));
        assert_int_equal(strv_add(&files, HOST "/xmit_numa"), 0);
        left = make_with(s, "iscsi: {dynamic: on}", (PlanInput) { .left = &files });
        expect_verdict(left, DYNAMIC, VERDICT_RIGHT, "1 files are left to others");
        assert_int_equal(left->n_changes, 0);
        strv_clear(&devices);
        strv_clear(&files);
}

static void auto_needs_counters(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(1, "4-6"), *counts = machine(1, "4-6");
        _cleanup_(plan_freep) Plan *p = NULL, *q = NULL;

        stock_numa(s, "0");
        p = make(s, "workqueue: {cpumask: node}, iscsi: {dynamic: auto}");
        expect_verdict(p, DYNAMIC, VERDICT_ABSENT, "xmit_stats, which kernel/ adds");
        expect_verdict(p, DYNAMIC, VERDICT_ABSENT, "numaioctl measure iscsi:default:iqn.2024-01.test:t1 ");
        assert_int_equal(p->n_changes, 0);
        assert_false(is_claimed(p));
        patched(counts, "0", "0");
        q = make(counts, "iscsi: {dynamic: auto}");
        assert_true(is_claimed(q));
        expect_changes(q, DYNAMIC, "iscsi_q=ff");
        assert_int_equal(p->n_wishes, 0);
        assert_int_equal(q->n_wishes, 1);
        assert_string_equal(q->wishes[0].path, HOST "/xmit_numa");
        assert_string_equal(q->wishes[0].counters, HOST "/xmit_stats");
        assert_true(q->wishes[0].level == 0 && q->wishes[0].max == 1);
}

/* What a controller wants is planned; without one what is there stays. */
static void auto_follows_its_controller(void **state)
{
        static const struct {
                const char *now;
                int target; /* -1 = none */
                const char *changes;
        } rows[] = { { "0", -1, "" }, { "1", -1, "" },           { "0", 1, "xmit_numa=1" },
                     { "1", 1, "" },  { "1", 0, "xmit_numa=0" }, { "0", 0, "" } };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                const ControlTarget t = {
                        .device = ID, .knob = DYNAMIC, .level = rows[i].target, .text = "found so"
                };
                _cleanup_(snapshot_freep) Snapshot *s = machine(1, "0-7");
                _cleanup_(plan_freep) Plan *p = NULL;

                patched(s, rows[i].now, rows[i].now);
                p = make_with(s, "iscsi: {dynamic: auto}",
                              (PlanInput) { .targets = &t, .n_targets = rows[i].target >= 0 });
                expect_changes(p, DYNAMIC, rows[i].changes);
                expect_verdict(p, DYNAMIC, *rows[i].changes ? VERDICT_CHANGES : VERDICT_RIGHT,
                               rows[i].target >= 0 ? "auto: found so" : "no step was needed");
        }
}

static void auto_stands_back(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(1, "0-7"), *receives = machine(1, "0-7");
        _cleanup_(plan_freep) Plan *held = NULL, *left = NULL, *p = NULL;
        Strv devices = { 0 }, files = { 0 };

        patched(s, "0", "0");
        assert_int_equal(strv_add(&devices, ID), 0);
        assert_int_equal(strv_add(&files, HOST "/xmit_numa"), 0);
        held = make_with(s, "iscsi: {dynamic: auto}", (PlanInput) { .held = &devices });
        assert_int_equal(held->n_wishes, 0);
        expect_verdict(held, DYNAMIC, VERDICT_HELD, NULL);
        left = make_with(s, "iscsi: {dynamic: auto}", (PlanInput) { .left = &files });
        assert_int_equal(left->n_wishes, 0);
        expect_verdict(left, DYNAMIC, VERDICT_RIGHT, "left to others");
        patched(receives, "0", "0");
        xmit(receives)->receives = true;
        p = make(receives, "iscsi: {dynamic: auto}");
        assert_int_equal(p->n_wishes, 0);
        expect_verdict(p, DYNAMIC, VERDICT_LEFT, "recv_from_iscsi_q");
        strv_clear(&devices);
        strv_clear(&files);
}

static void expect_transmit(const Snapshot *s, const char *word, VerdictState state, const char *part,
                            const char *changes)
{
        _cleanup_(freep) char *set = strf("iscsi: {transmit: %s}", word);
        _cleanup_(plan_freep) Plan *p = make(s, set);

        expect_verdict(p, TRANSMIT, state, part);
        expect_changes(p, TRANSMIT, changes);
        expect_changes(p, DYNAMIC, "");
}

static void inline_only_where_it_is_safe(void **state)
{
        static const struct {
                const char *scheduler, *request_based, *why;
        } rows[] = { { "none", NULL, NULL },
                     { "mq-deadline", NULL, "sdb has the I/O scheduler mq-deadline" },
                     { NULL, NULL, "nothing tells the I/O scheduler of sdb" },
                     { "none", "dm-3", "sdb lies below dm-3" } };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                for (int now = 0; now <= 1; now++) {
                        _cleanup_(snapshot_freep) Snapshot *s = machine(1, "0-7");

                        add_knob(s, WRITER_ISCSI_XMIT_INLINE, HOST, "xmit_inline", now ? "1" : "0");
                        add_disk(s, "sda", "none", NULL);
                        add_disk(s, "sdb", rows[i].scheduler, rows[i].request_based);
                        if (!rows[i].why)
                                expect_transmit(s, "inline", now ? VERDICT_RIGHT : VERDICT_CHANGES, NULL,
                                                now ? "" : "xmit_inline=1");
                        else
                                expect_transmit(s, "inline", now ? VERDICT_CHANGES : VERDICT_LEFT,
                                                rows[i].why, now ? "xmit_inline=0" : "");
                        expect_transmit(s, "workqueue", now ? VERDICT_CHANGES : VERDICT_RIGHT, NULL,
                                        now ? "xmit_inline=0" : "");
                }
        }
}

static void inline_that_is_not_offered(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *bare = machine(1, "0-7"), *empty = machine(1, "0-7"),
                                           *refused = machine(1, "0-7");

        expect_transmit(bare, "inline", VERDICT_ABSENT, "no xmit_inline", "");
        expect_transmit(bare, "workqueue", VERDICT_RIGHT, NULL, "");
        add_knob(empty, WRITER_ISCSI_XMIT_INLINE, HOST, "xmit_inline", "0");
        expect_transmit(empty, "inline", VERDICT_LEFT, "no disk", "");
        add_knob(refused, WRITER_ISCSI_XMIT_INLINE, HOST, "xmit_inline", "0")->settable = SETTABLE_NO;
        add_disk(refused, "sda", "none", NULL);
        expect_transmit(refused, "inline", VERDICT_LEFT, "iscsi_tcp.blocking_xmit", "xmit_inline=1");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(stock_runs_where_it_receives),
                cmocka_unit_test(stock_follows_the_submitter),
                cmocka_unit_test(modes_take_back_the_others),
                cmocka_unit_test(patched_kernel_follows_by_itself),
                cmocka_unit_test(patched_kernel_with_scopes),
                cmocka_unit_test(unknown_node),
                cmocka_unit_test(never_touched),
                cmocka_unit_test(only_what_is_asked_for),
                cmocka_unit_test(auto_needs_counters),
                cmocka_unit_test(auto_follows_its_controller),
                cmocka_unit_test(auto_stands_back),
                cmocka_unit_test(inline_only_where_it_is_safe),
                cmocka_unit_test(inline_that_is_not_offered),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
