/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decisions.h"

#include "report/report.h"

#include <string.h>
#include <time.h>

static json_t *time_or_null(uint64_t usec)
{
        time_t t = (time_t)(usec / 1000000);
        char text[32];
        struct tm tm;

        if (usec == 0 || !gmtime_r(&t, &tm))
                return json_null();
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
        return json_string(text);
}

/* As long as somebody else's value is in force, or somebody put his in before. */
static json_t *drift_to_json(const Decision *d)
{
        const Drift *f = &d->drift;

        if (f->state == DRIFT_NONE && f->n_fights == 0)
                return json_null();
        return json_pack("{s:i, s:o, s:o, s:o, s:o}", "count", (int)f->n_fights, "set", report_text(d->set),
                         "foreign", report_text(f->foreign), "since", time_or_null(f->since.real), "next_try",
                         time_or_null(f->next.real));
}

json_t *decision_to_json(const Decision *d)
{
        return json_pack(
                "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:i, s:o, s:o}", "id",
                report_text(d->id), "device", report_text(d->device), "plugin", report_text(d->plugin),
                "knob", report_text(d->knob), "path", report_text(d->path), "irq",
                d->irq < 0 ? json_null() : json_integer(d->irq), "first", report_text(d->first), "current",
                report_text(d->current), "desired", report_text(d->desired), "state",
                decision_state_to_string(d->state), "error",
                report_text(d->error ? strerrorname_np(-d->error) : NULL), "node",
                d->node < 0 ? json_null() : json_integer(d->node), "reason", report_reason(&d->reason),
                "time", time_or_null(d->time), "writes", (int)d->writes, "drift", drift_to_json(d),
                "evidence", d->evidence ? json_incref(d->evidence) : json_null());
}

const char *decision_state_to_string(DecisionState s)
{
        static const char *const names[_DECISION_STATE_MAX] = {
                [DECISION_RIGHT] = "right",         [DECISION_PLANNED] = "planned",
                [DECISION_APPLIED] = "applied",     [DECISION_FAILED] = "failed",
                [DECISION_REFUSED] = "refused",     [DECISION_MANAGED] = "managed",
                [DECISION_LEFT] = "left",           [DECISION_UNKNOWN_NODE] = "unknown-node",
                [DECISION_HELD] = "held",           [DECISION_NONE] = "none",
                [DECISION_ERROR] = "error",         [DECISION_WAITING] = "waiting",
                [DECISION_DRIFTED] = "drifted",     [DECISION_YIELDED] = "yielded",
                [DECISION_CONTESTED] = "contested", [DECISION_ABSENT] = "absent",
        };

        return names[s];
}
