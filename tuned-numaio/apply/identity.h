/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

/* What tells the object behind a file that can be written from a later one at the same path: IRQ numbers and
 * names of workqueues are given out again. A string that no other object at this path will have during this
 * boot; the caller frees. It is shorter than WRITER_IDENTITY_MAX. The writer keeps it beside what it has
 * done, and both sides compare. Returns 0, -ENOENT when nothing is there, or another negative errno. */
int object_identity(const Root *root, const char *path, char **ret);
