/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drift.h"

#include "basic/cpuset.h"

#include <errno.h>
#include <string.h>

static const DriftTime never;

bool drift_accepts(const char *set, const char *desired, const char *fallback, bool optional,
                   const FileKind *kind)
{
        _cleanup_(cpuset_freep) CpuSet *inner = NULL, *outer = NULL;

        if (optional || file_kind_equal(kind, set, desired) > 0)
                return true;
        return fallback && kind->form == FORM_CPULIST && cpuset_parse_list(set, &inner) >= 0 &&
               cpuset_parse_list(fallback, &outer) >= 0 && cpuset_is_subset(inner, outer);
}

void drift_clear(Drift *d)
{
        free(d->foreign);
        *d = (Drift) { 0 };
}

bool drift_is_given_up(const Drift *d)
{
        return d->state == DRIFT_YIELDED || d->state == DRIFT_CONTESTED;
}

bool drift_is_left(const Drift *d)
{
        return d->state == DRIFT_REPORTED || drift_is_given_up(d);
}

/* Nothing foreign is in force, as far as anybody cares; what was fought for stays in memory. */
static void end(Drift *d)
{
        d->state = DRIFT_NONE;
        d->since = never;
        d->next = never;
}

void drift_forget_fights(Drift *d)
{
        d->n_fights = 0;
        d->contests = 0;
        if (d->state == DRIFT_CONTESTED || d->state == DRIFT_WAITING)
                end(d);
}

static void drop_fights(Drift *d, uint64_t from, uint64_t to)
{
        unsigned kept = 0;

        for (unsigned i = 0; i < d->n_fights; i++)
                if (d->fights[i] < from || d->fights[i] > to)
                        d->fights[kept++] = d->fights[i];
        d->n_fights = kept;
}

static uint64_t before(uint64_t t, uint64_t by)
{
        return t > by ? t - by : 0;
}

/* A value that held for so long is worth a fresh start. */
static void forget_old_fights(Drift *d, uint64_t now)
{
        bool any = d->n_fights > 0;

        if (now > DRIFT_FIGHT_WINDOW)
                drop_fights(d, 0, now - DRIFT_FIGHT_WINDOW);
        if (any && d->n_fights == 0 && d->state == DRIFT_NONE)
                d->contests = 0;
}

/* An event may be told later than what it did is seen: what was taken for somebody's doing shortly before was
 * none. */
static void forgive(Drift *d, uint64_t event)
{
        uint64_t from = before(event, DRIFT_EVENT_WINDOW);

        if (event == 0)
                return;
        drop_fights(d, from, event);
        if (d->state != DRIFT_CONTESTED && d->since.now >= from && d->since.now <= event)
                end(d);
}

static bool is_explained(const DriftLook *l, uint64_t now)
{
        return l->explained || (l->event != 0 && now <= l->event + DRIFT_EVENT_WINDOW);
}

/* Whether the file is left to others no longer. */
static bool is_over(const Drift *d, const DriftLook *l, bool foreign, uint64_t now)
{
        switch (d->state) {
        case DRIFT_REPORTED:
                return !foreign || l->mode != ON_DRIFT_REPORT;
        case DRIFT_YIELDED:
                return !foreign || l->mode != ON_DRIFT_YIELD;
        case DRIFT_CONTESTED:
                return l->mode != ON_DRIFT_REAPPLY || now >= d->next.now;
        default:
                return false;
        }
}

/* Notes somebody else's value. Returns 1 when it is another one than before, 0 or -ENOMEM. */
static int note_foreign(Drift *d, const DriftLook *l, const DriftTime *t)
{
        bool known = d->since.now != 0 && d->foreign && file_kind_equal(l->kind, d->foreign, l->current) > 0;
        char *copy;

        if (known)
                return 0;
        copy = strdup(l->current);
        if (!copy)
                return -ENOMEM;
        free(d->foreign);
        d->foreign = copy;
        d->since = *t;
        return 1;
}

static DriftTime later(const DriftTime *t, uint64_t at)
{
        return (DriftTime) { .now = at, .real = t->real + at - t->now };
}

static int contest(Drift *d, const DriftTime *t)
{
        uint64_t quiet = DRIFT_QUIET;

        for (unsigned i = 0; i < d->contests && quiet < DRIFT_QUIET_MAX; i++)
                quiet *= 2;
        d->contests++;
        d->state = DRIFT_CONTESTED;
        d->next = later(t, t->now + (quiet < DRIFT_QUIET_MAX ? quiet : DRIFT_QUIET_MAX));
        return 1;
}

static int react(Drift *d, const DriftLook *l, const DriftTime *t)
{
        uint64_t due = 0;

        d->next = never;
        d->state = DRIFT_FOUND;
        if (l->by_hand)
                return 0;
        if (l->mode != ON_DRIFT_REAPPLY) {
                d->state = l->mode == ON_DRIFT_YIELD ? DRIFT_YIELDED : DRIFT_REPORTED;
                return 1;
        }
        if (!l->automatic)
                return 0;
        if (d->n_fights >= DRIFT_FIGHTS)
                return contest(d, t);
        if (d->n_fights > 0)
                due = d->fights[d->n_fights - 1] + (DRIFT_WAIT << (d->n_fights - 1));
        if (t->now < due) {
                d->state = DRIFT_WAITING;
                d->next = later(t, due);
        }
        return 0;
}

int drift_look(Drift *d, const DriftLook *l, const DriftTime *t)
{
        bool foreign = l->set && l->current && file_kind_equal(l->kind, l->current, l->set) == 0;
        int r;

        if (!l->set || l->by_hand)
                drift_clear(d);
        forget_old_fights(d, t->now);
        forgive(d, l->event);
        if (is_over(d, l, foreign, t->now)) {
                if (d->state == DRIFT_CONTESTED)
                        d->n_fights = 0;
                if (!foreign)
                        d->contests = 0;
                end(d);
        }
        if (drift_is_left(d)) {
                r = foreign ? note_foreign(d, l, t) : 0;
                if (!foreign)
                        d->since = never;
                return d->state == DRIFT_REPORTED || r < 0 ? r : 0;
        }
        if (!foreign || !l->wanted || !l->accepts || is_explained(l, t->now)) {
                end(d);
                return 0;
        }
        r = note_foreign(d, l, t);
        return r < 0 ? r : react(d, l, t);
}

void drift_written(Drift *d, uint64_t now)
{
        if (d->state != DRIFT_FOUND)
                return;
        if (d->n_fights == DRIFT_FIGHTS) {
                memmove(d->fights, d->fights + 1, sizeof(d->fights) - sizeof(d->fights[0]));
                d->n_fights--;
        }
        d->fights[d->n_fights++] = now;
        end(d);
}

uint64_t drift_due(const Drift *d, uint64_t now)
{
        if (d->state == DRIFT_WAITING)
                return d->next.now;
        if (d->n_fights == 0 || drift_is_left(d))
                return UINT64_MAX;
        for (unsigned i = 0; i < DRIFT_LOOKS; i++) {
                uint64_t at = d->fights[d->n_fights - 1] + (DRIFT_WAIT << i);

                if (at > now)
                        return at;
        }
        return UINT64_MAX;
}
