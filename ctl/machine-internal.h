/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the files of the machine share: machine.c (opening it, and looking), machine-change.c (apply and
 * restore on a copy). */

#include "ctl/machine.h"
#include "decisions.h"
#include "observe/observe.h"
#include "observe/symbols.h"
#include "plan/plan.h"

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
        SymbolMemo symbols;
        CpuSet *full; /* CPUs that had no free vector */
        /* One apply or restore under way. */
        Strv tried; /* ids of decisions */
        bool restoring;
        int error; /* the first one while results came in */
};

int machine_no_memory(Error *e);
/* Notes that the kernel refused a file. Returns 0 or -ENOMEM. */
int machine_add_refusal(Machine *m, const char *path, int error);
/* Observes and plans anew. Returns 0, or a negative errno with the text in *e. */
int machine_look(Machine *m, Error *e);
/* NULL = there is none, and *e says so. */
const Device *machine_find_device(const Machine *m, const char *id, Error *e);
/* Hands out an answer, whose reference is taken over. NULL = memory is short: -ENOMEM. */
int machine_answer(json_t *json, json_t **ret, Error *e);
