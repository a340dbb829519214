/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-measure.h"

#include "observe/iova-stats.h"
#include "report/iommu.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* How often IOVA caches miss: by the group's own counters, or by the writer's fixed probe, which counts on
 * the whole machine. */

static int on_window(sd_event_source *s, uint64_t usec, void *userdata)
{
        Manager *m = userdata;
        Measurement *x = &m->measurement;
        IovaStats now, gain;
        Error e = { 0 };
        int r;

        r = iova_stats_read(m->root, x->group, &now);
        if (r < 0)
                (void)error_set(&e, r, x->device, "the counters cannot be read: %s", strerror(-r));
        else if (!iova_stats_between(&x->iova, &now, &gain))
                r = error_set(&e, -EAGAIN, x->device, "the counters began anew meanwhile; try again");
        if (r < 0)
                measure_end(m, r, &e);
        else
                measure_answer(m, "iova_stats", "group", measure_seconds(m), report_iova_stats(&gain),
                               json_null());
        return 0;
}

static int by_counters(Manager *m, Error *e)
{
        Measurement *x = &m->measurement;
        int r;

        r = iova_stats_read(m->root, x->group, &x->iova);
        if (r < 0)
                return error_set(e, r, x->device, "the counters cannot be read: %s", strerror(-r));
        return measure_window(m, on_window, e);
}

static json_t *caches_of_probe(uint64_t total, uint64_t misses, int64_t dropped)
{
        return json_pack("{s:I, s:I, s:o, s:o, s:[]}", "allocations", (json_int_t)total, "misses",
                         (json_int_t)misses, "miss_share",
                         total > 0 ? json_real((double)misses / (double)total) : json_null(), "dropped",
                         dropped < 0 ? json_null() : json_integer(dropped), "classes");
}

static void on_probed(void *userdata, int error, const WriterReply *reply)
{
        Manager *m = userdata;
        uint64_t total, misses;
        unsigned msec;
        int64_t dropped;
        Error e = { 0 };

        if (error < 0)
                (void)error_set(&e, error, m->measurement.device, "the writer cannot probe the kernel: %s",
                                strerror(-error));
        else if (sscanf(reply->value, "%u %" SCNu64 " %" SCNu64 " %" SCNi64, &msec, &total, &misses,
                        &dropped) != 4)
                error = error_set(&e, -EPROTO, m->measurement.device,
                                  "the writer's answer cannot be understood");
        if (error < 0)
                measure_end(m, error, &e);
        else
                measure_answer(m, "kprobe", "machine", msec / 1000.0, caches_of_probe(total, misses, dropped),
                               json_null());
}

static int by_probe(Manager *m, Error *e)
{
        int r;

        r = measure_check_writer(m, e);
        if (r < 0)
                return r;
        r = applier_probe(m->applier, on_probed, m);
        if (r < 0)
                return error_set(e, r, NULL, "the writer cannot be asked: %s", strerror(-r));
        manager_push_writer(m);
        return API_DEFERRED;
}

int measure_iova(Manager *m, const Device *d, Error *e)
{
        Measurement *x = &m->measurement;

        if (!d->iommu || strncmp(d->iommu->type, "DMA", 3) != 0)
                return error_set(e, -EOPNOTSUPP, d->id, "no IOVAs are allocated for this device");
        x->group = strdup(d->iommu->group);
        if (!x->group)
                return error_set(e, -ENOMEM, NULL, "out of memory");
        return d->iommu->stats.n > 0 ? by_counters(m, e) : by_probe(m, e);
}
