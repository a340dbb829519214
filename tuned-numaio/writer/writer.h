/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "apply/protocol.h"
#include "basic/root.h"
#include "writer/ledger.h"

#include <stdbool.h>

/* How a value reaches a file. The shipped writer has writer_sink_kernel alone; on copies of machines a
 * stand-in answers as the kernel would. */
typedef struct WriterSink {
        /* One write of the whole value to `path` below the root. Returns 0 or a negative errno. */
        int (*write)(void *userdata, const Root *root, WriterKind kind, const char *path, const char *value);
        void *userdata;
} WriterSink;

extern const WriterSink writer_sink_kernel;

typedef struct Writer Writer;

/* A writer for a machine; all three arguments must outlive it. */
int writer_new(const Root *root, Ledger *ledger, const WriterSink *sink, Writer **ret);
Writer *writer_free(Writer *w);
DEFINE_CLEANUP(Writer, writer_free)

/* Carries out one request; each reply goes to `send` (which returns 0 or a negative errno; fd is a descriptor
 * to pass along, or -1). Never trusts the request: everything is checked against the closed table of ops.c.
 * Returns 0, -EPROTO for a message that ends the connection, or the error of `send`. */
typedef int (*WriterSend)(void *userdata, const WriterReply *reply, int fd);
int writer_handle(Writer *w, const WriterRequest *request, size_t size, WriterSend send, void *userdata);

/* Serves one connected SOCK_SEQPACKET socket until the peer closes it. Blocking; for a child on a socketpair.
 * Returns 0 or a negative errno. */
int writer_serve(Writer *w, int fd);
