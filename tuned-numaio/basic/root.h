/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/cpuset.h"
#include "basic/strv.h"

#include <stdbool.h>
#include <sys/stat.h>

/* The root of a machine: "/" for the live one, a folder for a captured or synthetic one. Every path of /sys
 * and /proc is opened through it and nothing else opens one. Paths are relative to it, without a leading
 * slash
 * ("sys/bus/pci/devices"), and absolute symbolic links stay inside (openat2(2), RESOLVE_IN_ROOT).
 *
 * All functions return 0 or a negative errno of the system call, and leave *ret untouched on failure. Paths
 * are made with printf formats; -ENAMETOOLONG when longer than PATH_MAX. */
typedef struct Root Root;

/* Opens a machine; path is "/" or a folder. The caller frees. */
int root_open(const char *path, Root **ret);
Root *root_free(Root *root);
DEFINE_CLEANUP(Root, root_free)

/* A look at a machine by many calls, of which some may fail for good reasons, is worth nothing when one
 * failed because the process or the system was short of descriptors or memory: root_begin() forgets such
 * failures, and root_end() returns the first one since (-EMFILE, -ENFILE, -ENOMEM), or 0. */
void root_begin(const Root *root);
int root_end(const Root *root);

/* Whether this is the running machine ("/"). */
bool root_is_live(const Root *root);
/* The absolute path of the root, for messages; owned by it. */
const char *root_path(const Root *root);

/* What a path was asked for. */
typedef enum RootUse {
        ROOT_READ, /* what a file holds */
        ROOT_LIST, /* the names in a folder */
        ROOT_LINK, /* where a link points; it is not followed */
        ROOT_LOOK, /* whether it is there, its mode, or where it really is; links are followed */
} RootUse;

typedef struct RootEvent {
        RootUse use;
        const char *path; /* as it was asked for */
        int error;        /* 0 or the negative errno of the answer */
        const char *data; /* what was read, all of it; valid during the call alone */
        size_t size;
} RootEvent;

/* Tells of each path that is used from now on, so that a copy can be made of exactly what was looked at; NULL
 * = nobody any more. The callback must not use the same root. */
typedef void (*RootWatch)(void *userdata, const RootEvent *event);
void root_watch(Root *root, RootWatch watch, void *userdata);

/* Opens a file; O_CLOEXEC is added, and with O_NOFOLLOW no component of the path may be a symbolic link
 * (-ELOOP; where a sandbox hides openat2(2) from the live machine, the last one). Returns the descriptor,
 * which the caller closes. */
int root_open_file(const Root *root, int flags, const char *format, ...) _printf_(3, 4);

/* Reads a whole file of any size, without trailing white space and NULs. A file longer than 64 MiB is -EFBIG.
 * An attribute that answers with an error gives that error (a software iSCSI host without connection:
 * -ENOTCONN). The caller frees. */
int root_read(const Root *root, char **ret, const char *format, ...) _printf_(3, 4);
/* The same for a file that is reached without a symbolic link; -ELOOP when there is one. */
int root_read_plain(const Root *root, char **ret, const char *path);

/* Reads a long file line by line, of which only one is kept at a time. A line has no newline; the callback
 * may change it, and a negative value that it returns ends the reading and is returned. A line longer than 64
 * MiB is -EFBIG. */
typedef int (*RootLine)(void *userdata, char *line);
int root_read_lines(const Root *root, RootLine line, void *userdata, const char *format, ...) _printf_(4, 5);

/* Reads an attribute whose value is one line, with one system call less: what the kernel gives at once, when
 * a newline ends it, is the whole value. Else as root_read(). So do all that follow. */
int root_read_value(const Root *root, char **ret, const char *format, ...) _printf_(3, 4);
/* A decimal number; -EINVAL when the file holds something else. */
int root_read_int(const Root *root, int *ret, const char *format, ...) _printf_(3, 4);
/* CPUs in list form and in mask form; the caller frees. Errors as cpuset_parse_list(). */
int root_read_cpulist(const Root *root, CpuSet **ret, const char *format, ...) _printf_(3, 4);
int root_read_cpumask(const Root *root, CpuSet **ret, const char *format, ...) _printf_(3, 4);
/* A list, and the mode of its file, which tells whether it can be written. */
int root_read_cpulist_and_mode(const Root *root, CpuSet **ret, mode_t *ret_mode, const char *format, ...)
        _printf_(4, 5);

/* The names in a folder, without "." and "..", in natural order. *ret is replaced; the caller clears it. */
int root_list(const Root *root, Strv *ret, const char *format, ...) _printf_(3, 4);

/* The path below the root that a path leads to after all symbolic links; the caller frees. */
int root_realpath(const Root *root, char **ret, const char *format, ...) _printf_(3, 4);
/* The last component of a symbolic link's target ("megaraid_sas" of ".../driver"); the caller frees. */
int root_read_link_name(const Root *root, char **ret, const char *format, ...) _printf_(3, 4);

/* fstatat() of a path, links followed. */
int root_stat(const Root *root, struct stat *ret, const char *format, ...) _printf_(3, 4);
bool root_exists(const Root *root, const char *format, ...) _printf_(2, 3);
