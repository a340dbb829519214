/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-internal.h"

#include "basic/log.h"

#include <errno.h>
#include <string.h>

#define KNOB "irq.affinity"
#define UNIT "irqbalance.service"

/* --- words --- */

/* The one command that ends it; NULL = it does not run, or memory is short. */
static char *end_command(const IrqbalanceState *s)
{
        if (!s->running)
                return NULL;
        return s->by_unit ? strdup("systemctl disable --now irqbalance") : strf("kill %u", s->pid);
}

static char *known_by(const IrqbalanceState *s)
{
        if (s->by_unit && s->pid > 0)
                return strf(UNIT ", process %u", s->pid);
        return s->by_unit ? strdup(UNIT) : strf("process %u", s->pid);
}

/* --- its state --- */

static void tell_start(const Manager *m)
{
        const IrqbalanceState *s = &m->irqbalance_seen;
        _cleanup_(freep) char *command = end_command(s), *who = known_by(s);
        const LogKnob k = { .message_id = MESSAGE_ID_IRQBALANCE, .knob = KNOB };

        if (!command || !who)
                return;
        if (policy_defaults(m->policy)->irqbalance == IRQBALANCE_WAIT && manager_irqbalance_waits(m))
                log_knob(LOG_NOTICE, &k,
                         "irqbalance runs (%s), which moves interrupts itself: changes of interrupts wait "
                         "until "
                         "it has ended. To end it: %s",
                         who, command);
        else
                log_knob(LOG_NOTICE, &k, "irqbalance runs (%s), which moves interrupts itself. To end it: %s",
                         who, command);
}

static void tell_end(const Manager *m)
{
        const LogKnob k = { .message_id = MESSAGE_ID_IRQBALANCE, .knob = KNOB };

        log_knob(LOG_NOTICE, &k, "irqbalance has ended");
}

/* Says once what is known less well without D-Bus, and when that is over. */
static void tell_unit_error(Manager *m)
{
        int error = irqbalance_watch_unit_error(m->irqbalance);

        if ((error < 0) == m->irqbalance_error_told)
                return;
        m->irqbalance_error_told = error < 0;
        if (error == 0)
                log_notice("systemd can be asked for %s over D-Bus again", UNIT);
        else
                log_notice("systemd cannot be asked for %s over D-Bus: %s; irqbalance is known by its socket "
                           "alone",
                           UNIT, strerror(-error));
}

bool manager_look_for_irqbalance(Manager *m)
{
        const IrqbalanceState before = m->irqbalance_seen, *now;
        bool other;

        if (!m->irqbalance)
                return false;
        now = irqbalance_watch_refresh(m->irqbalance);
        m->irqbalance_seen = *now;
        tell_unit_error(m);
        other = before.pid > 0 && now->pid > 0 && before.pid != now->pid;
        if (now->running && (!before.running || other)) {
                manager_forget_bans(m);
                tell_start(m);
        }
        if (before.running && !now->running)
                tell_end(m);
        return before.running != now->running || before.by_unit != now->by_unit || before.pid != now->pid;
}

static void on_irqbalance(void *userdata)
{
        Manager *m = userdata;

        /* A socket's file is there a moment before the kernel lists the socket: the look that settles finds
         * it. */
        if (manager_look_for_irqbalance(m))
                manager_notify_status(m);
        schedule_event(&m->schedule, manager_now(m));
        manager_continue(m);
}

int manager_open_irqbalance(Manager *m, Error *e)
{
        int r;

        r = manager_open_bans(m);
        if (r >= 0)
                r = irqbalance_watch_new(m->event, m->root, on_irqbalance, m, &m->irqbalance);
        if (r < 0)
                return error_set(e, r, NULL, "irqbalance cannot be watched: %s", strerror(-r));
        (void)manager_look_for_irqbalance(m);
        return 0;
}

/* --- what it keeps back --- */

bool manager_irqbalance_waits(const Manager *m)
{
        return m->irqbalance_seen.running && policy_defaults(m->policy)->irqbalance != IRQBALANCE_IGNORE &&
               policy_defaults(m->policy)->apply != APPLY_NEVER && !m->options.observe;
}

bool manager_irqbalance_may_move(const Manager *m, unsigned irq)
{
        if (!manager_irqbalance_waits(m))
                return false;
        return policy_defaults(m->policy)->irqbalance != IRQBALANCE_BAN || !manager_is_left_alone(m, irq);
}

bool manager_irqbalance_keeps(Manager *m, const Change *c, Decision *d)
{
        const bool ban = policy_defaults(m->policy)->irqbalance == IRQBALANCE_BAN;
        _cleanup_(freep) char *command = NULL, *why = NULL;

        if (strcmp(c->knob, KNOB) != 0 || !manager_irqbalance_may_move(m, (unsigned)c->irq))
                return false;
        command = end_command(&m->irqbalance_seen);
        why = command ? strf("waits until irqbalance has ended (%s)%s%s", command, ban ? ": " : "",
                             ban ? manager_ban_problem(m) : "")
                      : NULL;
        if (!why || decision_wait(d, why) < 0)
                log_error("out of memory");
        return true;
}

/* --- for people and programs --- */

char *manager_irqbalance_text(const Manager *m, unsigned waiting)
{
        _cleanup_(freep) char *command = end_command(&m->irqbalance_seen);

        if (!command)
                return strdup("");
        if (waiting == 0 && m->bans.left_alone.n > 0)
                return strf("; irqbalance runs, and leaves %zu interrupts alone", m->bans.left_alone.n);
        if (waiting == 0)
                return strf("; irqbalance runs, to end it: %s", command);
        return strf("; %u changes wait until irqbalance has ended: %s", waiting, command);
}

json_t *manager_irqbalance_json(const Manager *m, unsigned waiting)
{
        const IrqbalanceState *s = &m->irqbalance_seen;
        _cleanup_(freep) char *command = end_command(s);

        return json_pack("{s:b, s:s?, s:o, s:s, s:i, s:i, s:i, s:b, s:s?, s:s?}", "running", s->running,
                         "unit", s->by_unit ? UNIT : NULL, "pid",
                         s->pid > 0 ? json_integer(s->pid) : json_null(), "policy",
                         on_irqbalance_to_string(policy_defaults(m->policy)->irqbalance), "waiting",
                         (int)waiting, "asked", (int)m->bans.asked.n, "left_alone", (int)m->bans.left_alone.n,
                         "script", m->bans.script, "error",
                         m->bans.error < 0 ? strerrorname_np(-m->bans.error) : NULL, "command", command);
}
