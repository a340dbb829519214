/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "standin/standin.h"

#include "observe/observe.h"
#include "standin/iova.h"
#include "writer/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <time.h>

#define LOG_FILE "standin.log"

struct Standin {
        const Root *root;
        CpuSet *possible, *online;
        CpuSet *managed; /* IRQ numbers; a number set like any other */
        CpuSet *full;    /* CPUs without a free vector */
        Strv refused;    /* workqueues whose mask cannot be set */
        Strv ignored;    /* files whose writes succeed and change nothing */
        int managed_errno;
        bool blocking;   /* iSCSI sessions were created so that submitters may transmit */
        bool read_only;  /* as if /proc/irq and /sys were mounted so */
        bool log;        /* each write is noted in LOG_FILE, which was there at the start */
        unsigned delay;  /* microseconds that each write takes */
        bool remapping;  /* false: a move waits for the next interrupt, which never comes here */
        unsigned n_cpus; /* as the kernel's nr_cpu_ids: the highest possible CPU + 1 */
        unsigned *load;  /* vectors effective on each CPU; made at the first IRQ write */
};

Standin *standin_free(Standin *s)
{
        if (!s)
                return NULL;
        cpuset_free(s->possible);
        cpuset_free(s->online);
        cpuset_free(s->managed);
        cpuset_free(s->full);
        strv_clear(&s->refused);
        strv_clear(&s->ignored);
        free(s->load);
        free(s);
        return NULL;
}

static int read_numbers(const json_t *page, const char *key, CpuSet **ret)
{
        const json_t *value = json_object_get(page, key), *number;
        _cleanup_(cpuset_freep) CpuSet *set = NULL;
        size_t i;
        int r = 0;

        if (json_is_string(value))
                return cpuset_parse_list(json_string_value(value), ret);
        json_array_foreach(value, i, number)
        {
                json_int_t n = json_integer_value(number);

                if (!json_is_integer(number) || n < 0 || n >= CPUSET_MAX)
                        return -EINVAL;
                r = cpuset_add(&set, (unsigned)n);
                if (r < 0)
                        return r;
        }
        if (value && !json_is_array(value))
                return -EINVAL;
        *ret = STEAL_PTR(set);
        return 0;
}

static int read_names(const json_t *page, const char *key, Strv *ret)
{
        const json_t *value = json_object_get(page, key), *name;
        size_t i;
        int r = 0;

        if (value && !json_is_array(value))
                return -EINVAL;
        json_array_foreach(value, i, name)
        {
                r = json_is_string(name) ? strv_add(ret, json_string_value(name)) : -EINVAL;
                if (r < 0)
                        return r;
        }
        return 0;
}

/* What tests want to happen. */
static int read_faults(Standin *s, const json_t *page)
{
        const json_t *read_only = json_object_get(page, "read_only"),
                     *delay = json_object_get(page, "write_usec");
        json_int_t usec = json_integer_value(delay);

        if ((read_only && !json_is_boolean(read_only)) || (delay && !json_is_integer(delay)) || usec < 0 ||
            usec > 999999)
                return -EINVAL;
        s->read_only = json_is_true(read_only);
        s->delay = (unsigned)usec;
        return 0;
}

static int read_page(Standin *s, const json_t *page)
{
        const json_t *managed_errno = json_object_get(page, "managed_errno");
        const json_t *remapping = json_object_get(page, "remapping");
        const char *name = managed_errno ? json_string_value(managed_errno) : "EIO";

        if (!json_is_object(page) || !name || (remapping && !json_is_boolean(remapping)))
                return -EINVAL;
        s->blocking = json_is_true(json_object_get(page, "blocking"));
        if (strcmp(name, "EIO") != 0 && strcmp(name, "EPERM") != 0)
                return -EINVAL;
        s->managed_errno = strcmp(name, "EIO") == 0 ? -EIO : -EPERM;
        s->remapping = !json_is_false(remapping);
        if (read_numbers(page, "managed_irqs", &s->managed) < 0 ||
            read_names(page, "refused_workqueues", &s->refused) < 0 ||
            read_names(page, "ignored", &s->ignored) < 0 || read_faults(s, page) < 0)
                return -EINVAL;
        return read_numbers(page, "full_cpus", &s->full);
}

/* All of it is optional, the file too. */
static int read_standin_json(Standin *s)
{
        _cleanup_(freep) char *text = NULL;
        json_t *page;
        int r;

        s->managed_errno = -EIO;
        s->remapping = true;
        r = root_read(s->root, &text, "standin.json");
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        page = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        if (!page)
                return -EINVAL;
        r = read_page(s, page);
        json_decref(page);
        return r;
}

static int refuse_kernel_file(int fd)
{
        int r = writer_is_kernel_file(fd);

        return r > 0 ? -EPERM : r;
}

static int refuse_live_root(const Root *root)
{
        static const char *const folders[] = { "proc", "sys" };

        if (root_is_live(root))
                return -EPERM;
        for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
                _cleanup_(closep) int fd = root_open_file(root, O_RDONLY | O_DIRECTORY, "%s", folders[i]);
                int r = fd < 0 ? fd : refuse_kernel_file(fd);

                if (r < 0 && r != -ENOENT)
                        return r;
        }
        return 0;
}

int standin_new(const Root *root, Standin **ret)
{
        _cleanup_(standin_freep) Standin *s = NULL;
        struct stat st;
        int r;

        r = refuse_live_root(root);
        if (r < 0)
                return r;
        s = calloc(1, sizeof(*s));
        if (!s)
                return -ENOMEM;
        s->root = root;
        r = observe_online(root, &s->online);
        if (r >= 0 && cpuset_is_empty(s->online))
                r = -ENODATA;
        if (r < 0)
                return r;
        r = root_read_cpulist(root, &s->possible, "sys/devices/system/cpu/possible");
        if (r == -ENOENT) {
                s->possible = cpuset_dup(s->online);
                r = s->possible ? 0 : -ENOMEM;
        }
        if (r < 0)
                return r;
        FOREACH_CPU (cpu, s->possible)
                s->n_cpus = (unsigned)cpu + 1;
        r = read_standin_json(s);
        if (r < 0)
                return r;
        s->log = root_stat(root, &st, LOG_FILE) >= 0;
        *ret = STEAL_PTR(s);
        return 0;
}

/* Replaces what a file says in one pwrite(2), so that a reader never sees half of it: spaces cover the rest
 * of a longer old text until it is cut off. */
static int put_text(int fd, const char *text)
{
        _cleanup_(freep) char *line = NULL;
        size_t n = strlen(text) + 1, size;
        ssize_t written;
        struct stat st;

        if (fstat(fd, &st) < 0)
                return -errno;
        size = st.st_size > (off_t)n ? (size_t)st.st_size : n;
        line = malloc(size);
        if (!line)
                return -ENOMEM;
        memset(line, ' ', size);
        memcpy(line, text, n - 1);
        line[size - 1] = '\n';
        written = pwrite(fd, line, size, 0);
        if (written != (ssize_t)size)
                return written < 0 ? -errno : -EIO;
        return pwrite(fd, "\n", 1, (off_t)n - 1) != 1 || ftruncate(fd, (off_t)n) < 0 ? -errno : 0;
}

/* Opens a file of the copy for writing. */
static int open_copy(const Standin *s, const char *path)
{
        _cleanup_(closep) int fd = -1;
        int r;

        fd = root_open_file(s->root, O_WRONLY | O_NOFOLLOW, "%s", path);
        if (fd < 0)
                return fd;
        r = refuse_kernel_file(fd);
        return r < 0 ? r : STEAL_FD(fd);
}

/* Opens an attribute as the kernel would let root do: not when nobody may write it. */
static int open_attribute(const Standin *s, const char *path)
{
        _cleanup_(closep) int fd = -1;
        struct stat st;

        fd = open_copy(s, path);
        if (fd < 0)
                return fd;
        if (fstat(fd, &st) < 0)
                return -errno;
        if ((st.st_mode & 0222) == 0)
                return -EPERM;
        return STEAL_FD(fd);
}

/* The files beside smp_affinity_list, where the copy has them; the kernel writes them whatever their mode. */
static int put_beside(const Standin *s, unsigned irq, const char *file, const char *text)
{
        _cleanup_(closep) int fd = -1;
        char path[WRITER_PATH_MAX];

        snprintf(path, sizeof(path), "proc/irq/%u/%s", irq, file);
        fd = open_copy(s, path);
        if (fd < 0)
                return fd == -ENOENT ? 0 : fd;
        return put_text(fd, text);
}

/* The mask as the kernel prints it, "%*pb": one digit for each four CPUs. */
static char *format_mask(const Standin *s, const CpuSet *set)
{
        unsigned digits = (s->n_cpus % 32 + 3) / 4;
        char *text = cpuset_format_mask(set, s->n_cpus);

        if (text && digits > 0)
                memmove(text, text + (8 - digits), strlen(text + (8 - digits)) + 1);
        return text;
}

static int put_set(const Standin *s, unsigned irq, const char *file, const CpuSet *set)
{
        _cleanup_(freep) char *mask = format_mask(s, set), *list = cpuset_format_list(set);
        char list_file[64];
        int r;

        if (!mask || !list)
                return -ENOMEM;
        /* The list first: it is what restoring goes by, also when this process is killed in between. */
        snprintf(list_file, sizeof(list_file), "%s_list", file);
        r = put_beside(s, irq, list_file, list);
        return r < 0 ? r : put_beside(s, irq, file, mask);
}

/* The CPU that the vector fires on; -1 when the copy does not say. */
static int effective_cpu(const Standin *s, const char *irq)
{
        _cleanup_(cpuset_freep) CpuSet *set = NULL;

        if (root_read_cpulist(s->root, &set, "proc/irq/%s/effective_affinity_list", irq) < 0)
                return -1;
        return cpuset_next(set, -1);
}

static int count_load(Standin *s)
{
        Strv irqs = { 0 };
        int r;

        if (s->load)
                return 0;
        s->load = calloc(s->n_cpus ? s->n_cpus : 1, sizeof(*s->load));
        if (!s->load)
                return -ENOMEM;
        r = root_list(s->root, &irqs, "proc/irq");
        for (size_t i = 0; r >= 0 && i < irqs.n; i++) {
                int cpu = effective_cpu(s, irqs.items[i]);

                if (cpu >= 0 && (unsigned)cpu < s->n_cpus)
                        s->load[cpu]++;
        }
        strv_clear(&irqs);
        return r;
}

/* Where the vector allocator puts it: the CPU with most free vectors. */
static int choose_cpu(const Standin *s, const CpuSet *set)
{
        int best = -1;

        FOREACH_CPU (cpu, set)
                if (cpuset_has(s->online, (unsigned)cpu) && !cpuset_has(s->full, (unsigned)cpu) &&
                    (best < 0 || s->load[cpu] < s->load[best]))
                        best = cpu;
        return best;
}

static int move_vector(Standin *s, unsigned irq, const CpuSet *set)
{
        _cleanup_(cpuset_freep) CpuSet *target = NULL;
        char name[16];
        int old, new, r;

        snprintf(name, sizeof(name), "%u", irq);
        old = effective_cpu(s, name);
        if (old >= 0 && cpuset_has(set, (unsigned)old) && cpuset_has(s->online, (unsigned)old))
                return 0;
        new = choose_cpu(s, set);
        if (new < 0)
                return -ENOSPC;
        r = cpuset_add(&target, (unsigned)new);
        if (r >= 0)
                r = put_set(s, irq, "effective_affinity", target);
        if (r < 0)
                return r;
        if (old >= 0 && (unsigned)old < s->n_cpus)
                s->load[old]--;
        s->load[new]++;
        return 0;
}

/* The checks in the kernel's order: write_irq_affinity() in kernel/irq/proc.c. */
static int write_irq(Standin *s, const char *path, const char *value)
{
        _cleanup_(cpuset_freep) CpuSet *set = NULL;
        _cleanup_(closep) int fd = -1;
        unsigned irq = operation_irq(path);
        int r;

        fd = open_attribute(s, path);
        if (fd < 0)
                return fd;
        if (cpuset_has(s->managed, irq))
                return s->managed_errno;
        r = cpuset_parse_list(value, &set);
        if (r < 0)
                return r;
        FOREACH_CPU (cpu, set)
                if ((unsigned)cpu >= s->n_cpus)
                        return -ERANGE;
        if (!cpuset_intersects(set, s->online))
                return -EINVAL;
        r = count_load(s);
        if (r >= 0 && s->remapping)
                r = move_vector(s, irq, set);
        return r < 0 ? r : put_set(s, irq, "smp_affinity", set);
}

static bool is_refused(const Standin *s, const char *path)
{
        for (size_t i = 0; i < s->refused.n; i++) {
                _cleanup_(freep) char *file =
                        strf("sys/devices/virtual/workqueue/%s/cpumask", s->refused.items[i]);

                if (file && strcmp(file, path) == 0)
                        return true;
        }
        return false;
}

/* wq_cpumask_store() in kernel/workqueue.c keeps the possible CPUs, and takes the empty mask. */
static int write_workqueue(Standin *s, const char *path, const char *value)
{
        _cleanup_(cpuset_freep) CpuSet *set = NULL;
        _cleanup_(freep) char *text = NULL;
        _cleanup_(closep) int fd = -1;
        int r;

        if (is_refused(s, path))
                return -EACCES;
        fd = open_attribute(s, path);
        if (fd < 0)
                return fd;
        r = cpuset_parse_mask(value, &set);
        if (r < 0)
                return r == -ERANGE ? -EOVERFLOW : r;
        FOREACH_CPU (cpu, set)
                if ((unsigned)cpu >= s->n_cpus)
                        return -EOVERFLOW;
        cpuset_keep(set, s->possible);
        text = format_mask(s, set);
        return text ? put_text(fd, text) : -ENOMEM;
}

/* Appends a line to the copy's own log, "write PATH OLD NEW" or "done PATH ERRNO", whole or not at all. */
static int log_line(const Standin *s, const char *word, const char *path, const char *text)
{
        _cleanup_(freep) char *line = strf("%s %s %s\n", word, path, text);
        _cleanup_(closep) int fd = -1;
        size_t n;

        if (!line)
                return -ENOMEM;
        fd = root_open_file(s->root, O_WRONLY | O_APPEND | O_NOFOLLOW, LOG_FILE);
        if (fd < 0)
                return fd;
        n = strlen(line);
        return write(fd, line, n) == (ssize_t)n ? 0 : -EIO;
}

static int log_write(const Standin *s, const char *path, const char *value)
{
        _cleanup_(freep) char *old = NULL, *text = NULL;
        int r;

        r = root_read(s->root, &old, "%s", path);
        if (r < 0)
                return r;
        text = strf("%s %s", old, value);
        return text ? log_line(s, "write", path, text) : -ENOMEM;
}

/* Any other attribute: what its form allows is taken as it is. */
static int write_word(Standin *s, WriterKind kind, const char *path, const char *value)
{
        const FileKind *k = file_kind_find(kind);
        _cleanup_(closep) int fd = -1;
        int r;

        fd = open_attribute(s, path);
        if (fd < 0)
                return fd;
        r = file_kind_check(k, value);
        return r < 0 ? r : put_text(fd, value);
}

static int write_depot(Standin *s, const char *path, const char *value)
{
        _cleanup_(freep) char *text = NULL;
        int r;

        r = file_kind_check(file_kind_find(WRITER_IOVA_DEPOT), value);
        if (r >= 0)
                r = standin_depot_text(s->root, value, &text);
        return r < 0 ? r : write_word(s, WRITER_IOVA_DEPOT, path, text);
}

/* Gives the host's queue a pool for each node, or takes them away, which its own file shows. */
static int write_xmit_numa(Standin *s, const char *path, const char *value)
{
        long host = strtol(strstr(path, "/host") + strlen("/host"), NULL, 10);
        _cleanup_(freep) char *numa = strf("sys/devices/virtual/workqueue/iscsi_q_%ld/numa", host);
        int r;

        r = numa ? write_word(s, WRITER_ISCSI_XMIT_NUMA, path, value) : -ENOMEM;
        if (r < 0 || !root_exists(s->root, "%s", numa))
                return r;
        return write_word(s, WRITER_WORKQUEUE_NUMA, numa, value);
}

static int write_xmit_inline(Standin *s, const char *path, const char *value)
{
        if (!s->blocking && strcmp(value, "1") == 0)
                return -EOPNOTSUPP;
        return write_word(s, WRITER_ISCSI_XMIT_INLINE, path, value);
}

static int write_kind(Standin *s, WriterKind kind, const char *path, const char *value)
{
        if (s->read_only)
                return -EROFS;
        if (strv_contains(&s->ignored, path))
                return 0;
        switch (kind) {
        case WRITER_IRQ_AFFINITY:
                return write_irq(s, path, value);
        case WRITER_WORKQUEUE_CPUMASK:
                return write_workqueue(s, path, value);
        case WRITER_ISCSI_XMIT_NUMA:
                return write_xmit_numa(s, path, value);
        case WRITER_ISCSI_XMIT_INLINE:
                return write_xmit_inline(s, path, value);
        case WRITER_IOVA_DEPOT:
                return write_depot(s, path, value);
        case WRITER_WORKQUEUE_NUMA:
        case WRITER_WORKQUEUE_SCOPE:
        case WRITER_WORKQUEUE_STRICT:
        case WRITER_IOMMU_TYPE:
        case WRITER_BLOCK_MAX_SECTORS:
                return write_word(s, kind, path, value);
        case _WRITER_KIND_MAX:
                break;
        }
        return -EOPNOTSUPP;
}

static int write_value(void *userdata, const Root *root, WriterKind kind, const char *path, const char *value)
{
        const Standin *s = userdata;
        char number[16];
        int r, l;

        r = s->log ? log_write(s, path, value) : 0;
        if (r < 0)
                return r;
        if (s->delay > 0)
                (void)nanosleep(&(struct timespec) { .tv_nsec = s->delay * 1000L }, NULL);
        r = write_kind(userdata, kind, path, value);
        snprintf(number, sizeof(number), "%d", -r);
        l = s->log ? log_line(s, "done", path, number) : 0;
        return r < 0 ? r : l;
}

WriterSink standin_sink(Standin *s)
{
        return (WriterSink) { .write = write_value, .userdata = s };
}
