/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-internal.h"

#include "basic/log.h"
#include "config.h"

#include <errno.h>
#include <string.h>

/* irqbalance: ban. The list goes to irqbalance before the first change of an IRQ that is in it; what it does
 * not leave alone, waits as without. */

#define KNOB           "irq.affinity"
#define RETRY_MIN_USEC 5000000u
#define RETRY_MAX_USEC 300000000u

/* --- which --- */

static bool is_placed(const Verdict *v)
{
        return strcmp(v->knob, KNOB) == 0 && (v->state == VERDICT_RIGHT || v->state == VERDICT_CHANGES);
}

static int add_vectors(const Device *d, IrqList *l)
{
        int r = 0;

        for (size_t i = 0; d && i < d->n_vectors && r >= 0; i++)
                if (d->vectors[i].settable != SETTABLE_NO && d->vectors[i].irq > 0)
                        r = irq_list_add(l, d->vectors[i].irq);
        return r;
}

/* The settable vectors of all devices (only = of this one) that the plan places. */
static int add_placed(const Manager *m, const char *only, IrqList *l)
{
        int r = 0;

        for (size_t i = 0; i < m->plan->n_verdicts && r >= 0; i++) {
                const Verdict *v = &m->plan->verdicts[i];

                if (is_placed(v) && (!only || strcmp(only, v->device) == 0))
                        r = add_vectors(snapshot_device(m->snapshot, v->device), l);
        }
        return r;
}

/* Nobody places these any more, so that irqbalance may. */
static int remove_given_up(const Manager *m, IrqList *l)
{
        _cleanup_(irq_list_clear) IrqList given_up = { 0 };
        int r = 0;

        for (size_t i = 0; i < book_count(m->book) && r >= 0; i++) {
                const Decision *d = book_at(m->book, i);

                if (d->irq > 0 && drift_is_given_up(&d->drift))
                        r = irq_list_add(&given_up, (unsigned)d->irq);
        }
        irq_list_remove_all(l, &given_up);
        return r;
}

/* What the plan has placed or places. In the mode ask that is what somebody applied. */
static int choose_placed(const Manager *m, IrqList *l)
{
        const bool ask = policy_defaults(m->policy)->apply == APPLY_ASK;
        const char *only = ask && m->request_active ? m->requests[0].device : NULL;
        int r;

        if (!ask || (m->forced && !only))
                return add_placed(m, NULL, l);
        r = add_placed(m, NULL, l);
        if (r < 0)
                return r;
        irq_list_keep_all(l, &m->bans.asked);
        return m->forced ? add_placed(m, only, l) : 0;
}

/* What irqbalance is to leave alone. */
static int choose(const Manager *m, IrqList *l)
{
        int r;

        if (policy_defaults(m->policy)->irqbalance != IRQBALANCE_BAN || m->stopping)
                return 0;
        r = choose_placed(m, l);
        return r < 0 ? r : remove_given_up(m, l);
}

/* --- handing over --- */

static void arm_retry(Manager *m, uint64_t usec)
{
        (void)sd_event_source_set_time_relative(m->bans.retry, usec);
        (void)sd_event_source_set_enabled(m->bans.retry, SD_EVENT_ONESHOT);
}

static void retry_later(Manager *m)
{
        uint64_t usec = RETRY_MIN_USEC;

        for (unsigned i = 0; i < m->bans.failures && usec < RETRY_MAX_USEC; i++)
                usec *= 2;
        m->bans.failures++;
        arm_retry(m, usec < RETRY_MAX_USEC ? usec : RETRY_MAX_USEC);
}

/* Each irqbalance is without a socket while it starts. One that stays so keeps all interrupts back. */
static void tell_missing_socket(void)
{
        const LogKnob k = { .message_id = MESSAGE_ID_IRQBALANCE, .knob = KNOB };

        /* Without one it is known by its unit alone. */
        log_knob(LOG_WARNING, &k,
                 "irqbalance.service runs without a socket to be told over what to leave alone: changes of "
                 "interrupts wait until there is /run/irqbalance/irqbalancePID.sock, or it has ended. To end "
                 "it: systemctl disable --now irqbalance");
}

static bool lacks_socket(const Manager *m)
{
        return m->bans.asked.n > 0 && m->irqbalance_seen.running && !*m->irqbalance_seen.socket;
}

static int on_retry(sd_event_source *s, uint64_t usec, void *userdata)
{
        Manager *m = userdata;

        (void)manager_look_for_irqbalance(m);
        if (m->bans.known && m->bans.error >= 0 && lacks_socket(m))
                tell_missing_socket();
        else
                m->bans.known = m->bans.awaited = false;
        schedule_event(&m->schedule, manager_now(m));
        manager_continue(m);
        return 0;
}

int manager_open_bans(Manager *m)
{
        int r;

        r = sd_event_add_time(m->event, &m->bans.retry, CLOCK_MONOTONIC, UINT64_MAX, 1000000, on_retry, m);
        return r < 0 ? r : sd_event_source_set_enabled(m->bans.retry, SD_EVENT_OFF);
}

void manager_free_bans(Manager *m)
{
        m->bans.retry = sd_event_source_disable_unref(m->bans.retry);
        irq_list_clear(&m->bans.asked);
        irq_list_clear(&m->bans.left_alone);
}

void manager_forget_bans(Manager *m)
{
        m->bans.known = false;
        m->bans.failures = 0;
        m->bans.awaited = false;
        irq_list_clear(&m->bans.left_alone);
        (void)sd_event_source_set_enabled(m->bans.retry, SD_EVENT_OFF);
}

static void tell_failure(const Manager *m, int error)
{
        const LogKnob k = { .message_id = MESSAGE_ID_IRQBALANCE, .knob = KNOB, .error = error };

        if (m->bans.failures > 0)
                return; /* said already */
        if (error == -E2BIG)
                log_knob(LOG_WARNING, &k,
                         "irqbalance cannot be told to leave interrupts alone: those that it was told before "
                         "fill its "
                         "list. Let it ask the policy script instead: --policyscript=%s",
                         IRQBALANCE_SCRIPT);
        else
                log_knob(LOG_WARNING, &k,
                         "irqbalance cannot be told to leave interrupts alone: %s; it is asked again",
                         error == -ENOENT ? "it has no socket" : strerror(-error));
}

static void tell_success(const Manager *m)
{
        const LogKnob k = { .message_id = MESSAGE_ID_IRQBALANCE, .knob = KNOB };
        const Bans *b = &m->bans;

        if (b->left_alone.n < b->asked.n)
                log_knob(LOG_WARNING, &k,
                         "irqbalance leaves %zu of %zu interrupts alone, the others wait: it takes 500 bytes "
                         "of numbers "
                         "at once. Let it ask the policy script instead: --policyscript=%s",
                         b->left_alone.n, b->asked.n, IRQBALANCE_SCRIPT);
        else if (b->asked.n > 0)
                log_knob(LOG_INFO, &k, "irqbalance leaves %zu interrupts alone%s", b->asked.n,
                         b->script ? ", by its policy script" : "");
}

static void on_bans(void *userdata, int error, const WriterReply *reply)
{
        Manager *m = userdata;
        Bans *b = &m->bans;

        b->asking = false;
        if (!reply)
                return; /* the connection is lost, and with it what was asked */
        b->script = reply->flags & WRITER_SCRIPT;
        if (error >= 0)
                error = irq_list_parse(reply->value, &b->left_alone);
        b->known = true;
        b->error = error;
        if (!*b->socket && error >= 0) {
                if (!b->awaited && lacks_socket(m)) {
                        b->awaited = true;
                        arm_retry(m, RETRY_MIN_USEC);
                }
                return;
        }
        if (error < 0) {
                irq_list_clear(&b->left_alone);
                tell_failure(m, error);
                retry_later(m);
                return;
        }
        b->failures = 0;
        (void)sd_event_source_set_enabled(b->retry, SD_EVENT_OFF);
        tell_success(m);
}

static bool is_known(const Manager *m, const IrqList *wanted)
{
        return m->bans.known && irq_list_equal(wanted, &m->bans.asked) &&
               strcmp(m->bans.socket, m->irqbalance_seen.socket) == 0;
}

static int ask(Manager *m, const IrqList *wanted)
{
        _cleanup_(freep) char *list = irq_list_format(wanted);
        Bans *b = &m->bans;
        int r;

        r = list ? irq_list_copy(wanted, &b->asked) : -ENOMEM;
        if (r >= 0)
                r = applier_ban(m->applier, m->irqbalance_seen.socket, list, on_bans, m);
        snprintf(b->socket, sizeof(b->socket), "%s", m->irqbalance_seen.socket);
        if (r < 0)
                return r;
        b->asking = true;
        b->known = false;
        return 1;
}

int manager_hand_bans_over(Manager *m)
{
        _cleanup_(irq_list_clear) IrqList wanted = { 0 };
        const bool ban = policy_defaults(m->policy)->irqbalance == IRQBALANCE_BAN;
        int r;

        if (m->options.observe || m->writer_fd < 0 || m->bans.asking ||
            policy_defaults(m->policy)->apply == APPLY_NEVER || !m->plan)
                return 0;
        if (!ban && m->bans.asked.n == 0 && !m->irqbalance_seen.running)
                return 0; /* nobody was told anything */
        r = choose(m, &wanted);
        if (r < 0)
                return r;
        if (is_known(m, &wanted))
                return 0;
        r = ask(m, &wanted);
        if (r != -ENAMETOOLONG)
                return r;
        /* More than a message of the writer's protocol holds. */
        m->bans.known = true;
        m->bans.error = r;
        tell_failure(m, r);
        return 0;
}

/* --- what it keeps back --- */

bool manager_is_left_alone(const Manager *m, unsigned irq)
{
        return m->bans.known && m->bans.error >= 0 &&
               strcmp(m->bans.socket, m->irqbalance_seen.socket) == 0 &&
               irq_list_contains(&m->bans.left_alone, irq);
}

/* Why an interrupt has to wait all the same. */
const char *manager_ban_problem(const Manager *m)
{
        const Bans *b = &m->bans;

        if (!b->known)
                return "it was not told yet to leave this one alone";
        if (b->error == -ENOENT || !*b->socket)
                return "it has no socket to be told over to leave this one alone";
        if (b->error < 0)
                return "it cannot be told to leave this one alone";
        return "its list of 500 bytes has no room for this one";
}
