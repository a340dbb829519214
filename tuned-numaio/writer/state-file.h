/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Files of the writer's own folder, in which stands what has to outlive it. Each function returns 0 or a
 * negative errno. */

/* Reads all of a file. The bytes end with a NUL that *ret_size does not count; the caller frees. -EBADMSG: it
 * is no regular file; -EFBIG: it is longer than max. */
int state_file_read(int fd, size_t max, char **ret, size_t *ret_size);

/* Writes all of the bytes at a place of the file. */
int state_file_write(int fd, const char *bytes, size_t n, off_t at);

/* Puts a file in place of the one that has its name in the folder, or leaves that one as it is. *ret_fd (NULL
 * = not wanted) gets its descriptor, open for reading and writing, which holds its flock(2) from before it
 * had the name. */
int state_file_replace(int folder, const char *name, const char *bytes, size_t n, int *ret_fd);
