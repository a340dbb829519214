/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

int writer_is_kernel_file(int fd)
{
        struct statfs st;

        if (fstatfs(fd, &st) < 0)
                return -errno;
        return st.f_type == PROC_SUPER_MAGIC || st.f_type == SYSFS_MAGIC;
}

/* On the live machine no other files may be written, whatever is mounted where. */
static int check_file(const Root *root, int fd)
{
        int r;

        if (!root_is_live(root))
                return 0;
        r = writer_is_kernel_file(fd);
        return r == 0 ? -EXDEV : r;
}

static int write_kernel(void *userdata, const Root *root, WriterKind kind, const char *path,
                        const char *value)
{
        _cleanup_(closep) int fd = -1;
        size_t size = strlen(value);
        ssize_t n;
        int r;

        fd = root_open_file(root, O_WRONLY | O_NOFOLLOW, "%s", path);
        if (fd < 0)
                return fd;
        r = check_file(root, fd);
        if (r < 0)
                return r;
        do
                n = write(fd, value, size);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        return (size_t)n == size ? 0 : -EIO;
}

const WriterSink writer_sink_kernel = { .write = write_kernel };
