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

int show_measured(Ctl *c, const json_t *answer, Error *e)
{
        static const Column columns[] = {
                { "ORDER", "order", .flags = COLUMN_RIGHT },
                { "ALLOCATIONS", "allocations", .flags = COLUMN_RIGHT },
                { "MISSES", "misses", .flags = COLUMN_RIGHT },
                { "DROPPED", "dropped", .flags = COLUMN_RIGHT },
                { "IN DEPOT", "depot", .flags = COLUMN_RIGHT },
        };
        const json_t *caches = json_object_get(answer, "caches"),
                     *classes = json_object_get(caches, "classes"),
                     *dropped = json_object_get(caches, "dropped");

        printf("%s\n", json_text_at(answer, "device"));
        line("Counted", "%.1f s, %s", json_number_value(json_object_get(answer, "seconds")),
             strcmp(json_text_at(answer, "scope"), "group") == 0 ? "its IOMMU group"
                                                                 : "the whole machine, by kprobes");
        line("Allocations", "%ld", json_number_at(caches, "allocations"));
        line("Misses", "%ld (%.2f %%)", json_number_at(caches, "misses"),
             100 * json_number_value(json_object_get(caches, "miss_share")));
        value_line("Dropped", dropped);
        if (json_array_size(classes) == 0)
                return 0;
        putchar('\n');
        return table_print(columns, ARRAY_SIZE(columns), classes, e);
}
