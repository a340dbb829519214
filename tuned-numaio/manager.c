/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-internal.h"

#include "basic/array.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "config.h"
#include "plugins/plugin.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#define READY_LIMIT_USEC 10000000u /* ready at the latest, also when a write blocks */

uint64_t manager_now(const Manager *m)
{
        uint64_t now;

        return sd_event_now(m->event, CLOCK_MONOTONIC, &now) < 0 ? 0 : now;
}

/* --- policies --- */

static const char *const policy_dirs[] = {
        POLICY_DIR,
        "/etc/tuned-numaio/policies",
        "/var/lib/tuned-numaio/policies",
        "/run/tuned-numaio/policies",
};

static int read_policy(const ManagerOptions *o, Policy **ret, PolicyErrors *errors)
{
        if (o->policy)
                return policy_load_file(o->policy, ret, errors);
        if (strcmp(o->root, "/") == 0)
                return policy_load_dirs(policy_dirs, ARRAY_SIZE(policy_dirs), ret, errors);
        return policy_new_default(ret);
}

int manager_load_policy(Manager *m)
{
        Policy *policy = NULL;
        int r;

        m->policy_errors = (PolicyErrors) { 0 };
        r = read_policy(&m->options, &policy, &m->policy_errors);
        for (size_t i = 0; i < m->policy_errors.n; i++) {
                const Error *e = &m->policy_errors.items[i];
                const LogKnob k = { .message_id = MESSAGE_ID_POLICY, .error = e->code };

                log_knob(LOG_ERR, &k, "%s: %s", e->where, e->text);
        }
        if (r < 0)
                return r;
        policy_free(m->policy);
        m->policy = policy;
        manager_forget_fights(m);
        return 0;
}

/* --- passes and rounds --- */

static void set_timer(sd_event_source *s, uint64_t at)
{
        if (at == UINT64_MAX) {
                (void)sd_event_source_set_enabled(s, SD_EVENT_OFF);
                return;
        }
        (void)sd_event_source_set_time(s, at);
        (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

static void arm(Manager *m)
{
        uint64_t now = manager_now(m), next;

        if (m->in_round || m->request_active || !m->timer)
                return;
        next = schedule_next(&m->schedule, now);
        set_timer(m->timer, next < m->drift_due ? next : m->drift_due);
}

/* A part of /proc or /sys that is missing altogether is worth a line, once. */
static void tell_absent(Manager *m)
{
        for (size_t i = 0; !m->absent_told && i < m->snapshot->absent.n; i++)
                log_notice("%s: %s", root_path(m->root), m->snapshot->absent.items[i]);
        m->absent_told = true;
}

static int look(Manager *m)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        KnownRefusal *known;
        int r;

        known = calloc(m->n_refusals ? m->n_refusals : 1, sizeof(*known));
        if (!known)
                return -ENOMEM;
        for (size_t i = 0; i < m->n_refusals; i++)
                known[i] = (KnownRefusal) { m->refusals[i].path, m->refusals[i].error };
        r = observe(m->root, known, m->n_refusals, &s);
        free(known);
        if (r < 0)
                return r;
        snapshot_free(m->snapshot);
        m->snapshot = STEAL_PTR(s);
        return 0;
}

static int look_and_plan(Manager *m)
{
        bool stale = false;
        int r;

        r = look(m);
        if (r < 0)
                return r;
        manager_forget_stale_refusals(m, &stale);
        if (stale)
                r = look(m);
        if (r >= 0)
                r = plugins_complete(m->root, m->policy, &m->symbols, m->snapshot);
        if (r >= 0)
                r = manager_plan(m);
        if (r < 0)
                return r;
        tell_absent(m);
        return manager_update_baselines(m);
}

static void send_ready(Manager *m)
{
        if (m->ready_sent)
                return;
        m->ready_sent = true;
        (void)sd_notify(0, "READY=1");
        if (m->ready_limit)
                (void)sd_event_source_set_enabled(m->ready_limit, SD_EVENT_OFF);
}

static void arm_verify(Manager *m)
{
        set_timer(m->verify, manager_now(m) + policy_defaults(m->policy)->verify * UINT64_C(1000000));
}

static void finish_round(Manager *m)
{
        m->in_round = false;
        m->forced = false;
        m->drift_due = manager_drift_due(m);
        arm_verify(m);
        manager_end_trouble(m);
        manager_follow_controls(m);
        if (m->request_active)
                manager_answer(m, m->request_error.code, &m->request_error);
        send_ready(m);
        manager_notify_status(m);
        /* What a stopping daemon still has to do is to restore, and that request waits its turn. */
        if (m->options.once || (m->stopping && m->n_requests == 0))
                (void)sd_event_exit(m->event, m->look_error);
}

/* To the journal, and to who waits for this round. */
static void report_failure(Manager *m, int error, const char *what)
{
        log_error("%s: %s: %s", root_path(m->root), what, observe_strerror(error));
        (void)error_set(&m->request_error, error, NULL, "%s: %s", what, observe_strerror(error));
}

void manager_pass(Manager *m)
{
        uint64_t begin = clock_usec(CLOCK_MONOTONIC);
        int r, submitted = 0;

        (void)manager_look_for_irqbalance(m);
        r = look_and_plan(m);
        m->look_error = r < 0 ? r : 0;
        m->passes++;
        m->round_passes++;
        schedule_passed(&m->schedule, begin, clock_usec(CLOCK_MONOTONIC));
        m->overrun_logged = false;
        if (r < 0)
                report_failure(m, r, "the machine cannot be read");
        else
                submitted = manager_hand_bans_over(m);
        if (r >= 0 && submitted >= 0)
                submitted = manager_submit(m);
        if (submitted < 0)
                report_failure(m, submitted, "changes cannot be handed to the writer");
        if (r >= 0)
                r = manager_ask_iscsi(m);
        if (r < 0 && m->look_error == 0)
                log_warning("no iSCSI events: the writer cannot be asked for them: %s", strerror(-r));
        if (submitted > 0 || manager_writer_is_busy(m))
                manager_push_writer(m); /* the answers go on */
        else
                finish_round(m);
}

void manager_start_round(Manager *m, bool forced)
{
        m->round++;
        m->round_passes = 0;
        m->in_round = true;
        m->forced = forced;
        manager_pass(m);
}

static void start_request(Manager *m)
{
        const Request *q = &m->requests[0];
        int r;

        m->request_active = true;
        m->request_error = (Error) { 0 };
        if (q->kind == REQUEST_APPLY)
                r = manager_submit_release(m, q->device);
        else
                r = manager_submit_restore(m, q->device);
        if (r < 0) {
                Error e;

                manager_answer(m, error_set(&e, r, NULL, "the writer cannot be asked: %s", strerror(-r)), &e);
                return;
        }
        if (manager_writer_is_busy(m))
                manager_push_writer(m); /* a round follows when it has answered */
        else
                manager_start_round(m, q->kind == REQUEST_APPLY);
}

void manager_continue(Manager *m)
{
        while (!m->in_round && !m->request_active && !manager_writer_is_busy(m) && m->n_requests > 0)
                start_request(m);
        arm(m);
}

void manager_look_soon(Manager *m)
{
        if (m->in_round || m->request_active || manager_writer_is_busy(m))
                schedule_event(&m->schedule, manager_now(m));
        else
                manager_start_round(m, false);
        manager_continue(m);
}

/* --- event handlers --- */

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
        Manager *m = userdata;

        if (!m->in_round && !m->request_active && !manager_writer_is_busy(m))
                manager_start_round(m, false);
        manager_continue(m);
        return 0;
}

static int on_verify(sd_event_source *s, uint64_t usec, void *userdata)
{
        Manager *m = userdata;

        cpuset_free(STEAL_PTR(m->full)); /* vectors may be free again */
        arm_verify(m);                   /* also when no round can begin now */
        return on_timer(s, usec, userdata);
}

static int on_ready_limit(sd_event_source *s, uint64_t usec, void *userdata)
{
        send_ready(userdata);
        return 0;
}

void manager_on_event(void *userdata, const MonitorEvent *e)
{
        Manager *m = userdata;

        if (e->overrun && !m->overrun_logged) {
                const LogKnob k = { .message_id = MESSAGE_ID_OVERRUN };

                m->overrun_logged = true;
                log_knob(LOG_WARNING, &k, "%s events were lost: reading everything again", e->source);
        }
        if (!e->overrun)
                log_debug("event: %s %s %s %s", e->source, e->subsystem ? e->subsystem : "",
                          e->action ? e->action : "", e->object ? e->object : "");
        manager_note_event(m, e);
        schedule_event(&m->schedule, manager_now(m));
        arm(m);
}

static int on_stop(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
        Manager *m = userdata;

        (void)sd_notify(0, "STOPPING=1");
        if (policy_defaults(m->policy)->on_stop != ON_STOP_RESTORE || m->stopping || m->writer_fd < 0)
                return sd_event_exit(m->event, 0);
        m->stopping = true;
        if (manager_add_request(m, REQUEST_RESTORE, NULL, NULL) < 0)
                return sd_event_exit(m->event, 0);
        manager_continue(m);
        return 0;
}

static int on_reload(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
        const LogKnob k = { .message_id = MESSAGE_ID_POLICY };
        Manager *m = userdata;

        (void)sd_notify(0, "RELOADING=1");
        if (manager_load_policy(m) < 0)
                log_error("the policies are not taken over; those in force stay");
        else
                log_knob(LOG_NOTICE, &k, "the policies were read again");
        (void)sd_notify(0, "READY=1");
        schedule_event(&m->schedule, manager_now(m));
        arm(m);
        return 0;
}

/* --- setting up --- */

int manager_block_signals(void)
{
        sigset_t mask;

        sigemptyset(&mask);
        sigaddset(&mask, SIGTERM);
        sigaddset(&mask, SIGINT);
        sigaddset(&mask, SIGHUP);
        return sigprocmask(SIG_BLOCK, &mask, NULL) < 0 ? -errno : 0;
}

static int add_signals(Manager *m)
{
        int r;

        r = manager_block_signals();
        if (r >= 0)
                r = sd_event_add_signal(m->event, NULL, SIGTERM, on_stop, m);
        if (r >= 0)
                r = sd_event_add_signal(m->event, NULL, SIGINT, on_stop, m);
        if (r >= 0)
                r = sd_event_add_signal(m->event, NULL, SIGHUP, on_reload, m);
        return r;
}

static int add_timers(Manager *m)
{
        int r;

        r = sd_event_add_time(m->event, &m->timer, CLOCK_MONOTONIC, UINT64_MAX, 1000, on_timer, m);
        if (r >= 0)
                r = sd_event_add_time(m->event, &m->verify, CLOCK_MONOTONIC, UINT64_MAX, 1000000, on_verify,
                                      m);
        if (r >= 0)
                r = sd_event_add_time_relative(m->event, &m->ready_limit, CLOCK_MONOTONIC, READY_LIMIT_USEC,
                                               1000, on_ready_limit, m);
        if (r >= 0)
                r = sd_event_source_set_enabled(m->timer, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_source_set_enabled(m->verify, SD_EVENT_OFF);
        return r;
}

static int open_monitor(Manager *m, Error *e)
{
        int r;

        if (!root_is_live(m->root))
                return 0;
        r = monitor_new(m->event, manager_on_event, m, &m->monitor);
        if (r < 0)
                return error_set(e, r, NULL, "no events can be had from udev and netlink: %s", strerror(-r));
        for (size_t i = 0; i < monitor_missing(m->monitor)->n; i++)
                log_warning("no events from %s", monitor_missing(m->monitor)->items[i]);
        return 0;
}

static int set_up(Manager *m, Error *e)
{
        int r;

        r = root_open(m->options.root, &m->root);
        if (r < 0)
                return error_set(e, r, m->options.root, "the root cannot be opened: %s", strerror(-r));
        r = manager_load_policy(m);
        if (r < 0)
                return error_set(e, r, NULL, "no policy can be used: %s",
                                 m->policy_errors.n ? m->policy_errors.items[0].text : strerror(-r));
        r = sd_event_new(&m->event);
        if (r >= 0)
                r = add_signals(m);
        if (r >= 0)
                r = add_timers(m);
        if (r < 0)
                return error_set(e, r, NULL, "the event loop cannot be set up: %s", strerror(-r));
        (void)sd_event_set_watchdog(m->event, true);
        m->started = clock_usec(CLOCK_MONOTONIC);
        m->book = book_new();
        if (!m->book)
                return error_set(e, -ENOMEM, NULL, "out of memory");
        r = open_monitor(m, e);
        if (r >= 0)
                r = manager_open_irqbalance(m, e);
        if (r >= 0)
                r = manager_open_api(m, e);
        if (r >= 0 && !m->options.observe)
                r = manager_connect_writer(m, e);
        return r;
}

int manager_new(const ManagerOptions *options, Manager **ret, Error *e)
{
        _cleanup_(manager_freep) Manager *m = calloc(1, sizeof(*m));
        int r;

        if (!m)
                return error_set(e, -ENOMEM, NULL, "out of memory");
        m->options = *options;
        m->writer_fd = -1;
        m->drift_due = UINT64_MAX;
        r = set_up(m, e);
        if (r < 0)
                return r;
        *ret = STEAL_PTR(m);
        return 0;
}

static void free_lists(Manager *m)
{
        manager_free_refusals(m);
        manager_free_baselines(m);
        for (size_t i = 0; i < m->n_requests; i++)
                free(m->requests[i].device);
        free(m->requests);
        manager_forget_undo(m);
        strv_clear(&m->held);
        strv_clear(&m->left);
        drift_events_clear(&m->drift_events);
}

Manager *manager_free(Manager *m)
{
        if (!m)
                return NULL;
        api_free(m->api);
        monitor_free(m->monitor);
        irqbalance_watch_free(m->irqbalance);
        manager_free_bans(m);
        manager_disconnect_writer(m);
        manager_clear_rates(m);
        manager_free_controls(m);
        manager_free_measurement(m);
        sd_event_source_unref(m->timer);
        sd_event_source_unref(m->verify);
        sd_event_source_unref(m->reconnect);
        sd_event_source_unref(m->ready_limit);
        sd_event_unref(m->event);
        plan_free(m->plan);
        snapshot_free(m->snapshot);
        policy_free(m->policy);
        book_free(m->book);
        cpuset_free(m->full);
        root_free(m->root);
        free_lists(m);
        free(m);
        return NULL;
}

int manager_run(Manager *m)
{
        /* With a writer the first round starts when the ledger has been read. */
        if (m->writer_fd < 0)
                manager_start_round(m, false);
        return sd_event_loop(m->event);
}
