/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "iova-cache.h"

/* A model of the flush queues of Linux 6.1's lazy mode (drivers/iommu/dma-iommu.c): a ring for each CPU, and
 * a timer that one CPU arms and that frees all rings into the magazines of the CPU it runs on. */
#define IOVA_FQ_SIZE       256   /* dma-iommu.c, 6.1; one entry stays empty */
#define IOVA_FQ_TIMEOUT_US 10000 /* dma-iommu.c, 6.1 */

typedef struct IovaFlush IovaFlush;

/* Flush queues for `cpus` CPUs before `cache`, which has to outlive them. Returns 0 or -ENOMEM. */
int iova_flush_new(IovaFlush **ret, IovaCache *cache, unsigned cpus);
IovaFlush *iova_flush_free(IovaFlush *f);

/* Queues an IOVA that is unmapped on `cpu` at `now_us`. Frees what has been flushed from that CPU's ring,
 * flushes when the ring is full, and arms the timer if it is off. */
void iova_flush_queue(IovaFlush *f, unsigned cpu, uint32_t iova, double now_us);

/* The CPU that armed the timer if it is due, or -1. */
int iova_flush_due(const IovaFlush *f, double now_us);

/* Runs the timer on `cpu`: frees all rings there. */
void iova_flush_timeout(IovaFlush *f, unsigned cpu);

/* How many IOVAs the rings hold. */
unsigned iova_flush_count(const IovaFlush *f);

/* Calls `seen` for each IOVA that a ring holds. */
void iova_flush_each(const IovaFlush *f, void (*seen)(uint32_t iova, void *userdata), void *userdata);
