/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-internal.h"

#include "observe/iova-stats.h"
#include "report/iommu.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* One measurement at a time, because somebody asked for it: by the group's own counters, or where the kernel
 * has none by the writer's fixed probe, which counts on the whole machine. */

#define WINDOW_USEC 5000000u

static json_t *answer_body(const char *device, const char *source, const char *scope, double seconds,
                           json_t *caches)
{
        return json_pack("{s:o, s:s, s:s, s:f, s:o}", "device", json_string(device), "source", source,
                         "scope", scope, "seconds", seconds, "caches", caches);
}

static void finish(Manager *m, int error, json_t *body, const Error *e)
{
        Measurement *x = &m->measurement;
        ApiRequest *req = x->request;

        x->request = NULL;
        free(STEAL_PTR(x->device));
        free(STEAL_PTR(x->group));
        if (req)
                api_request_done(req, error, body, e);
}

static int on_window(sd_event_source *s, uint64_t usec, void *userdata)
{
        Manager *m = userdata;
        Measurement *x = &m->measurement;
        double seconds = (double)(manager_now(m) - x->begun) / 1e6;
        IovaStats now, gain;
        Error e = { 0 };
        json_t *body = NULL;
        int r;

        r = iova_stats_read(m->root, x->group, &now);
        if (r < 0)
                (void)error_set(&e, r, x->device, "the counters cannot be read: %s", strerror(-r));
        else if (!iova_stats_between(&x->before, &now, &gain))
                r = error_set(&e, -EAGAIN, x->device, "the counters began anew meanwhile; try again");
        else
                body = answer_body(x->device, "iova_stats", "group", seconds, report_iova_stats(&gain));
        finish(m, r, body, &e);
        return 0;
}

static int by_counters(Manager *m, Error *e)
{
        Measurement *x = &m->measurement;
        int r;

        r = iova_stats_read(m->root, x->group, &x->before);
        if (r < 0)
                return error_set(e, r, x->device, "the counters cannot be read: %s", strerror(-r));
        x->begun = manager_now(m);
        x->timer = sd_event_source_disable_unref(x->timer);
        r = sd_event_add_time_relative(m->event, &x->timer, CLOCK_MONOTONIC, WINDOW_USEC, 1000, on_window, m);
        return r < 0 ? error_set(e, r, NULL, "no timer: %s", strerror(-r)) : API_DEFERRED;
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
        Measurement *x = &m->measurement;
        uint64_t total, misses;
        json_t *body = NULL;
        unsigned msec;
        int64_t dropped;
        Error e = { 0 };

        if (error < 0)
                (void)error_set(&e, error, x->device, "the writer cannot probe the kernel: %s",
                                strerror(-error));
        else if (sscanf(reply->value, "%u %" SCNu64 " %" SCNu64 " %" SCNi64, &msec, &total, &misses,
                        &dropped) != 4)
                error = error_set(&e, -EPROTO, x->device, "the writer's answer cannot be understood");
        else
                body = answer_body(x->device, "kprobe", "machine", msec / 1000.0,
                                   caches_of_probe(total, misses, dropped));
        finish(m, error, body, &e);
}

static int by_probe(Manager *m, Error *e)
{
        int r;

        if (!root_is_live(m->root))
                return error_set(e, -EOPNOTSUPP, m->measurement.device,
                                 "this copy has no counters, and nothing runs on it that could be probed");
        if (m->options.observe || m->writer_fd < 0)
                return error_set(e, -ENOTCONN, NULL,
                                 "this kernel has no counters, and the writer, which could probe it, is not "
                                 "connected");
        r = applier_probe(m->applier, on_probed, m);
        if (r < 0)
                return error_set(e, r, NULL, "the writer cannot be asked: %s", strerror(-r));
        manager_push_writer(m);
        return API_DEFERRED;
}

int manager_measure(void *userdata, ApiRequest *req, const char *id, json_t **ret, Error *e)
{
        Manager *m = userdata;
        Measurement *x = &m->measurement;
        const Device *d = m->snapshot ? snapshot_device(m->snapshot, id) : NULL;
        int r;

        if (!d)
                return error_set(e, -ENOENT, id, "there is no device %s", id);
        if (x->request)
                return error_set(e, -EBUSY, NULL, "another measurement is under way");
        if (!d->iommu || strncmp(d->iommu->type, "DMA", 3) != 0)
                return error_set(e, -EOPNOTSUPP, id, "no IOVAs are allocated for this device");
        x->device = strdup(id);
        x->group = strdup(d->iommu->group);
        x->request = req;
        if (!x->device || !x->group)
                r = error_set(e, -ENOMEM, NULL, "out of memory");
        else
                r = d->iommu->stats.n > 0 ? by_counters(m, e) : by_probe(m, e);
        if (r < 0) {
                x->request = NULL;
                finish(m, r, NULL, e);
        }
        return r;
}

void manager_free_measurement(Manager *m)
{
        sd_event_source_disable_unref(m->measurement.timer);
        free(m->measurement.device);
        free(m->measurement.group);
}
