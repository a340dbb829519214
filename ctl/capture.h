/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/error.h"

#include <jansson.h>

/* Copies what places a machine's interrupts and workers, with everything replaced that identifies it, and
 * packs it into a new file ("-" = standard output). root is "/" or a copy. The answer tells what was done:
 * "file", "files", "bytes" (of the file), "replaced" ({kind: number}) and "unreadable" ([{"path", "error"}]);
 * the caller releases it. Nothing is written when something that identifies the machine would be left.
 * Returns 0, or a negative errno with the text in *e. */
int capture(const char *root, const char *file, json_t **ret, Error *e);
