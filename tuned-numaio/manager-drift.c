/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-internal.h"

#include "basic/clock.h"
#include "basic/log.h"

#include <string.h>

/* What is left to others is found by a look at the plan, and the plan is made for what is left to others. */
#define PLANS_MAX 3u

void manager_note_event(Manager *m, const MonitorEvent *e)
{
        drift_events_add(&m->drift_events, m->snapshot, e, manager_now(m));
}

void manager_forget_fights(Manager *m)
{
        for (size_t i = 0; m->book && i < book_count(m->book); i++)
                drift_forget_fights(&book_at(m->book, i)->drift);
}

/* What somebody else did to a file, as a sentence of the journal. */
static void tell(const Decision *d)
{
        const Drift *f = &d->drift;
        const LogKnob k = {
                .message_id = f->state == DRIFT_CONTESTED ? MESSAGE_ID_CONTESTED : MESSAGE_ID_DRIFT,
                .device = d->device,
                .knob = d->knob,
                .path = d->path,
                .old_value = d->set,
                .new_value = f->foreign,
                .rule = d->reason.rule,
        };

        if (f->state == DRIFT_CONTESTED)
                log_knob(LOG_WARNING, &k,
                         "%s is contested: somebody writes %s to /%s each time that it is set to %s; "
                         "it is left to them until numaioctl apply %s",
                         d->id, f->foreign, d->path, d->set, d->device);
        else if (f->state == DRIFT_YIELDED)
                log_knob(LOG_NOTICE, &k,
                         "%s is yielded: somebody wrote %s to /%s, which had been set to %s; "
                         "it is left to them until numaioctl apply %s",
                         d->id, f->foreign, d->path, d->set, d->device);
        else
                log_knob(LOG_NOTICE, &k, "%s has drifted: somebody wrote %s to /%s, which had been set to %s",
                         d->id, f->foreign, d->path, d->set);
}

/* The first pass of a round that somebody asked for takes the devices back that it was asked for. */
static bool is_asked_for(const Manager *m, const Decision *d)
{
        const char *device = m->request_active ? m->requests[0].device : NULL;

        return m->forced && m->round_passes == 0 && (!device || strcmp(device, d->device) == 0);
}

/* What irqbalance moves while changes of interrupts wait for its end is put back then. */
static bool is_irqbalances(const Manager *m, const Decision *d)
{
        return d->waited || (d->irq > 0 && manager_irqbalance_may_move(m, (unsigned)d->irq));
}

static int look_at(Manager *m, Decision *d, const DriftTime *t)
{
        const Defaults *p = policy_defaults(m->policy);
        const bool automatic = p->apply == APPLY_AUTO && !m->options.observe;
        int r;

        /* Nobody sets these any more. */
        if (d->state == DECISION_LEFT || d->state == DECISION_HELD || d->state == DECISION_REFUSED) {
                drift_clear(&d->drift);
                return 0;
        }
        r = drift_look(&d->drift,
                       &(DriftLook) {
                               .current = d->current,
                               .set = d->set,
                               .kind = d->kind,
                               .wanted = d->wanted,
                               .accepts = d->accepts,
                               .by_hand = is_asked_for(m, d),
                               .automatic = automatic,
                               .explained = is_irqbalances(m, d),
                               .event = drift_events_last(&m->drift_events, d->device),
                               .mode = p->on_drift,
                       },
                       t);
        if (r > 0)
                tell(d);
        decision_set_drift(d);
        return r;
}

static int look_for_drift(Manager *m)
{
        const DriftTime t = { .now = manager_now(m), .real = clock_usec(CLOCK_REALTIME) };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < book_count(m->book); i++) {
                Decision *d = book_at(m->book, i);

                if (d->path)
                        r = look_at(m, d, &t);
        }
        return r < 0 ? r : 0;
}

static bool same_strings(const Strv *a, const Strv *b)
{
        bool same = a->n == b->n;

        for (size_t i = 0; same && i < a->n; i++)
                same = strcmp(a->items[i], b->items[i]) == 0;
        return same;
}

static int make_plan(Manager *m)
{
        PlanInput in = { .snapshot = m->snapshot,
                         .policy = m->policy,
                         .held = &m->held,
                         .left = &m->left,
                         .full = m->full };
        _cleanup_(freep) ControlTarget *targets = NULL;
        Plan *p;
        int r;

        r = manager_control_targets(m, &targets);
        if (r < 0)
                return r;
        in.targets = targets;
        in.n_targets = (size_t)r;
        r = plan(&in, &p);
        if (r < 0)
                return r;
        plan_free(m->plan);
        m->plan = p;
        return book_update(m->book, m->snapshot, m->plan);
}

int manager_plan(Manager *m)
{
        uint64_t awake = clock_usec(CLOCK_MONOTONIC), all = clock_usec(CLOCK_BOOTTIME);
        bool same = false;
        int r = 0;

        drift_events_add_sleep(&m->drift_events, all > awake ? all - awake : 0, manager_now(m));
        for (unsigned i = 0; r >= 0 && !same && i < PLANS_MAX; i++) {
                Strv left = { 0 };

                r = make_plan(m);
                if (r >= 0)
                        r = look_for_drift(m);
                if (r >= 0)
                        r = book_left(m->book, &left);
                if (r < 0)
                        break;
                same = same_strings(&left, &m->left);
                strv_clear(&m->left);
                m->left = left;
        }
        return r < 0 ? r : manager_take_wishes(m);
}

uint64_t manager_drift_due(const Manager *m)
{
        const uint64_t now = manager_now(m);
        uint64_t due = UINT64_MAX;

        for (size_t i = 0; i < book_count(m->book); i++) {
                uint64_t at = drift_due(&book_at(m->book, i)->drift, now);

                if (at < due)
                        due = at;
        }
        return due;
}
