/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

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

int tracefs_put(const Root *root, int flags, const char *path, const char *text)
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

static int open_instances(const Root *root)
{
        _cleanup_(closep) int fd =
                root_open_file(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, TRACEFS_INSTANCES);
        int r;

        if (fd < 0)
                return fd;
        r = check_tracefs(root, fd);
        return r < 0 ? r : STEAL_FD(fd);
}

int tracefs_make_instance(const Root *root, const char *name)
{
        _cleanup_(closep) int fd = open_instances(root);

        if (fd < 0)
                return fd;
        return mkdirat(fd, name, 0700) < 0 ? -errno : 0;
}

int tracefs_remove_instance(const Root *root, const char *name)
{
        _cleanup_(closep) int fd = open_instances(root);

        if (fd < 0)
                return fd;
        return unlinkat(fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}
