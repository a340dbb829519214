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

/* Whether a descriptor's file is procfs's or sysfs's, by whatever mount it came to be there: 1, 0, or a
 * negative errno. */
int writer_is_kernel_file(int fd);

typedef struct Writer Writer;

/* A writer for a machine; all three arguments must outlive it. */
int writer_new(const Root *root, Ledger *ledger, const WriterSink *sink, Writer **ret);
Writer *writer_free(Writer *w);
DEFINE_CLEANUP(Writer, writer_free)

/* What was done to a file, for the journal; strings are valid during the call. */
typedef struct WriterEvent {
        WriterOp op; /* WRITER_SET or WRITER_RESTORE */
        bool denied; /* the request is outside the closed table: nothing was tried, its strings are unchecked
                      */
        const char *knob; /* as in policies; NULL when denied */
        const char *device, *path;
        const char *old_value, *new_value;
        int error; /* 0 = written; else the kernel's answer */
} WriterEvent;

/* Called after each write that was tried, and each request that was denied; NULL = nobody wants to know (as
 * at first). */
typedef void (*WriterLog)(void *userdata, const WriterEvent *event);
void writer_set_log(Writer *w, WriterLog log, void *userdata);

/* Carries out one request; each reply goes to `send` (which returns 0 or a negative errno; fd is a descriptor
 * to pass along, or -1). Never trusts the request: everything is checked against the closed table of ops.c.
 * Returns 0, -EPROTO for a message that ends the connection, or the error of `send`.
 *
 * Errors in replies, besides those of the kernel and the ledger (WRITER_NO_LEDGER):
 * -EOPNOTSUPP  no such operation, kind, or path of this kind
 * -EINVAL      a value of another form or the empty set, a device or id that is empty or has control
 *              characters
 * -EBUSY       SET: the device is held
 * -ENOENT      SET: the file is not there; ISCSI: this machine has no iSCSI host
 * -ENODEV      SET: the interrupt is not the device's (any more): its number can be reused. RESTORE: the
 *              object that was written is gone, or another one has its name now; it is forgotten
 * -E2BIG       the file's value is longer than WRITER_VALUE_MAX
 *
 * BAN: what irqbalance_hand_over() returns. RUNS_BEGIN, RUNS_END: what runs_begin() and runs_end() return.
 *
 * SET of a path that the kernel refused before (-EIO, -EPERM, -EACCES) answers the same error without a try,
 * as long as the same object is behind it. SET that fails leaves the ledger as it was. RESTORE of a path
 * without first value is no error and does nothing; one that the kernel refuses (-EINVAL: none of the CPUs is
 * online), or whose first value is none that SET would take (-EINVAL), keeps the entry. RELEASE of a device
 * that is not held is no error. */
typedef int (*WriterSend)(void *userdata, const WriterReply *reply, int fd);
int writer_handle(Writer *w, const WriterRequest *request, size_t size, WriterSend send, void *userdata);

/* Milliseconds until what RUNS_BEGIN began has to be dropped; -1 = there is nothing. writer_drop() drops it:
 * to be called then, and when the connection has ended. */
int writer_msec_left(const Writer *w);
void writer_drop(Writer *w);

/* Receives one message from a connected SOCK_SEQPACKET socket, blocking, and carries it out.
 * Returns 1, 0 when the peer has closed the connection, or a negative errno that ends it. */
int writer_serve_one(Writer *w, int fd);

/* Serves the socket until the peer closes it. Blocking; for a child on a socketpair.
 * Returns 0 or a negative errno. */
int writer_serve(Writer *w, int fd);
