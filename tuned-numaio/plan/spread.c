/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/build.h"

#include <errno.h>
#include <string.h>

/* Counts while one device is spread; all arrays are indexed by CPU number, those of cores and caches by the
 * number that stands for the core or cache (the lowest CPU of it). */
typedef struct Tally {
        const Snapshot *snapshot;
        const CpuSet *cpus;
        Loads *loads;
        unsigned *own, *core, *own_cache, *cache;
        const Cpu **cpu;
} Tally;

static void tally_clear(Tally *t)
{
        free(t->own);
        free(t->core);
        free(t->own_cache);
        free(t->cache);
        free(t->cpu);
}

static int tally_init(Tally *t, const Snapshot *s, const CpuSet *cpus, Loads *loads)
{
        size_t n = loads->n ? loads->n : 1;

        *t = (Tally) { .snapshot = s, .cpus = cpus, .loads = loads };
        t->own = calloc(n, sizeof(unsigned));
        t->core = calloc(n, sizeof(unsigned));
        t->own_cache = calloc(n, sizeof(unsigned));
        t->cache = calloc(n, sizeof(unsigned));
        t->cpu = calloc(n, sizeof(Cpu *));
        if (!t->own || !t->core || !t->own_cache || !t->cache || !t->cpu)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_cpus; i++) {
                const Cpu *c = &s->cpus[i];

                if (c->id >= loads->n)
                        continue;
                t->cpu[c->id] = c;
                t->core[c->core] += loads->cpu[c->id];
                t->cache[c->cache] += loads->cpu[c->id];
        }
        return 0;
}

static void count_own(Tally *t, int cpu, int by)
{
        const Cpu *c = t->cpu[cpu];

        t->own[cpu] += (unsigned)by;
        t->own_cache[c->cache] += (unsigned)by;
}

static void count_load(Tally *t, int cpu, int by)
{
        const Cpu *c = t->cpu[cpu];

        t->loads->cpu[cpu] += (unsigned)by;
        t->core[c->core] += (unsigned)by;
        t->cache[c->cache] += (unsigned)by;
}

/* The order of preference: the device's own queues first, so that it gets one CPU each; then what all devices
 * put on the CPU, its core and its cache domain; first threads before siblings. */
static int compare_cpus(const Tally *t, const Cpu *a, const Cpu *b)
{
        const unsigned keys[][2] = {
                { t->own[a->id], t->own[b->id] },
                { t->loads->cpu[a->id], t->loads->cpu[b->id] },
                { t->core[a->core], t->core[b->core] },
                { t->own_cache[a->cache], t->own_cache[b->cache] },
                { t->cache[a->cache], t->cache[b->cache] },
                { (unsigned)a->thread, (unsigned)b->thread },
                { a->id, b->id },
        };

        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
                if (keys[i][0] != keys[i][1])
                        return keys[i][0] < keys[i][1] ? -1 : 1;
        return 0;
}

static int best_cpu(const Tally *t)
{
        const Cpu *best = NULL;

        FOREACH_CPU (cpu, t->cpus) {
                const Cpu *c = (unsigned)cpu < t->loads->n ? t->cpu[cpu] : NULL;

                if (c && (!best || compare_cpus(t, c, best) < 0))
                        best = c;
        }
        return best ? (int)best->id : -1;
}

/* The unit to move off the CPU that carries most: of the fullest CPUs the lowest, of its units the last. */
static SpreadUnit *most_crowded(const Tally *t, SpreadUnit *units, size_t n_units, unsigned than)
{
        SpreadUnit *found = NULL;
        unsigned most = than + 1;

        for (size_t i = 0; i < n_units; i++) {
                SpreadUnit *u = &units[i];

                if (u->cpu < 0 || !u->movable || t->own[u->cpu] < most)
                        continue;
                if (t->own[u->cpu] == most && found && u->cpu > found->cpu)
                        continue;
                most = t->own[u->cpu];
                found = u;
        }
        return most >= than + 2 ? found : NULL;
}

static void even_out(Tally *t, SpreadUnit *units, size_t n_units)
{
        for (;;) {
                int to = best_cpu(t);
                SpreadUnit *u = most_crowded(t, units, n_units, t->own[to]);

                if (!u)
                        return;
                count_own(t, u->cpu, -1);
                count_load(t, u->cpu, -1);
                u->cpu = to;
                u->evened = true;
                count_own(t, to, 1);
                count_load(t, to, 1);
        }
}

int spread(const Snapshot *s, const CpuSet *cpus, const CpuSet *full, Loads *loads, SpreadUnit *units,
           size_t n_units)
{
        _cleanup_(cpuset_freep) CpuSet *targets = cpuset_dup(cpus);
        Tally t;
        int r;

        if (!targets)
                return -ENOMEM;
        cpuset_remove_all(targets, full);
        r = tally_init(&t, s, cpuset_is_empty(targets) ? cpus : targets, loads);
        if (r >= 0 && best_cpu(&t) < 0)
                r = -EINVAL;
        if (r < 0) {
                tally_clear(&t);
                return r;
        }
        for (size_t i = 0; i < n_units; i++)
                if (units[i].cpu >= 0)
                        count_own(&t, units[i].cpu, 1);
        for (size_t i = 0; i < n_units; i++) {
                if (units[i].cpu >= 0)
                        continue;
                units[i].cpu = best_cpu(&t);
                count_own(&t, units[i].cpu, 1);
                count_load(&t, units[i].cpu, 1);
        }
        even_out(&t, units, n_units);
        tally_clear(&t);
        return 0;
}
