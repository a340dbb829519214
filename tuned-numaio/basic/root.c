/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/root.h"

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
        char *path; /* absolute, without links; "/" = the live machine */
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
        free(root);
        return NULL;
}

int root_open(const char *path, Root **ret)
{
        _cleanup_(root_freep) Root *root = calloc(1, sizeof(*root));

        if (!root)
                return -ENOMEM;
        root->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (root->fd < 0)
                return -errno;
        root->path = realpath(path, NULL);
        if (!root->path)
                return -errno;
        *ret = STEAL_PTR(root);
        return 0;
}

bool root_is_live(const Root *root)
{
        return strcmp(root->path, "/") == 0;
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
        struct open_how how = {
                .flags = (unsigned long long)(unsigned)flags | O_CLOEXEC,
                .resolve = RESOLVE_IN_ROOT,
        };
        long fd;

        do
                fd = syscall(SYS_openat2, root->fd, path, &how, sizeof(how));
        while (fd < 0 && (errno == EINTR || errno == EAGAIN));
        /* systemd's RestrictSUIDSGID= hides openat2(2), whose flags it cannot see. From "/" there is no way
         * out. */
        if (fd < 0 && errno == ENOSYS && root_is_live(root))
                fd = openat(root->fd, path, flags | O_CLOEXEC);
        return fd < 0 ? -errno : (int)fd;
}

#define FORMAT_PATH(buffer, format)                                                  \
        ({                                                                           \
                va_list _ap;                                                         \
                int _n;                                                              \
                va_start(_ap, format);                                               \
                _n = vsnprintf(buffer, sizeof(buffer), format, _ap);                 \
                va_end(_ap);                                                         \
                _n < 0 ? -EINVAL : (size_t)_n >= sizeof(buffer) ? -ENAMETOOLONG : 0; \
        })

int root_open_file(const Root *root, int flags, const char *format, ...)
{
        char path[PATH_MAX];
        int r;

        r = FORMAT_PATH(path, format);
        if (r < 0)
                return r;
        r = open_in_root(root, path, flags);
        tell(root, ROOT_LOOK, path, r < 0 ? r : 0);
        return r;
}

static int read_all(int fd, char **ret, size_t *ret_size)
{
        _cleanup_(freep) char *text = NULL;
        size_t room = 0, n = 0;
        ssize_t k;

        do {
                if (n + 1 >= room) {
                        char *bigger = realloc(text, room = room ? room * 2 : 4096);

                        if (!bigger)
                                return -ENOMEM;
                        text = bigger;
                }
                k = read(fd, text + n, room - n - 1);
                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return -errno;
                n += (size_t)k;
                if (n > READ_MAX)
                        return -EFBIG;
        } while (k != 0);
        *ret = STEAL_PTR(text);
        *ret_size = n;
        return 0;
}

static int read_path(const Root *root, const char *path, char **ret)
{
        _cleanup_(closep) int fd = open_in_root(root, path, O_RDONLY);
        RootEvent event = { .use = ROOT_READ, .path = path };
        char *text = NULL;
        size_t n = 0;
        int r;

        r = fd < 0 ? fd : read_all(fd, &text, &n);
        event.error = r;
        event.data = text;
        event.size = n;
        if (root->watch)
                root->watch(root->userdata, &event);
        if (r < 0)
                return r;
        while (n > 0 && (text[n - 1] == '\0' || strchr(" \t\n", text[n - 1])))
                n--;
        text[n] = '\0';
        *ret = text;
        return 0;
}

int root_read(const Root *root, char **ret, const char *format, ...)
{
        char path[PATH_MAX];
        int r;

        r = FORMAT_PATH(path, format);
        return r < 0 ? r : read_path(root, path, ret);
}

int root_read_int(const Root *root, int *ret, const char *format, ...)
{
        _cleanup_(freep) char *text = NULL;
        char path[PATH_MAX];
        int r;

        r = FORMAT_PATH(path, format);
        if (r >= 0)
                r = read_path(root, path, &text);
        return r < 0 ? r : parse_int(text, ret);
}

int root_read_cpulist(const Root *root, CpuSet **ret, const char *format, ...)
{
        _cleanup_(freep) char *text = NULL;
        char path[PATH_MAX];
        int r;

        r = FORMAT_PATH(path, format);
        if (r >= 0)
                r = read_path(root, path, &text);
        return r < 0 ? r : cpuset_parse_list(text, ret);
}

int root_read_cpumask(const Root *root, CpuSet **ret, const char *format, ...)
{
        _cleanup_(freep) char *text = NULL;
        char path[PATH_MAX];
        int r;

        r = FORMAT_PATH(path, format);
        if (r >= 0)
                r = read_path(root, path, &text);
        return r < 0 ? r : cpuset_parse_mask(text, ret);
}

int root_list(const Root *root, Strv *ret, const char *format, ...)
{
        _cleanup_(closep) int fd = -1;
        char path[PATH_MAX];
        struct dirent *e;
        Strv names = { 0 };
        DIR *d;
        int r;

        r = FORMAT_PATH(path, format);
        if (r < 0)
                return r;
        fd = open_in_root(root, path, O_RDONLY | O_DIRECTORY);
        tell(root, ROOT_LIST, path, fd < 0 ? fd : 0);
        if (fd < 0)
                return fd;
        d = fdopendir(fd);
        if (!d)
                return -errno;
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
                return r;
        }
        strv_sort(&names);
        strv_clear(ret);
        *ret = names;
        return 0;
}

int root_realpath(const Root *root, char **ret, const char *format, ...)
{
        _cleanup_(closep) int fd = -1;
        char path[PATH_MAX], self[64], target[PATH_MAX];
        size_t prefix;
        ssize_t n;
        char *copy;
        int r;

        r = FORMAT_PATH(path, format);
        if (r < 0)
                return r;
        fd = open_in_root(root, path, O_PATH);
        tell(root, ROOT_LOOK, path, fd < 0 ? fd : 0);
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
                return -ENOMEM;
        *ret = copy;
        return 0;
}

int root_read_link_name(const Root *root, char **ret, const char *format, ...)
{
        _cleanup_(closep) int fd = -1;
        char path[PATH_MAX], target[PATH_MAX];
        const char *name;
        ssize_t n;
        char *copy;
        int r;

        r = FORMAT_PATH(path, format);
        if (r < 0)
                return r;
        fd = open_in_root(root, path, O_PATH | O_NOFOLLOW);
        tell(root, ROOT_LINK, path, fd < 0 ? fd : 0);
        if (fd < 0)
                return fd;
        n = readlinkat(fd, "", target, sizeof(target) - 1);
        if (n < 0)
                return errno == ENOENT ? -EINVAL : -errno;
        target[n] = '\0';
        name = strrchr(target, '/');
        copy = strdup(name ? name + 1 : target);
        if (!copy)
                return -ENOMEM;
        *ret = copy;
        return 0;
}

int root_stat(const Root *root, struct stat *ret, const char *format, ...)
{
        _cleanup_(closep) int fd = -1;
        char path[PATH_MAX];
        int r;

        r = FORMAT_PATH(path, format);
        if (r < 0)
                return r;
        fd = open_in_root(root, path, O_PATH);
        tell(root, ROOT_LOOK, path, fd < 0 ? fd : 0);
        if (fd < 0)
                return fd;
        return fstat(fd, ret) < 0 ? -errno : 0;
}

bool root_exists(const Root *root, const char *format, ...)
{
        _cleanup_(closep) int fd = -1;
        char path[PATH_MAX];

        if (FORMAT_PATH(path, format) < 0)
                return false;
        fd = open_in_root(root, path, O_PATH);
        tell(root, ROOT_LOOK, path, fd < 0 ? fd : 0);
        return fd >= 0;
}
