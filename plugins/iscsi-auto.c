/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/iscsi-knobs.h"
#include "plugins/iscsi-dynamic.h"

#include <errno.h>

/* iscsi.dynamic: auto, for a controller (control/control.h) that counts where transmit work ran. */

#define OFF 0
#define ON  1

static long switch_on(long level)
{
        return ON;
}

static int read_counters(const Root *root, const char *path, ControlCounters *ret)
{
        _cleanup_(freep) char *text = NULL;
        XmitFacts x = { 0 };
        int r;

        r = root_read(root, &text, "%s", path);
        if (r >= 0)
                r = xmit_stats_parse(text, &x);
        if (r < 0)
                return r;
        /* Each run elsewhere is a sign that the hint would help. */
        *ret = (ControlCounters) { .total = x.local + x.remote, .bad = x.remote, .pressure = x.remote };
        return 0;
}

/* On a machine with two nodes half of the runs are elsewhere by chance, and more with more nodes: a fifth is
 * well below that, and well above what a hint leaves that follows the NIC. It works at once or not at all, so
 * that a step which does not halve the share was in vain. What helps is not switched off again when the load
 * has gone: it costs nothing then. 20 runs a second are 40 in a window, enough for a share; what an idle
 * session sends by itself is far less. */
static const ControlKind xmit_control = {
        .total = "runs",
        .bad = "remote",
        .pressure = "remote",
        .threshold = CONTROL_WHOLE / 5,
        .gain = CONTROL_WHOLE / 2,
        .busy = 20,
        .up = switch_on,
        .down = NULL,
        .read = read_counters,
};

int iscsi_control(PlanBuilder *b, const Device *d, Choice *c)
{
        const Knob *k = device_knob(d, WRITER_ISCSI_XMIT_NUMA);
        const ControlTarget *t = plan_target(b, d, DYNAMIC);
        ControlWish w = {
                .knob = DYNAMIC, .kind = &xmit_control, .level = knob_number(k, OFF), .first = OFF, .max = ON
        };
        int host = d->iscsi->host, r;

        if (plan_is_held(b, d))
                return 0;
        if (plan_is_left(b, k->path) || k->settable == SETTABLE_NO)
                return (c->why = strdup("; auto: xmit_numa is left to others")) ? 0 : -ENOMEM;
        w.path = strdup(k->path);
        w.counters = strf("sys/devices/platform/host%d/scsi_host/host%d/xmit_stats", host, host);
        r = plan_add_wish(b, d, &w);
        if (r < 0)
                return r;
        if (t)
                c->way = t->level == ON ? WAY_HINT : WAY_BACK;
        c->why = strf("; auto: %s", t ? t->text : plan_no_target(b));
        return c->why ? 0 : -ENOMEM;
}
