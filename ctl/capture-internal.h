/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/error.h"
#include "ctl/anonymise.h"
#include "ctl/collection.h"

/* The steps of a capture that can be tried by themselves. */

/* Looks at the machine as the daemon does, and at what sources.h names. -ENOENT and the like for a folder
 * that is no machine. The caller frees. */
int capture_collect(const char *root, Collection **ret, Error *e);

/* Learns what identifies the machine from the collection, and from files of the root that are not in it. */
int capture_learn(Anonymiser *a, const Root *root, Entry *const *entries, size_t n);

/* Replaces it in paths, links and contents; the entries keep their order. */
int capture_replace(Anonymiser *a, Entry *const *entries, size_t n);

/* -EBADMSG when anything of it is left, with the path in *e. */
int capture_check(const Anonymiser *a, Entry *const *entries, size_t n, Error *e);
