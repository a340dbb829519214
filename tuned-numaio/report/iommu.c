/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/iommu.h"

#include "observe/iova-stats.h"
#include "report/report.h"

static json_int_t allocations(const IovaClass *c)
{
        uint64_t all = c->alloc_cpu + c->alloc_depot + c->alloc_miss;

        return (json_int_t)all;
}

static json_t *one_class(const IovaClass *c, size_t order)
{
        return json_pack("{s:I, s:I, s:I, s:I, s:I}", "order", (json_int_t)order, "allocations",
                         allocations(c), "misses", (json_int_t)c->alloc_miss, "dropped",
                         (json_int_t)c->free_drop, "depot", (json_int_t)c->depot_size);
}

json_t *report_iova_stats(const IovaStats *stats)
{
        IovaClass sum = iova_stats_sum(stats);
        json_int_t total = allocations(&sum);
        json_t *classes = json_array();

        if (stats->n == 0) {
                json_decref(classes);
                return json_null();
        }
        for (size_t i = 0; i < stats->n; i++)
                classes = report_append(classes, one_class(&stats->classes[i], i));
        return json_pack("{s:I, s:I, s:o, s:I, s:o}", "allocations", total, "misses",
                         (json_int_t)sum.alloc_miss, "miss_share",
                         total > 0 ? json_real((double)sum.alloc_miss / (double)total) : json_null(),
                         "dropped", (json_int_t)sum.free_drop, "classes", classes);
}

static json_t *depot(const Snapshot *s, const Device *d)
{
        const Knob *k = device_knob(d, WRITER_IOVA_DEPOT);

        return json_pack("{s:s, s:o, s:o}", "kind", depot_kind_to_string(s->depot), "limit",
                         k ? json_integer(knob_number(k, s->depot_max)) : json_null(), "default",
                         s->depot_max > 0 ? json_integer(s->depot_max) : json_null());
}

json_t *report_iommu(const Snapshot *s, const Device *d)
{
        const IommuFacts *f = d->iommu;

        if (!f)
                return json_null();
        return json_pack("{s:o, s:o, s:i, s:o, s:o, s:o}", "group", report_text(f->group), "type",
                         *f->type ? report_text(f->type) : json_null(), "devices", (int)f->devices,
                         "dma_bits", f->dma_bits > 0 ? json_integer((json_int_t)f->dma_bits) : json_null(),
                         "depot", depot(s, d), "caches", report_iova_stats(&f->stats));
}
