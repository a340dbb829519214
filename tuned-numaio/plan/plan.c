/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/plan.h"

#include "plan/builder.h"
#include "plugins/plugin.h"

static void reason_clear(Reason *r)
{
        free(r->rule);
        free(r->file);
        free(r->text);
}

void change_clear(Change *c)
{
        free(c->id);
        free(c->device);
        free(c->path);
        free(c->current);
        free(c->desired);
        free(c->fallback);
        reason_clear(&c->reason);
        *c = (Change) { 0 };
}

void wish_clear(ControlWish *w)
{
        free(w->device);
        free(w->path);
        free(w->counters);
        *w = (ControlWish) { 0 };
}

Plan *plan_free(Plan *p)
{
        if (!p)
                return NULL;
        for (size_t i = 0; i < p->n_changes; i++)
                change_clear(&p->changes[i]);
        free(p->changes);
        for (size_t i = 0; i < p->n_verdicts; i++) {
                free(p->verdicts[i].device);
                reason_clear(&p->verdicts[i].reason);
        }
        free(p->verdicts);
        for (size_t i = 0; i < p->n_wishes; i++)
                wish_clear(&p->wishes[i]);
        free(p->wishes);
        for (size_t i = 0; i < p->n_claims; i++) {
                free(p->claims[i].device);
                free(p->claims[i].path);
        }
        free(p->claims);
        free(p);
        return NULL;
}

int plan(const PlanInput *in, Plan **ret)
{
        _cleanup_(plan_builder_freep) PlanBuilder *b = NULL;
        const Plugin *const *plugins;
        size_t n_plugins;
        int r;

        r = plan_builder_new(in, &b);
        if (r < 0)
                return r;
        plugins = plugins_all(&n_plugins);
        for (size_t i = 0; i < in->snapshot->n_devices; i++) {
                for (size_t j = 0; j < n_plugins; j++) {
                        r = plugins[j]->plan(b, &in->snapshot->devices[i]);
                        if (r < 0)
                                return r;
                }
        }
        *ret = plan_builder_finish(b);
        return 0;
}

const char *verdict_state_to_string(VerdictState s)
{
        static const char *const names[_VERDICT_STATE_MAX] = {
                [VERDICT_RIGHT] = "right",
                [VERDICT_CHANGES] = "changes",
                [VERDICT_MANAGED] = "managed",
                [VERDICT_LEFT] = "left",
                [VERDICT_UNKNOWN_NODE] = "unknown-node",
                [VERDICT_HELD] = "held",
                [VERDICT_ABSENT] = "absent",
                [VERDICT_NONE] = "none",
                [VERDICT_ERROR] = "error",
        };

        return names[s];
}
