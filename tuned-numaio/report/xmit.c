/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/xmit.h"

#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static json_t *share(uint64_t part, uint64_t whole)
{
        return whole > 0 ? json_real((double)part / (double)whole) : json_null();
}

json_t *report_xmit_runs(uint64_t local, uint64_t remote)
{
        uint64_t runs = local + remote;

        return json_pack("{s:I, s:I, s:I, s:o, s:n, s:[]}", "runs", (json_int_t)runs, "local",
                         (json_int_t)local, "remote", (json_int_t)remote, "remote_share", share(remote, runs),
                         "node", "nodes");
}

/* Runs of a machine: all, and those on each node of the snapshot, in its order. A CPU may be on none of them.
 */
typedef struct Sum {
        uint64_t all, *by_node;
} Sum;

static void add(const Snapshot *s, Sum *sum, unsigned cpu, uint64_t runs)
{
        sum->all += runs;
        for (size_t i = 0; i < s->n_nodes; i++)
                if (cpuset_has(s->nodes[i].cpus, cpu)) {
                        sum->by_node[i] += runs;
                        return;
                }
}

static int parse(const Snapshot *s, const char *text, unsigned *ret_msec, Sum *sum)
{
        uint64_t runs;
        unsigned cpu;
        int n = 0;

        if (sscanf(text, "%u%n", ret_msec, &n) != 1)
                return -EPROTO;
        for (text += n; text[strspn(text, " ")]; text += n) {
                if (sscanf(text, " %u:%" SCNu64 "%n", &cpu, &runs, &n) != 2)
                        return -EPROTO;
                add(s, sum, cpu, runs);
        }
        return 0;
}

static json_t *nodes(const Snapshot *s, const Sum *sum)
{
        json_t *a = json_array();

        for (size_t i = 0; a && i < s->n_nodes; i++)
                a = report_append(a, json_pack("{s:i, s:I}", "id", s->nodes[i].id, "runs",
                                               (json_int_t)sum->by_node[i]));
        return a;
}

static json_t *sum_up(const Snapshot *s, int node, const Sum *sum)
{
        const Node *n = snapshot_node(s, node);
        uint64_t local = n ? sum->by_node[n - s->nodes] : 0, remote = sum->all - local;

        if (!n)
                return json_pack("{s:I, s:n, s:n, s:n, s:n, s:o}", "runs", (json_int_t)sum->all, "local",
                                 "remote", "remote_share", "node", "nodes", nodes(s, sum));
        return json_pack("{s:I, s:I, s:I, s:o, s:i, s:o}", "runs", (json_int_t)sum->all, "local",
                         (json_int_t)local, "remote", (json_int_t)remote, "remote_share",
                         share(remote, sum->all), "node", node, "nodes", nodes(s, sum));
}

int report_xmit_runs_by_cpu(const Snapshot *s, int node, const char *text, double *ret_seconds, json_t **ret)
{
        _cleanup_(freep) uint64_t *by_node = calloc(s->n_nodes + 1, sizeof(*by_node));
        Sum sum = { .by_node = by_node };
        unsigned msec;
        json_t *found;
        int r;

        if (!by_node)
                return -ENOMEM;
        r = parse(s, text, &msec, &sum);
        if (r < 0)
                return r;
        found = sum_up(s, node, &sum);
        if (!found)
                return -ENOMEM;
        *ret_seconds = msec / 1000.0;
        *ret = found;
        return 0;
}
