/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iova-flush.h"

#include <errno.h>
#include <stdlib.h>

typedef struct Ring {
        unsigned head, tail;
        uint32_t iovas[IOVA_FQ_SIZE];
        uint64_t flushes[IOVA_FQ_SIZE]; /* how many had been when the entry came */
} Ring;

struct IovaFlush {
        IovaCache *cache;
        uint64_t flushes;
        bool armed;
        unsigned timer_cpu;
        double due_us;
        unsigned n_rings;
        Ring rings[];
};

int iova_flush_new(IovaFlush **ret, IovaCache *cache, unsigned cpus)
{
        IovaFlush *f = calloc(1, sizeof(*f) + cpus * sizeof(f->rings[0]));

        if (!f)
                return -ENOMEM;
        f->cache = cache;
        f->n_rings = cpus;
        *ret = f;
        return 0;
}

IovaFlush *iova_flush_free(IovaFlush *f)
{
        free(f);
        return NULL;
}

/* Frees what came before the last flush, on `cpu`. */
static void free_flushed(IovaFlush *f, Ring *ring, unsigned cpu)
{
        while (ring->head != ring->tail && ring->flushes[ring->head] < f->flushes) {
                iova_cache_put(f->cache, cpu, ring->iovas[ring->head]);
                ring->head = (ring->head + 1) % IOVA_FQ_SIZE;
        }
}

void iova_flush_queue(IovaFlush *f, unsigned cpu, uint32_t iova, double now_us)
{
        Ring *ring = &f->rings[cpu];

        free_flushed(f, ring, cpu);
        if ((ring->tail + 1) % IOVA_FQ_SIZE == ring->head) {
                f->flushes++;
                free_flushed(f, ring, cpu);
        }
        ring->iovas[ring->tail] = iova;
        ring->flushes[ring->tail] = f->flushes;
        ring->tail = (ring->tail + 1) % IOVA_FQ_SIZE;
        if (!f->armed) {
                f->armed = true;
                f->timer_cpu = cpu;
                f->due_us = now_us + IOVA_FQ_TIMEOUT_US;
        }
}

int iova_flush_due(const IovaFlush *f, double now_us)
{
        return f->armed && now_us >= f->due_us ? (int)f->timer_cpu : -1;
}

void iova_flush_timeout(IovaFlush *f, unsigned cpu)
{
        f->armed = false;
        f->flushes++;
        for (unsigned i = 0; i < f->n_rings; i++)
                free_flushed(f, &f->rings[i], cpu);
}

unsigned iova_flush_count(const IovaFlush *f)
{
        unsigned n = 0;

        for (unsigned i = 0; i < f->n_rings; i++)
                n += (f->rings[i].tail + IOVA_FQ_SIZE - f->rings[i].head) % IOVA_FQ_SIZE;
        return n;
}

void iova_flush_each(const IovaFlush *f, void (*seen)(uint32_t iova, void *userdata), void *userdata)
{
        for (unsigned i = 0; i < f->n_rings; i++)
                for (unsigned at = f->rings[i].head; at != f->rings[i].tail; at = (at + 1) % IOVA_FQ_SIZE)
                        seen(f->rings[i].iovas[at], userdata);
}
