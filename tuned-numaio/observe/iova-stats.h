/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"
#include "model/snapshot.h"

/* The counters of a group's IOVA caches: sys/kernel/iommu_groups/N/iova_stats of a kernel with kernel/'s
 * first patch, one line for each size class: "order alloc_cpu alloc_depot alloc_miss free_cpu free_depot
 * free_drop depot_size". */

/* Parses the file's text. Returns 0, or -EINVAL for text of another form. */
int iova_stats_parse(const char *text, IovaStats *ret);

/* Reads them. Returns 0, -ENOMEM, -EINVAL, or the file's error (-ENOENT: this kernel does not count;
 * -EOPNOTSUPP: the group's domain has no IOVA caches). */
int iova_stats_read(const Root *root, const char *group, IovaStats *ret);
/* The same of the file at a path below the root. */
int iova_stats_read_file(const Root *root, const char *path, IovaStats *ret);

/* All classes together. */
IovaClass iova_stats_sum(const IovaStats *s);

/* What was counted between two looks, in `ret`, with the depots' fill of the second. Returns false when that
 * cannot be told: a counter went back, since the group got another domain, or the classes are others. */
bool iova_stats_between(const IovaStats *before, const IovaStats *after, IovaStats *ret);
