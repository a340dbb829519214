/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "observe/observe.h"

typedef struct Refusals {
        const KnownRefusal *items;
        size_t n;
} Refusals;

/* Whether the kernel refused to have this file written before. */
bool refusals_know(const Refusals *r, const char *path);

/* Adds a file to the knobs of a device, when this kernel has it and it can be read. `path` leads there
 * without symbolic links; `role` is copied. Returns 1, 0 = it is not there, or -ENOMEM. */
int observe_knob(const Root *root, const Refusals *refusals, Device *d, WriterKind kind, const char *role,
                 const char *path);
