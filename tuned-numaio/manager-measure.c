/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-measure.h"

#include <errno.h>
#include <string.h>

/* One measurement at a time, because somebody asked for it: by the kernel's own counters, or where it has
 * none by what the writer sets for a while. */

#define WINDOW_USEC 5000000u

static void end(Manager *m, int error, json_t *body, const Error *e)
{
        Measurement *x = &m->measurement;
        ApiRequest *req = x->request;

        x->request = NULL;
        free(STEAL_PTR(x->device));
        free(STEAL_PTR(x->group));
        if (req)
                api_request_done(req, error, body, e);
}

void measure_end(Manager *m, int error, const Error *e)
{
        end(m, error, NULL, e);
}

void measure_answer(Manager *m, const char *source, const char *scope, double seconds, json_t *caches,
                    json_t *xmit)
{
        json_t *body = json_pack("{s:o, s:s, s:s, s:f, s:o, s:o}", "device",
                                 json_string(m->measurement.device), "source", source, "scope", scope,
                                 "seconds", seconds, "caches", caches, "xmit", xmit);

        end(m, 0, body, NULL);
}

int measure_window(Manager *m, sd_event_time_handler_t over, Error *e)
{
        Measurement *x = &m->measurement;
        int r;

        x->begun = manager_now(m);
        x->timer = sd_event_source_disable_unref(x->timer);
        r = sd_event_add_time_relative(m->event, &x->timer, CLOCK_MONOTONIC, WINDOW_USEC, 1000, over, m);
        return r < 0 ? error_set(e, r, NULL, "no timer: %s", strerror(-r)) : API_DEFERRED;
}

double measure_seconds(const Manager *m)
{
        return (double)(manager_now(m) - m->measurement.begun) / 1e6;
}

int measure_check_writer(Manager *m, Error *e)
{
        if (!root_is_live(m->root))
                return error_set(e, -EOPNOTSUPP, m->measurement.device,
                                 "this copy has no counters, and nothing runs on it that could be probed");
        if (m->options.observe || m->writer_fd < 0)
                return error_set(e, -ENOTCONN, NULL,
                                 "this kernel has no counters, and the writer, which could probe it, is not "
                                 "connected");
        return 0;
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
        x->device = strdup(id);
        if (!x->device)
                return error_set(e, -ENOMEM, NULL, "out of memory");
        x->request = req;
        r = d->iscsi ? measure_xmit(m, d, e) : measure_iova(m, d, e);
        if (r < 0) {
                x->request = NULL;
                measure_end(m, r, e);
        }
        return r;
}

void manager_free_measurement(Manager *m)
{
        sd_event_source_disable_unref(m->measurement.timer);
        free(m->measurement.device);
        free(m->measurement.group);
}
