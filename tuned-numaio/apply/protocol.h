/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "model/file-kind.h"

#include <stdint.h>

/* What the main process and the writer say to each other over a SOCK_SEQPACKET socket: one fixed-size request
 * for each message, answered in order by one or more (WRITER_LIST) fixed-size replies. Strings are
 * NUL-terminated inside their arrays; a message of another size, version, or with an unterminated string ends
 * the connection. */

#define WRITER_PROTOCOL_VERSION 2u
#define WRITER_SOCKET_PATH      "/run/tuned-numaio/writer.sock"

/* The list form of every second of 8,192 CPUs takes 19,925 bytes. */
#define WRITER_VALUE_MAX    20480
#define WRITER_PATH_MAX     256
#define WRITER_DEVICE_MAX   320 /* an IQN has at most 223 bytes (RFC 3720, 3.2.6.1) */
#define WRITER_ID_MAX       448
#define WRITER_IDENTITY_MAX 256

typedef enum WriterOp {
        WRITER_SET = 1, /* write `value` to `path`, a file of kind `kind` */
        WRITER_RESTORE, /* put the first value of `path` back and forget the path */
        WRITER_HOLD,    /* hold `device`: SET for it answers -EBUSY until RELEASE */
        WRITER_RELEASE,
        WRITER_LIST,  /* one reply for each entry of the ledger whose object is still there, then one with
                       * WRITER_LAST */
        WRITER_ISCSI, /* open NETLINK_ISCSI group 1; the descriptor comes with the reply (SCM_RIGHTS) */
        WRITER_BAN,   /* have irqbalance leave the IRQs of `value` ("4,24-31"; "" = none any more) alone: over
                       * its socket   `path` ("" = it does not run), and for its policy script in any case */
        WRITER_PROBE, /* the fixed probe of probe.h for two seconds: `value` is "MSEC ALLOCATIONS MISSES
                       * DROPPED", the last one -1 when it cannot be told */
        WRITER_RUNS_BEGIN, /* begin to count the runs of an iSCSI host's transmit work, of workqueue `value`
                            * ("iscsi_q_3"): runs.h */
        WRITER_RUNS_END,   /* end that: `value` is "MSEC CPU:RUNS CPU:RUNS ...". Dropped without one after
                            * ten seconds, or with the connection. */
        _WRITER_OP_MAX,
} WriterOp;

typedef struct WriterRequest {
        uint32_t version, op, kind, seq; /* kind: a WriterKind */
        char device[WRITER_DEVICE_MAX];
        char id[WRITER_ID_MAX];     /* id of the change */
        char path[WRITER_PATH_MAX]; /* below the root, without a leading slash */
        char value[WRITER_VALUE_MAX];
} WriterRequest;

enum {
        WRITER_LAST = 1 << 0, /* no more replies to this request */
        WRITER_WRITTEN =
                1 << 1, /* the file was written (SET of the value that is there already writes nothing) */
        WRITER_HELD = 1 << 2, /* LIST: this entry says that `device` is held; it has no path */
        WRITER_REFUSED =
                1
                << 3, /* SET, LIST: the kernel refused this path with `error`, it is not to be tried again */
        WRITER_NO_LEDGER = 1 << 4, /* `error` is the ledger's (-ENOSPC: no room for it): SET wrote nothing,
                                    * RESTORE did what it could and has not forgotten the path */
        WRITER_SCRIPT = 1 << 5,    /* BAN: irqbalance asks our policy script, and leaves all of them alone */
};

typedef struct WriterReply {
        uint32_t version, op, kind, seq;
        int32_t error; /* 0 or a negative errno */
        uint32_t flags;
        char device[WRITER_DEVICE_MAX];
        char id[WRITER_ID_MAX];
        char path[WRITER_PATH_MAX];
        char identity[WRITER_IDENTITY_MAX]; /* SET, LIST: of the object at `path`; "" = not known */
        char first[WRITER_VALUE_MAX]; /* the value before the first write; BAN: the IRQs that users banned */
        char set[WRITER_VALUE_MAX];   /* the value that was set last */
        char value[WRITER_VALUE_MAX]; /* what the file reads now, "" = that cannot be told; BAN: those that
                                         irqbalance leaves alone */
} WriterReply;
