/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/error.h"
#include "ctl/collection.h"

#include <stddef.h>

/* Packs the entries into a tar file below the folder `top`, compressed with zstd. Entries of which only the
 * name is known become empty files; those that could not be read are left out. Folders and files can be read
 * and removed by whoever unpacks it. The caller frees *ret. Returns 0, or a negative errno with the text in
 * *e. */
int tarfile_pack(const char *top, Entry *const *entries, size_t n, char **ret, size_t *ret_size, Error *e);

/* Writes a new file of mode 0600, or to standard output for "-". The file appears whole or not at all, also
 * when this process is killed: it gets its name last. -EEXIST when there is one of this name. */
int tarfile_write(const char *file, const char *data, size_t size, Error *e);
