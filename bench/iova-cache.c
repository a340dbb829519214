/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iova-cache.h"

#include <errno.h>
#include <stdlib.h>

typedef struct Magazine {
        unsigned size;
        uint32_t iovas[IOVA_MAG_SIZE];
} Magazine;

typedef struct CpuCache {
        Magazine *loaded, *prev;
} CpuCache;

struct IovaCache {
        unsigned n_cpus, limit, depot_size;
        Magazine *depot[IOVA_DEPOT_MAX];
        IovaStats stats;
        uint32_t n_unused;
        uint32_t *unused; /* a stack of what is not in the tree */
        CpuCache cpus[];
};

static bool make_magazines(CpuCache *cpu)
{
        cpu->loaded = calloc(1, sizeof(Magazine));
        cpu->prev = calloc(1, sizeof(Magazine));
        return cpu->loaded && cpu->prev;
}

int iova_cache_new(IovaCache **ret, unsigned cpus, unsigned limit, uint32_t capacity)
{
        IovaCache *c = calloc(1, sizeof(*c) + cpus * sizeof(c->cpus[0]));

        if (!c)
                return -ENOMEM;
        c->n_cpus = cpus;
        c->limit = limit;
        c->unused = calloc(capacity, sizeof(*c->unused));
        for (unsigned i = 0; i < cpus; i++)
                if (!c->unused || !make_magazines(&c->cpus[i])) {
                        iova_cache_free(c);
                        return -ENOMEM;
                }
        while (c->n_unused < capacity) {
                c->unused[c->n_unused] = capacity - 1 - c->n_unused;
                c->n_unused++;
        }
        *ret = c;
        return 0;
}

IovaCache *iova_cache_free(IovaCache *c)
{
        if (!c)
                return NULL;
        for (unsigned i = 0; i < c->n_cpus; i++) {
                free(c->cpus[i].loaded);
                free(c->cpus[i].prev);
        }
        while (c->depot_size)
                free(c->depot[--c->depot_size]);
        free(c->unused);
        free(c);
        return NULL;
}

static uint32_t tree_insert(IovaCache *c)
{
        if (!c->n_unused)
                return IOVA_NONE;
        c->stats.tree_inserts++;
        return c->unused[--c->n_unused];
}

static void tree_erase(IovaCache *c, uint32_t iova)
{
        c->stats.tree_erases++;
        c->unused[c->n_unused++] = iova;
}

static void return_magazine(IovaCache *c, Magazine *mag)
{
        for (unsigned i = 0; i < mag->size; i++)
                tree_erase(c, mag->iovas[i]);
        free(mag);
}

static void swap_magazines(CpuCache *cpu)
{
        Magazine *loaded = cpu->loaded;

        cpu->loaded = cpu->prev;
        cpu->prev = loaded;
}

uint32_t iova_cache_get(IovaCache *c, unsigned cpu)
{
        CpuCache *mine = &c->cpus[cpu];

        if (!mine->loaded->size && mine->prev->size)
                swap_magazines(mine);
        if (mine->loaded->size) {
                c->stats.alloc_cpu++;
        } else if (c->depot_size) {
                free(mine->loaded);
                mine->loaded = c->depot[--c->depot_size];
                c->stats.alloc_depot++;
        } else {
                c->stats.alloc_miss++;
                return tree_insert(c);
        }
        return mine->loaded->iovas[--mine->loaded->size];
}

/* Makes room in `loaded` when both magazines are full. Returns false if there is no memory for a new one. */
static bool push_full_magazine(IovaCache *c, CpuCache *mine)
{
        Magazine *empty = calloc(1, sizeof(*empty));

        if (!empty)
                return false;
        if (c->depot_size < c->limit) {
                c->depot[c->depot_size++] = mine->loaded;
                c->stats.free_depot++;
        } else {
                return_magazine(c, mine->loaded);
                c->stats.free_drop++;
        }
        mine->loaded = empty;
        return true;
}

void iova_cache_put(IovaCache *c, unsigned cpu, uint32_t iova)
{
        CpuCache *mine = &c->cpus[cpu];

        if (mine->loaded->size == IOVA_MAG_SIZE && mine->prev->size < IOVA_MAG_SIZE)
                swap_magazines(mine);
        if (mine->loaded->size < IOVA_MAG_SIZE) {
                c->stats.free_cpu++;
        } else if (!push_full_magazine(c, mine)) {
                c->stats.free_tree++;
                tree_erase(c, iova);
                return;
        }
        mine->loaded->iovas[mine->loaded->size++] = iova;
}

void iova_cache_set_limit(IovaCache *c, unsigned limit)
{
        c->limit = limit < IOVA_DEPOT_MAX ? limit : IOVA_DEPOT_MAX;
}

bool iova_cache_shrink(IovaCache *c)
{
        if (c->depot_size <= c->limit)
                return false;
        return_magazine(c, c->depot[--c->depot_size]);
        return true;
}

unsigned iova_cache_depot_size(const IovaCache *c)
{
        return c->depot_size;
}

IovaStats iova_cache_stats(const IovaCache *c)
{
        return c->stats;
}

static void each_of(const Magazine *mag, void (*seen)(uint32_t iova, void *userdata), void *userdata)
{
        for (unsigned i = 0; i < mag->size; i++)
                seen(mag->iovas[i], userdata);
}

void iova_cache_each(const IovaCache *c, void (*seen)(uint32_t iova, void *userdata), void *userdata)
{
        for (unsigned i = 0; i < c->n_cpus; i++) {
                each_of(c->cpus[i].loaded, seen, userdata);
                each_of(c->cpus[i].prev, seen, userdata);
        }
        for (unsigned i = 0; i < c->depot_size; i++)
                each_of(c->depot[i], seen, userdata);
}
