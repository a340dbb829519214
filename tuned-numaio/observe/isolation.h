/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"
#include "model/snapshot.h"

/* The CPUs that the kernel command line isolates. isolcpus= counts when it has no flags or the flag "domain":
 * "managed_irq" alone keeps only kernel-managed interrupts away, which is the kernel's own business; its flag
 * "nohz" adds to nohz_full. *isolated and *nohz_full are added to and may be NULL at first. A list that does
 * not parse is skipped, as in the kernel. Returns 0 or -ENOMEM. Source: kernel/sched/isolation.c. */
int isolation_parse_cmdline(const char *cmdline, CpuSet **isolated, CpuSet **nohz_full);

/* Fills isolated and nohz_full: from the files of sys/devices/system/cpu, each from the command line where
 * its file is missing. Returns 0 or -ENOMEM. */
int observe_isolation(const Root *root, Snapshot *s);
