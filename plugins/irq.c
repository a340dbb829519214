/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/keys.h"
#include "plugins/plugin.h"

#include <errno.h>
#include <string.h>

/* irq.affinity: the CPUs that a device's interrupts go to.
 * Rules 3 to 8 of docs/architecture.md; what /proc/irq accepts is in the kernel's kernel/irq/proc.c. */

#define KNOB "irq.affinity"

typedef enum IrqMode {
        IRQ_LEAVE,
        IRQ_SPREAD, /* one CPU for each queue, the whole home for the slow path */
        IRQ_NODE,   /* the whole home for every vector */
        IRQ_CPUS,   /* exactly the CPUs that the policy names, for every vector */
} IrqMode;

/* What the policy wants for one device. */
typedef struct Intent {
        IrqMode mode;
        const Setting *setting; /* NULL = no rule */
        Home home;
        CpuSet *cpus; /* of IRQ_CPUS */
        char *text;   /* what reasons call these */
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
        const Setting *mode = policy_get(plan_policy(b), d, "irq", "mode");
        int r;

        *in = (Intent) { .mode = IRQ_LEAVE,
                         .setting = mode,
                         .home = { .node = d->node, .source = d->node_source } };
        if (!mode || (mode->word && strcmp(mode->word, "leave") == 0))
                return 0;
        r = plan_home(b, d, &in->home, e);
        if (r < 0)
                return r;
        if (mode->word) {
                in->mode = strcmp(mode->word, "node") == 0 ? IRQ_NODE : IRQ_SPREAD;
                return 0;
        }
        in->mode = IRQ_CPUS;
        r = plan_check_cpus(plan_snapshot(b), mode->cpus, mode, &in->cpus, e);
        if (r >= 0 && !(in->text = plan_describe_cpus(plan_snapshot(b), mode->cpus)))
                r = -ENOMEM;
        if (r < 0)
                intent_clear(in);
        return r;
}

/* Whether the plan may touch this device's vectors at all. */
static bool is_placed(const PlanBuilder *b, const Device *d, const Intent *in)
{
        return !plan_is_held(b, d) && in->mode != IRQ_LEAVE && !in->home.leave &&
               (in->mode == IRQ_CPUS || !cpuset_is_empty(in->home.cpus));
}

/* Where the vector's interrupts go, or will go once a pending move is done. */
static const CpuSet *position(const Vector *v)
{
        return v->pending ? v->affinity : vector_target(v);
}

static bool is_at_home(const Vector *v, const CpuSet *home)
{
        return !cpuset_is_empty(position(v)) && cpuset_is_subset(position(v), home);
}

/* The one CPU of a vector, -1 when it may run on several. */
static int single_cpu(const Vector *v)
{
        int cpu = cpuset_next(position(v), -1);

        return cpu >= 0 && cpuset_next(position(v), cpu) < 0 ? cpu : -1;
}

#define AFFINITY_FILE "proc/irq/%u/smp_affinity_list"

static bool is_left(const PlanBuilder *b, const Vector *v)
{
        char path[64];

        snprintf(path, sizeof(path), AFFINITY_FILE, v->irq);
        return plan_is_left(b, path);
}

static bool may_move(const PlanBuilder *b, const Vector *v)
{
        return !v->managed && v->settable != SETTABLE_NO && !is_left(b, v);
}

/* --- loads: how many queues all devices have on each CPU --- */

static void count_device(const PlanBuilder *b, const Device *d, bool placed, const CpuSet *home, Loads *l)
{
        for (size_t i = 0; i < d->n_vectors; i++) {
                const Vector *v = &d->vectors[i];
                int cpu = single_cpu(v);

                /* A tx vector beside its rx vector is the same unit of work. */
                if (v->role == VECTOR_SLOW || v->role == VECTOR_TX || cpu < 0 || (unsigned)cpu >= l->n)
                        continue;
                if (placed && may_move(b, v) && !is_at_home(v, home))
                        continue; /* it will leave this CPU */
                l->cpu[cpu]++;
        }
}

/* Counts what stays where it is: once for each plan, before the first device is placed. */
static int fill_loads(PlanBuilder *b)
{
        const Snapshot *s = plan_snapshot(b);
        Loads *l = plan_loads(b);

        if (l->cpu)
                return 0;
        l->n = s->cpu_bits;
        if (s->n_cpus && s->cpus[s->n_cpus - 1].id >= l->n)
                l->n = s->cpus[s->n_cpus - 1].id + 1;
        l->cpu = calloc(l->n ? l->n : 1, sizeof(*l->cpu));
        if (!l->cpu)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_devices; i++) {
                const Device *d = &s->devices[i];
                Error e = { 0 };
                Intent in;
                bool placed;

                if (intent_read(b, d, &in, &e) < 0) {
                        if (e.code == -ENOMEM || e.code == 0)
                                return -ENOMEM;
                        count_device(b, d, false, NULL, l);
                        continue;
                }
                placed = is_placed(b, d, &in) && in.mode == IRQ_SPREAD;
                count_device(b, d, placed, in.home.cpus, l);
                intent_clear(&in);
        }
        return 0;
}

/* --- changes --- */

typedef struct Placer {
        PlanBuilder *b;
        const Device *device;
        const Intent *intent;
        char *home_list;
        unsigned n_changes, n_refused, n_left;
} Placer;

/* A queue without fallback is right where it is, and stays there when the CPU has no free vector. */
static int add_change(Placer *p, const Vector *v, char *desired, const char *fallback, char *text)
{
        Change c = {
                .plugin = plugin_irq.name,
                .knob = KNOB,
                .kind = WRITER_IRQ_AFFINITY,
                .path = strf(AFFINITY_FILE, v->irq),
                .current = cpuset_format_list(v->affinity),
                .desired = desired,
                .settable = v->settable,
                .irq = (int)v->irq,
                .fallback = fallback ? strdup(fallback) : NULL,
                .optional = p->intent->mode == IRQ_SPREAD && v->role != VECTOR_SLOW && !fallback,
        };

        c.reason.text = text;
        if (v->settable == SETTABLE_NO)
                p->n_refused++;
        p->n_changes++;
        return plan_add_change(p->b, p->device, v->key, p->intent->setting, &c);
}

/* Why a CPU is no target although it is on the right node, as the end of a sentence. */
static const char *why_not(const Snapshot *s, const CpuSet *cpus)
{
        if (cpuset_is_empty(cpus))
                return "";
        if (cpuset_is_subset(cpus, s->nohz_full))
                return ", which is nohz_full";
        return cpuset_is_subset(cpus, s->isolated) ? ", which is isolated" : "";
}

static char *describe_position(const Placer *p, const Vector *v)
{
        _cleanup_(freep) char *list = cpuset_format_list(position(v));
        const Snapshot *s = plan_snapshot(p->b);
        const Cpu *cpu = snapshot_cpu(s, (unsigned)cpuset_next(position(v), -1));

        if (!list)
                return NULL;
        if (single_cpu(v) >= 0 && cpu && cpu->node >= 0)
                return strf("CPU %s of node %d%s", list, cpu->node, why_not(s, position(v)));
        return strf("CPU %s%s", *list ? list : "none", why_not(s, position(v)));
}

/* A vector that gets the same set as its fellows. */
static int place_on_set(Placer *p, const Vector *v, const CpuSet *set, const char *what)
{
        _cleanup_(freep) char *was = describe_position(p, v), *list = cpuset_format_list(set);

        if (!was || !list)
                return -ENOMEM;
        return add_change(p, v, STEAL_PTR(list), NULL,
                          strf("%s goes to %s; it was on %s",
                               v->role == VECTOR_SLOW ? "slow-path vector" : "vector", what, was));
}

static int place_on_cpu(Placer *p, const Vector *v, const SpreadUnit *u)
{
        _cleanup_(freep) char *was = describe_position(p, v);

        if (!was)
                return -ENOMEM;
        /* Of a pair that is evened out one half may come from elsewhere. */
        if (u->evened && is_at_home(v, p->intent->home.cpus))
                return add_change(p, v, strf("%d", u->cpu), NULL,
                                  strf("evening out: queue %d moves from %s, which carries at least two "
                                       "queues of this device more "
                                       "than CPU %d; both are home CPUs of %s",
                                       v->queue, was, u->cpu, p->intent->home.text));
        return add_change(p, v, strf("%d", u->cpu), p->home_list,
                          strf("queue %d goes to CPU %d of %s; it was on %s", v->queue, u->cpu,
                               p->intent->home.text, was));
}

/* The unit of a queue vector: an rx and a tx vector of the same number are one. */
static SpreadUnit *unit_of(SpreadUnit *units, size_t n, const Vector *v, const Vector *const *first)
{
        for (size_t i = 0; i < n; i++)
                if (v->role != VECTOR_QUEUE && first[i]->role != VECTOR_QUEUE && units[i].queue == v->queue)
                        return &units[i];
        return NULL;
}

typedef struct Units {
        SpreadUnit *items;
        const Vector **first; /* the first vector of each unit */
        SpreadUnit **of;      /* by vector: its unit, NULL = none */
        size_t n;
} Units;

static void units_clear(Units *u)
{
        free(u->items);
        free(u->first);
        free(u->of);
}

static int units_init(Units *u, const PlanBuilder *b, const Device *d, const CpuSet *home)
{
        size_t n = d->n_vectors ? d->n_vectors : 1;

        *u = (Units) { .items = calloc(n, sizeof(SpreadUnit)),
                       .first = calloc(n, sizeof(Vector *)),
                       .of = calloc(n, sizeof(SpreadUnit *)) };
        if (!u->items || !u->first || !u->of)
                return -ENOMEM;
        for (size_t i = 0; i < d->n_vectors; i++) {
                const Vector *v = &d->vectors[i];
                SpreadUnit *unit;

                if (v->role == VECTOR_SLOW || !may_move(b, v))
                        continue;
                /* On several home CPUs at once, as far as the kernel says: right, but nothing to count. */
                if (is_at_home(v, home) && single_cpu(v) < 0)
                        continue;
                unit = unit_of(u->items, u->n, v, u->first);
                if (!unit) {
                        u->first[u->n] = v;
                        unit = &u->items[u->n++];
                        *unit = (SpreadUnit) { .queue = v->queue, .cpu = -1, .movable = true };
                }
                if (unit->cpu < 0 && is_at_home(v, home))
                        unit->cpu = single_cpu(v);
                u->of[i] = unit;
        }
        return 0;
}

/* Whether anything is to be said about the place of a vector; counts those that are left to others. */
static bool is_ours(Placer *p, const Vector *v)
{
        if (v->managed)
                return false;
        if (!is_left(p->b, v))
                return true;
        p->n_left++;
        return false;
}

static int place_spread(Placer *p)
{
        const CpuSet *home = p->intent->home.cpus;
        const Device *d = p->device;
        Units units;
        int r;

        r = units_init(&units, p->b, d, home);
        if (r >= 0)
                r = spread(plan_snapshot(p->b), home, plan_full_cpus(p->b), plan_loads(p->b), units.items,
                           units.n);
        for (size_t i = 0; r >= 0 && i < d->n_vectors; i++) {
                const Vector *v = &d->vectors[i];
                const SpreadUnit *u = units.of[i];

                if (!is_ours(p, v))
                        continue;
                if (u && (u->evened || !is_at_home(v, home)))
                        r = place_on_cpu(p, v, u);
                else if (!u && !is_at_home(v, home))
                        r = place_on_set(p, v, home, p->intent->home.text);
        }
        units_clear(&units);
        return r;
}

static int place_exactly(Placer *p, const CpuSet *set, const char *what)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < p->device->n_vectors; i++) {
                const Vector *v = &p->device->vectors[i];

                if (is_ours(p, v) && !cpuset_equal(v->affinity, set))
                        r = place_on_set(p, v, set, what);
        }
        return r;
}

static int place(Placer *p)
{
        switch (p->intent->mode) {
        case IRQ_SPREAD:
                return place_spread(p);
        case IRQ_NODE:
                return place_exactly(p, p->intent->home.cpus, p->intent->home.text);
        case IRQ_CPUS:
                return place_exactly(p, p->intent->cpus, p->intent->text);
        case IRQ_LEAVE:
                return 0;
        }
        return 0;
}

/* --- verdicts --- */

#define VERDICT(b, d, state, in, ...) \
        plan_add_verdict(b, d, plugin_irq.name, KNOB, state, &(in)->home, (in)->setting, __VA_ARGS__)

/* What cannot be moved, as the end of a sentence. */
static char *describe_rest(const Placer *p, unsigned managed)
{
        _cleanup_(freep) char *first =
                managed ? strf("; %u kernel-managed cannot be written", managed) : strdup("");
        _cleanup_(freep) char *second =
                p->n_refused ? strf("; the kernel refuses to move %u", p->n_refused) : strdup("");
        _cleanup_(freep) char *third = p->n_left ? strf("; %u are left to others", p->n_left) : strdup("");

        return first && second && third ? strf("%s%s%s", first, second, third) : NULL;
}

static int verdict_of_placed(Placer *p)
{
        const Intent *in = p->intent;
        VectorCounts c = device_count_vectors(plan_snapshot(p->b), p->device, in->home.node);
        unsigned settable = c.total - c.managed, moving = p->n_changes - p->n_refused;
        const char *where = in->mode == IRQ_CPUS ? in->text : in->home.text;
        _cleanup_(freep) char *rest = describe_rest(p, c.managed);

        if (!rest)
                return -ENOMEM;
        if (settable == 0)
                return VERDICT(
                        p->b, p->device, VERDICT_MANAGED, in,
                        "all %u vectors are kernel-managed and cannot be written; %u of them are local to %s",
                        c.total, c.local, where);
        if (moving)
                return VERDICT(p->b, p->device, VERDICT_CHANGES, in, "%u of %u settable vectors go to %s%s",
                               moving, settable, where, rest);
        return VERDICT(p->b, p->device, VERDICT_RIGHT, in, "%u of %u settable vectors are on %s%s",
                       settable - p->n_refused - p->n_left, settable, where, rest);
}

/* The verdict of a device that is not placed; 1 = it is to be placed. */
static int verdict_of_left(PlanBuilder *b, const Device *d, const Intent *in)
{
        int r;

        if (d->n_vectors == 0)
                r = VERDICT(b, d, VERDICT_NONE, in, "the device has no vectors of its own");
        else if (plan_is_held(b, d))
                r = VERDICT(b, d, VERDICT_HELD, in, "held as it was before the first write, until apply");
        else if (!in->setting)
                r = VERDICT(b, d, VERDICT_LEFT, in, "no rule of the policy sets irq.mode for this device");
        else if (in->mode == IRQ_LEAVE || in->home.leave)
                r = VERDICT(b, d, VERDICT_LEFT, in, "the policy says leave");
        else if (in->mode != IRQ_CPUS && cpuset_is_empty(in->home.cpus))
                r = VERDICT(b, d, VERDICT_UNKNOWN_NODE, in, "left alone: %s", in->home.text);
        else
                return 1;
        return r;
}

static int plan_irq(PlanBuilder *b, const Device *d)
{
        Placer p = { .b = b, .device = d };
        Error e = { 0 };
        Intent in;
        int r;

        r = fill_loads(b);
        if (r < 0)
                return r;
        r = intent_read(b, d, &in, &e);
        if (r < 0)
                return e.code == -EINVAL ? VERDICT(b, d, VERDICT_ERROR, &in, "%s: %s", e.where, e.text) : r;
        p.intent = &in;
        r = verdict_of_left(b, d, &in);
        if (r == 1) {
                p.home_list = cpuset_format_list(in.home.cpus);
                r = p.home_list ? place(&p) : -ENOMEM;
                if (r >= 0)
                        r = verdict_of_placed(&p);
        }
        free(p.home_list);
        intent_clear(&in);
        return r;
}

static const char *const knobs[] = { KNOB, NULL };

const Plugin plugin_irq = {
        .name = "irq",
        .knobs = knobs,
        .help = "CPUs that a device's interrupts go to",
        .keys = plugin_irq_keys,
        .n_keys = ARRAY_SIZE(plugin_irq_keys),
        .plan = plan_irq,
};
