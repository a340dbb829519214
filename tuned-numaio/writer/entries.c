/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/entries.h"

#include "basic/array.h"

#include <errno.h>
#include <search.h>
#include <string.h>

static LedgerEntry *entry_free(LedgerEntry *e)
{
        if (!e)
                return NULL;
        free(e->path);
        free(e->device);
        free(e->id);
        free(e->identity);
        free(e->first);
        free(e->set);
        free(e);
        return NULL;
}
DEFINE_CLEANUP(LedgerEntry, entry_free)

static void keep_entry(void *e)
{
}

void entries_clear(Entries *all)
{
        tdestroy(all->index, keep_entry);
        for (size_t i = 0; i < all->n; i++)
                entry_free(all->items[i]);
        free(all->items);
        *all = (Entries) { 0 };
}

/* A path's entry is found by the path, a hold by the device. */
static int compare_entries(const void *a, const void *b)
{
        const LedgerEntry *x = a, *y = b;

        if (x->held != y->held)
                return x->held ? 1 : -1;
        return x->held ? strcmp(x->device, y->device) : strcmp(x->path, y->path);
}

LedgerEntry *entries_find(const Entries *all, const char *path, const char *device)
{
        LedgerEntry key = { .path = (char *)path, .device = (char *)device, .held = !path };
        LedgerEntry **found = tfind(&key, &all->index, compare_entries);

        return found ? *found : NULL;
}

static size_t place_of(const Entries *all, const LedgerEntry *e)
{
        size_t i = 0;

        while (all->items[i] != e)
                i++;
        return i;
}

static void drop_entry(Entries *all, LedgerEntry *e)
{
        size_t i = place_of(all, e);

        memmove(&all->items[i], &all->items[i + 1], (all->n - i - 1) * sizeof(*all->items));
        all->n--;
        tdelete(e, &all->index, compare_entries);
        entry_free(e);
}

static int add_entry(Entries *all, LedgerEntry *e)
{
        LedgerEntry **slot = ARRAY_APPEND(all->items, all->n);

        if (!slot)
                return -ENOMEM;
        if (!tsearch(e, &all->index, compare_entries)) {
                all->n--;
                return -ENOMEM;
        }
        *slot = e;
        return 0;
}

/* A new entry, which comes last, instead of an older one with the same key: that needs no memory. */
static void replace_entry(Entries *all, LedgerEntry *old, LedgerEntry *e)
{
        LedgerEntry **node = tfind(old, &all->index, compare_entries);
        size_t i = place_of(all, old);

        memmove(&all->items[i], &all->items[i + 1], (all->n - i - 1) * sizeof(*all->items));
        all->items[all->n - 1] = *node = e;
        entry_free(old);
}

static int copy_string(char **to, const char *from)
{
        char *copy = strdup(from ? from : "");

        if (!copy)
                return -ENOMEM;
        free(*to);
        *to = copy;
        return 0;
}

static LedgerEntry *entry_of_record(const Record *record)
{
        _cleanup_(entry_freep) LedgerEntry *e = calloc(1, sizeof(*e));

        if (!e)
                return NULL;
        e->held = record->type == RECORD_HOLD;
        e->kind = record->kind;
        e->refused = record->type == RECORD_REFUSED ? record->refused : 0;
        if (copy_string(&e->device, record->device) < 0 || copy_string(&e->id, record->id) < 0 ||
            copy_string(&e->identity, record->identity) < 0)
                return NULL;
        if (!e->held && copy_string(&e->path, record->path) < 0)
                return NULL;
        if (record->type == RECORD_FIRST && copy_string(&e->first, record->value) < 0)
                return NULL;
        return STEAL_PTR(e);
}

/* A new entry instead of an older one of the same key. */
static int apply_entry(Entries *all, const Record *record, LedgerEntry *old)
{
        _cleanup_(entry_freep) LedgerEntry *e = entry_of_record(record);
        int r;

        if (!e)
                return -ENOMEM;
        if (old) {
                replace_entry(all, old, STEAL_PTR(e));
                return 0;
        }
        r = add_entry(all, e);
        if (r < 0)
                return r;
        STEAL_PTR(e);
        return 0;
}

int entries_apply(Entries *all, const Record *record)
{
        const bool of_device = record->type == RECORD_HOLD || record->type == RECORD_RELEASE;
        LedgerEntry *e = entries_find(all,
                                      of_device      ? NULL
                                      : record->path ? record->path
                                                     : "",
                                      record->device);
        bool same = e && !e->held && e->kind == record->kind && record->identity &&
                    strcmp(e->identity, record->identity) == 0;

        switch (record->type) {
        case RECORD_FIRST:
                if (!same)
                        return apply_entry(all, record, e);
                return e->first ? 0 : copy_string(&e->first, record->value);
        case RECORD_SET:
                return e ? copy_string(&e->set, record->value) : -ENOENT;
        case RECORD_REFUSED:
                if (!same)
                        return apply_entry(all, record, e);
                e->refused = record->refused;
                return 0;
        case RECORD_HOLD:
                return e ? 0 : apply_entry(all, record, NULL);
        case RECORD_FORGET:
        case RECORD_RELEASE:
                if (e)
                        drop_entry(all, e);
                return 0;
        case RECORD_BOOT:
        case _RECORD_TYPE_MAX:
                break;
        }
        return 0;
}
