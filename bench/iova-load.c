/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iova-load.h"

#include <errno.h>
#include <stdlib.h>

#include "iova-flush.h"

typedef struct Io {
        uint32_t iova;
        unsigned job;
        unsigned cpu; /* that submitted it: its queue, and so its interrupt, follow from that */
} Io;

struct Load {
        LoadParameters p;
        uint64_t random;
        double now_us, next_move_us;
        IovaCache *cache;
        IovaFlush *flush; /* NULL without lazy mode */
        unsigned least, most;
        bool tags_short;
        unsigned *job_cpus;
        unsigned n_ios, n_done;
        Io *ios; /* those in flight, then those of this burst that are done */
};

static uint64_t wanted(const LoadParameters *p)
{
        return (uint64_t)p->jobs * p->iodepth;
}

const char *load_check(const LoadParameters *p)
{
        if (!p->cpus || p->cpus > 4096)
                return "1 to 4096 CPUs";
        if (!p->freeing || p->freeing > p->cpus)
                return "at least one CPU frees, and no more than allocate";
        if (!p->jobs || !p->iodepth || !p->queue_depth || wanted(p) > 1000000 || p->queue_depth > 1000000)
                return "1 to a million I/Os in flight";
        if (!p->burst || p->burst > wanted(p) || p->burst > p->queue_depth)
                return "a burst is at least one I/O, and no more than are in flight";
        if (!p->iops)
                return "at least one I/O in a second";
        if (!(p->moves >= 0 && p->moves <= 100000))
                return "0 to 100000 moves in a second";
        return NULL;
}

/* splitmix64, whose author gave it to everybody */
static uint64_t next_random(Load *l)
{
        uint64_t z = (l->random += 0x9e3779b97f4a7c15);

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
}

static unsigned below(Load *l, unsigned n)
{
        return (unsigned)(((next_random(l) >> 32) * n) >> 32);
}

static void submit(Load *l, unsigned job)
{
        unsigned cpu = l->job_cpus[job];

        l->ios[l->n_ios++] = (Io) { .iova = iova_cache_get(l->cache, cpu), .job = job, .cpu = cpu };
}

static int make_parts(Load *l, unsigned limit)
{
        /* All magazines full, all rings full, and a submission that is not freed so far: it never runs out.
         */
        uint32_t capacity = 2 * IOVA_MAG_SIZE * l->p.cpus + IOVA_MAG_SIZE * IOVA_DEPOT_MAX +
                            IOVA_FQ_SIZE * l->p.cpus + l->p.queue_depth;
        int r;

        l->job_cpus = calloc(l->p.jobs, sizeof(*l->job_cpus));
        l->ios = calloc(l->p.queue_depth, sizeof(*l->ios));
        if (!l->job_cpus || !l->ios)
                return -ENOMEM;
        r = iova_cache_new(&l->cache, l->p.cpus, limit, capacity);
        if (r < 0)
                return r;
        return l->p.lazy ? iova_flush_new(&l->flush, l->cache, l->p.cpus) : 0;
}

int load_new(Load **ret, const LoadParameters *p, unsigned limit)
{
        Load *l = calloc(1, sizeof(*l));
        int r;

        if (!l)
                return -ENOMEM;
        l->p = *p;
        l->random = p->seed;
        l->tags_short = wanted(p) > p->queue_depth;
        if (!l->tags_short)
                l->p.queue_depth = (unsigned)wanted(p);
        r = make_parts(l, limit);
        if (r < 0) {
                load_free(l);
                return r;
        }
        for (unsigned i = 0; i < p->jobs; i++)
                l->job_cpus[i] = i % p->cpus;
        while (l->n_ios < l->p.queue_depth)
                submit(l, l->n_ios % p->jobs);
        *ret = l;
        return 0;
}

Load *load_free(Load *l)
{
        if (!l)
                return NULL;
        iova_flush_free(l->flush);
        iova_cache_free(l->cache);
        free(l->job_cpus);
        free(l->ios);
        free(l);
        return NULL;
}

/* The CPU that takes the interrupts of the queue of `cpu`: the first of its run. */
static unsigned freeing_cpu(const LoadParameters *p, unsigned cpu)
{
        unsigned queue = (unsigned)((uint64_t)cpu * p->freeing / p->cpus);

        return (unsigned)(((uint64_t)queue * p->cpus + p->freeing - 1) / p->freeing);
}

/* Any job goes to any CPU, and the job that is there, if one is, comes back: the scheduler keeps the load
 * even. */
static void move_job(Load *l)
{
        unsigned *mover = &l->job_cpus[below(l, l->p.jobs)];
        unsigned to = below(l, l->p.cpus);

        for (unsigned i = 0; i < l->p.jobs; i++)
                if (l->job_cpus[i] == to) {
                        l->job_cpus[i] = *mover;
                        break;
                }
        *mover = to;
}

static void pass_time(Load *l)
{
        int armed_on;

        l->now_us += 1e6 / l->p.iops;
        while (l->p.moves > 0 && l->next_move_us <= l->now_us) {
                move_job(l);
                l->next_move_us += 1e6 / (l->p.moves * l->p.jobs);
        }
        armed_on = l->flush ? iova_flush_due(l->flush, l->now_us) : -1;
        if (armed_on >= 0)
                iova_flush_timeout(l->flush,
                                   l->p.timer == TIMER_ANY ? below(l, l->p.cpus) : (unsigned)armed_on);
}

static void release(Load *l, const Io *io)
{
        unsigned cpu = freeing_cpu(&l->p, io->cpu);

        if (l->flush)
                iova_flush_queue(l->flush, cpu, io->iova, l->now_us);
        else
                iova_cache_put(l->cache, cpu, io->iova);
}

/* The jobs whose I/Os are done, or whoever waited for their tags, go on. */
static void follow_up(Load *l)
{
        for (; l->n_done; l->n_done--)
                submit(l, l->tags_short ? below(l, l->p.jobs) : l->ios[l->n_ios].job);
}

static void note_depot(Load *l)
{
        unsigned size = iova_cache_depot_size(l->cache);

        l->least = size < l->least ? size : l->least;
        l->most = size > l->most ? size : l->most;
}

/* One I/O in flight, any, changes places with the last one and is done. */
static void complete_one(Load *l)
{
        unsigned which = below(l, l->n_ios);
        Io done = l->ios[which];

        l->ios[which] = l->ios[--l->n_ios];
        l->ios[l->n_ios] = done;
        l->n_done++;
        release(l, &done);
}

void load_run(Load *l, uint64_t ios)
{
        while (ios--) {
                pass_time(l);
                complete_one(l);
                note_depot(l);
                if (l->n_done < l->p.burst)
                        continue;
                follow_up(l);
                note_depot(l);
        }
}

IovaCache *load_cache(Load *l)
{
        return l->cache;
}

unsigned load_in_flight(const Load *l)
{
        return l->n_ios;
}

unsigned load_queued(const Load *l)
{
        return l->flush ? iova_flush_count(l->flush) : 0;
}

void load_depot_range(Load *l, unsigned *ret_least, unsigned *ret_most)
{
        *ret_least = l->least;
        *ret_most = l->most;
        l->least = l->most = iova_cache_depot_size(l->cache);
}

void load_each(const Load *l, void (*seen)(uint32_t iova, void *userdata), void *userdata)
{
        for (unsigned i = 0; i < l->n_ios; i++)
                seen(l->ios[i].iova, userdata);
        if (l->flush)
                iova_flush_each(l->flush, seen, userdata);
}
