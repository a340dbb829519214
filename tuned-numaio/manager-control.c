/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-internal.h"

#include "basic/array.h"
#include "basic/log.h"
#include "basic/parse.h"
#include "report/evidence.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Timers run only while a plan wishes for a controller. One that has nothing to do looks every ten seconds,
 * at one file: load begins without any event. */

static void controller_clear(Controller *c)
{
        free(c->device);
        free(c->path);
        free(c->counters);
        free(c->text);
}

void manager_free_controls(Manager *m)
{
        for (size_t i = 0; i < m->n_controllers; i++)
                controller_clear(&m->controllers[i]);
        free(m->controllers);
        sd_event_source_disable_unref(m->control_timer);
}

int manager_control_targets(const Manager *m, ControlTarget **ret)
{
        ControlTarget *t = calloc(m->n_controllers ? m->n_controllers : 1, sizeof(*t));
        size_t n = 0;

        if (!t)
                return -ENOMEM;
        for (size_t i = 0; i < m->n_controllers; i++) {
                const Controller *c = &m->controllers[i];

                if (c->stepped)
                        t[n++] = (ControlTarget) { c->device, c->knob, c->control.wanted,
                                                   c->text ? c->text : "" };
        }
        *ret = t;
        return (int)n;
}

static Controller *find(Manager *m, const ControlWish *w)
{
        for (size_t i = 0; i < m->n_controllers; i++)
                if (m->controllers[i].knob == w->knob && strcmp(m->controllers[i].device, w->device) == 0 &&
                    strcmp(m->controllers[i].path, w->path) == 0)
                        return &m->controllers[i];
        return NULL;
}

/* What was in force before this process, or an earlier one, wrote first. */
static long base_level(const Manager *m, const ControlWish *w)
{
        const Decision *d = book_find_path(m->book, w->path);
        int level;

        if (!d || !d->first)
                return w->level;
        return parse_int(d->first, &level) >= 0 ? level : w->first;
}

static int begin(Manager *m, const ControlWish *w)
{
        Controller c = { .device = strdup(w->device),
                         .knob = w->knob,
                         .path = strdup(w->path),
                         .counters = strdup(w->counters),
                         .wished = true };
        Controller *slot =
                c.device && c.path && c.counters ? ARRAY_APPEND(m->controllers, m->n_controllers) : NULL;

        if (!slot) {
                controller_clear(&c);
                return -ENOMEM;
        }
        control_init(&c.control, w->kind, base_level(m, w), w->level, w->max);
        *slot = c;
        return 0;
}

static void drop_unwished(Manager *m)
{
        size_t kept = 0;

        for (size_t i = 0; i < m->n_controllers; i++) {
                if (m->controllers[i].wished)
                        m->controllers[kept++] = m->controllers[i];
                else
                        controller_clear(&m->controllers[i]);
        }
        m->n_controllers = kept;
}

/* Only where a round writes by itself. */
static bool may_control(const Manager *m)
{
        return !m->options.observe && policy_defaults(m->policy)->apply == APPLY_AUTO;
}

int manager_take_wishes(Manager *m)
{
        int r = 0;

        for (size_t i = 0; i < m->n_controllers; i++)
                m->controllers[i].wished = false;
        for (size_t i = 0; r >= 0 && may_control(m) && i < m->plan->n_wishes; i++) {
                const ControlWish *w = &m->plan->wishes[i];
                Controller *c = find(m, w);

                if (!c) {
                        r = begin(m, w);
                        continue;
                }
                c->wished = true;
                c->control.max = w->max;
                /* Somebody else changed it, and nothing of ours stands against that. */
                if (!c->stepped)
                        c->control.level = c->control.wanted = w->level;
        }
        drop_unwished(m);
        return r;
}

/* --- what was written --- */

static const ControlWish *wish_of(const Manager *m, const Controller *c)
{
        for (size_t i = 0; m->plan && i < m->plan->n_wishes; i++)
                if (m->plan->wishes[i].knob == c->knob && strcmp(m->plan->wishes[i].device, c->device) == 0)
                        return &m->plan->wishes[i];
        return NULL;
}

static void set_evidence(Decision *d, json_t *evidence)
{
        if (!d || !evidence || json_is_null(evidence))
                return;
        json_decref(d->evidence);
        d->evidence = json_incref(evidence);
}

/* The decision of the file, and that of the device. */
static void keep_evidence(Manager *m, Controller *c)
{
        _cleanup_(freep) char *id = strf("%s~%s", c->device, c->knob);
        json_t *evidence = evidence_to_json(&c->control);
        char *text = control_text(&c->control);

        if (id)
                set_evidence(book_find(m->book, id), evidence);
        set_evidence(book_find_path(m->book, c->path), evidence);
        json_decref(evidence);
        if (!text || !id || !evidence) {
                log_error("out of memory");
                free(text);
                return;
        }
        free(c->text);
        c->text = text;
}

/* Begins the next window. */
static void begin_window(Manager *m, Controller *c)
{
        uint64_t now = manager_now(m);

        c->begun = c->control.kind->read(m->root, c->counters, &c->last) < 0 ? 0 : now;
        c->due = now + control_period(&c->control);
}

/* Whether the round that has ended wrote what was wanted, without an error. */
static bool was_taken(const Manager *m, const Controller *c, const Decision *d)
{
        char wanted[24];

        snprintf(wanted, sizeof(wanted), "%ld", c->control.wanted);
        return d && d->error >= 0 && d->round == m->round && d->tried && strcmp(d->tried, wanted) == 0;
}

/* What a window or a write came to; `news` is whether it decided about a step, or began one. */
static void tell(const Controller *c, bool news)
{
        const Control *n = &c->control;
        const char *text = c->text ? c->text : "";

        if (news && (n->outcome == CONTROL_BACK || n->outcome == CONTROL_FAILED))
                log_notice("%s: %s: %s", c->device, c->knob, text);
        else if (n->wanted == n->level)
                log_info("%s: %s: it stays at %ld: %s", c->device, c->knob, n->level, text);
        else
                log_info("%s: %s: %ld is to be %ld: %s", c->device, c->knob, n->level, n->wanted, text);
}

/* Returns whether the plan is out of date: the step is not in force, and its reason tells of one. */
static bool follow(Manager *m, Controller *c)
{
        const long wanted = c->control.wanted;
        const Decision *d = book_find_path(m->book, c->path);
        const ControlWish *w = wish_of(m, c);
        bool failed;

        if (c->control.state != CONTROL_WRITE) {
                if (c->due == 0)
                        begin_window(m, c);
                return false;
        }
        if (w && w->level == c->control.wanted)
                control_written(&c->control, 0);
        else if (d && d->error < 0)
                control_written(&c->control, d->error);
        else if (w && w->level == c->control.level && was_taken(m, c, d))
                control_ignored(&c->control);
        else
                return false; /* something keeps it back; it is asked again when the next round ends */
        keep_evidence(m, c);
        begin_window(m, c);
        failed = c->control.wanted != wanted;
        if (failed)
                tell(c, true);
        return failed;
}

/* --- windows --- */

static int on_control(sd_event_source *s, uint64_t usec, void *userdata);

static int arm(Manager *m)
{
        uint64_t due = UINT64_MAX, idle = 0;
        int r = 0;

        for (size_t i = 0; i < m->n_controllers; i++) {
                const Controller *c = &m->controllers[i];

                if (c->control.state == CONTROL_WRITE || c->due >= due)
                        continue;
                due = c->due;
                idle = control_period(&c->control) == CONTROL_IDLE_USEC;
        }
        if (due == UINT64_MAX)
                return m->control_timer ? sd_event_source_set_enabled(m->control_timer, SD_EVENT_OFF) : 0;
        if (!m->control_timer)
                r = sd_event_add_time(m->event, &m->control_timer, CLOCK_MONOTONIC, due, 0, on_control, m);
        if (r >= 0)
                r = sd_event_source_set_time(m->control_timer, due);
        /* One that waits for load may be woken together with something else. */
        if (r >= 0)
                r = sd_event_source_set_time_accuracy(m->control_timer, idle ? 1000000 : 50000);
        return r < 0 ? r : sd_event_source_set_enabled(m->control_timer, SD_EVENT_ONESHOT);
}

/* Ends the window of one controller. Returns whether the plan is out of date: something is to be written, or
 * its reasons tell an outcome that has passed. */
static bool end_window(Manager *m, Controller *c)
{
        ControlOutcome before = c->control.outcome;
        ControlWindow w = { .usec = manager_now(m) - c->begun };
        ControlCounters now;
        bool known, changed, news;

        known = c->control.kind->read(m->root, c->counters, &now) >= 0;
        known = known && c->begun > 0 && control_between(&c->last, &now, &w.count);
        changed = control_step(&c->control, known ? &w : NULL);
        news = c->control.outcome != before;
        if (changed || news) {
                keep_evidence(m, c);
                tell(c, news);
        }
        c->stepped = c->stepped || changed;
        begin_window(m, c);
        return changed || news;
}

static int on_control(sd_event_source *s, uint64_t usec, void *userdata)
{
        Manager *m = userdata;
        uint64_t now = manager_now(m);
        bool look = false;

        for (size_t i = 0; i < m->n_controllers; i++) {
                Controller *c = &m->controllers[i];

                if (c->control.state != CONTROL_WRITE && c->due <= now)
                        look = end_window(m, c) || look;
        }
        if (look)
                manager_look_soon(m);
        if (arm(m) < 0)
                log_error("the controllers cannot go on: there is no timer");
        return 0;
}

void manager_follow_controls(Manager *m)
{
        bool look = false;

        for (size_t i = 0; i < m->n_controllers; i++)
                look = follow(m, &m->controllers[i]) || look;
        if (look)
                schedule_event(&m->schedule, manager_now(m));
        if (arm(m) < 0)
                log_error("the controllers cannot go on: there is no timer");
}
