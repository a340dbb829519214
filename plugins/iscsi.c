/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/iscsi.h"

#include "model/knob-file.h"
#include "plugins/iscsi-dynamic.h"
#include "plugins/keys.h"
#include "plugins/plugin.h"

#include <errno.h>
#include <string.h>

/* The knobs iscsi.dynamic and iscsi.transmit; this file plans the first. Each write is safe by itself, and
 * none waits for I/O: work that is queued runs to its end in the pool that it is in (kernel/workqueue.c), and
 * one work item never runs twice at a time. Masks are widened before pools are made, so that no node is left
 * without one. */

/* One file and what it is to hold. */
typedef struct Target {
        WriterKind kind;
        const char *value;
        const char *scope; /* only while affinity_scope holds this; NULL = whatever it holds */
} Target;

#define TARGETS_MAX 4

#define ONE_POOL                                                                     \
        { WRITER_ISCSI_XMIT_NUMA, "0", NULL }, { WRITER_WORKQUEUE_NUMA, "0", NULL }, \
                { WRITER_WORKQUEUE_STRICT, "0", "numa" },                            \
        {                                                                            \
                WRITER_WORKQUEUE_SCOPE, "default", "numa"                            \
        }

/* In the order in which they are written. A kernel has either numa or the other two; xmit_numa brings numa
 * along, both ways, and leaves the others alone: they say how near to the CPU that receives (kernel/'s patch
 * for 6.12). */
static const Target targets[_XMIT_WAY_MAX][TARGETS_MAX] = {
        [WAY_OFF] = { ONE_POOL },
        [WAY_CPUMASK] = { ONE_POOL },
        [WAY_HINT] = { { WRITER_WORKQUEUE_SCOPE, "numa", NULL },
                       { WRITER_WORKQUEUE_STRICT, "1", NULL },
                       { WRITER_ISCSI_XMIT_NUMA, "1", NULL } },
        [WAY_BACK] = { { WRITER_ISCSI_XMIT_NUMA, "0", NULL },
                       { WRITER_WORKQUEUE_STRICT, "0", "numa" },
                       { WRITER_WORKQUEUE_SCOPE, "default", "numa" } },
        [WAY_NUMA] = { { WRITER_ISCSI_XMIT_NUMA, "0", NULL }, { WRITER_WORKQUEUE_NUMA, "1", NULL } },
        [WAY_SCOPE] = { { WRITER_ISCSI_XMIT_NUMA, "0", NULL },
                        { WRITER_WORKQUEUE_SCOPE, "numa", NULL },
                        { WRITER_WORKQUEUE_STRICT, "1", NULL } },
};

/* What it comes to, as the start of a sentence. */
static const char *const effects[_XMIT_WAY_MAX] = {
        [WAY_OFF] = "transmit work has one pool, whose CPUs are not for iscsi.dynamic to decide",
        [WAY_HINT] = "transmit work runs on the node that receives, by xmit_numa",
        [WAY_CPUMASK] = "transmit work runs where the connection is received",
        [WAY_NUMA] = "transmit work runs on the node of the CPU that submits, by numa",
        [WAY_SCOPE] = "transmit work runs on the node of the CPU that submits, by affinity_scope",
        [WAY_WATCH] = "transmit work runs as it did, on any CPU",
        [WAY_BACK] = "transmit work runs on any CPU",
};

/* What a look at one host came to. */
typedef struct Tally {
        unsigned changes, refused, left;
} Tally;

static void count(Tally *t, Settable settable)
{
        if (settable == SETTABLE_NO)
                t->refused++;
        else
                t->changes++;
}

static int add_target(PlanBuilder *b, const Device *d, const Choice *c, const Target *target, Tally *t)
{
        const Knob *k = device_knob(d, target->kind), *scope = device_knob(d, WRITER_WORKQUEUE_SCOPE);
        Change change;

        if (!k || strcmp(k->value, target->value) == 0 ||
            (target->scope && (!scope || strcmp(scope->value, target->scope) != 0)))
                return 0;
        if (plan_is_left(b, k->path)) {
                t->left++;
                return 0;
        }
        change = (Change) { .plugin = plugin_iscsi.name,
                            .knob = DYNAMIC,
                            .kind = k->kind,
                            .path = strdup(k->path),
                            .current = strdup(k->value),
                            .desired = strdup(target->value),
                            .settable = k->settable,
                            .irq = -1,
                            .reason = { .text = strf("%s%s", effects[c->way], c->why ? c->why : "") } };
        count(t, k->settable);
        return plan_add_change(b, d, k->role, c->setting, &change);
}

/* --- the queue's cpumask --- */

/* Every CPU, also those that may be plugged in: what the kernel gave the queue at first. */
static const CpuSet *every_cpu(const Snapshot *s)
{
        return s->possible ? s->possible : s->online;
}

static bool is_mask_right(const Snapshot *s, const Choice *c)
{
        return c->way == WAY_CPUMASK ? cpuset_equal(c->queue->cpumask, c->home.cpus)
                                     : cpuset_is_subset(s->online, c->queue->cpumask);
}

static int add_mask_change(PlanBuilder *b, const Device *d, const Choice *c, const char *path)
{
        const Snapshot *s = plan_snapshot(b);
        const bool here = c->way == WAY_CPUMASK;
        _cleanup_(freep) char *role = workqueue_role(s, (size_t)(c->queue - s->workqueues));
        Change change = { .plugin = plugin_iscsi.name,
                          .knob = DYNAMIC,
                          .kind = WRITER_WORKQUEUE_CPUMASK,
                          .path = strdup(path),
                          .current = cpuset_format_mask(c->queue->cpumask, s->cpu_bits),
                          .desired = cpuset_format_mask(here ? c->home.cpus : every_cpu(s), s->cpu_bits),
                          .settable = c->queue->settable,
                          .irq = -1 };

        change.reason.text = strf("workqueue %s runs on %s, so that %s", c->queue->name,
                                  here ? c->home.text : "every CPU", effects[c->way]);
        if (!role)
                free(STEAL_PTR(change.reason.text));
        return plan_add_change(b, d, role, c->setting, &change);
}

/* Plans the mask where the way holds it, and says so. */
static int add_mask(PlanBuilder *b, const Device *d, const Choice *c, Tally *t)
{
        _cleanup_(freep) char *path = strf("%s/cpumask", c->queue->path);
        int r;

        r = path ? plan_add_claim(b, d, plugin_iscsi.name, DYNAMIC, path) : -ENOMEM;
        if (r < 0 || plan_is_held(b, d) || is_mask_right(plan_snapshot(b), c))
                return r;
        if (plan_is_left(b, path)) {
                t->left++;
                return 0;
        }
        count(t, c->queue->settable);
        return add_mask_change(b, d, c, path);
}

#define VERDICT(b, d, c, state, ...) \
        plan_add_verdict(b, d, plugin_iscsi.name, DYNAMIC, state, &(c)->home, (c)->setting, __VA_ARGS__)

static int add_verdict(PlanBuilder *b, const Device *d, const Choice *c, const Tally *t)
{
        _cleanup_(freep) char *refused =
                t->refused ? strf("; the kernel refuses to change %u files", t->refused) : strdup("");
        _cleanup_(freep) char *left = t->left ? strf("; %u files are left to others", t->left) : strdup("");
        _cleanup_(freep) char *where = c->way == WAY_CPUMASK ? strf(": %s", c->home.text) : strdup("");

        if (!refused || !left || !where)
                return -ENOMEM;
        return VERDICT(b, d, c, t->changes ? VERDICT_CHANGES : VERDICT_RIGHT, "%s%s%s%s%s", effects[c->way],
                       where, c->why ? c->why : "", refused, left);
}

int iscsi_plan_way(PlanBuilder *b, const Device *d, const Choice *c)
{
        Tally t = { 0 };
        int r = 0;

        if (way_holds_mask(c->way))
                r = add_mask(b, d, c, &t);
        if (r >= 0 && plan_is_held(b, d))
                return VERDICT(b, d, c, VERDICT_HELD, "held as it was before the first write, until apply");
        for (size_t i = 0; r >= 0 && i < TARGETS_MAX && targets[c->way][i].value; i++)
                r = add_target(b, d, c, &targets[c->way][i], &t);
        return r < 0 ? r : add_verdict(b, d, c, &t);
}

static int plan_dynamic(PlanBuilder *b, const Device *d)
{
        Error e = { 0 };
        Choice c;
        int r;

        r = iscsi_choose(b, d, &c, &e);
        if (r < 0 && e.code == -EINVAL)
                r = VERDICT(b, d, &c, VERDICT_ERROR, "%s: %s", e.where, e.text);
        else if (r >= 0 && c.way == WAY_NONE)
                r = VERDICT(b, d, &c, c.state, "%s", c.why);
        else if (r >= 0 && c.way == WAY_WATCH)
                r = iscsi_control(b, d, &c);
        if (r >= 0 && c.way != WAY_NONE)
                r = iscsi_plan_way(b, d, &c);
        choice_clear(&c);
        return r;
}

int iscsi_holds_queue(const PlanBuilder *b, const Workqueue *w)
{
        const Snapshot *s = plan_snapshot(b);
        const Device *d = w->device >= 0 ? &s->devices[w->device] : NULL;
        Error e = { 0 };
        Choice c;
        int r;

        if (!d || !d->iscsi)
                return 0;
        r = iscsi_choose(b, d, &c, &e);
        if (r >= 0)
                r = c.queue == w && way_holds_mask(c.way);
        else if (e.code == -EINVAL)
                r = 0;
        choice_clear(&c);
        return r;
}

static int plan_iscsi(PlanBuilder *b, const Device *d)
{
        int r;

        r = plan_dynamic(b, d);
        return r < 0 ? r : iscsi_plan_transmit(b, d);
}

static bool asks_for_order(const Policy *p, const Device *d)
{
        const Setting *set = d->iscsi ? policy_get(p, d, "iscsi", "dynamic") : NULL;

        return set && strcmp(set->word, "submitter") == 0 && device_knob(d, WRITER_WORKQUEUE_SCOPE);
}

/* Only for the sake of affinity scopes, which no file says to be heeded. */
static int complete(const Root *root, const Policy *policy, SymbolMemo *memo, Snapshot *s)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < s->n_devices; i++) {
                Device *d = &s->devices[i];

                if (!asks_for_order(policy, d))
                        continue;
                r = symbols_ask(root, memo);
                if (r >= 0 && memo->told)
                        d->iscsi->xmit.order =
                                memo->has[SYMBOL_NODE_MAX_ACTIVE] ? QUEUE_NOT_ORDERED : QUEUE_STAYS_ORDERED;
        }
        return r;
}

static const char *const knobs[] = { DYNAMIC, "iscsi.transmit", NULL };

const Plugin plugin_iscsi = {
        .name = "iscsi",
        .knobs = knobs,
        .help = "where a software iSCSI host's transmit work runs, and who does it",
        .keys = plugin_iscsi_keys,
        .n_keys = ARRAY_SIZE(plugin_iscsi_keys),
        .complete = complete,
        .plan = plan_iscsi,
};
