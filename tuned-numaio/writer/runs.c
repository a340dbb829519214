/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/runs.h"

#include "basic/array.h"
#include "basic/clock.h"
#include "basic/cpuset.h"
#include "writer/tracefs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME     "tuned_numaio_xmit"
#define INSTANCE TRACEFS_INSTANCES "/" NAME
#define QUEUED   INSTANCE "/events/workqueue/workqueue_queue_work"
#define RAN      INSTANCE "/events/workqueue/workqueue_execute_start"

#define PREFIX     "iscsi_q_"
#define DIGITS     "0123456789"
#define DIGITS_MAX 9

/* A queue may receive, too (iscsi_tcp.recv_from_iscsi_q), by an item of another function. */
#define TRANSMITS "iscsi_xmitworker"

/* Every item of the machine that runs meanwhile has an entry for each CPU that it runs on. */
#define RAN_TRIGGER "hist:keys=work,common_cpu:size=16384"

bool runs_is_queue(const char *name)
{
        const char *number = name + strlen(PREFIX);
        size_t n;

        if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
                return false;
        n = strspn(number, DIGITS);
        return n > 0 && n <= DIGITS_MAX && number[n] == '\0' && (n == 1 || *number != '0');
}

void runs_clean(const Root *root)
{
        if (root_exists(root, INSTANCE))
                (void)tracefs_remove_instance(root, NAME);
}

/* A kernel without hist triggers says that it does not know the command. */
static int put_trigger(const Root *root, const char *path, const char *trigger)
{
        int r;

        r = tracefs_put(root, 0, path, trigger);
        return r == -EINVAL ? -ENOSYS : r;
}

static int set_triggers(const Root *root, const char *queue)
{
        char trigger[128];
        int r;

        if (!root_exists(root, RAN "/hist") || !root_exists(root, QUEUED "/hist"))
                return -ENOSYS;
        snprintf(trigger, sizeof(trigger), "hist:keys=work,function.sym if workqueue == \"%s\"", queue);
        r = put_trigger(root, QUEUED "/trigger", trigger);
        return r < 0 ? r : put_trigger(root, RAN "/trigger", RAN_TRIGGER);
}

int runs_begin(RunsCount *c, const Root *root, const char *queue)
{
        int r;

        if (!runs_is_queue(queue))
                return -EINVAL;
        if (c->on)
                return -EBUSY;
        runs_clean(root);
        r = tracefs_make_instance(root, NAME);
        if (r < 0)
                return r;
        r = set_triggers(root, queue);
        if (r < 0)
                runs_clean(root);
        else
                *c = (RunsCount) { .on = true, .begun = clock_usec(CLOCK_MONOTONIC) };
        return r;
}

void runs_drop(RunsCount *c, const Root *root)
{
        if (c->on)
                runs_clean(root);
        c->on = false;
}

static uint64_t msec_since(const RunsCount *c)
{
        return (clock_usec(CLOCK_MONOTONIC) - c->begun) / 1000;
}

int runs_msec_left(const RunsCount *c)
{
        uint64_t passed = c->on ? msec_since(c) : 0;

        if (!c->on)
                return -1;
        return passed < RUNS_MSEC_MAX ? (int)(RUNS_MSEC_MAX - passed) : 0;
}

int runs_end(RunsCount *c, const Root *root, char *ret, size_t size)
{
        _cleanup_(freep) char *queued = NULL, *ran = NULL;
        int r, n;

        if (!c->on)
                return -ENODATA;
        n = snprintf(ret, size, "%" PRIu64 " ", msec_since(c));
        r = n < 0 || (size_t)n >= size ? -E2BIG : root_read(root, &ran, RAN "/hist");
        if (r >= 0)
                r = root_read(root, &queued, QUEUED "/hist");
        runs_drop(c, root);
        return r < 0 ? r : runs_join(queued, ran, ret + n, size - (size_t)n);
}

/* --- the kernel's text: kernel/trace/trace_events_hist.c --- */

/* Calls for each entry, "{ work: N, ... } hitcount: N". Returns 0, what the callback returned, -EPROTO for a
 * text without totals, or -EOVERFLOW when entries were dropped. */
static int each_entry(const char *text, int (*entry)(void *userdata, const char *line), void *userdata)
{
        static const char dropped[] = "\n    Dropped: ";
        const char *end = strstr(text, dropped);
        uint64_t n;
        int r = 0;

        if (!end || sscanf(end + strlen(dropped), "%" SCNu64, &n) != 1)
                return -EPROTO;
        if (n > 0)
                return -EOVERFLOW;
        for (const char *line = text; r >= 0 && line; line = strchr(line, '\n')) {
                line += *line == '\n';
                if (*line == '{')
                        r = entry(userdata, line);
        }
        return r;
}

typedef struct Join {
        uint64_t *works; /* items that transmit */
        size_t n_works;
        uint64_t *runs; /* by CPU */
} Join;

static void join_clear(Join *j)
{
        free(j->works);
        free(j->runs);
}

static int on_queued(void *userdata, const char *line)
{
        Join *j = userdata;
        uint64_t work, *place;
        char function[64];

        if (sscanf(line, "{ work: %" SCNu64 ", function: [%*[^]]] %63s", &work, function) != 2)
                return -EPROTO;
        if (strcmp(function, TRANSMITS) != 0)
                return 0;
        place = ARRAY_APPEND(j->works, j->n_works);
        if (!place)
                return -ENOMEM;
        *place = work;
        return 0;
}

static int on_ran(void *userdata, const char *line)
{
        Join *j = userdata;
        uint64_t work, hits;
        unsigned cpu;

        if (sscanf(line, "{ work: %" SCNu64 ", common_cpu: %u } hitcount: %" SCNu64, &work, &cpu, &hits) !=
                    3 ||
            cpu >= CPUSET_MAX)
                return -EPROTO;
        for (size_t i = 0; i < j->n_works; i++)
                if (j->works[i] == work)
                        j->runs[cpu] += hits;
        return 0;
}

static int format(const Join *j, char *ret, size_t size)
{
        size_t used = 0;

        for (unsigned cpu = 0; cpu < CPUSET_MAX; cpu++) {
                int n;

                if (j->runs[cpu] == 0)
                        continue;
                n = snprintf(ret + used, size - used, "%s%u:%" PRIu64, used ? " " : "", cpu, j->runs[cpu]);
                if (n < 0 || (size_t)n >= size - used)
                        return -E2BIG;
                used += (size_t)n;
        }
        return 0;
}

int runs_join(const char *queued, const char *ran, char *ret, size_t size)
{
        _cleanup_(join_clear) Join j = { .runs = calloc(CPUSET_MAX, sizeof(*j.runs)) };
        int r;

        if (!j.runs)
                return -ENOMEM;
        if (size == 0)
                return -E2BIG;
        *ret = '\0';
        r = each_entry(queued, on_queued, &j);
        if (r >= 0)
                r = each_entry(ran, on_ran, &j);
        return r < 0 ? r : format(&j, ret, size);
}
