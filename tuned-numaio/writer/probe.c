/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/probe.h"

#include "writer/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#define NAME     "tuned_numaio"
#define INSTANCE TRACEFS_INSTANCES "/" NAME
/* It takes lines that are appended; opened otherwise it forgets everybody's probes. */
#define KPROBE_EVENTS TRACEFS "/kprobe_events"

/* kprobe_profile has no groups: the names of the events are the only ones of their kind. */
static const struct {
        const char *event, *function;
        bool optional; /* inlined in some kernels */
} probes[] = {
        { "numaio_alloc", "alloc_iova_fast", false },
        { "numaio_miss", "alloc_iova", false },
        { "numaio_drop", "iova_magazine_free_pfns", true },
};

void probe_clean(const Root *root)
{
        if (!root_exists(root, INSTANCE) && !root_exists(root, TRACEFS "/events/" NAME))
                return;
        (void)tracefs_put(root, 0, INSTANCE "/events/" NAME "/enable", "0");
        (void)tracefs_remove_instance(root, NAME);
        for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
                char line[64];

                snprintf(line, sizeof(line), "-:" NAME "/%s\n", probes[i].event);
                (void)tracefs_put(root, O_APPEND, KPROBE_EVENTS, line);
        }
}

static int add_probes(const Root *root)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(probes); i++) {
                char line[96];

                snprintf(line, sizeof(line), "p:" NAME "/%s %s\n", probes[i].event, probes[i].function);
                r = tracefs_put(root, O_APPEND, KPROBE_EVENTS, line);
                if (r < 0 && probes[i].optional)
                        r = 0;
        }
        return r;
}

/* The events only count: nothing goes into the instance's buffer. */
static int begin(const Root *root)
{
        int r;

        r = add_probes(root);
        if (r >= 0)
                r = tracefs_make_instance(root, NAME);
        if (r >= 0)
                r = tracefs_put(root, 0, INSTANCE "/tracing_on", "0");
        return r < 0 ? r : tracefs_put(root, 0, INSTANCE "/events/" NAME "/enable", "1");
}

/* The hits of one event; -1 = it is not there. */
static int64_t hits(const char *text, const char *event)
{
        for (const char *line = text; line; line = strchr(line, '\n')) {
                char name[64];
                int64_t n;

                line += *line == '\n';
                if (sscanf(line, "%63s %" SCNi64, name, &n) == 2 && strcmp(name, event) == 0)
                        return n;
        }
        return -1;
}

int probe_parse(const char *text, ProbeCounts *ret)
{
        int64_t n[ARRAY_SIZE(probes)];

        for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
                n[i] = hits(text, probes[i].event);
                if (n[i] < 0 && !probes[i].optional)
                        return -EINVAL;
        }
        *ret = (ProbeCounts) { (uint64_t)n[0], (uint64_t)n[1], n[2] };
        return 0;
}

static int count(const Root *root, unsigned msec, ProbeCounts *ret)
{
        struct timespec left = { .tv_sec = msec / 1000, .tv_nsec = (long)(msec % 1000) * 1000000 };
        _cleanup_(freep) char *text = NULL;
        int r;

        r = begin(root);
        if (r < 0)
                return r;
        while (nanosleep(&left, &left) < 0 && errno == EINTR)
                ;
        r = root_read(root, &text, TRACEFS "/kprobe_profile");
        return r < 0 ? r : probe_parse(text, ret);
}

int probe_count(const Root *root, unsigned msec, ProbeCounts *ret)
{
        int r;

        probe_clean(root);
        r = count(root, msec, ret);
        probe_clean(root);
        return r;
}
