/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A model of one size class of Linux 6.1's IOVA cache: the magazines of drivers/iommu/iova.c over a set that
 * stands for the rbtree, with a depot whose limit may change. An IOVA is its number, from 0. */
#define IOVA_MAG_SIZE  127 /* drivers/iommu/iova.c, 6.1 */
#define IOVA_DEPOT_MAX 2048
#define IOVA_NONE      UINT32_MAX

/* The columns of the kernel's iova_stats since the start, and what they cost the tree. */
typedef struct IovaStats {
        uint64_t alloc_cpu;   /* from a magazine of the CPU */
        uint64_t alloc_depot; /* after taking a magazine from the depot */
        uint64_t alloc_miss;  /* from the tree */
        uint64_t free_cpu;
        uint64_t free_depot; /* after moving a full magazine into the depot */
        uint64_t free_drop;  /* after giving a full magazine back to the tree: the depot was at its limit */
        uint64_t free_tree;  /* straight to the tree: no memory for a magazine */
        uint64_t tree_inserts, tree_erases;
} IovaStats;

typedef struct IovaCache IovaCache;

/* A cache for `cpus` CPUs over `capacity` IOVAs, with a depot of `limit` magazines. Returns 0 or -ENOMEM. */
int iova_cache_new(IovaCache **ret, unsigned cpus, unsigned limit, uint32_t capacity);
IovaCache *iova_cache_free(IovaCache *c);

/* Allocates on a CPU. Returns an IOVA, or IOVA_NONE when all of them are out. */
uint32_t iova_cache_get(IovaCache *c, unsigned cpu);

/* Frees on a CPU what iova_cache_get() returned on any. */
void iova_cache_put(IovaCache *c, unsigned cpu, uint32_t iova);

/* Sets the limit, 0 to IOVA_DEPOT_MAX. The depot stays as full as it is; see iova_cache_shrink(). */
void iova_cache_set_limit(IovaCache *c, unsigned limit);

/* Gives one magazine back to the tree if the depot is over its limit. Returns whether there was one. */
bool iova_cache_shrink(IovaCache *c);

unsigned iova_cache_depot_size(const IovaCache *c);
IovaStats iova_cache_stats(const IovaCache *c);

/* Calls `seen` for each IOVA that a magazine holds. */
void iova_cache_each(const IovaCache *c, void (*seen)(uint32_t iova, void *userdata), void *userdata);
