/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>

#define TRACING  "sys/kernel/tracing"
#define NAME     "tuned_numaio"
#define INSTANCE TRACING "/instances/" NAME

/* kprobe_profile has no groups: the names of the events are the only ones of their kind. */
static const struct {
        const char *event, *function;
        bool optional; /* inlined in some kernels */
} probes[] = {
        { "numaio_alloc", "alloc_iova_fast", false },
        { "numaio_miss", "alloc_iova", false },
        { "numaio_drop", "iova_magazine_free_pfns", true },
};

/* On the live machine no other files may be written, whatever is mounted where. */
static int check_tracefs(const Root *root, int fd)
{
        struct statfs st;

        if (!root_is_live(root))
                return 0;
        if (fstatfs(fd, &st) < 0)
                return -errno;
        return st.f_type == TRACEFS_MAGIC ? 0 : -EXDEV;
}

/* kprobe_events takes lines that are appended; opened otherwise it forgets everybody's probes. */
static int put(const Root *root, const char *path, int flags, const char *text)
{
        _cleanup_(closep) int fd = root_open_file(root, O_WRONLY | O_NOFOLLOW | flags, "%s", path);
        ssize_t n;
        int r;

        if (fd < 0)
                return fd;
        r = check_tracefs(root, fd);
        if (r < 0)
                return r;
        n = write(fd, text, strlen(text));
        if (n < 0)
                return -errno;
        return n == (ssize_t)strlen(text) ? 0 : -EIO;
}

static int in_instances(const Root *root, int (*act)(int folder, const char *name))
{
        _cleanup_(closep) int fd =
                root_open_file(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, TRACING "/instances");
        int r;

        if (fd < 0)
                return fd;
        r = check_tracefs(root, fd);
        return r < 0 ? r : act(fd, NAME) < 0 ? -errno : 0;
}

static int make(int folder, const char *name)
{
        return mkdirat(folder, name, 0700);
}

static int take_away(int folder, const char *name)
{
        return unlinkat(folder, name, AT_REMOVEDIR);
}

void probe_clean(const Root *root)
{
        if (!root_exists(root, INSTANCE) && !root_exists(root, TRACING "/events/" NAME))
                return;
        (void)put(root, INSTANCE "/events/" NAME "/enable", 0, "0");
        (void)in_instances(root, take_away);
        for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
                char line[64];

                snprintf(line, sizeof(line), "-:" NAME "/%s\n", probes[i].event);
                (void)put(root, TRACING "/kprobe_events", O_APPEND, line);
        }
}

static int add_probes(const Root *root)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(probes); i++) {
                char line[96];

                snprintf(line, sizeof(line), "p:" NAME "/%s %s\n", probes[i].event, probes[i].function);
                r = put(root, TRACING "/kprobe_events", O_APPEND, line);
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
                r = in_instances(root, make);
        if (r >= 0)
                r = put(root, INSTANCE "/tracing_on", 0, "0");
        return r < 0 ? r : put(root, INSTANCE "/events/" NAME "/enable", 0, "1");
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
        r = root_read(root, &text, TRACING "/kprobe_profile");
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
