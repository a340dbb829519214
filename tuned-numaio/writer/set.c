/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/internal.h"

#include <errno.h>
#include <string.h>

/* What a SET works with. */
typedef struct SetJob {
        const Operation *op;
        const WriterRequest *request;
        char *identity;
        char *old_value;
        char *first;    /* what would have to be written to have it so again */
        char *previous; /* what the ledger said was set; NULL = nothing */
        bool fresh;     /* the ledger had no first value of this object */
} SetJob;

static void set_job_done(SetJob *j)
{
        free(j->identity);
        free(j->old_value);
        free(j->first);
        free(j->previous);
}

/* The ledger's entry of the object that is at the path now. */
static const LedgerEntry *find_same(const Writer *w, const SetJob *j)
{
        const LedgerEntry *e = ledger_find(w->ledger, j->request->path);

        return e && e->kind == j->op->kind && strcmp(e->identity, j->identity) == 0 ? e : NULL;
}

static LedgerEntry entry_of_job(const SetJob *j)
{
        return (LedgerEntry) {
                .path = (char *)j->request->path,
                .device = (char *)j->request->device,
                .id = (char *)j->request->id,
                .identity = j->identity,
                .kind = j->op->kind,
                .first = j->first,
        };
}

/* The value is there already: nothing to write, but what is in the ledger has to be true. */
static int note_unchanged(Writer *w, const SetJob *j)
{
        const char *path = j->request->path;
        int r;

        if (!ledger_find(w->ledger, path))
                return 0;
        r = j->fresh ? ledger_forget(w->ledger, path) : ledger_put_set(w->ledger, path, j->request->value);
        if (r < 0)
                w->reply.flags |= WRITER_NO_LEDGER;
        return r;
}

/* Both records are in the file before the knob is written, so that a kill at any instant leaves a ledger that
 * can put the first value back. */
static int note_before_write(Writer *w, const SetJob *j)
{
        LedgerEntry entry = entry_of_job(j);
        int r;

        if (j->fresh) {
                writer_tidy(w);
                r = ledger_put_first(w->ledger, &entry);
                if (r < 0)
                        return r;
        }
        r = ledger_put_set(w->ledger, j->request->path, j->request->value);
        if (r < 0 && j->fresh)
                (void)ledger_forget(w->ledger, j->request->path);
        return r;
}

/* The write failed. When the file still says what it said, the ledger goes back too. Errors of the ledger
 * change nothing here: what it has too much of does no harm. */
static void note_failure(Writer *w, const SetJob *j, int error)
{
        LedgerEntry entry = entry_of_job(j);

        if (j->fresh)
                (void)ledger_forget(w->ledger, j->request->path);
        else if (j->previous)
                (void)ledger_put_set(w->ledger, j->request->path, j->previous);
        entry.refused = error;
        if (error_is_refusal(error))
                (void)ledger_put_refused(w->ledger, &entry);
}

static int write_set(Writer *w, const SetJob *j)
{
        const WriterRequest *q = j->request;
        int r;

        r = note_before_write(w, j);
        if (r < 0) {
                w->reply.flags |= WRITER_NO_LEDGER;
                return r;
        }
        r = w->sink->write(w->sink->userdata, w->root, j->op->kind, q->path, q->value);
        writer_read_back(w, j->op, q->path);
        if (r >= 0)
                w->reply.flags |= WRITER_WRITTEN;
        else if (operation_equal(j->op, w->reply.value, j->old_value) > 0)
                note_failure(w, j, r);
        writer_log_event(w, &(WriterEvent) {
                                    .op = WRITER_SET,
                                    .knob = operation_kind(j->op)->knob,
                                    .device = q->device,
                                    .path = q->path,
                                    .old_value = j->old_value,
                                    .new_value = q->value,
                                    .error = r,
                            });
        return r;
}

static int prepare_set(Writer *w, SetJob *j)
{
        const WriterRequest *q = j->request;
        const LedgerEntry *e;
        int r;

        r = j->op->owner ? j->op->owner(w->root, q->path, q->device) : 0;
        if (r >= 0)
                r = object_identity(w->root, q->path, &j->identity);
        if (r < 0)
                return r;
        e = find_same(w, j);
        j->fresh = !e || !e->first;
        if (e && e->set) {
                j->previous = strdup(e->set);
                if (!j->previous)
                        return -ENOMEM;
        }
        r = writer_read_value(w, j->op, q->path, &j->old_value);
        if (r < 0)
                return r;
        PUT(w->reply.value, j->old_value);
        j->first = strdup(j->old_value);
        if (!j->first)
                return -ENOMEM;
        r = j->op->first ? j->op->first(w->root, &j->first) : 0;
        if (r < 0)
                return r;
        return e ? e->refused : 0;
}

static int check_set(const Writer *w, const WriterRequest *q, const Operation **ret)
{
        const Operation *op = operation_find(q->kind);
        int r;

        if (!op || !operation_accepts_path(op, q->path))
                return -EOPNOTSUPP;
        r = writer_check_names(q);
        if (r >= 0)
                r = operation_check_value(op, q->value);
        if (r < 0)
                return r;
        if (ledger_is_held(w->ledger, q->device))
                return -EBUSY;
        *ret = op;
        return 0;
}

int writer_set(Writer *w, const WriterRequest *q)
{
        _cleanup_(set_job_done) SetJob j = { .request = q };
        int r;

        r = check_set(w, q, &j.op);
        if (r == -EOPNOTSUPP || r == -EINVAL)
                writer_log_denied(w, q, r);
        if (r >= 0)
                r = prepare_set(w, &j);
        if (r >= 0)
                r = operation_equal(j.op, j.old_value, q->value);
        if (r >= 0)
                r = r ? note_unchanged(w, &j) : write_set(w, &j);
        w->reply.error = r;
        PUT(w->reply.identity, j.identity);
        if (j.identity)
                writer_put_entry(&w->reply, find_same(w, &j));
        PUT(w->reply.device, q->device);
        PUT(w->reply.id, q->id);
        return r;
}
