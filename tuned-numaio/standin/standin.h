/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "writer/writer.h"

#include <sys/types.h>

/* Stands in for the kernel on a copy of a machine: a write to proc/irq/N/smp_affinity_list also changes
 * smp_affinity and effective_affinity{,_list} as irq_do_set_affinity() would, and fails as it would: -EIO or
 * -EPERM for kernel-managed vectors, -EINVAL for a mask without online CPU, -ERANGE and -EOVERFLOW for CPUs
 * beyond the machine, -ENOSPC where the machine says that a CPU has no free vector. A workqueue's cpumask
 * takes the mask form alone, and refuses every value with -EACCES where the machine says so. What such a
 * machine is like besides /sys and /proc stands in ROOT/standin.json: managed_irqs, managed_errno, remapping,
 * full_cpus, refused_workqueues (names), blocking (iSCSI sessions are: else -EOPNOTSUPP for xmit_inline); all
 * optional. xmit_numa brings the numa of its queue along. For tests: read_only (true: each write ends with
 * -EROFS), ignored (paths whose writes succeed and change nothing), write_usec (how long each write takes).
 * Where ROOT/standin.log is there at the start, each write appends a line "write PATH OLD NEW" to it before,
 * and "done PATH ERRNO" after. */
typedef struct Standin Standin;

/* Refuses the live root, and a folder where the running kernel's /proc or /sys is mounted, with -EPERM;
 * -EINVAL for a standin.json that cannot be understood. The root must outlive it. */
int standin_new(const Root *root, Standin **ret);
Standin *standin_free(Standin *s);
DEFINE_CLEANUP(Standin, standin_free)

/* The sink for a writer; valid as long as the stand-in. */
WriterSink standin_sink(Standin *s);

/* child.c: a writer with this sink as a process of its own. */

/* Makes ROOT/run/tuned-numaio/ledger as far as it is missing, and returns its path, which the caller frees. A
 * link in it could lead to the ledger of the machine that runs: -ENOTDIR, with the text in *e like all
 * errors. */
int standin_make_folder(const char *root, char **ret, Error *e);

/* Starts a writer with this sink as a child on a socketpair, its ledger in `folder`; the child ends when the
 * descriptor is closed, or the parent. Returns the descriptor (SOCK_SEQPACKET, non-blocking), which the
 * caller closes, and the child's pid, for standin_end_writer(). Errors: of root_open(), standin_new() and
 * ledger_open() in the child (-EBUSY: another writer uses the ledger); -ECHILD when it ended early. */
int standin_start_writer(const char *root, const char *folder, pid_t *ret_pid);

/* Waits for the end of a child whose descriptor was closed. One that does not end within a second (it was
 * stopped by a signal, or a write takes long) is killed, which its ledger is made for. */
void standin_end_writer(pid_t pid);
