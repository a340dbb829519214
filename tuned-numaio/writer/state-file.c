/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/state-file.h"

#include "basic/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>

int state_file_read(int fd, size_t max, char **ret, size_t *ret_size)
{
        _cleanup_(freep) char *bytes = NULL;
        size_t n = 0;
        struct stat st;

        if (fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode))
                return -EBADMSG;
        if ((size_t)st.st_size > max)
                return -EFBIG;
        bytes = malloc((size_t)st.st_size + 1);
        if (!bytes)
                return -ENOMEM;
        while (n < (size_t)st.st_size) {
                ssize_t k = pread(fd, bytes + n, (size_t)st.st_size - n, (off_t)n);

                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return -errno;
                if (k == 0)
                        break;
                n += (size_t)k;
        }
        bytes[n] = '\0';
        *ret = STEAL_PTR(bytes);
        *ret_size = n;
        return 0;
}

int state_file_write(int fd, const char *bytes, size_t n, off_t at)
{
        while (n > 0) {
                ssize_t k = pwrite(fd, bytes, n, at);

                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return -errno;
                if (k == 0)
                        return -ENOSPC;
                bytes += k;
                at += k;
                n -= (size_t)k;
        }
        return 0;
}

/* Its lock comes before its name, so that no other writer comes in between. */
static int make_file(int folder, const char *new_name, const char *bytes, size_t n, int *ret_fd)
{
        _cleanup_(closep) int fd = -1;
        int r;

        fd = openat(folder, new_name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
                return -errno;
        r = state_file_write(fd, bytes, n, 0);
        if (r < 0)
                return r;
        *ret_fd = STEAL_FD(fd);
        return 0;
}

int state_file_replace(int folder, const char *name, const char *bytes, size_t n, int *ret_fd)
{
        _cleanup_(closep) int fd = -1;
        char new_name[NAME_MAX + 1];
        int r;

        if ((size_t)snprintf(new_name, sizeof(new_name), "%s.new", name) >= sizeof(new_name))
                return -ENAMETOOLONG;
        r = make_file(folder, new_name, bytes, n, &fd);
        if (r >= 0 && renameat(folder, new_name, folder, name) < 0)
                r = -errno;
        if (r < 0) {
                (void)unlinkat(folder, new_name, 0);
                return r;
        }
        if (ret_fd)
                *ret_fd = STEAL_FD(fd);
        return 0;
}
