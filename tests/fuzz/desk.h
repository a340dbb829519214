/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "code.h"
#include "fuzz.h"
#include "writer/writer.h"

/* A writer at work on a small machine full of bait, and what must hold whatever it is asked:
 * - nothing is opened for writing but a file of the closed table, at its own path and through no link, and
 *   nothing else's content is read;
 * - a value is one of its kind, and no empty set;
 * - before a write the ledger's file holds the value that the knob had before the first one;
 * - every request has its replies, whole and in order, and no descriptor stays behind. */
typedef struct Desk Desk;

/* The one desk of the program, as new: the files say what they said at first, there is no ledger. */
Desk *desk_get(void);

/* Opens the ledger and a writer on it; those that were open are closed first. As ledger_open(). */
int desk_open(Desk *d, Error *e);
void desk_close(Desk *d);
/* The ledger's file. */
const char *desk_ledger_file(const Desk *d);

/* One message of `size` bytes by a socket, with descriptors, or by hand. Returns 0, or -EPROTO when the
 * writer ended the connection. */
int desk_send(Desk *d, const WriterRequest *request, size_t size, bool by_socket);
/* A request that is well formed, by hand, of the kind that fits the path. Returns the error of its last
 * reply. */
int desk_ask(Desk *d, WriterOp op, const char *device, const char *path, const char *value);

/* What others do to one of the objects that may be written: its file gets another value, it is replaced by
 * another one of its name, or goes. */
#define DESK_OBJECTS 5u
void desk_other_value(Desk *d, unsigned object, const char *value);
void desk_replace(Desk *d, unsigned object);
void desk_take_away(Desk *d, unsigned object);
/* What tells it from another one, as in the ledger; NULL = it is gone. The caller frees. */
char *desk_identity(const Desk *d, unsigned object);

/* How the kernel answers from now on. */
typedef enum DeskAnswer {
        DESK_TAKES,        /* the value */
        DESK_REFUSES,      /* with the error, and nothing is written */
        DESK_TAKES_FAILS,  /* with the error, and yet it is written */
        DESK_TAKES_ANOTHER /* than the value that was written */
} DeskAnswer;
void desk_answer(Desk *d, DeskAnswer answer, int error);

/* The ledger is the same after it is read again. */
void desk_check_reload(Desk *d);
/* And after its file was written anew. */
void desk_check_rewrite(Desk *d);
/* Restores all that is in the ledger: what was written has its first value again. */
void desk_check_restore(Desk *d);
