/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

#include <stdint.h>

/* On which CPUs an iSCSI host's transmit work runs, for a kernel that does not count that by itself. Two
 * histograms in a tracing instance of their own: workqueue_queue_work tells which work items belong to the
 * host's queue, by its name, and workqueue_execute_start counts the runs of every item for each CPU. Nothing
 * goes into the instance's buffer. It patches kernel code (the tracepoints'), so it is for whoever asks for
 * it by name. */

/* Whoever begins ends, in this time at most, or it is dropped. */
#define RUNS_MSEC_MAX 10000

typedef struct RunsCount {
        bool on;
        uint64_t begun; /* CLOCK_MONOTONIC, usec */
} RunsCount;

/* Whether this is the name of an iSCSI host's workqueue: iscsi_q_N. */
bool runs_is_queue(const char *name);

/* Begins to count. Returns 0 or a negative errno, and then leaves nothing behind: -EINVAL for another name
 * than such a one, -EBUSY while it counts, -ENOENT without tracefs, -ENOSYS for a kernel without these
 * tracepoints or without hist triggers, or what tracefs answers. */
int runs_begin(RunsCount *c, const Root *root, const char *queue);

/* Ends it, and leaves nothing behind. Puts "MSEC CPU:RUNS CPU:RUNS ..." into `ret`, CPUs in order, those with
 * runs alone. Returns 0 or a negative errno: -ENODATA when nothing is counted (any more), -EOVERFLOW when the
 * kernel had not room for all, -EPROTO for text that it is not known to write, -E2BIG when `size` bytes are
 * too few. */
int runs_end(RunsCount *c, const Root *root, char *ret, size_t size);

/* Ends it without a result. */
void runs_drop(RunsCount *c, const Root *root);

/* How long it may still count; -1 = it does not. At 0 runs_drop() is due. */
int runs_msec_left(const RunsCount *c);

/* Takes away what a writer that was killed meanwhile has left. */
void runs_clean(const Root *root);

/* Joins the texts of both histograms, queued by {work, function} and ran by {work, common_cpu}, into
 * "CPU:RUNS CPU:RUNS ...". Errors as of runs_end(). */
int runs_join(const char *queued, const char *ran, char *ret, size_t size);
