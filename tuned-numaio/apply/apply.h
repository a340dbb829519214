/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "apply/protocol.h"
#include "basic/cleanup.h"
#include "plan/plan.h"

/* Carries out changes through the writer: one request at a time for each change, up to a window in flight;
 * -ENOSPC tries the next CPU of the fallback set, then the whole set. No I/O besides the socket; made for an
 * event loop, and apply_run() drives it to the end without one. */
typedef struct Applier Applier;

typedef struct ApplyResult {
        const char *device;
        const char *id; /* of the change; "" after a restore of a path that has none */
        const char *path;
        const char *identity; /* of the object at the path (apply/identity.h), "" = not known */
        int error;            /* 0 or a negative errno */
        bool no_ledger;       /* the error is the ledger's: nothing was written */
        bool written;         /* false: it was right already */
        const char *first;    /* value before the first write, "" = not known */
        const char *set;      /* value that was asked for last */
        const char *value;    /* what the file reads now; "" = that cannot be told */
} ApplyResult;

/* Called once for each change or restored path, strings valid during the call; also when holding or releasing
 * a device failed (id and path are "" then). It may queue more work, but not free the applier. */
typedef void (*ApplyDone)(void *userdata, const ApplyResult *result);

/* fd: connected SOCK_SEQPACKET socket to the writer, non-blocking, stays the caller's. */
int applier_new(int fd, ApplyDone done, void *userdata, Applier **ret);
Applier *applier_free(Applier *a);
DEFINE_CLEANUP(Applier, applier_free)

/* Queues work; each copies what it needs. They return 0, -ENOMEM, -ENAMETOOLONG for a string that does not
 * fit the protocol, -EOPNOTSUPP for a kind that there is not, or the error that ended the
 * connection. */
int applier_set(Applier *a, const Change *change);
int applier_restore(Applier *a, const char *device, const char *path);
int applier_hold(Applier *a, const char *device, bool hold);
/* Asks for the ledger: each entry goes to `each`, then each(userdata, NULL) once, also when the connection is
 * lost. */
typedef void (*ApplyEntry)(void *userdata, const WriterReply *entry);
int applier_list(Applier *a, ApplyEntry each, void *userdata);
/* Asks for the NETLINK_ISCSI socket, joined to group 1: got() takes the descriptor over (non-blocking,
 * O_CLOEXEC), or gets a negative errno (-ENOENT: there is no iSCSI host yet). */
typedef void (*ApplySocket)(void *userdata, int fd);
int applier_iscsi(Applier *a, ApplySocket got, void *userdata);

/* Gets 0 or a negative errno, and what the writer answered (NULL when the connection is lost). */
typedef void (*ApplyAnswer)(void *userdata, int error, const WriterReply *reply);

/* Has irqbalance leave IRQs alone: list as of irq_list_format(), socket as in IrqbalanceState. */
int applier_ban(Applier *a, const char *socket, const char *list, ApplyAnswer done, void *userdata);

/* Has the writer count, as WRITER_PROBE says. */
int applier_probe(Applier *a, ApplyAnswer done, void *userdata);

/* Has the writer begin to count an iSCSI host's transmit work, queue as for WRITER_RUNS_BEGIN, or end it. */
int applier_runs_begin(Applier *a, const char *queue, ApplyAnswer done, void *userdata);
int applier_runs_end(Applier *a, ApplyAnswer done, void *userdata);

/* Sends and receives as far as the socket allows, at most a few messages at once. Returns 0, or a negative
 * errno when the connection is lost (-EPIPE: the writer closed it, -EPROTO: it answered nonsense); every
 * piece of work that was sent and not answered ends with -ECONNRESET then (whether it was done is not known),
 * and what was not sent yet with -ENOTCONN. */
int applier_process(Applier *a);
/* Whether work is queued or unanswered, and the poll(2) events that it waits for. */
bool applier_is_busy(const Applier *a);
short applier_events(const Applier *a);

/* applier_process() and poll(2) until nothing is left. Returns 0 or the connection's error. */
int apply_run(Applier *a);
