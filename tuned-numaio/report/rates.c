/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/rates.h"

#include "report/report.h"

#include <string.h>

typedef struct Window {
        const Snapshot *snapshot;
        const Counters *before, *now;
        double seconds;
        uint64_t *by_node; /* in the order of the snapshot's nodes */
} Window;

typedef struct Sum {
        uint64_t all, local, remote;
} Sum;

static void add_to_node(const Window *w, const CpuSet *cpus, uint64_t n)
{
        for (size_t i = 0; i < w->snapshot->n_nodes; i++)
                if (cpuset_count(cpus) > 0 && cpuset_is_subset(cpus, w->snapshot->nodes[i].cpus))
                        w->by_node[i] += n;
}

static Sum sum_device(const Window *w, const Device *d, const Node *home)
{
        Sum sum = { 0 };

        for (size_t i = 0; i < d->n_vectors; i++) {
                uint64_t n = counters_between(w->before, w->now, d->vectors[i].irq);
                const CpuSet *target = vector_target(&d->vectors[i]);

                if (n == 0)
                        continue;
                sum.all += n;
                add_to_node(w, target, n);
                if (home && cpuset_is_subset(target, home->cpus))
                        sum.local += n;
                else if (home)
                        sum.remote += n;
        }
        return sum;
}

static json_t *device_rate(const Window *w, const Plan *p, const Device *d, uint64_t *total)
{
        int node = report_planned_node(p, d);
        Sum sum = sum_device(w, d, snapshot_node(w->snapshot, node));

        *total += sum.all;
        return json_pack("{s:o, s:s, s:o, s:f, s:f, s:f}", "id", report_text(d->id), "class",
                         device_class_to_string(d->class), "node",
                         node == NODE_UNKNOWN ? json_null() : json_integer(node), "per_second",
                         (double)sum.all / w->seconds, "local_per_second", (double)sum.local / w->seconds,
                         "remote_per_second", (double)sum.remote / w->seconds);
}

static json_t *node_rates(const Window *w)
{
        json_t *nodes = json_array();

        for (size_t i = 0; nodes && i < w->snapshot->n_nodes; i++)
                if (json_array_append_new(nodes,
                                          json_pack("{s:i, s:f}", "id", w->snapshot->nodes[i].id,
                                                    "per_second", (double)w->by_node[i] / w->seconds)) < 0) {
                        json_decref(nodes);
                        return NULL;
                }
        return nodes;
}

json_t *report_rates(const Snapshot *s, const Plan *p, const Counters *before, const Counters *now,
                     uint64_t usec)
{
        _cleanup_(freep) uint64_t *by_node = calloc(s->n_nodes ? s->n_nodes : 1, sizeof(*by_node));
        Window w = { s, before, now, (double)usec / 1e6, by_node };
        json_t *devices = by_node ? json_array() : NULL;
        uint64_t total = 0;

        for (size_t i = 0; devices && i < s->n_devices; i++)
                if (json_array_append_new(devices, device_rate(&w, p, &s->devices[i], &total)) < 0) {
                        json_decref(devices);
                        devices = NULL;
                }
        if (!devices)
                return NULL;
        return json_pack("{s:f, s:f, s:o, s:o}", "window_seconds", w.seconds, "per_second",
                         (double)total / w.seconds, "nodes", node_rates(&w), "devices", devices);
}
