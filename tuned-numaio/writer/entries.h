/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "writer/ledger.h"
#include "writer/record.h"

/* What the ledger's records come to: an entry for each path that has a first value or a refusal, and for each
 * device that is held. In memory alone. Zero-initialised it is empty. */
typedef struct Entries {
        LedgerEntry **items; /* in order of their first record */
        size_t n;
        void *index; /* tsearch(3) tree of the same entries */
} Entries;

/* Frees them all; it is empty and reusable afterwards. */
void entries_clear(Entries *e);

/* The entry of a path (device may be NULL then), or that of a hold (path is NULL). NULL = none. */
LedgerEntry *entries_find(const Entries *e, const char *path, const char *device);

/* Carries a record in: whole, or not at all. Returns 0, -ENOENT for a value of a path without entry, or
 * -ENOMEM. */
int entries_apply(Entries *e, const Record *record);
