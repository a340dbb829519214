/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

#include <stdint.h>

/* The fixed probe: how often the IOVA caches miss, on a kernel that does not count that by itself. Kprobes at
 * alloc_iova_fast (every allocation), alloc_iova (those that went to the rbtree) and iova_magazine_free_pfns
 * (magazines given back), of a group and a tracing instance of their own; they are there during the call
 * alone. It patches kernel code: for whoever asks for it by name. */
typedef struct ProbeCounts {
        uint64_t allocations, misses;
        int64_t dropped; /* -1 = this kernel has no such function to probe */
} ProbeCounts;

/* Counts for a time, on the whole machine. Returns 0 or a negative errno: -ENOENT without tracefs or the
 * functions, -EROFS, -EPERM ... Whatever happens, nothing is left behind. */
int probe_count(const Root *root, unsigned msec, ProbeCounts *ret);

/* Takes away what a writer that was killed meanwhile has left. */
void probe_clean(const Root *root);

/* Reads "NAME HITS MISSED" lines of kprobe_profile. Returns 0 or -EINVAL when a count is missing. */
int probe_parse(const char *text, ProbeCounts *ret);
