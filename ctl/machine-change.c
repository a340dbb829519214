/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/machine-internal.h"

#include "apply/apply.h"
#include "basic/clock.h"
#include "report/report.h"
#include "standin/standin.h"

#include <errno.h>
#include <string.h>

#define PASSES_MAX 4

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
                note(m, machine_add_refusal(m, result->path, result->error));
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
        return r < 0 ? machine_no_memory(e) : 0;
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
        return machine_answer(
                json_pack("{s:o, s:I}", "changes", changes, "left", (json_int_t)count_left(m, device)), ret,
                e);
}

static int apply_passes(Machine *m, Session *s, const char *device, Error *e)
{
        size_t n = 1;
        int r = 0;

        for (unsigned i = 0; r == 0 && i < PASSES_MAX; i++) {
                r = machine_look(m, e);
                if (r == 0)
                        r = queue_changes(m, s, device, &n, e);
                if (r < 0 || n == 0)
                        return r;
                r = session_run(m, s, e);
        }
        return r < 0 ? r : machine_look(m, e);
}

int machine_apply(Machine *m, const char *argument, json_t **ret, Error *e)
{
        _cleanup_(session_close) Session s = { .fd = -1 };
        int r = argument && !machine_find_device(m, argument, e) ? -ENOENT : 0;

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
        int r = argument && !was_written(m, argument) && !machine_find_device(m, argument, e) ? -ENOENT : 0;

        if (r == 0)
                r = session_open(m, true, &s, e);
        if (r == 0)
                r = queue_restore(m, &s, argument, e);
        if (r == 0)
                r = session_run(m, &s, e);
        if (r == 0)
                r = machine_look(m, e);
        return r < 0 ? r : answer_tried(m, argument, ret, e);
}
