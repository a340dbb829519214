/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/machine.h"

#include "apply/apply.h"
#include "basic/array.h"
#include "basic/clock.h"
#include "decisions.h"
#include "observe/observe.h"
#include "plan/plan.h"
#include "report/report.h"
#include "standin/standin.h"
#include "writer/ledger.h"

#include <errno.h>
#include <string.h>

#define PASSES_MAX 4

/* A file that was written before, by the ledger. */
typedef struct Written {
        char *path, *device;
} Written;

struct Machine {
        Root *root;
        char *folder; /* of the ledger */
        Policy *policy;
        Snapshot *snapshot;
        Plan *plan;
        Book *book;
        Strv held;
        KnownRefusal *refusals;
        size_t n_refusals;
        Written *written;
        size_t n_written;
        CpuSet *full; /* CPUs that had no free vector */
        /* One apply or restore under way. */
        Strv tried; /* ids of decisions */
        bool restoring;
        int error; /* the first one while results came in */
};

static int no_memory(Error *e)
{
        return error_set(e, -ENOMEM, NULL, "memory is short");
}

static int add_refusal(Machine *m, const char *path, int error)
{
        KnownRefusal *k;

        for (size_t i = 0; i < m->n_refusals; i++)
                if (strcmp(m->refusals[i].path, path) == 0)
                        return 0;
        k = ARRAY_APPEND(m->refusals, m->n_refusals);
        if (!k)
                return -ENOMEM;
        k->path = strdup(path);
        k->error = error;
        if (!k->path) {
                m->n_refusals--;
                return -ENOMEM;
        }
        return 0;
}

static int add_written(Machine *m, const char *path, const char *device)
{
        Written *w = ARRAY_APPEND(m->written, m->n_written);

        if (!w)
                return -ENOMEM;
        w->path = strdup(path);
        w->device = strdup(device);
        return w->path && w->device ? 0 : -ENOMEM;
}

/* The form in which the writer tells of an entry, and the book takes it. */
static int adopt(Machine *m, const LedgerEntry *entry)
{
        _cleanup_(freep) WriterReply *r = calloc(1, sizeof(*r));

        if (!r)
                return -ENOMEM;
        r->flags = entry->refused < 0 ? WRITER_REFUSED : 0;
        r->error = entry->refused;
        r->kind = entry->kind;
        snprintf(r->device, sizeof(r->device), "%s", entry->device);
        snprintf(r->id, sizeof(r->id), "%s", entry->id);
        snprintf(r->path, sizeof(r->path), "%s", entry->path);
        snprintf(r->first, sizeof(r->first), "%s", entry->first ? entry->first : "");
        snprintf(r->set, sizeof(r->set), "%s", entry->set ? entry->set : "");
        return book_adopt(m->book, r);
}

static int take_entry(Machine *m, const LedgerEntry *entry)
{
        int r = 0;

        if (entry->held)
                return strv_add_unique(&m->held, entry->device);
        if (entry->refused < 0)
                r = add_refusal(m, entry->path, entry->refused);
        if (r == 0 && entry->first)
                r = add_written(m, entry->path, entry->device);
        return r < 0 ? r : adopt(m, entry);
}

/* What an earlier apply on this copy left; none is fine, and a copy that is not ours to write too. */
static int read_ledger(Machine *m, Error *e)
{
        _cleanup_(freep) char *boot_id = NULL;
        _cleanup_(ledger_freep) Ledger *ledger = NULL;
        int r;

        if (root_is_live(m->root) || !root_exists(m->root, "run/tuned-numaio/ledger/ledger"))
                return 0;
        r = root_read(m->root, &boot_id, "proc/sys/kernel/random/boot_id");
        if (r == -ENOMEM)
                return no_memory(e);
        if (access(m->folder, W_OK) < 0)
                return 0;
        r = ledger_open(m->folder, boot_id ? boot_id : "", &ledger, e);
        if (r < 0)
                return r;
        for (size_t i = 0; i < ledger_count(ledger); i++)
                if (take_entry(m, ledger_entry(ledger, i)) < 0)
                        return no_memory(e);
        return 0;
}

/* Observes and plans anew. */
static int look(Machine *m, Error *e)
{
        PlanInput in = { .policy = m->policy, .held = &m->held };
        int r;

        m->plan = plan_free(m->plan);
        m->snapshot = snapshot_free(m->snapshot);
        r = observe(m->root, m->refusals, m->n_refusals, &m->snapshot);
        if (r == -ENOMEM)
                return no_memory(e);
        if (r < 0)
                return error_set(e, r, root_path(m->root), "this is no machine: %s", observe_strerror(r));
        in.snapshot = m->snapshot;
        in.full = m->full;
        r = plan(&in, &m->plan);
        if (r == 0)
                r = book_update(m->book, m->snapshot, m->plan);
        return r < 0 ? no_memory(e) : 0;
}

static int load_policy(Machine *m, const char *file, PolicyErrors *errors, Error *e)
{
        int r = file ? policy_load_file(file, &m->policy, errors) : policy_new_default(&m->policy);

        return r < 0 && errors->n == 0 ? error_set(e, r, file, "%s", strerrordesc_np(-r)) : r;
}

int machine_open(const char *root, const char *policy, Machine **ret, PolicyErrors *errors, Error *e)
{
        _cleanup_(machine_freep) Machine *m = calloc(1, sizeof(*m));
        int r;

        if (!m)
                return no_memory(e);
        r = root_open(root, &m->root);
        if (r < 0)
                return error_set(e, r, root, "it cannot be opened: %s", strerrordesc_np(-r));
        m->folder = strf("%s/run/tuned-numaio/ledger", root_path(m->root));
        m->book = book_new();
        if (!m->folder || !m->book)
                return no_memory(e);
        r = load_policy(m, policy, errors, e);
        if (r == 0)
                r = read_ledger(m, e);
        if (r == 0)
                r = look(m, e);
        if (r < 0)
                return r;
        *ret = STEAL_PTR(m);
        return 0;
}

Machine *machine_free(Machine *m)
{
        if (!m)
                return NULL;
        plan_free(m->plan);
        snapshot_free(m->snapshot);
        policy_free(m->policy);
        root_free(m->root);
        cpuset_free(m->full);
        strv_clear(&m->held);
        for (size_t i = 0; i < m->n_refusals; i++)
                free((char *)m->refusals[i].path);
        free(m->refusals);
        for (size_t i = 0; i < m->n_written; i++) {
                free(m->written[i].path);
                free(m->written[i].device);
        }
        free(m->written);
        strv_clear(&m->tried);
        book_free(m->book);
        free(m->folder);
        free(m);
        return NULL;
}

/* ---- looking ---- */

static int answer(json_t *json, json_t **ret, Error *e)
{
        if (!json)
                return no_memory(e);
        *ret = json;
        return 0;
}

/* NULL = there is none, and *e says so. */
static const Device *find_device(const Machine *m, const char *id, Error *e)
{
        const Device *d = snapshot_device(m->snapshot, id);

        if (!d)
                (void)error_set(e, -ENOENT, id, "there is no such device below %s", root_path(m->root));
        return d;
}

int machine_topology(Machine *m, const char *argument, json_t **ret, Error *e)
{
        return answer(report_topology(m->snapshot), ret, e);
}

static json_t *list(json_t *items)
{
        return json_pack("{s:o, s:n}", "items", items, "next");
}

int machine_devices(Machine *m, const char *argument, json_t **ret, Error *e)
{
        json_t *items = json_array();

        for (size_t i = 0; items && i < m->snapshot->n_devices; i++)
                items = report_append(items, report_device(m->snapshot, m->plan, &m->snapshot->devices[i]));
        return answer(list(items), ret, e);
}

int machine_device(Machine *m, const char *argument, json_t **ret, Error *e)
{
        const Device *d = find_device(m, argument, e);

        return d ? answer(report_device_details(m->snapshot, m->plan, d), ret, e) : -ENOENT;
}

int machine_plan(Machine *m, const char *argument, json_t **ret, Error *e)
{
        return answer(report_plan(m->snapshot, m->plan), ret, e);
}

/* A device has no say about a knob that it lacks. */
int machine_decisions(Machine *m, const char *argument, json_t **ret, Error *e)
{
        json_t *items = json_array();

        for (size_t i = 0; items && i < book_count(m->book); i++) {
                const Decision *d = book_at(m->book, i);

                if (d->state != DECISION_NONE)
                        items = report_append(items, decision_to_json(d));
        }
        return answer(list(items), ret, e);
}

int machine_decision(Machine *m, const char *argument, json_t **ret, Error *e)
{
        const Decision *d = book_find(m->book, argument);

        if (!d)
                return error_set(e, -ENOENT, argument, "there is no such decision, see numaioctl decisions");
        return answer(decision_to_json(d), ret, e);
}

/* ---- changing a copy ---- */

typedef struct Session {
        int fd;
        pid_t pid;
        Applier *applier;
} Session;

static void session_close(Session *s)
{
        applier_free(s->applier);
        if (s->fd >= 0)
                close(s->fd);
        if (s->pid > 0)
                standin_end_writer(s->pid);
}

static void note(Machine *m, int error)
{
        if (m->error == 0)
                m->error = error;
}

static void on_restored(Machine *m, const ApplyResult *result)
{
        Decision *d = book_find_path(m->book, result->path);

        if (!d)
                return;
        note(m, strv_add_unique(&m->tried, d->id));
        book_restored(m->book, result->path, result->error == -ENODEV ? 0 : result->error);
}

static void on_done(void *userdata, const ApplyResult *result)
{
        Machine *m = userdata;
        const Decision *d;

        if (!*result->path) {
                note(m, result->error); /* to hold or release a device */
                return;
        }
        if (m->restoring) {
                on_restored(m, result);
                return;
        }
        d = book_find(m->book, result->id);
        if (d)
                note(m, decision_note_full(d, result, &m->full));
        note(m, book_result(m->book, result, clock_usec(CLOCK_REALTIME)));
        note(m, strv_add_unique(&m->tried, result->id));
        if (error_is_refusal(result->error))
                note(m, add_refusal(m, result->path, result->error));
}

static int session_open(Machine *m, bool restoring, Session *ret, Error *e)
{
        _cleanup_(freep) char *folder = NULL;
        int r;

        if (root_is_live(m->root))
                return error_set(e, -EPERM, NULL,
                                 "the live machine is changed by the daemon alone; leave --root out");
        r = standin_make_folder(root_path(m->root), &folder, e);
        if (r < 0)
                return r;
        r = standin_start_writer(root_path(m->root), folder, &ret->pid);
        if (r < 0)
                return error_set(e, r, m->folder, "the writer cannot be started: %s", observe_strerror(r));
        ret->fd = r;
        m->restoring = restoring;
        r = applier_new(ret->fd, on_done, m, &ret->applier);
        return r < 0 ? no_memory(e) : 0;
}

static int session_run(Machine *m, Session *s, Error *e)
{
        int r = apply_run(s->applier);

        if (r < 0)
                return error_set(e, r, NULL, "the writer ended: %s", strerrordesc_np(-r));
        if (m->error < 0)
                return error_set(e, m->error, m->folder, "%s", strerrordesc_np(-m->error));
        return 0;
}

static int failed_to_queue(int error, const char *id, Error *e)
{
        return error_set(e, error, id, "%s", strerrordesc_np(-error));
}

/* Releases one device, or all that are held (device = NULL). */
static int release(Machine *m, Session *s, const char *device, Error *e)
{
        Strv kept = { 0 };
        int r = 0;

        for (size_t i = 0; r == 0 && i < m->held.n; i++) {
                if (!device || strcmp(m->held.items[i], device) == 0)
                        r = applier_hold(s->applier, m->held.items[i], false);
                else
                        r = strv_add(&kept, m->held.items[i]);
        }
        strv_clear(&m->held);
        m->held = kept;
        return r < 0 ? failed_to_queue(r, device, e) : 0;
}

/* Queues what was not tried before; *ret_n counts it. */
static int queue_changes(Machine *m, Session *s, const char *device, size_t *ret_n, Error *e)
{
        size_t n = 0;
        int r;

        for (size_t i = 0; i < m->plan->n_changes; i++) {
                const Change *c = &m->plan->changes[i];
                Decision *d = book_find(m->book, c->id);

                if ((device && strcmp(c->device, device) != 0) || !d || !decision_try(d, 1, c->desired))
                        continue;
                r = applier_set(s->applier, c);
                if (r < 0)
                        return failed_to_queue(r, c->id, e);
                n++;
        }
        *ret_n = n;
        return 0;
}

static size_t count_left(const Machine *m, const char *device)
{
        size_t n = 0;

        for (size_t i = 0; i < m->plan->n_changes; i++)
                n += !device || strcmp(m->plan->changes[i].device, device) == 0;
        return n;
}

static int answer_tried(Machine *m, const char *device, json_t **ret, Error *e)
{
        json_t *changes = json_array();

        for (size_t i = 0; changes && i < m->tried.n; i++) {
                const Decision *d = book_find(m->book, m->tried.items[i]);

                if (d)
                        changes = report_append(changes, decision_to_json(d));
        }
        return answer(json_pack("{s:o, s:I}", "changes", changes, "left", (json_int_t)count_left(m, device)),
                      ret, e);
}

static int apply_passes(Machine *m, Session *s, const char *device, Error *e)
{
        size_t n = 1;
        int r = 0;

        for (unsigned i = 0; r == 0 && i < PASSES_MAX; i++) {
                r = look(m, e);
                if (r == 0)
                        r = queue_changes(m, s, device, &n, e);
                if (r < 0 || n == 0)
                        return r;
                r = session_run(m, s, e);
        }
        return r < 0 ? r : look(m, e);
}

int machine_apply(Machine *m, const char *argument, json_t **ret, Error *e)
{
        _cleanup_(session_close) Session s = { .fd = -1 };
        int r = argument && !find_device(m, argument, e) ? -ENOENT : 0;

        if (r == 0)
                r = session_open(m, false, &s, e);
        if (r == 0)
                r = release(m, &s, argument, e);
        if (r == 0)
                r = apply_passes(m, &s, argument, e);
        return r < 0 ? r : answer_tried(m, argument, ret, e);
}

/* A device is held even when nothing of it was ever written. */
static int queue_restore(Machine *m, Session *s, const char *device, Error *e)
{
        Strv devices = { 0 };
        int r = device ? strv_add(&devices, device) : 0;

        for (size_t i = 0; r == 0 && i < m->n_written; i++) {
                const Written *w = &m->written[i];

                if (device && strcmp(w->device, device) != 0)
                        continue;
                r = applier_restore(s->applier, w->device, w->path);
                if (r == 0)
                        r = strv_add_unique(&devices, w->device);
        }
        for (size_t i = 0; r == 0 && i < devices.n; i++) {
                r = applier_hold(s->applier, devices.items[i], true);
                if (r == 0)
                        r = strv_add_unique(&m->held, devices.items[i]);
        }
        strv_clear(&devices);
        return r < 0 ? failed_to_queue(r, device, e) : 0;
}

static bool was_written(const Machine *m, const char *device)
{
        for (size_t i = 0; i < m->n_written; i++)
                if (strcmp(m->written[i].device, device) == 0)
                        return true;
        return false;
}

int machine_restore(Machine *m, const char *argument, json_t **ret, Error *e)
{
        _cleanup_(session_close) Session s = { .fd = -1 };
        int r = argument && !was_written(m, argument) && !find_device(m, argument, e) ? -ENOENT : 0;

        if (r == 0)
                r = session_open(m, true, &s, e);
        if (r == 0)
                r = queue_restore(m, &s, argument, e);
        if (r == 0)
                r = session_run(m, &s, e);
        if (r == 0)
                r = look(m, e);
        return r < 0 ? r : answer_tried(m, argument, ret, e);
}
