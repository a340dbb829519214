/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/build.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

int plan_usable_cpus(const Snapshot *s, const CpuSet *from, const CpuSet *allowed, CpuSet **ret)
{
        CpuSet *cpus = cpuset_dup(from);

        if (!cpus)
                return -ENOMEM;
        cpuset_keep(cpus, s->online);
        cpuset_remove_all(cpus, s->isolated);
        cpuset_remove_all(cpus, s->nohz_full);
        if (allowed)
                cpuset_keep(cpus, allowed);
        *ret = cpus;
        return 0;
}

/* Rows of the distance table are positional. A row without an entry leaves the nearest by number. */
static int distance(const Snapshot *s, const Node *from, size_t to)
{
        int d = from && from->distance ? from->distance[to] : 0;

        return d > 0 ? d : INT_MAX;
}

static int try_node(const Snapshot *s, const Node *n, const CpuSet *allowed, CpuSet **ret)
{
        _cleanup_(cpuset_freep) CpuSet *cpus = NULL;
        int r;

        r = plan_usable_cpus(s, n->cpus, allowed, &cpus);
        if (r < 0)
                return r;
        if (cpuset_is_empty(cpus))
                return -ENODATA;
        *ret = STEAL_PTR(cpus);
        return 0;
}

int plan_home_cpus(const Snapshot *s, int node, const CpuSet *allowed, CpuSet **ret, int *ret_node)
{
        _cleanup_(cpuset_freep) CpuSet *best = NULL;
        const Node *own = snapshot_node(s, node);
        int best_node = node, best_distance = 0, r;

        r = own ? try_node(s, own, allowed, &best) : -ENODATA;
        for (size_t i = 0; i < s->n_nodes && (r == -ENODATA || best_node != node); i++) {
                _cleanup_(cpuset_freep) CpuSet *cpus = NULL;
                int d = distance(s, own, i);

                if (best && d >= best_distance)
                        continue;
                if (try_node(s, &s->nodes[i], allowed, &cpus) < 0)
                        continue;
                cpuset_free(best);
                best = STEAL_PTR(cpus);
                best_node = s->nodes[i].id;
                best_distance = d;
                r = 0;
        }
        if (r < 0 && r != -ENODATA)
                return r;
        if (!best)
                best = cpuset_new(1);
        if (!best)
                return -ENOMEM;
        *ret = STEAL_PTR(best);
        *ret_node = best_node;
        return 0;
}

static int refuse_cpus(const Setting *from, const CpuSet *bad, const char *why, Error *e)
{
        _cleanup_(freep) char *list = cpuset_format_list(bad), *where = NULL;

        where = strf("%s:%u:%u", from->file, from->line, from->column);
        return error_set(e, list ? -EINVAL : -ENOMEM, where,
                         "rule \"%s\" names CPU %s, which %s; take it out of the list", from->rule,
                         list ? list : "?", why);
}

/* The CPUs beyond the highest possible one. */
static int not_there(const Snapshot *s, const CpuSet *wanted, CpuSet **ret)
{
        int r = 0;

        FOREACH_CPU (cpu, wanted)
                if (r >= 0 && (unsigned)cpu >= s->cpu_bits)
                        r = cpuset_add(ret, (unsigned)cpu);
        return r;
}

int plan_check_cpus(const Snapshot *s, const CpuSet *wanted, const Setting *from, CpuSet **ret, Error *e)
{
        _cleanup_(cpuset_freep) CpuSet *bad = cpuset_dup(wanted), *nohz = cpuset_dup(wanted),
                                       *good = cpuset_dup(wanted), *missing = NULL;

        if (!bad || !nohz || !good || not_there(s, wanted, &missing) < 0)
                return -ENOMEM;
        if (!cpuset_is_empty(missing))
                return refuse_cpus(from, missing, "this machine does not have", e);
        cpuset_keep(bad, s->isolated);
        if (!cpuset_is_empty(bad))
                return refuse_cpus(from, bad, "is isolated", e);
        cpuset_keep(nohz, s->nohz_full);
        if (!cpuset_is_empty(nohz))
                return refuse_cpus(from, nohz, "is nohz_full", e);
        cpuset_keep(good, s->online);
        if (cpuset_is_empty(good))
                return refuse_cpus(from, wanted, "is not online", e);
        *ret = STEAL_PTR(good);
        return 0;
}

char *plan_describe_cpus(const Snapshot *s, const CpuSet *wanted)
{
        _cleanup_(cpuset_freep) CpuSet *offline = cpuset_dup(wanted);
        _cleanup_(freep) char *list = NULL;

        if (!offline)
                return NULL;
        cpuset_remove_all(offline, s->online);
        if (cpuset_is_empty(offline))
                return strdup("the CPUs that the policy names");
        list = cpuset_format_list(offline);
        return list ? strf("the CPUs that the policy names, without CPU %s, which is offline", list) : NULL;
}
