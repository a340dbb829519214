/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/root.h"

#include "basic/error.h"
#include "basic/parse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#define READ_MAX (64u << 20)

struct Root {
        int fd;
        int *shortage; /* the first one since root_begin(); changes while the rest does not */
        char *path;    /* absolute, without links */
        bool live;     /* the path is "/" */
        RootWatch watch;
        void *userdata;
};

Root *root_free(Root *root)
{
        if (!root)
                return NULL;
        if (root->fd >= 0)
                close(root->fd);
        free(root->path);
        free(root->shortage);
        free(root);
        return NULL;
}

int root_open(const char *path, Root **ret)
{
        _cleanup_(root_freep) Root *root = calloc(1, sizeof(*root));

        if (!root)
                return -ENOMEM;
        root->fd = -1;
        root->shortage = calloc(1, sizeof(*root->shortage));
        if (!root->shortage)
                return -ENOMEM;
        root->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (root->fd < 0)
                return -errno;
        root->path = realpath(path, NULL);
        if (!root->path)
                return -errno;
        root->live = strcmp(root->path, "/") == 0;
        *ret = STEAL_PTR(root);
        return 0;
}

void root_begin(const Root *root)
{
        *root->shortage = 0;
}

int root_end(const Root *root)
{
        return *root->shortage;
}

/* Returns the error. */
static int note(const Root *root, int error)
{
        if (*root->shortage == 0 && error_is_shortage(error))
                *root->shortage = error;
        return error;
}

bool root_is_live(const Root *root)
{
        return root->live;
}

const char *root_path(const Root *root)
{
        return root->path;
}

void root_watch(Root *root, RootWatch watch, void *userdata)
{
        root->watch = watch;
        root->userdata = userdata;
}

static void tell(const Root *root, RootUse use, const char *path, int error)
{
        if (root->watch)
                root->watch(root->userdata, &(RootEvent) { .use = use, .path = path, .error = error });
}

static int open_in_root(const Root *root, const char *path, int flags)
{
        /* A link itself is opened by its path alone, and stands behind other links. */
        const bool plain = flags & O_NOFOLLOW && !(flags & O_PATH);
        struct open_how how = {
                .flags = (unsigned long long)(unsigned)flags | O_CLOEXEC,
                .resolve = RESOLVE_IN_ROOT | (plain ? RESOLVE_NO_SYMLINKS : 0),
        };
        long fd;

        do {
                /* From "/" there is no way out. Besides, systemd's RestrictSUIDSGID= hides openat2(2), whose
                 * flags it cannot see. */
                fd = root->live && !plain ? openat(root->fd, path, flags | O_CLOEXEC)
                                          : syscall(SYS_openat2, root->fd, path, &how, sizeof(how));
                if (fd < 0 && errno == ENOSYS && root->live)
                        fd = openat(root->fd, path, flags | O_CLOEXEC);
        } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
        return fd < 0 ? note(root, -errno) : (int)fd;
}

static int _printf_(2, 0) format_path(char path[PATH_MAX], const char *format, va_list ap)
{
        int n = vsnprintf(path, PATH_MAX, format, ap);

        return n < 0 ? -EINVAL : n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* Opens a path, and tells of that as a use of this kind. */
static int _printf_(4, 0)
        open_formatted(const Root *root, RootUse use, int flags, const char *format, va_list ap)
{
        char path[PATH_MAX];
        int r;

        r = format_path(path, format, ap);
        if (r < 0)
                return r;
        r = open_in_root(root, path, flags);
        tell(root, use, path, r < 0 ? r : 0);
        return r;
}

/* Calls function(..., format, ap) with what follows the format in the caller's own arguments. */
#define CALL_FORMATTED(function, format, ...)            \
        ({                                               \
                va_list _ap;                             \
                int _r;                                  \
                va_start(_ap, format);                   \
                _r = function(__VA_ARGS__, format, _ap); \
                va_end(_ap);                             \
                _r;                                      \
        })

int root_open_file(const Root *root, int flags, const char *format, ...)
{
        return CALL_FORMATTED(open_formatted, format, root, ROOT_LOOK, flags);
}

/* What a file holds. Most files here hold a few bytes, which need no memory of their own. */
typedef struct Text {
        char *heap; /* NULL = it is in small */
        size_t n, room;
        char small[512];
} Text;

static void text_clear(Text *t)
{
        free(t->heap);
}

static char *text_data(Text *t)
{
        return t->heap ? t->heap : t->small;
}

static int text_grow(Text *t)
{
        size_t room = t->heap ? t->room * 2 : 4096;
        char *bigger = realloc(t->heap, room);

        if (!bigger)
                return -ENOMEM;
        if (!t->heap)
                memcpy(bigger, t->small, t->n);
        t->heap = bigger;
        t->room = room;
        return 0;
}

/* Reads to the end of the file. A value ends with its line: what one read gives of an attribute, when it is
 * less than was asked for, is all that there is. */
static int read_all(int fd, bool value, Text *t)
{
        ssize_t k;

        t->room = sizeof(t->small);
        do {
                size_t asked;

                if (t->n + 1 >= t->room && text_grow(t) < 0)
                        return -ENOMEM;
                asked = t->room - t->n - 1;
                k = read(fd, text_data(t) + t->n, asked);
                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return -errno;
                t->n += (size_t)k;
                if (t->n > READ_MAX)
                        return -EFBIG;
                if (value && k > 0 && (size_t)k < asked && text_data(t)[t->n - 1] == '\n')
                        break;
        } while (k != 0);
        return 0;
}

static void trim(Text *t)
{
        char *data = text_data(t);

        while (t->n > 0 && (data[t->n - 1] == '\0' || strchr(" \t\n", data[t->n - 1])))
                t->n--;
        data[t->n] = '\0';
}

/* ret_mode may be NULL. */
static int read_path(const Root *root, const char *path, bool value, mode_t *ret_mode, Text *t)
{
        _cleanup_(closep) int fd = open_in_root(root, path, O_RDONLY);
        RootEvent event = { .use = ROOT_READ, .path = path };
        struct stat st;
        int r;

        r = fd < 0 ? fd : note(root, read_all(fd, value, t));
        if (r >= 0 && ret_mode)
                r = fstat(fd, &st) < 0 ? -errno : 0;
        event.error = r;
        event.data = text_data(t);
        event.size = t->n;
        if (root->watch)
                root->watch(root->userdata, &event);
        if (ret_mode)
                tell(root, ROOT_LOOK, path, r);
        if (r < 0)
                return r;
        if (ret_mode)
                *ret_mode = st.st_mode;
        trim(t);
        return 0;
}

static int _printf_(5, 0) read_formatted(const Root *root, bool value, mode_t *ret_mode, Text *t,
                                         const char *format, va_list ap)
{
        char path[PATH_MAX];
        int r;

        r = format_path(path, format, ap);
        return r < 0 ? r : read_path(root, path, value, ret_mode, t);
}

static int steal_text(Text *t, char **ret)
{
        char *s = t->heap ? STEAL_PTR(t->heap) : strndup(t->small, t->n);

        if (!s)
                return -ENOMEM;
        *ret = s;
        return 0;
}

int root_read(const Root *root, char **ret, const char *format, ...)
{
        _cleanup_(text_clear) Text t = { 0 };
        int r = CALL_FORMATTED(read_formatted, format, root, false, NULL, &t);

        return r < 0 ? r : note(root, steal_text(&t, ret));
}

int root_read_value(const Root *root, char **ret, const char *format, ...)
{
        _cleanup_(text_clear) Text t = { 0 };
        int r = CALL_FORMATTED(read_formatted, format, root, true, NULL, &t);

        return r < 0 ? r : note(root, steal_text(&t, ret));
}

/* Hands out the lines of a text, and moves what is left of the last one to its beginning. */
static int hand_out(Text *t, bool end, RootLine line, void *userdata)
{
        char *data = text_data(t), *from = data, *newline;
        size_t left = t->n;
        int r = 0;

        data[t->n] = '\0';
        while (r >= 0 && (newline = memchr(from, '\n', left))) {
                *newline = '\0';
                r = line(userdata, from);
                left -= (size_t)(newline + 1 - from);
                from = newline + 1;
        }
        if (r >= 0 && end && left > 0)
                r = line(userdata, from);
        memmove(data, from, left);
        t->n = left;
        return r;
}

static int read_lines(int fd, RootLine line, void *userdata, Text *t)
{
        ssize_t k;
        int r;

        t->room = sizeof(t->small);
        do {
                if (t->n + 1 >= t->room || !t->heap)
                        if (t->room > READ_MAX || text_grow(t) < 0)
                                return t->room > READ_MAX ? -EFBIG : -ENOMEM;
                k = read(fd, text_data(t) + t->n, t->room - t->n - 1);
                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return -errno;
                t->n += (size_t)k;
                r = hand_out(t, k == 0, line, userdata);
                if (r < 0)
                        return r;
        } while (k != 0);
        return 0;
}

int root_read_lines(const Root *root, RootLine line, void *userdata, const char *format, ...)
{
        _cleanup_(closep) int fd = -1;
        _cleanup_(text_clear) Text t = { 0 };
        int r;

        if (root->watch) { /* it is told all of the file at once */
                r = CALL_FORMATTED(read_formatted, format, root, false, NULL, &t);
                return r < 0 ? r : hand_out(&t, true, line, userdata);
        }
        fd = CALL_FORMATTED(open_formatted, format, root, ROOT_READ, O_RDONLY);
        return fd < 0 ? fd : read_lines(fd, line, userdata, &t);
}

int root_read_plain(const Root *root, char **ret, const char *path)
{
        _cleanup_(closep) int fd = root_open_file(root, O_RDONLY | O_NOFOLLOW, "%s", path);
        _cleanup_(text_clear) Text t = { 0 };
        int r;

        r = fd < 0 ? fd : read_all(fd, false, &t);
        if (r < 0)
                return note(root, r);
        trim(&t);
        return note(root, steal_text(&t, ret));
}

int root_read_int(const Root *root, int *ret, const char *format, ...)
{
        _cleanup_(text_clear) Text t = { 0 };
        int r = CALL_FORMATTED(read_formatted, format, root, true, NULL, &t);

        return r < 0 ? r : parse_int(text_data(&t), ret);
}

int root_read_cpulist(const Root *root, CpuSet **ret, const char *format, ...)
{
        _cleanup_(text_clear) Text t = { 0 };
        int r = CALL_FORMATTED(read_formatted, format, root, true, NULL, &t);

        return r < 0 ? r : note(root, cpuset_parse_list(text_data(&t), ret));
}

int root_read_cpulist_and_mode(const Root *root, CpuSet **ret, mode_t *ret_mode, const char *format, ...)
{
        _cleanup_(text_clear) Text t = { 0 };
        mode_t mode;
        int r = CALL_FORMATTED(read_formatted, format, root, true, &mode, &t);

        if (r >= 0)
                r = note(root, cpuset_parse_list(text_data(&t), ret));
        if (r >= 0)
                *ret_mode = mode;
        return r;
}

int root_read_cpumask(const Root *root, CpuSet **ret, const char *format, ...)
{
        _cleanup_(text_clear) Text t = { 0 };
        int r = CALL_FORMATTED(read_formatted, format, root, true, NULL, &t);

        return r < 0 ? r : note(root, cpuset_parse_mask(text_data(&t), ret));
}

int root_list(const Root *root, Strv *ret, const char *format, ...)
{
        _cleanup_(closep) int fd =
                CALL_FORMATTED(open_formatted, format, root, ROOT_LIST, O_RDONLY | O_DIRECTORY);
        struct dirent *e;
        Strv names = { 0 };
        DIR *d;
        int r;

        if (fd < 0)
                return fd;
        d = fdopendir(fd);
        if (!d)
                return note(root, -errno);
        STEAL_FD(fd);
        r = 0;
        while (r >= 0 && (errno = 0, e = readdir(d)))
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                        r = strv_add(&names, e->d_name);
        if (r >= 0 && errno)
                r = -errno;
        closedir(d);
        if (r < 0) {
                strv_clear(&names);
                return note(root, r);
        }
        strv_sort(&names);
        strv_clear(ret);
        *ret = names;
        return 0;
}

int root_realpath(const Root *root, char **ret, const char *format, ...)
{
        _cleanup_(closep) int fd = CALL_FORMATTED(open_formatted, format, root, ROOT_LOOK, O_PATH);
        char self[64], target[PATH_MAX];
        size_t prefix;
        ssize_t n;
        char *copy;

        if (fd < 0)
                return fd;
        snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
        n = readlink(self, target, sizeof(target) - 1);
        if (n < 0)
                return -errno;
        target[n] = '\0';
        prefix = root_is_live(root) ? 0 : strlen(root->path);
        if (strncmp(target, root->path, prefix) != 0)
                return -EXDEV;
        copy = strdup(target[prefix] == '/' ? target + prefix + 1 : target + prefix);
        if (!copy)
                return note(root, -ENOMEM);
        *ret = copy;
        return 0;
}

int root_read_link_name(const Root *root, char **ret, const char *format, ...)
{
        _cleanup_(closep) int fd =
                CALL_FORMATTED(open_formatted, format, root, ROOT_LINK, O_PATH | O_NOFOLLOW);
        char target[PATH_MAX];
        const char *name;
        ssize_t n;
        char *copy;

        if (fd < 0)
                return fd;
        n = readlinkat(fd, "", target, sizeof(target) - 1);
        if (n < 0)
                return errno == ENOENT ? -EINVAL : -errno;
        target[n] = '\0';
        name = strrchr(target, '/');
        copy = strdup(name ? name + 1 : target);
        if (!copy)
                return note(root, -ENOMEM);
        *ret = copy;
        return 0;
}

int root_stat(const Root *root, struct stat *ret, const char *format, ...)
{
        _cleanup_(closep) int fd = CALL_FORMATTED(open_formatted, format, root, ROOT_LOOK, O_PATH);

        if (fd < 0)
                return fd;
        return fstat(fd, ret) < 0 ? -errno : 0;
}

bool root_exists(const Root *root, const char *format, ...)
{
        _cleanup_(closep) int fd = CALL_FORMATTED(open_formatted, format, root, ROOT_LOOK, O_PATH);

        return fd >= 0;
}
