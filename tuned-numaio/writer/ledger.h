/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "apply/protocol.h"
#include "basic/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The writer's memory: the value of each path before the first write, kept in FOLDER/ledger so that a kill of
 * either process loses nothing. An append-only file of checked records; a torn last record is cut off at the
 * next open. Entries of another boot are dropped: their files are new. */
typedef struct Ledger Ledger;

typedef struct LedgerEntry {
        char *path;     /* below the root; NULL for a hold */
        char *device;   /* device id */
        char *id;       /* id of the change */
        char *identity; /* of the object behind the path (an IRQ number can be reused): writer/ops.h */
        WriterKind kind;
        char *first; /* value before the first write; NULL when only a refusal is known */
        char *set;   /* value set last; NULL = none yet */
        int refused; /* negative errno: not to be tried again; 0 = none */
        bool held;   /* a held device, path is NULL */
} LedgerEntry;

/* Opens or makes the ledger in a folder. boot_id as in /proc/sys/kernel/random/boot_id ("" = not known,
 * always the same). Returns 0 or a negative errno with the text in *e. */
int ledger_open(const char *folder, const char *boot_id, Ledger **ret, Error *e);
Ledger *ledger_free(Ledger *l);
DEFINE_CLEANUP(Ledger, ledger_free)

/* Each returns 0 only when the record is safely in the file: no room, no write of the knob either (-ENOSPC
 * ...). */
int ledger_put_first(Ledger *l, const LedgerEntry *entry); /* path, device, id, identity, kind, first */
int ledger_put_set(Ledger *l, const char *path, const char *value);
int ledger_put_refused(Ledger *l, const LedgerEntry *entry); /* path, device, id, identity, kind, refused */
int ledger_forget(Ledger *l, const char *path);
int ledger_hold(Ledger *l, const char *device);
int ledger_release(Ledger *l, const char *device);

/* NULL = none. The entry belongs to the ledger and is valid until its next change. */
const LedgerEntry *ledger_find(const Ledger *l, const char *path);
bool ledger_is_held(const Ledger *l, const char *device);
/* All entries, in order of their first record. */
const LedgerEntry *ledger_entry(const Ledger *l, size_t i);
size_t ledger_count(const Ledger *l);

/* The descriptor of its folder, owned by the ledger: what else has to outlive the writer stands beside it. */
int ledger_folder(const Ledger *l);
