/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

#include <sys/types.h>

/* The files, folders and links that make up a copy of a machine, in memory. */

typedef enum EntryType {
        ENTRY_FOLDER,
        ENTRY_FILE,
        ENTRY_LINK,
} EntryType;

typedef struct Entry {
        char *path; /* below the root, no part of it a link */
        EntryType type;
        mode_t mode;
        char *data; /* what a file holds, or where a link points; NULL = only the name is known; a NUL follows
                     */
        size_t size;
        int error; /* the negative errno of reading it, 0 = none */
} Entry;

typedef struct Collection Collection;

/* The collection looks at the machine through a root of its own, which it owns. Returns 0 or a negative
 * errno; the caller frees. */
int collection_new(const char *root, Collection **ret);
Collection *collection_free(Collection *c);
DEFINE_CLEANUP(Collection, collection_free)

/* A RootWatch, with the collection as its userdata: takes what another root of the same machine was asked
 * for, with the links on the way. Errors are kept until collection_error(). */
void collection_watch(void *collection, const RootEvent *event);
/* 0, or -ENOMEM if that ever happened. */
int collection_error(const Collection *c);

/* Puts a file that no root has, or replaces what is known of it. Takes `data`, which a NUL follows,
 * in any case. Returns 0 or
 * -ENOMEM. */
int collection_put(Collection *c, const char *path, char *data, size_t size);

/* Finds an entry by its path; NULL = there is none. The caller may change its data. */
Entry *collection_find(const Collection *c, const char *path);

/* The entries in order of path, so that a folder stands before what is in it. The array is replaced by the
 * next call, the entries belong to the collection. Returns 0 or -ENOMEM. */
int collection_entries(Collection *c, Entry ***ret, size_t *ret_n);
