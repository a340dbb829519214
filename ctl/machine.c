/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/machine-internal.h"

#include "basic/array.h"
#include "observe/observe.h"
#include "plugins/plugin.h"
#include "report/report.h"
#include "writer/ledger.h"

#include <errno.h>
#include <string.h>

int machine_no_memory(Error *e)
{
        return error_set(e, -ENOMEM, NULL, "memory is short");
}

int machine_add_refusal(Machine *m, const char *path, int error)
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
                r = machine_add_refusal(m, entry->path, entry->refused);
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
                return machine_no_memory(e);
        if (access(m->folder, W_OK) < 0)
                return 0;
        r = ledger_open(m->folder, boot_id ? boot_id : "", &ledger, e);
        if (r < 0)
                return r;
        for (size_t i = 0; i < ledger_count(ledger); i++)
                if (take_entry(m, ledger_entry(ledger, i)) < 0)
                        return machine_no_memory(e);
        return 0;
}

int machine_look(Machine *m, Error *e)
{
        PlanInput in = { .policy = m->policy, .held = &m->held };
        int r;

        m->plan = plan_free(m->plan);
        m->snapshot = snapshot_free(m->snapshot);
        r = observe(m->root, m->refusals, m->n_refusals, &m->snapshot);
        if (r == -ENOMEM)
                return machine_no_memory(e);
        if (r < 0)
                return error_set(e, r, root_path(m->root), "this is no machine: %s", observe_strerror(r));
        if (plugins_complete(m->root, m->policy, &m->symbols, m->snapshot) < 0)
                return machine_no_memory(e);
        in.snapshot = m->snapshot;
        in.full = m->full;
        r = plan(&in, &m->plan);
        if (r == 0)
                r = book_update(m->book, m->snapshot, m->plan);
        return r < 0 ? machine_no_memory(e) : 0;
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
                return machine_no_memory(e);
        r = root_open(root, &m->root);
        if (r < 0)
                return error_set(e, r, root, "it cannot be opened: %s", strerrordesc_np(-r));
        m->folder = strf("%s/run/tuned-numaio/ledger", root_path(m->root));
        m->book = book_new();
        if (!m->folder || !m->book)
                return machine_no_memory(e);
        r = load_policy(m, policy, errors, e);
        if (r == 0)
                r = read_ledger(m, e);
        if (r == 0)
                r = machine_look(m, e);
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

int machine_answer(json_t *json, json_t **ret, Error *e)
{
        if (!json)
                return machine_no_memory(e);
        *ret = json;
        return 0;
}

const Device *machine_find_device(const Machine *m, const char *id, Error *e)
{
        const Device *d = snapshot_device(m->snapshot, id);

        if (!d)
                (void)error_set(e, -ENOENT, id, "there is no such device below %s", root_path(m->root));
        return d;
}

int machine_topology(Machine *m, const char *argument, json_t **ret, Error *e)
{
        return machine_answer(report_topology(m->snapshot), ret, e);
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
        return machine_answer(list(items), ret, e);
}

int machine_device(Machine *m, const char *argument, json_t **ret, Error *e)
{
        const Device *d = machine_find_device(m, argument, e);

        return d ? machine_answer(report_device_details(m->snapshot, m->plan, d), ret, e) : -ENOENT;
}

int machine_plan(Machine *m, const char *argument, json_t **ret, Error *e)
{
        return machine_answer(report_plan(m->snapshot, m->plan), ret, e);
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
        return machine_answer(list(items), ret, e);
}

int machine_decision(Machine *m, const char *argument, json_t **ret, Error *e)
{
        const Decision *d = book_find(m->book, argument);

        if (!d)
                return error_set(e, -ENOENT, argument, "there is no such decision, see numaioctl decisions");
        return machine_answer(decision_to_json(d), ret, e);
}
