/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/evidence.h"

json_t *evidence_window(const ControlKind *k, const ControlWindow *w)
{
        const ControlCounters *n = &w->count;

        return json_pack("{s:f, s:{s:I, s:I, s:I}, s:o}", "seconds", (double)w->usec / 1e6, "counters",
                         k->total, (json_int_t)n->total, k->bad, (json_int_t)n->bad, k->pressure,
                         (json_int_t)n->pressure, "share",
                         n->total ? json_real((double)n->bad / (double)n->total) : json_null());
}

json_t *evidence_to_json(const Control *c)
{
        if (c->outcome == CONTROL_NOTHING)
                return json_null();
        return json_pack("{s:s, s:I, s:I, s:o, s:o}", "outcome", control_outcome_to_string(c->outcome),
                         "from", (json_int_t)c->from, "to", (json_int_t)c->to, "before",
                         evidence_window(c->kind, &c->before), "after",
                         c->after.usec > 0 ? evidence_window(c->kind, &c->after) : json_null());
}
