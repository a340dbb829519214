/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/control.h"

#include "basic/cleanup.h"
#include "basic/strv.h"

#include <errno.h>
#include <stddef.h>

#define IDLE_WINDOWS  5u   /* without load, before it shrinks */
#define BLIND_WINDOWS 5u   /* without counters, before a step is taken back */
#define FRESH_WINDOWS 5u   /* at low rates a magazine is full only now and then */
#define FILL_WINDOWS  5u   /* without pressure, before a step counts as one in vain */
#define REST_WINDOWS  30u  /* after a step in vain, doubled by each further one */
#define REST_MAX      900u /* half an hour of load */

void control_init(Control *c, const ControlKind *kind, long base, long level, long max)
{
        *c = (Control) { .kind = kind, .base = base, .level = level, .wanted = level, .max = max };
}

bool control_between(const ControlCounters *before, const ControlCounters *after, ControlCounters *ret)
{
        if (after->total < before->total || after->bad < before->bad || after->pressure < before->pressure)
                return false;
        *ret = (ControlCounters) {
                .total = after->total - before->total,
                .bad = after->bad - before->bad,
                .pressure = after->pressure - before->pressure,
        };
        return true;
}

unsigned control_share(const ControlWindow *w)
{
        double share = w->count.total ? (double)w->count.bad / (double)w->count.total : 0;

        return share >= 1 ? CONTROL_WHOLE : (unsigned)(share * CONTROL_WHOLE);
}

static bool is_busy(const Control *c, const ControlWindow *w)
{
        return w->usec > 0 && (double)w->count.total * 1e6 >= (double)c->kind->busy * (double)w->usec;
}

static bool want(Control *c, long level)
{
        c->wanted = level;
        c->state = CONTROL_WRITE;
        return true;
}

static void rest(Control *c)
{
        unsigned windows = REST_WINDOWS << (c->vain < 5 ? c->vain : 5);

        c->vain++;
        c->rest = windows < REST_MAX ? windows : REST_MAX;
}

static bool go_back(Control *c, ControlOutcome outcome)
{
        c->outcome = outcome;
        if (outcome == CONTROL_BACK)
                rest(c);
        return want(c, c->from);
}

static bool shrink(Control *c)
{
        long level;

        if (!c->kind->down || c->level <= c->base || c->idle < IDLE_WINDOWS)
                return false;
        level = c->kind->down(c->level);
        return want(c, level > c->base ? level : c->base);
}

static bool grow(Control *c, const ControlWindow *w)
{
        long level = c->kind->up(c->level);

        if (control_share(w) <= c->kind->threshold || c->fresh == 0 || level > c->max || level == c->level ||
            c->rest > 0)
                return false;
        c->before = *w;
        c->after = (ControlWindow) { 0 };
        c->from = c->level;
        c->to = level;
        c->filling = 0;
        c->outcome = CONTROL_MEASURING;
        c->ignored = false;
        return want(c, level);
}

static bool watch(Control *c, const ControlWindow *w)
{
        if (!is_busy(c, w)) {
                c->idle++;
                return shrink(c);
        }
        c->idle = 0;
        c->rest -= c->rest > 0;
        return grow(c, w);
}

static bool judge(Control *c, const ControlWindow *w)
{
        double limit = (double)control_share(&c->before) * (CONTROL_WHOLE - c->kind->gain) / CONTROL_WHOLE;

        if (!is_busy(c, w))
                return go_back(c, CONTROL_UNDECIDED);
        /* Without pressure there is room still: what goes wrong may be what fills it. */
        if (control_share(w) > limit && w->count.pressure == 0 && c->filling++ < FILL_WINDOWS)
                return false;
        c->after = *w;
        if (control_share(w) > limit)
                return go_back(c, CONTROL_BACK);
        c->outcome = CONTROL_KEPT;
        c->vain = 0;
        c->state = CONTROL_WATCH;
        return watch(c, w); /* this window may call for the next step */
}

static bool step_blind(Control *c)
{
        c->blind++;
        if ((c->state != CONTROL_SETTLE && c->state != CONTROL_MEASURE) || c->blind < BLIND_WINDOWS)
                return false;
        return go_back(c, CONTROL_UNDECIDED);
}

bool control_step(Control *c, const ControlWindow *w)
{
        if (!w)
                return step_blind(c);
        c->blind = 0;
        c->fresh = w->count.pressure > 0 ? FRESH_WINDOWS : c->fresh - (c->fresh > 0);
        switch (c->state) {
        case CONTROL_WATCH:
                return watch(c, w);
        case CONTROL_SETTLE:
                c->state = CONTROL_MEASURE;
                return false;
        case CONTROL_MEASURE:
                return judge(c, w);
        case CONTROL_WRITE:
        case _CONTROL_STATE_MAX:
                break;
        }
        return false;
}

void control_written(Control *c, int error)
{
        if (c->state != CONTROL_WRITE)
                return;
        if (error < 0) {
                if (c->outcome == CONTROL_MEASURING)
                        c->outcome = CONTROL_FAILED;
                rest(c);
                c->wanted = c->level;
                c->state = CONTROL_WATCH;
                return;
        }
        c->level = c->wanted;
        c->blind = 0;
        c->state = c->outcome == CONTROL_MEASURING ? CONTROL_SETTLE : CONTROL_WATCH;
}

void control_ignored(Control *c)
{
        c->ignored = c->state == CONTROL_WRITE && c->outcome == CONTROL_MEASURING;
        control_written(c, -EIO);
}

uint64_t control_period(const Control *c)
{
        bool done = c->state == CONTROL_WATCH && c->idle > 0 && (!c->kind->down || c->level <= c->base);

        return done ? CONTROL_IDLE_USEC : CONTROL_WINDOW_USEC;
}

const char *control_outcome_to_string(ControlOutcome o)
{
        static const char *const names[_CONTROL_OUTCOME_MAX] = {
                [CONTROL_NOTHING] = "nothing", [CONTROL_MEASURING] = "measuring", [CONTROL_KEPT] = "kept",
                [CONTROL_BACK] = "back",       [CONTROL_UNDECIDED] = "undecided", [CONTROL_FAILED] = "failed",
        };

        return names[o];
}

static double percent(const ControlWindow *w)
{
        return w->count.total ? 100.0 * (double)w->count.bad / (double)w->count.total : 0;
}

/* What became of the last step up. */
static char *step_text(const Control *c)
{
        const ControlKind *k = c->kind;

        switch (c->outcome) {
        case CONTROL_MEASURING:
                return strf("tries %ld instead of %ld: %.2f %% of %llu %s were %s", c->to, c->from,
                            percent(&c->before), (unsigned long long)c->before.count.total, k->total, k->bad);
        case CONTROL_KEPT:
                return strf("%ld instead of %ld helped: %.2f %% %s before, %.2f %% after", c->to, c->from,
                            percent(&c->before), k->bad, percent(&c->after));
        case CONTROL_BACK:
                return strf(
                        "%ld instead of %ld did not help, so it went back: %.2f %% %s before, %.2f %% after",
                        c->to, c->from, percent(&c->before), k->bad, percent(&c->after));
        case CONTROL_UNDECIDED:
                return strf("whether %ld instead of %ld helps could not be measured, so it went back", c->to,
                            c->from);
        case CONTROL_FAILED:
                if (c->ignored)
                        return strf("%ld was written and changed nothing: %ld is still in force", c->to,
                                    c->from);
                return strf("%ld instead of %ld could not be written", c->to, c->from);
        case CONTROL_NOTHING:
        case _CONTROL_OUTCOME_MAX:
                break;
        }
        return strf("no step was needed so far");
}

/* Whether the step was to be taken back, and that could not be written. */
static bool is_stuck(const Control *c)
{
        return (c->outcome == CONTROL_BACK || c->outcome == CONTROL_UNDECIDED) && c->wanted == c->to;
}

/* Whether the load has ended since the last step up, and the level was lowered. */
static bool has_shrunk(const Control *c)
{
        if (c->outcome == CONTROL_NOTHING || c->outcome == CONTROL_MEASURING)
                return false;
        return c->wanted < (c->outcome == CONTROL_KEPT ? c->to : c->from);
}

char *control_text(const Control *c)
{
        _cleanup_(freep) char *step = step_text(c);

        if (step && is_stuck(c))
                return strf("%s; but %ld was not put in force, %ld still is", step, c->from, c->to);
        if (!step || !has_shrunk(c))
                return STEAL_PTR(step);
        return strf("%ld since there was no load; before, %s", c->wanted, step);
}
