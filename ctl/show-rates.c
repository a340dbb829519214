/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/strv.h"
#include "ctl/cells.h"
#include "ctl/show.h"

#include <string.h>

static char *cell_rate(const json_t *row, const json_t *value)
{
        return strf("%.1f", json_number_value(value));
}

static char *cell_share(const json_t *row, const json_t *value)
{
        double local = json_number_value(value),
               remote = json_number_value(json_at(row, "remote_per_second"));

        return local + remote > 0 ? strf("%.0f %%", local * 100 / (local + remote)) : strdup("-");
}

int show_rates(Ctl *c, const json_t *answer, Error *e)
{
        static const Column devices[] = {
                { "DEVICE", "id" },
                { "CLASS", "class" },
                { "NODE", "node", .flags = COLUMN_RIGHT },
                { "INTERRUPTS/S", "per_second", cell_rate, COLUMN_RIGHT },
                { "LOCAL/S", "local_per_second", cell_rate, COLUMN_RIGHT },
                { "REMOTE/S", "remote_per_second", cell_rate, COLUMN_RIGHT },
                { "LOCAL", "local_per_second", cell_share, COLUMN_RIGHT },
        };
        static const Column nodes[] = {
                { "NODE", "id", .flags = COLUMN_RIGHT },
                { "INTERRUPTS/S", "per_second", cell_rate, COLUMN_RIGHT },
        };
        int r;

        printf("%.1f interrupts of devices a second, over %.1f s\n\n",
               json_number_value(json_at(answer, "per_second")),
               json_number_value(json_at(answer, "window_seconds")));
        r = table_print(nodes, ARRAY_SIZE(nodes), json_object_get(answer, "nodes"), e);
        if (r < 0)
                return r;
        putchar('\n');
        return table_print(devices, ARRAY_SIZE(devices), json_object_get(answer, "devices"), e);
}

static int show_caches(const json_t *caches, Error *e)
{
        static const Column columns[] = {
                { "ORDER", "order", .flags = COLUMN_RIGHT },
                { "ALLOCATIONS", "allocations", .flags = COLUMN_RIGHT },
                { "MISSES", "misses", .flags = COLUMN_RIGHT },
                { "DROPPED", "dropped", .flags = COLUMN_RIGHT },
                { "IN DEPOT", "depot", .flags = COLUMN_RIGHT },
        };
        const json_t *classes = json_object_get(caches, "classes");

        line("Allocations", "%ld", json_number_at(caches, "allocations"));
        line("Misses", "%ld (%.2f %%)", json_number_at(caches, "misses"),
             100 * json_number_value(json_object_get(caches, "miss_share")));
        value_line("Dropped", json_object_get(caches, "dropped"));
        if (json_array_size(classes) == 0)
                return 0;
        putchar('\n');
        return table_print(columns, ARRAY_SIZE(columns), classes, e);
}

/* Runs of transmit work. */
static int show_xmit(const json_t *xmit, Error *e)
{
        static const Column columns[] = {
                { "NODE", "id", .flags = COLUMN_RIGHT },
                { "RUNS", "runs", .flags = COLUMN_RIGHT },
        };
        const json_t *nodes = json_object_get(xmit, "nodes"), *node = json_object_get(xmit, "node"),
                     *share = json_object_get(xmit, "remote_share");

        line("Runs", "%ld", json_number_at(xmit, "runs"));
        if (json_is_integer(node))
                line("Receiving node", "%ld", (long)json_integer_value(node));
        value_line("Local", json_object_get(xmit, "local"));
        if (json_is_number(share))
                line("Remote", "%ld (%.2f %%)", json_number_at(xmit, "remote"),
                     100 * json_number_value(share));
        if (json_array_size(nodes) == 0)
                return 0;
        putchar('\n');
        return table_print(columns, ARRAY_SIZE(columns), nodes, e);
}

/* What was counted, and by what. */
static const char *counted(const char *source)
{
        static const char *const words[][2] = {
                { "iova_stats", "its IOMMU group" },
                { "kprobe", "the whole machine, by kprobes" },
                { "xmit_stats", "this host's transmit work, by xmit_stats" },
                { "tracepoint", "this host's transmit work, by tracepoints" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                if (strcmp(words[i][0], source) == 0)
                        return words[i][1];
        return source;
}

int show_measured(Ctl *c, const json_t *answer, Error *e)
{
        const json_t *xmit = json_object_get(answer, "xmit");

        printf("%s\n", json_text_at(answer, "device"));
        line("Counted", "%.1f s, %s", json_number_value(json_object_get(answer, "seconds")),
             counted(json_text_at(answer, "source")));
        return json_is_object(xmit) ? show_xmit(xmit, e) : show_caches(json_object_get(answer, "caches"), e);
}
