/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/cleanup.h"

#include <numa.h>
#include <stdbool.h>

/* Sets of CPUs: libnuma's struct bitmask, sized by what is put into it and never by the running machine
 * (libnuma's own parsers know only the running one). Two sets of different size compare as sets. Every
 * function takes NULL for the empty set, unless it is a set to change. */
typedef struct bitmask CpuSet;

/* CPU numbers reach from 0 to CPUSET_MAX - 1; Linux's largest NR_CPUS is 8,192. */
#define CPUSET_MAX 65536u

/* A new empty set with room for CPUs 0..n-1 (it grows by itself); NULL when memory is short. */
CpuSet *cpuset_new(unsigned n);
void cpuset_free(CpuSet *s);
DEFINE_CLEANUP(CpuSet, cpuset_free)

/* A copy; NULL when memory is short. A copy of NULL is a new empty set. */
CpuSet *cpuset_dup(const CpuSet *s);

/* Adds a CPU; *s may be NULL and is then made. Returns 0, -ENOMEM, or -ERANGE from CPUSET_MAX on. */
int cpuset_add(CpuSet **s, unsigned cpu);
/* Adds all CPUs of `other`. Returns 0 or -ENOMEM. */
int cpuset_add_all(CpuSet **s, const CpuSet *other);
/* Takes a CPU out, or all CPUs of `other`. */
void cpuset_remove(CpuSet *s, unsigned cpu);
void cpuset_remove_all(CpuSet *s, const CpuSet *other);
/* Takes out every CPU that is not in `other`. */
void cpuset_keep(CpuSet *s, const CpuSet *other);

bool cpuset_has(const CpuSet *s, unsigned cpu);
unsigned cpuset_count(const CpuSet *s);
bool cpuset_is_empty(const CpuSet *s);
bool cpuset_equal(const CpuSet *a, const CpuSet *b);
/* Whether all CPUs of a are in b; the empty set is a subset of every set. */
bool cpuset_is_subset(const CpuSet *a, const CpuSet *b);
bool cpuset_intersects(const CpuSet *a, const CpuSet *b);
/* The CPU after `after` (-1 = the first); -1 when there is none. */
int cpuset_next(const CpuSet *s, int after);

#define FOREACH_CPU(cpu, set) for (int cpu = cpuset_next((set), -1); cpu >= 0; cpu = cpuset_next((set), cpu))

/* Parses the kernel's list form ("0-3,8", also "0-31:2/4" with used/group sizes; white space, a final newline
 * or NUL,
 * "(null)" and the empty string give the empty set). Returns 0, -EINVAL (syntax), -ERANGE (a CPU from
 * CPUSET_MAX on), or -ENOMEM. The caller frees. Form: lib/bitmap.c, bitmap_parselist(). */
int cpuset_parse_list(const char *text, CpuSet **ret);

/* Parses the kernel's mask form (hex groups of 32 bits, highest first, "ff,ffffc000"; the first group may be
 * short). Errors as above. Form: lib/bitmap.c, bitmap_parse(). */
int cpuset_parse_mask(const char *text, CpuSet **ret);

/* The shortest list form, "" for the empty set; NULL when memory is short. The caller frees. */
char *cpuset_format_list(const CpuSet *s);

/* The mask form in full 32-bit groups, at least `bits` bits wide (all zero groups are there: the kernel
 * refuses
 * ",,"); NULL when memory is short. The caller frees. */
char *cpuset_format_mask(const CpuSet *s, unsigned bits);
