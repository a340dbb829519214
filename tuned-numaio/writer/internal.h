/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the files of the writer share: writer.c (requests), set.c (the request SET), serve.c (the socket). */

#include "apply/identity.h"
#include "writer/ops.h"
#include "writer/runs.h"
#include "writer/writer.h"

#include <stdio.h>

struct Writer {
        const Root *root;
        Ledger *ledger;
        const WriterSink *sink;
        WriterLog log;
        void *log_userdata;
        WriterReply reply; /* the one being made: too large for the stack */
        char *message;     /* room for one message and a byte more, so that a longer one shows */
        size_t tidy_at;    /* so many entries, and the ledger is searched for what is gone */
        RunsCount runs;
};

static inline void put_text(char *array, size_t room, const char *from)
{
        (void)snprintf(array, room, "%s", from ? from : "");
}

/* Puts a string into an array of a message, which has room for each that passed the checks or came out of the
 * ledger. NULL = "". */
#define PUT(array, from) put_text(array, sizeof(array), from)

void writer_log_event(const Writer *w, const WriterEvent *event);
/* A request that is outside the closed table. */
void writer_log_denied(const Writer *w, const WriterRequest *q, int error);

/* Reads what a file that no link leads to has in force, in the form that is written; the caller frees.
 * Returns 0, -E2BIG for one that no reply has room for, or the errno of reading it. */
int writer_read_value(const Writer *w, const Operation *op, const char *path, char **ret);
/* Puts what a file says now into the reply, "" when that cannot be told. */
void writer_read_back(Writer *w, const Operation *op, const char *path);

/* What the ledger says of a path, for a reply; NULL = nothing. */
void writer_put_entry(WriterReply *reply, const LedgerEntry *e);

/* Whether a request names a device, and the names have no control characters: 0 or -EINVAL. */
int writer_check_names(const WriterRequest *q);

/* Forgets entries whose object is gone, when the ledger has grown by many since the last time. */
void writer_tidy(Writer *w);

/* Carries out WRITER_SET; the reply is filled but for its error, which is returned. */
int writer_set(Writer *w, const WriterRequest *q);
