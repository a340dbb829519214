/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/build.h"

#include "basic/array.h"
#include "plan/builder.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

struct PlanBuilder {
        const PlanInput *in;
        Plan *plan;
        Loads loads;
};

int plan_builder_new(const PlanInput *in, PlanBuilder **ret)
{
        _cleanup_(plan_builder_freep) PlanBuilder *b = calloc(1, sizeof(*b));

        if (!b)
                return -ENOMEM;
        b->in = in;
        b->plan = calloc(1, sizeof(*b->plan));
        if (!b->plan)
                return -ENOMEM;
        *ret = STEAL_PTR(b);
        return 0;
}

PlanBuilder *plan_builder_free(PlanBuilder *b)
{
        if (!b)
                return NULL;
        plan_free(b->plan);
        free(b->loads.cpu);
        free(b);
        return NULL;
}

Plan *plan_builder_finish(PlanBuilder *b)
{
        return STEAL_PTR(b->plan);
}

const Snapshot *plan_snapshot(const PlanBuilder *b)
{
        return b->in->snapshot;
}

const Policy *plan_policy(const PlanBuilder *b)
{
        return b->in->policy;
}

bool plan_is_held(const PlanBuilder *b, const Device *d)
{
        return b->in->held && strv_contains(b->in->held, d->id);
}

bool plan_is_left(const PlanBuilder *b, const char *path)
{
        return b->in->left && strv_contains(b->in->left, path);
}

const CpuSet *plan_full_cpus(const PlanBuilder *b)
{
        return b->in->full;
}

Loads *plan_loads(PlanBuilder *b)
{
        return &b->loads;
}

static int reason_set(Reason *r, const Setting *setting)
{
        r->rule = strdup(setting ? setting->rule : "builtin");
        r->file = strdup(setting && setting->file ? setting->file : "");
        r->line = setting ? setting->line : 0;
        return r->rule && r->file ? 0 : -ENOMEM;
}

int plan_add_change(PlanBuilder *b, const Device *d, const char *role, const Setting *setting, Change *c)
{
        Change *slot;
        int r;

        c->id = role ? strf("%s~%s~%s", d->id, c->knob, role) : strf("%s~%s", d->id, c->knob);
        c->device = strdup(d->id);
        r = reason_set(&c->reason, setting);
        if (r >= 0 && (!c->id || !c->device || !c->path || !c->current || !c->desired || !c->reason.text))
                r = -ENOMEM;
        slot = r < 0 ? NULL : ARRAY_APPEND(b->plan->changes, b->plan->n_changes);
        if (!slot) {
                change_clear(c);
                return -ENOMEM;
        }
        *slot = *c;
        *c = (Change) { 0 };
        return 0;
}

int plan_add_claim(PlanBuilder *b, const Device *d, const char *plugin, const char *knob, const char *path)
{
        Claim c = { .device = strdup(d->id), .path = strdup(path), .plugin = plugin, .knob = knob };
        Claim *slot = c.device && c.path ? ARRAY_APPEND(b->plan->claims, b->plan->n_claims) : NULL;

        if (!slot) {
                free(c.device);
                free(c.path);
                return -ENOMEM;
        }
        *slot = c;
        return 0;
}

int plan_add_wish(PlanBuilder *b, const Device *d, ControlWish *w)
{
        ControlWish *slot = NULL;

        w->device = strdup(d->id);
        if (w->device && w->path && w->counters)
                slot = ARRAY_APPEND(b->plan->wishes, b->plan->n_wishes);
        if (!slot) {
                wish_clear(w);
                return -ENOMEM;
        }
        *slot = *w;
        *w = (ControlWish) { 0 };
        return 0;
}

const ControlTarget *plan_target(const PlanBuilder *b, const Device *d, const char *knob)
{
        for (size_t i = 0; i < b->in->n_targets; i++) {
                const ControlTarget *t = &b->in->targets[i];

                if (strcmp(t->device, d->id) == 0 && strcmp(t->knob, knob) == 0)
                        return t;
        }
        return NULL;
}

const char *plan_no_target(const PlanBuilder *b)
{
        return policy_defaults(b->in->policy)->apply == APPLY_AUTO ? "no step was needed so far"
                                                                   : "no step is made without apply: auto";
}

int plan_add_verdict(PlanBuilder *b, const Device *d, const char *plugin, const char *knob,
                     VerdictState state, const Home *home, const Setting *setting, const char *format, ...)
{
        Verdict *v = ARRAY_APPEND(b->plan->verdicts, b->plan->n_verdicts);
        va_list ap;
        int r;

        if (!v)
                return -ENOMEM;
        v->plugin = plugin;
        v->knob = knob;
        v->state = state;
        v->node = home ? home->node : d->node;
        v->node_source = home ? home->source : d->node_source;
        v->device = strdup(d->id);
        va_start(ap, format);
        r = vasprintf(&v->reason.text, format, ap);
        va_end(ap);
        if (r < 0) {
                v->reason.text = NULL;
                return -ENOMEM;
        }
        return v->device ? reason_set(&v->reason, setting) : -ENOMEM;
}
