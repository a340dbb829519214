/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "apply/job.h"

#include "basic/strv.h"

#include <errno.h>
#include <string.h>

Job *job_free(Job *j)
{
        if (!j)
                return NULL;
        free(j->device);
        free(j->id);
        free(j->path);
        free(j->value);
        free(j->whole);
        cpuset_free(j->untried);
        free(j);
        return NULL;
}

void queue_init(Queue *q)
{
        q->head = NULL;
        q->tail = &q->head;
        q->n = 0;
}

void queue_push(Queue *q, Job *j)
{
        j->next = NULL;
        *q->tail = j;
        q->tail = &j->next;
        q->n++;
}

void queue_push_front(Queue *q, Job *j)
{
        j->next = q->head;
        q->head = j;
        if (!j->next)
                q->tail = &j->next;
        q->n++;
}

Job *queue_pop(Queue *q)
{
        Job *j = q->head;

        if (!j)
                return NULL;
        q->head = j->next;
        if (!q->head)
                q->tail = &q->head;
        q->n--;
        return j;
}

static int copy_string(char **to, const char *from, size_t room)
{
        if (from && strlen(from) >= room)
                return -ENAMETOOLONG;
        *to = strdup(from ? from : "");
        return *to ? 0 : -ENOMEM;
}

int job_new(WriterOp op, const char *device, const char *path, Job **ret)
{
        _cleanup_(job_freep) Job *j = NULL;
        int r;

        j = calloc(1, sizeof(*j));
        if (!j)
                return -ENOMEM;
        j->op = op;
        r = copy_string(&j->device, device, WRITER_DEVICE_MAX);
        if (r >= 0)
                r = copy_string(&j->path, path, WRITER_PATH_MAX);
        if (r < 0)
                return r;
        *ret = STEAL_PTR(j);
        return 0;
}

int job_set_id(Job *j, const char *id)
{
        return copy_string(&j->id, id, WRITER_ID_MAX);
}

int job_set_value(Job *j, const char *value)
{
        return copy_string(&j->value, value, WRITER_VALUE_MAX);
}

/* The CPUs after the wanted one come first, around the end to those before it. */
int job_set_fallback(Job *j, const char *cpus)
{
        _cleanup_(cpuset_freep) CpuSet *wanted = NULL;
        int r;

        r = cpuset_parse_list(cpus, &j->untried);
        if (r >= 0)
                r = cpuset_parse_list(j->value, &wanted);
        if (r < 0)
                return r;
        if (!cpuset_equal(wanted, j->untried)) {
                r = copy_string(&j->whole, cpus, WRITER_VALUE_MAX);
                if (r < 0)
                        return r;
        }
        j->last_cpu = cpuset_next(wanted, -1);
        if (cpuset_count(wanted) == 1)
                cpuset_remove_all(j->untried, wanted);
        return 0;
}

int job_next_value(Job *j)
{
        char *value;
        int cpu;

        cpu = cpuset_next(j->untried, j->last_cpu);
        if (cpu < 0)
                cpu = cpuset_next(j->untried, -1);
        value = cpu < 0 ? STEAL_PTR(j->whole) : strf("%d", cpu);
        if (!value)
                return cpu < 0 ? 0 : -ENOMEM;
        free(j->value);
        j->value = value;
        if (cpu >= 0) {
                cpuset_remove(j->untried, (unsigned)cpu);
                j->last_cpu = cpu;
        }
        return 1;
}
