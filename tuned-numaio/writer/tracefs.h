/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

/* What the writer does in tracefs: docs/iova.md and docs/iscsi.md say when. */

#define TRACEFS           "sys/kernel/tracing"
#define TRACEFS_INSTANCES TRACEFS "/instances"

/* Writes a whole text, at once, to a file below the root that no link leads to; flags are added to O_WRONLY.
 * Returns 0, -EXDEV for a file of the live machine that is not tracefs's, or a negative errno. */
int tracefs_put(const Root *root, int flags, const char *path, const char *text);

/* Makes a tracing instance, and removes one with all that was set in it. They return 0 or a negative errno:
 * -ENOENT without tracefs or the instance, -EEXIST, -EBUSY while somebody has one of its files open. */
int tracefs_make_instance(const Root *root, const char *name);
int tracefs_remove_instance(const Root *root, const char *name);
