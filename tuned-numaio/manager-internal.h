/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "api/api.h"
#include "apply/apply.h"
#include "basic/irqlist.h"
#include "basic/root.h"
#include "decisions.h"
#include "drift-events.h"
#include "manager.h"
#include "monitor/irqbalance.h"
#include "monitor/monitor.h"
#include "observe/counters.h"
#include "observe/observe.h"
#include "observe/symbols.h"
#include "schedule.h"

#include <sys/types.h>
#include <systemd/sd-event.h>

/* What the files of the manager share: manager.c (events and passes), manager-writer.c (the writer's
 * connection and answers), manager-restore.c (requests to restore), manager-gate.c (which changes may go to
 * it), manager-drift.c (what others change), manager-baseline.c (what devices were like at first),
 * manager-trouble.c (what failures have in common), manager-irqbalance.c (when another one moves interrupts),
 * manager-ban.c (what that one is told), manager-control.c (controllers), manager-measure.c (what somebody
 * asks for once; manager-measure.h), manager-rates.c (interrupts per second), manager-api.c (requests and
 * their JSON). */

typedef enum RequestKind { REQUEST_APPLY, REQUEST_RESTORE } RequestKind;

/* A machine that changes faster than this is left to the next event, or the settling look. */
#define ROUND_PASSES_MAX 8u

/* One apply or restore that somebody waits for. */
typedef struct Request {
        RequestKind kind;
        ApiRequest *api; /* NULL = nobody waits (on_stop: restore) */
        char *device;    /* NULL = all */
} Request;

/* A file that a request to restore puts back. */
typedef struct Undo {
        char *device, *path;
} Undo;

/* A file that the kernel refused, with the change and the object that it was refused for: an IRQ number can
 * be reused, by another device or when a driver sets its own up anew. */
typedef struct Refusal {
        char *id, *path;
        char *identity; /* apply/identity.h; "" = not known */
        int error;
} Refusal;

/* A device's vectors as they were when it was first seen with that many. */
typedef struct Baseline {
        char *device;
        VectorCounts counts;
        bool told; /* that its node is not known */
} Baseline;

/* Interrupts per second, sampled only while somebody asks. */
typedef struct Rates {
        Counters last;        /* of the last sample */
        uint64_t time;        /* when it was taken, monotonic; 0 = never */
        json_t *answer;       /* what it gave; NULL = it was the first after a while */
        ApiRequest **waiting; /* for the second sample */
        size_t n_waiting;
        sd_event_source *timer;
} Rates;

/* Causes that keep many files from being written at once. Each is said when it begins and when it has ended.
 */
typedef enum Trouble {
        TROUBLE_READ_ONLY, /* the writer sees a read-only file system: the configuration is wrong */
        TROUBLE_LEDGER,    /* first values cannot be kept */
        _TROUBLE_MAX,
} Trouble;

/* What irqbalance was told to leave alone (the policy irqbalance: ban). */
typedef struct Bans {
        bool asking;        /* the writer has not answered yet */
        bool known;         /* it has, for these: */
        IrqList asked;      /* all that irqbalance is to leave alone */
        IrqList left_alone; /* those of them that it does */
        bool script;        /* because it asks the policy script */
        char socket[64];    /* who was told; "" = it did not run, or had none */
        int error;          /* negative errno: it cannot be told; 0 = it was */
        unsigned failures;  /* in a row */
        bool awaited;       /* its socket was, for a while */
        sd_event_source *retry;
} Bans;

/* A controller of one knob of one device, for as long as the plan wishes for it. */
typedef struct Controller {
        char *device;
        const char *knob;
        char *path, *counters; /* files below the root */
        Control control;
        ControlCounters last; /* at the beginning of the window */
        uint64_t begun;       /* of the window, monotonic; 0 = its counters are not known */
        uint64_t due;         /* its end */
        bool stepped;         /* it has changed something: its level is planned for */
        bool wished;          /* by the last plan */
        char *text;           /* what it does, for the reason */
} Controller;

/* numaioctl measure: one at a time. */
typedef struct Measurement {
        ApiRequest *request; /* NULL = none */
        char *device;
        char *group;    /* of IOVA caches */
        IovaStats iova; /* what its counters said at first */
        int host;       /* of transmit work */
        XmitFacts xmit; /* what xmit_stats said at first */
        uint64_t begun;
        sd_event_source *timer;
} Measurement;

struct Manager {
        ManagerOptions options;
        sd_event *event;
        Root *root;
        Policy *policy;
        PolicyErrors policy_errors;
        Snapshot *snapshot; /* of the last pass; NULL before the first */
        Plan *plan;
        Book *book;
        Strv held;
        Strv left; /* files that are left to others, as the plan knows them */
        DriftEvents drift_events;
        uint64_t drift_due; /* when to look for drift again, whatever happens; UINT64_MAX = only as always */
        SymbolMemo symbols;
        CpuSet *full; /* CPUs that had no free vector; forgotten at the next look for drift */
        Refusal *refusals;
        size_t n_refusals;
        Baseline *baselines;
        size_t n_baselines;

        Rates rates;
        Measurement measurement;
        Controller *controllers;
        size_t n_controllers;
        sd_event_source *control_timer;

        Monitor *monitor; /* NULL off the live machine */
        IrqbalanceWatch *irqbalance;
        IrqbalanceState irqbalance_seen; /* at the last look */
        Bans bans;
        Api *api;
        Schedule schedule;
        sd_event_source *timer, *verify, *reconnect, *ready_limit;

        int writer_fd;    /* -1 = not connected */
        pid_t writer_pid; /* of the stand-in's child, 0 = none */
        sd_event_source *writer_source;
        Applier *applier;
        unsigned vain;              /* tries to reach a writer since one was last reached */
        bool trouble[_TROUBLE_MAX]; /* was told, and goes on */
        bool ledger_read, iscsi_asked;

        uint64_t round;    /* number of the round that runs or ran last */
        Request *requests; /* the first one is being worked on while request_active */
        size_t n_requests;
        Undo *undo; /* of the request to restore whose ledger is being read */
        size_t n_undo;
        Error request_error; /* what went wrong in the active request; code 0 = nothing */

        unsigned round_passes; /* of this round */
        bool in_round;
        bool forced; /* this round applies although the policy says ask */
        bool request_active, stopping;
        bool ready_sent, overrun_logged, absent_told, irqbalance_error_told;
        int look_error; /* why the last look failed, negative errno; 0 = it did not */
        uint64_t started, passes, writes;
};

uint64_t manager_now(const Manager *m); /* monotonic, microseconds */

/* Starts the next request, or a round when events wait; called whenever work may have ended. */
void manager_continue(Manager *m);
/* A round: passes until nothing new is to be written. */
void manager_start_round(Manager *m, bool forced);
/* What the monitor hands over (MonitorHandler): marks the machine dirty and keeps nothing of the event. */
void manager_on_event(void *userdata, const MonitorEvent *e);
/* One pass of the running round. */
void manager_pass(Manager *m);
/* Loads the policies; a bad set keeps the last good one. Returns 0 or the negative errno of the problem. */
int manager_load_policy(Manager *m);

/* manager-writer.c */
int manager_connect_writer(Manager *m, Error *e);
void manager_disconnect_writer(Manager *m);
/* Sends what is queued, and listens for the answers. */
void manager_push_writer(Manager *m);
/* Hands the plan's changes to the writer; those that were tried in this round are left out. Returns their
 * number, or a negative errno. */
int manager_submit(Manager *m);
bool manager_writer_is_busy(const Manager *m);
/* Asks the writer for the iSCSI event socket, once for each time that an iscsi-host is there. */
int manager_ask_iscsi(Manager *m);
/* Drops those whose object is gone, is another one, or has another change's id now. */
void manager_forget_stale_refusals(Manager *m, bool *ret_changed);
void manager_free_refusals(Manager *m);

/* manager-restore.c */
/* Restores a device (NULL = all) from the ledger, last write first, and holds it unless the process is
 * stopping. */
int manager_submit_restore(Manager *m, const char *device);
int manager_submit_release(Manager *m, const char *device);
void manager_forget_undo(Manager *m);

/* manager-drift.c */
/* Plans for the snapshot, takes the plan into the book, and finds out what others changed. Returns 0 or a
 * negative errno. */
int manager_plan(Manager *m);
/* An event came that may explain a change. */
void manager_note_event(Manager *m, const MonitorEvent *e);
/* What was contested is tried again: the policies were read anew. */
void manager_forget_fights(Manager *m);
/* When to look again for the sake of files that others changed; UINT64_MAX = no sooner than at others. */
uint64_t manager_drift_due(const Manager *m);

/* manager-control.c */

/* What the controllers want, for a plan; strings belong to the manager. Returns their number or -ENOMEM; the
 * caller frees. */
int manager_control_targets(const Manager *m, ControlTarget **ret);
/* Begins and ends controllers as the new plan wishes. Returns 0 or -ENOMEM. */
int manager_take_wishes(Manager *m);
/* Takes note of what a round wrote, and goes on. To be called when a round ends. */
void manager_follow_controls(Manager *m);
void manager_free_controls(Manager *m);
/* Makes a round begin as soon as nothing else goes on. */
void manager_look_soon(Manager *m);

/* manager-measure.c */
int manager_measure(void *userdata, ApiRequest *req, const char *id, json_t **ret, Error *e);
void manager_free_measurement(Manager *m);

/* manager-gate.c */
/* Whether a change may go to the writer now; asked for each change of each pass that may write. Whatever
 * keeps one back says so in its decision, which the next look makes anew. */
bool manager_may_submit(Manager *m, const Change *c, Decision *d);

/* manager-baseline.c */
/* To be called after each plan: devices that are new begin with what was seen of them, and those that are
 * left alone for want of a node are told, once. Returns 0 or -ENOMEM. */
int manager_update_baselines(Manager *m);
/* NULL = it was not seen yet. Valid until the next update. */
const Baseline *manager_baseline(const Manager *m, const char *device);
void manager_free_baselines(Manager *m);

/* manager-rates.c */
int manager_get_rates(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e);
void manager_clear_rates(Manager *m);

/* manager-irqbalance.c */
int manager_open_irqbalance(Manager *m, Error *e);
/* Looks whether irqbalance runs, and says so in the journal once for each time that it starts and ends.
 * Returns whether anything about it has changed. */
bool manager_look_for_irqbalance(Manager *m);
/* Whether irqbalance keeps changes of interrupts back now, but for those that it leaves alone. */
bool manager_irqbalance_waits(const Manager *m);
/* Whether irqbalance runs, and the policy leaves this interrupt to it as long as it does. */
bool manager_irqbalance_may_move(const Manager *m, unsigned irq);
/* Whether it keeps this one back; its decision says so then. */
bool manager_irqbalance_keeps(Manager *m, const Change *c, Decision *d);
/* The end of the status line, "" = irqbalance does not run; the caller frees. NULL when memory is short. */
char *manager_irqbalance_text(const Manager *m, unsigned waiting);
json_t *manager_irqbalance_json(const Manager *m, unsigned waiting);

/* manager-trouble.c */

/* Tells a failure's common cause, once. Returns whether it has one: then the file's own failure is not worth
 * a line.
 */
bool manager_note_trouble(Manager *m, const ApplyResult *r);
/* Tells what became of a change; `old` is the value before it, `error_before` what its last try ended with.
 * To be called after book_result(). */
void manager_log_result(Manager *m, const Decision *d, const ApplyResult *r, const char *old,
                        int error_before);
/* To be called when a round ends. */
void manager_end_trouble(Manager *m);
/* For the status, begins with "; "; NULL = none. The caller frees. */
char *manager_trouble_text(const Manager *m);

/* manager-ban.c */
int manager_open_bans(Manager *m);
void manager_free_bans(Manager *m);
/* Whatever was told is told again: another irqbalance runs, or the writer is another. */
void manager_forget_bans(Manager *m);
/* Has the writer tell irqbalance what to leave alone, when that is something else than before. Returns 1 when
 * it was asked to, 0, or a negative errno. */
int manager_hand_bans_over(Manager *m);
bool manager_is_left_alone(const Manager *m, unsigned irq);
/* Why it does not leave an interrupt alone. */
const char *manager_ban_problem(const Manager *m);

/* manager-api.c */
extern const ApiBackend manager_api_backend;
int manager_open_api(Manager *m, Error *e);
/* Answers the request that is being worked on and takes it off the queue. */
void manager_answer(Manager *m, int error, const Error *e);
int manager_add_request(Manager *m, RequestKind kind, ApiRequest *api, const char *device);
void manager_notify_status(Manager *m);
