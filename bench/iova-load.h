/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "iova-cache.h"

/* Where the flush queues' timer runs. */
typedef enum TimerCpu {
        TIMER_ARMING, /* on the CPU that armed it, a freeing one: what a busy CPU does */
        TIMER_ANY,    /* on any CPU: the kernel moves a timer that is armed on an idle CPU to a busy one */
} TimerCpu;

/* A closed loop of I/Os. Each holds one IOVA from its submission to its completion, or in lazy mode to its
 * flush. */
typedef struct LoadParameters {
        unsigned cpus;    /* that allocate */
        unsigned freeing; /* CPUs that free: each the first of a run of cpus / freeing, as managed vectors are
                             spread */
        unsigned jobs;    /* submitters; job n starts on CPU n modulo cpus */
        unsigned iodepth; /* I/Os of each job */
        unsigned queue_depth; /* I/Os that the device takes; if it is less than jobs x iodepth, any job gets a
                                 free tag */
        unsigned burst; /* completions in a row before as many are submitted: how far the in-flight count
                           swings */
        unsigned iops;  /* tells how long 10 ms are */
        double moves;   /* of each job to another CPU, in a second; it changes places with the job there */
        bool lazy;      /* flush queues (DMA-FQ), or none (DMA) */
        TimerCpu timer;
        uint64_t seed;
} LoadParameters;

typedef struct Load Load;

/* Returns what is wrong with the parameters, or NULL. */
const char *load_check(const LoadParameters *p);

/* A load that passes load_check(), with all its I/Os in flight and a depot of `limit` magazines. Returns 0 or
 * -ENOMEM. */
int load_new(Load **ret, const LoadParameters *p, unsigned limit);
Load *load_free(Load *l);

/* Completes `ios` I/Os, and submits what follows them at the end of each burst. Equal parameters give equal
 * results. */
void load_run(Load *l, uint64_t ios);

IovaCache *load_cache(Load *l);
/* I/Os that hold an IOVA, and IOVAs that wait in flush queues. */
unsigned load_in_flight(const Load *l);
unsigned load_queued(const Load *l);

/* The magazines of the depot, least and most since the last call. */
void load_depot_range(Load *l, unsigned *ret_least, unsigned *ret_most);

/* Calls `seen` for each IOVA that an I/O or a flush queue holds. */
void load_each(const Load *l, void (*seen)(uint32_t iova, void *userdata), void *userdata);
