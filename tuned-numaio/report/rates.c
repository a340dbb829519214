/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/rates.h"

#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

typedef struct Window {
        const Snapshot *snapshot;
        const Counters *before, *now;
        double seconds;
        uint64_t *by_node; /* in the order of the snapshot's nodes */
} Window;

typedef struct Sum {
        uint64_t all, local, remote;
} Sum;

static void add_to_node(const Window *w, const CpuSet *cpus, uint64_t n)
{
        if (cpuset_is_empty(cpus))
                return;
        for (size_t i = 0; i < w->snapshot->n_nodes; i++)
                if (cpuset_is_subset(cpus, w->snapshot->nodes[i].cpus))
                        w->by_node[i] += n;
}

static Sum sum_device(const Window *w, const Device *d, const Node *home)
{
        Sum sum = { 0 };

        for (size_t i = 0; i < d->n_vectors; i++) {
                uint64_t n = counters_between(w->before, w->now, d->vectors[i].irq);
                const CpuSet *target = vector_target(&d->vectors[i]);

                if (n == 0)
                        continue;
                sum.all += n;
                add_to_node(w, target, n);
                if (home && cpuset_is_subset(target, home->cpus))
                        sum.local += n;
                else if (home)
                        sum.remote += n;
        }
        return sum;
}

/* Interrupts per second with three decimals, of a whole number: printf() takes ten times as long for a
 * double.
 */
typedef struct Rate {
        uint64_t whole;
        unsigned thousandths;
} Rate;

#define RATE_FORMAT   "%" PRIu64 ".%03u"
#define RATE_VALUE(r) (r).whole, (r).thousandths

static Rate rate(const Window *w, uint64_t n)
{
        uint64_t thousandths = (uint64_t)((double)n * 1000 / w->seconds + 0.5);

        return (Rate) { thousandths / 1000, (unsigned)(thousandths % 1000) };
}

static bool is_plain(const char *s)
{
        while (*s >= ' ' && *s < 0x7f && *s != '"' && *s != '\\')
                s++;
        return !*s;
}

/* Returns 0 or -ENOMEM. */
static int put_text(FILE *f, const char *s)
{
        json_t *text;
        int r;

        if (is_plain(s)) {
                fputc('"', f);
                fputs(s, f);
                fputc('"', f);
                return 0;
        }
        text = report_text(s);
        r = text ? json_dumpf(text, f, JSON_ENCODE_ANY) : -1;
        json_decref(text);
        return r < 0 ? -ENOMEM : 0;
}

static int put_device(FILE *f, const Window *w, const Plan *p, const Device *d, uint64_t *total)
{
        int node = report_planned_node(p, d);
        Sum sum = sum_device(w, d, snapshot_node(w->snapshot, node));

        Rate all = rate(w, sum.all), local = rate(w, sum.local), remote = rate(w, sum.remote);
        char number[16] = "null";

        *total += sum.all;
        if (node != NODE_UNKNOWN)
                snprintf(number, sizeof(number), "%d", node);
        fputs("{\"id\":", f);
        if (put_text(f, d->id) < 0)
                return -ENOMEM;
        fprintf(f,
                ",\"class\":\"%s\",\"node\":%s,\"per_second\":" RATE_FORMAT
                ",\"local_per_second\":" RATE_FORMAT ",\"remote_per_second\":" RATE_FORMAT "}",
                device_class_to_string(d->class), number, RATE_VALUE(all), RATE_VALUE(local),
                RATE_VALUE(remote));
        return 0;
}

static int put_rates(FILE *f, const Window *w, const Plan *p, uint64_t usec)
{
        const Snapshot *s = w->snapshot;
        uint64_t total = 0;
        Rate sum;

        fprintf(f, "{\"window_seconds\":%" PRIu64 ".%06u,\"devices\":[", usec / 1000000,
                (unsigned)(usec % 1000000));
        for (size_t i = 0; i < s->n_devices; i++) {
                if (i > 0)
                        fputc(',', f);
                if (put_device(f, w, p, &s->devices[i], &total) < 0)
                        return -ENOMEM;
        }
        fputs("],\"nodes\":[", f);
        for (size_t i = 0; i < s->n_nodes; i++) {
                Rate all = rate(w, w->by_node[i]);

                fprintf(f, "%s{\"id\":%d,\"per_second\":" RATE_FORMAT "}", i > 0 ? "," : "", s->nodes[i].id,
                        RATE_VALUE(all));
        }
        sum = rate(w, total);
        fprintf(f, "],\"per_second\":" RATE_FORMAT "}", RATE_VALUE(sum));
        return ferror(f) ? -ENOMEM : 0;
}

char *report_rates(const Snapshot *s, const Plan *p, const Counters *before, const Counters *now,
                   uint64_t usec)
{
        _cleanup_(freep) uint64_t *by_node = calloc(s->n_nodes ? s->n_nodes : 1, sizeof(*by_node));
        Window w = { s, before, now, (double)usec / 1e6, by_node };
        char *text = NULL;
        size_t size;
        FILE *f = by_node ? open_memstream(&text, &size) : NULL;
        int r;

        if (!f)
                return NULL;
        r = put_rates(f, &w, p, usec);
        if (fclose(f) < 0)
                r = -ENOMEM;
        if (r < 0) {
                free(text);
                return NULL;
        }
        return text;
}
