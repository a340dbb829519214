/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/iova-stats.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* One line; *s goes on to the next. */
static int parse_line(const char **s, size_t order, IovaClass *ret)
{
        unsigned number;
        IovaClass c;
        int n = 0;

        if (sscanf(*s, "%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %u%n",
                   &number, &c.alloc_cpu, &c.alloc_depot, &c.alloc_miss, &c.free_cpu, &c.free_depot,
                   &c.free_drop, &c.depot_size, &n) != 8 ||
            number != order || ((*s)[n] != '\n' && (*s)[n] != '\0'))
                return -EINVAL;
        *s += n + ((*s)[n] == '\n');
        *ret = c;
        return 0;
}

int iova_stats_parse(const char *text, IovaStats *ret)
{
        IovaStats s = { 0 };
        int r;

        while (*text) {
                if (s.n == IOVA_CLASSES_MAX)
                        return -EINVAL;
                r = parse_line(&text, s.n, &s.classes[s.n]);
                if (r < 0)
                        return r;
                s.n++;
        }
        if (s.n == 0)
                return -EINVAL;
        *ret = s;
        return 0;
}

int iova_stats_read_file(const Root *root, const char *path, IovaStats *ret)
{
        _cleanup_(freep) char *text = NULL;
        int r;

        r = root_read(root, &text, "%s", path);
        return r < 0 ? r : iova_stats_parse(text, ret);
}

int iova_stats_read(const Root *root, const char *group, IovaStats *ret)
{
        _cleanup_(freep) char *path = strf("sys/kernel/iommu_groups/%s/iova_stats", group);

        return path ? iova_stats_read_file(root, path, ret) : -ENOMEM;
}

static void add(IovaClass *to, const IovaClass *c)
{
        to->alloc_cpu += c->alloc_cpu;
        to->alloc_depot += c->alloc_depot;
        to->alloc_miss += c->alloc_miss;
        to->free_cpu += c->free_cpu;
        to->free_depot += c->free_depot;
        to->free_drop += c->free_drop;
        to->depot_size += c->depot_size;
}

IovaClass iova_stats_sum(const IovaStats *s)
{
        IovaClass sum = { 0 };

        for (size_t i = 0; i < s->n; i++)
                add(&sum, &s->classes[i]);
        return sum;
}

static bool class_between(const IovaClass *a, const IovaClass *b, IovaClass *ret)
{
        if (b->alloc_cpu < a->alloc_cpu || b->alloc_depot < a->alloc_depot || b->alloc_miss < a->alloc_miss ||
            b->free_cpu < a->free_cpu || b->free_depot < a->free_depot || b->free_drop < a->free_drop)
                return false;
        *ret = (IovaClass) {
                .alloc_cpu = b->alloc_cpu - a->alloc_cpu,
                .alloc_depot = b->alloc_depot - a->alloc_depot,
                .alloc_miss = b->alloc_miss - a->alloc_miss,
                .free_cpu = b->free_cpu - a->free_cpu,
                .free_depot = b->free_depot - a->free_depot,
                .free_drop = b->free_drop - a->free_drop,
                .depot_size = b->depot_size,
        };
        return true;
}

bool iova_stats_between(const IovaStats *before, const IovaStats *after, IovaStats *ret)
{
        IovaStats s = { .n = after->n };

        if (before->n != after->n || after->n == 0)
                return false;
        for (size_t i = 0; i < s.n; i++)
                if (!class_between(&before->classes[i], &after->classes[i], &s.classes[i]))
                        return false;
        *ret = s;
        return true;
}
