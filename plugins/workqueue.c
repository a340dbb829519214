/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/knob-file.h"
#include "plugins/iscsi.h"
#include "plugins/keys.h"
#include "plugins/plugin.h"

#include <errno.h>
#include <string.h>

/* workqueue.cpumask: the CPUs that the unbound workqueues of a device's SCSI hosts run on (iscsi_q_N,
 * iscsi_ctrl_N:S, scsi_tmf_N, scsi_wq_N). The kernel's file takes masks alone, and accepts an empty one, or
 * one outside the global mask, as "everywhere" (kernel/workqueue.c): neither is ever planned. */

#define KNOB "workqueue.cpumask"

typedef struct Intent {
        const Setting *setting; /* NULL = no rule */
        bool leave;
        Home home;
        CpuSet *cpus; /* what is wanted; NULL = nothing */
        char *text;   /* what reasons call CPUs that the policy names */
} Intent;

static void intent_clear(Intent *in)
{
        home_clear(&in->home);
        cpuset_free(in->cpus);
        in->cpus = NULL;
        free(STEAL_PTR(in->text));
}

static int intent_read(const PlanBuilder *b, const Device *d, Intent *in, Error *e)
{
        const Setting *set = policy_get(plan_policy(b), d, "workqueue", "cpumask");
        int r;

        *in = (Intent) { .setting = set, .home = { .node = d->node, .source = d->node_source } };
        in->leave = !set || (set->word && strcmp(set->word, "leave") == 0);
        if (in->leave)
                return 0;
        r = plan_home(b, d, &in->home, e);
        if (r < 0)
                return r;
        in->leave = in->home.leave;
        if (!set->word)
                r = plan_check_cpus(plan_snapshot(b), set->cpus, set, &in->cpus, e);
        else if (!cpuset_is_empty(in->home.cpus))
                r = (in->cpus = cpuset_dup(in->home.cpus)) ? 0 : -ENOMEM;
        if (r >= 0 && !set->word && !(in->text = plan_describe_cpus(plan_snapshot(b), set->cpus)))
                r = -ENOMEM;
        if (r < 0)
                intent_clear(in);
        return r;
}

static const char *target_text(const Intent *in)
{
        return in->setting->word ? in->home.text : in->text;
}

static int add_change(PlanBuilder *b, const Device *d, const Intent *in, size_t wq)
{
        const Snapshot *s = plan_snapshot(b);
        const Workqueue *w = &s->workqueues[wq];
        _cleanup_(freep) char *role = workqueue_role(s, wq);
        Change c = {
                .plugin = plugin_workqueue.name,
                .knob = KNOB,
                .kind = WRITER_WORKQUEUE_CPUMASK,
                .path = strf("%s/cpumask", w->path),
                .current = cpuset_format_mask(w->cpumask, s->cpu_bits),
                .desired = cpuset_format_mask(in->cpus, s->cpu_bits),
                .settable = w->settable,
                .irq = -1,
        };

        c.reason.text = strf("workqueue %s runs on %s", w->name, target_text(in));
        if (!role)
                free(STEAL_PTR(c.reason.text));
        return plan_add_change(b, d, role, in->setting, &c);
}

#define VERDICT(b, d, state, in, ...) \
        plan_add_verdict(b, d, plugin_workqueue.name, KNOB, state, &(in)->home, (in)->setting, __VA_ARGS__)

/* What a look at the workqueues of one device came to. */
typedef struct Tally {
        unsigned queues, changes, refused, left; /* queues: without the one that is held */
        const Workqueue *held;                   /* by iscsi.dynamic; NULL = none */
} Tally;

static int verdict_of_placed(PlanBuilder *b, const Device *d, const Intent *in, const Tally *t)
{
        _cleanup_(freep) char *refused =
                t->refused ? strf("; the kernel refuses to change %u", t->refused) : strdup("");
        _cleanup_(freep) char *left = t->left ? strf("; %u are left to others", t->left) : strdup("");
        _cleanup_(freep) char *held =
                t->held ? strf("; %s is held by iscsi.dynamic", t->held->name) : strdup("");

        if (!refused || !left || !held)
                return -ENOMEM;
        if (t->changes)
                return VERDICT(b, d, VERDICT_CHANGES, in, "%u of %u workqueues go to %s%s%s%s", t->changes,
                               t->queues, target_text(in), refused, left, held);
        return VERDICT(b, d, VERDICT_RIGHT, in, "%u of %u workqueues run on %s%s%s%s",
                       t->queues - t->refused - t->left, t->queues, target_text(in), refused, left, held);
}

/* The device's only queue that iscsi.dynamic may decide about. Returns 0 or -ENOMEM. */
static int find_held(const PlanBuilder *b, const Device *d, const Workqueue **ret)
{
        const Snapshot *s = plan_snapshot(b);
        int r = 0;

        *ret = NULL;
        for (size_t i = 0; r == 0 && i < s->n_workqueues; i++) {
                const Workqueue *w = &s->workqueues[i];

                if (w->device < 0 || &s->devices[w->device] != d)
                        continue;
                r = iscsi_holds_queue(b, w);
                if (r > 0)
                        *ret = w;
        }
        return r < 0 ? r : 0;
}

/* Returns 1 when the file of a workqueue is left to others, 0 or -ENOMEM. */
static int is_left(const PlanBuilder *b, const Workqueue *w)
{
        _cleanup_(freep) char *path = strf("%s/cpumask", w->path);

        return path ? plan_is_left(b, path) : -ENOMEM;
}

static int place(PlanBuilder *b, const Device *d, const Intent *in, unsigned n_queues, const Workqueue *held)
{
        const Snapshot *s = plan_snapshot(b);
        Tally t = { .queues = n_queues, .held = held };
        int r;

        if (s->workqueue_mask && !cpuset_intersects(in->cpus, s->workqueue_mask))
                return VERDICT(b, d, VERDICT_ERROR, in,
                               "%s lies outside the global workqueue cpumask: the kernel would silently use "
                               "every CPU",
                               target_text(in));
        for (size_t i = 0; i < s->n_workqueues; i++) {
                const Workqueue *w = &s->workqueues[i];

                if (w->device < 0 || &s->devices[w->device] != d || w->per_cpu || w == held)
                        continue;
                r = is_left(b, w);
                if (r < 0)
                        return r;
                t.left += (unsigned)r;
                if (r > 0 || cpuset_equal(w->cpumask, in->cpus))
                        continue;
                r = add_change(b, d, in, i);
                if (r < 0)
                        return r;
                if (w->settable == SETTABLE_NO)
                        t.refused++;
                else
                        t.changes++;
        }
        return verdict_of_placed(b, d, in, &t);
}

static int plan_workqueue(PlanBuilder *b, const Device *d)
{
        const Snapshot *s = plan_snapshot(b);
        const Workqueue *held;
        unsigned n_queues = 0;
        Error e = { 0 };
        Intent in;
        int r;

        r = find_held(b, d, &held);
        if (r < 0)
                return r;
        for (size_t i = 0; i < s->n_workqueues; i++)
                n_queues += s->workqueues[i].device >= 0 && &s->devices[s->workqueues[i].device] == d &&
                            !s->workqueues[i].per_cpu && &s->workqueues[i] != held;
        r = intent_read(b, d, &in, &e);
        if (r < 0)
                return e.code == -EINVAL ? VERDICT(b, d, VERDICT_ERROR, &in, "%s: %s", e.where, e.text) : r;
        if (n_queues == 0 && held)
                r = VERDICT(b, d, VERDICT_LEFT, &in, "%s is held by iscsi.dynamic", held->name);
        else if (n_queues == 0)
                r = VERDICT(b, d, VERDICT_NONE, &in, "no unbound workqueue belongs to this device");
        else if (plan_is_held(b, d))
                r = VERDICT(b, d, VERDICT_HELD, &in, "held as it was before the first write, until apply");
        else if (!in.setting)
                r = VERDICT(b, d, VERDICT_LEFT, &in,
                            "no rule of the policy sets workqueue.cpumask for this device");
        else if (in.leave)
                r = VERDICT(b, d, VERDICT_LEFT, &in, "the policy says leave");
        else if (!in.cpus)
                r = VERDICT(b, d, VERDICT_UNKNOWN_NODE, &in, "left alone: %s", in.home.text);
        else
                r = place(b, d, &in, n_queues, held);
        intent_clear(&in);
        return r;
}

static const char *const knobs[] = { KNOB, NULL };

const Plugin plugin_workqueue = {
        .name = "workqueue",
        .knobs = knobs,
        .help = "CPUs that the workqueues of a device's SCSI hosts run on",
        .keys = plugin_workqueue_keys,
        .n_keys = ARRAY_SIZE(plugin_workqueue_keys),
        .plan = plan_workqueue,
};
