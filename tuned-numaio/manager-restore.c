/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-internal.h"

#include "basic/array.h"

#include <errno.h>
#include <string.h>

/* Requests to restore, and what they hold and release. */

void manager_forget_undo(Manager *m)
{
        for (size_t i = 0; i < m->n_undo; i++) {
                free(m->undo[i].device);
                free(m->undo[i].path);
        }
        free(STEAL_PTR(m->undo));
        m->n_undo = 0;
}

static void note_undo_error(Manager *m, const char *device, const char *path, int error)
{
        (void)error_set(&m->request_error, error, device, "/%s cannot be put back: %s", path,
                        strerror(-error));
}

static void undo_all(Manager *m)
{
        for (size_t i = m->n_undo; i > 0; i--) {
                const Undo *u = &m->undo[i - 1];
                int r = applier_restore(m->applier, u->device, u->path);

                if (r < 0)
                        note_undo_error(m, u->device, u->path, r);
        }
        manager_forget_undo(m);
}

static int add_undo(Manager *m, const WriterReply *entry)
{
        Undo u = { .device = strdup(entry->device), .path = strdup(entry->path) };
        Undo *slot = u.device && u.path ? ARRAY_APPEND(m->undo, m->n_undo) : NULL;

        if (!slot) {
                free(u.device);
                free(u.path);
                return -ENOMEM;
        }
        *slot = u;
        return 0;
}

/* A request to restore: first the ledger, whose entries say what was ever written, in the order of the first
 * writes. They are undone in reverse, since a write may change another file along with its own. The request
 * lasts until all of them are back. */
static void on_restore_entry(void *userdata, const WriterReply *entry)
{
        Manager *m = userdata;
        const char *device = m->requests[0].device;

        if (!entry)
                undo_all(m);
        else if (!(entry->flags & WRITER_HELD) && *entry->first &&
                 (!device || strcmp(device, entry->device) == 0) && add_undo(m, entry) < 0)
                note_undo_error(m, entry->device, entry->path, -ENOMEM);
}

static int hold(Manager *m, const char *device)
{
        int r;

        r = strv_add_unique(&m->held, device);
        if (r >= 0)
                r = applier_hold(m->applier, device, true);
        if (r != -ENAMETOOLONG)
                return r;
        (void)error_set(&m->request_error, r, device, "held only until the daemon stops: %s", strerror(-r));
        return 0;
}

int manager_submit_restore(Manager *m, const char *device)
{
        int r = 0;

        if (m->writer_fd < 0)
                return -ENOTCONN;
        /* A stopping daemon holds nothing: the next start places again. */
        for (size_t i = 0; r >= 0 && !m->stopping && m->snapshot && i < m->snapshot->n_devices; i++)
                if (!device || strcmp(device, m->snapshot->devices[i].id) == 0)
                        r = hold(m, m->snapshot->devices[i].id);
        return r < 0 ? r : applier_list(m->applier, on_restore_entry, m);
}

int manager_submit_release(Manager *m, const char *device)
{
        Strv left = { 0 };
        int r = 0;

        if (m->writer_fd < 0)
                return -ENOTCONN;
        for (size_t i = 0; r >= 0 && i < m->held.n; i++) {
                if (device && strcmp(device, m->held.items[i]) != 0)
                        r = strv_add(&left, m->held.items[i]);
                else
                        r = applier_hold(m->applier, m->held.items[i], false);
                if (r == -ENAMETOOLONG)
                        r = 0; /* the writer does not know of it */
        }
        if (r < 0) {
                strv_clear(&left);
                return r;
        }
        strv_clear(&m->held);
        m->held = left;
        return 0;
}
