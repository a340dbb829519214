/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-measure.h"

#include "observe/iscsi-knobs.h"
#include "report/report.h"
#include "report/xmit.h"

#include <errno.h>
#include <string.h>

/* Where an iSCSI host's transmit work runs: by its own counters, or by the workqueue's tracepoints, which the
 * writer sets for the window. */

/* --- by xmit_stats --- */

/* Fails with a text. */
static int read_counters(const Manager *m, XmitFacts *ret, Error *e)
{
        int r;

        r = observe_xmit_counters(m->root, m->measurement.host, ret);
        if (r >= 0 && !ret->counted)
                r = -ENODATA;
        return r < 0 ? error_set(e, r, m->measurement.device, "xmit_stats of host %d cannot be read",
                                 m->measurement.host)
                     : 0;
}

static int on_window(sd_event_source *s, uint64_t usec, void *userdata)
{
        Manager *m = userdata;
        const XmitFacts *before = &m->measurement.xmit;
        XmitFacts now = { 0 };
        Error e = { 0 };
        int r;

        r = read_counters(m, &now, &e);
        if (r >= 0 && (now.local < before->local || now.remote < before->remote))
                r = error_set(&e, -EAGAIN, m->measurement.device,
                              "the counters began anew meanwhile; try again");
        if (r < 0)
                measure_end(m, r, &e);
        else
                measure_answer(m, "xmit_stats", "host", measure_seconds(m), json_null(),
                               report_xmit_runs(now.local - before->local, now.remote - before->remote));
        return 0;
}

static int by_counters(Manager *m, Error *e)
{
        int r;

        r = read_counters(m, &m->measurement.xmit, e);
        return r < 0 ? r : measure_window(m, on_window, e);
}

/* --- by the writer --- */

static const char *why_not(int error)
{
        switch (error) {
        case -ENOENT:
                return "tracefs is not mounted at /sys/kernel/tracing";
        case -ENOSYS:
                return "this kernel has neither xmit_stats nor hist triggers at its workqueue tracepoints "
                       "(CONFIG_HIST_TRIGGERS)";
        case -EEXIST:
                return "somebody holds the tracing instance tuned_numaio_xmit, which an earlier measurement "
                       "left";
        case -ENODATA:
                return "the writer does not count any more, since it or this daemon was held up; try again";
        case -EOVERFLOW:
                return "more work ran on this machine than the kernel has room to count";
        default:
                return strerror(-error);
        }
}

static void fail(Manager *m, int error)
{
        Error e = { 0 };

        /* It is no device that is missing. */
        (void)error_set(&e, error == -ENOENT ? -ENOSYS : error, m->measurement.device,
                        "transmit work cannot be counted: %s", why_not(error));
        measure_end(m, e.code, &e);
}

static void on_counted(void *userdata, int error, const WriterReply *reply)
{
        Manager *m = userdata;
        const Device *d = snapshot_device(m->snapshot, m->measurement.device);
        json_t *found = NULL;
        double seconds;
        int r = error;

        if (r >= 0 && !d)
                r = -ENODEV;
        if (r >= 0)
                r = report_xmit_runs_by_cpu(m->snapshot, report_planned_node(m->plan, d), reply->value,
                                            &seconds, &found);
        if (r < 0)
                fail(m, r);
        else
                measure_answer(m, "tracepoint", "host", seconds, json_null(), found);
}

static int on_trace_window(sd_event_source *s, uint64_t usec, void *userdata)
{
        Manager *m = userdata;
        int r;

        r = m->applier ? applier_runs_end(m->applier, on_counted, m) : -ENOTCONN;
        if (r < 0)
                fail(m, r);
        else
                manager_push_writer(m);
        return 0;
}

static void on_begun(void *userdata, int error, const WriterReply *reply)
{
        Manager *m = userdata;
        Error e = { 0 };
        int r;

        if (error < 0) {
                fail(m, error);
                return;
        }
        r = measure_window(m, on_trace_window, &e);
        if (r < 0)
                measure_end(m, r, &e);
}

static int by_tracepoints(Manager *m, Error *e)
{
        char queue[32];
        int r;

        r = measure_check_writer(m, e);
        if (r < 0)
                return r;
        snprintf(queue, sizeof(queue), "iscsi_q_%d", m->measurement.host);
        r = applier_runs_begin(m->applier, queue, on_begun, m);
        if (r < 0)
                return error_set(e, r, NULL, "the writer cannot be asked: %s", strerror(-r));
        manager_push_writer(m);
        return API_DEFERRED;
}

int measure_xmit(Manager *m, const Device *d, Error *e)
{
        if (d->iscsi->offload)
                return error_set(e, -EOPNOTSUPP, d->id,
                                 "the card transmits: there is no transmit work to be measured");
        m->measurement.host = d->iscsi->host;
        return d->iscsi->xmit.counted ? by_counters(m, e) : by_tracepoints(m, e);
}
