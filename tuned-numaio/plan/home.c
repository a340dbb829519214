/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/build.h"

#include <errno.h>
#include <string.h>

void home_clear(Home *h)
{
        cpuset_free(h->cpus);
        free(h->text);
        *h = (Home) { .node = NODE_UNKNOWN };
}

/* How many of the node's CPUs are left alone, as part of a sentence; "" = none. */
static char *describe_isolated(const Snapshot *s, int node)
{
        _cleanup_(cpuset_freep) CpuSet *isolated = cpuset_dup(s->isolated);
        const Node *n = snapshot_node(s, node);

        if (!isolated || cpuset_add_all(&isolated, s->nohz_full) < 0)
                return NULL;
        if (!n || !cpuset_intersects(isolated, n->cpus))
                return strdup("");
        cpuset_keep(isolated, n->cpus);
        return strf("; %u of its %u CPUs are isolated or nohz_full", cpuset_count(isolated),
                    cpuset_count(n->cpus));
}

static int home_of_node(const Snapshot *s, const CpuSet *allowed, const char *whence, Home *h)
{
        _cleanup_(freep) char *left = describe_isolated(s, h->node);
        int used, r;

        if (!left)
                return -ENOMEM;
        r = plan_home_cpus(s, h->node, allowed, &h->cpus, &used);
        if (r < 0)
                return r;
        if (cpuset_is_empty(h->cpus))
                h->text =
                        strf("node %d (%s%s), but no node has a CPU that may be used", h->node, whence, left);
        else if (used != h->node)
                h->text =
                        strf("node %d, the nearest with CPUs that may be used, since node %d (%s%s) has none",
                             used, h->node, whence, left);
        else
                h->text = strf("node %d (%s%s)", h->node, whence, left);
        return h->text ? 0 : -ENOMEM;
}

static int home_everywhere(const Snapshot *s, const CpuSet *allowed, Home *h)
{
        int r;

        h->node = NODE_UNKNOWN;
        r = plan_usable_cpus(s, s->online, allowed, &h->cpus);
        if (r < 0)
                return r;
        h->text = strdup("all nodes (the policy's node: spread)");
        return h->text ? 0 : -ENOMEM;
}

static int home_unknown(const Device *d, Home *h)
{
        h->cpus = cpuset_new(1);
        h->text = strf("no node: %s", d->node_text ? d->node_text : "nothing says where the device is");
        return h->cpus && h->text ? 0 : -ENOMEM;
}

/* A node that a person wrote has to be there, and to have CPUs: who means another one writes that. */
static int check_node(const Snapshot *s, const Setting *from, Error *e)
{
        _cleanup_(freep) char *where = strf("%s:%u:%u", from->file, from->line, from->column);
        _cleanup_(cpuset_freep) CpuSet *cpus = NULL;
        const Node *node = snapshot_node(s, (int)from->number);
        int near, r;

        if (!node)
                return error_set(e, -EINVAL, where,
                                 "rule \"%s\" says node %d, which this machine does not have", from->rule,
                                 (int)from->number);
        if (!cpuset_is_empty(node->cpus))
                return 0;
        r = plan_home_cpus(s, node->id, NULL, &cpus, &near);
        if (r < 0)
                return r;
        return error_set(
                e, -EINVAL, where,
                "rule \"%s\" says node %d, which has no CPU online; node %d is the nearest that has some",
                from->rule, node->id, near);
}

static int find_home(const PlanBuilder *b, const Device *d, const CpuSet *allowed, Home *h, Error *e)
{
        const Setting *node = policy_get(plan_policy(b), d, "", "node");
        const Snapshot *s = plan_snapshot(b);
        int r;

        h->node = d->node;
        h->source = d->node_source;
        if (node && node->word && strcmp(node->word, "leave") == 0) {
                h->leave = true;
                return home_unknown(d, h);
        }
        if (node)
                h->source = NODE_SOURCE_POLICY;
        if (node && node->word && strcmp(node->word, "spread") == 0)
                return home_everywhere(s, allowed, h);
        if (node) {
                h->node = (int)node->number;
                r = check_node(s, node, e);
                return r < 0 ? r : home_of_node(s, allowed, "the policy's node", h);
        }
        if (!snapshot_node(s, d->node))
                return home_unknown(d, h);
        return home_of_node(s, allowed, d->node_text ? d->node_text : "its node", h);
}

int plan_home(const PlanBuilder *b, const Device *d, Home *ret, Error *e)
{
        const Setting *cpus = policy_get(plan_policy(b), d, "", "cpus");
        _cleanup_(cpuset_freep) CpuSet *allowed = NULL;
        Home h = { .node = NODE_UNKNOWN };
        int r = 0;

        if (cpus && cpus->cpus)
                r = plan_check_cpus(plan_snapshot(b), cpus->cpus, cpus, &allowed, e);
        if (r >= 0)
                r = find_home(b, d, allowed, &h, e);
        if (r < 0) {
                home_clear(&h);
                return r;
        }
        *ret = h;
        return 0;
}
