/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "apply/protocol.h"
#include "basic/cleanup.h"
#include "basic/root.h"

#include <stdbool.h>

/* The machine that a desk works on: a few files that may be written, and bait around them: files that may
 * not, links to them, links out of the machine. */

typedef struct Object {
        const char *folder, *file; /* of the knob */
        const char *facts;         /* folder of what tells an IRQ from another one; NULL = none */
        const char *value;         /* what the knob says at first */
        WriterKind kind;
        bool changed, gone;
        char *first;  /* what the knob said before the writer's first write; NULL = not written */
        bool touched; /* the writer wrote */
} Object;

typedef struct Land {
        char dir[128];       /* of all that is below */
        char root[128 + 16]; /* the machine's root */
        Object objects[5];
        unsigned n_aside; /* objects that were put aside, so that their inodes are not given out again */
} Land;

/* Paths to ask for: those of the objects, in their order, and the bait. */
extern const char *const land_paths[];
extern const size_t land_n_paths;

void land_make(Land *l);
void land_remove(const Land *l);
/* All as it was at first. */
void land_reset(Land *l);

/* The object whose knob is at a path; NULL = none. */
Object *land_find(Land *l, const char *path);
/* Whether a device may have the knob at a path written: an interrupt of a PCI function has to be its own. */
bool land_owns(const char *device, const char *path);
/* What its knob says, without a final newline; NULL when it is gone. The caller frees. */
char *land_read(const Land *l, const Object *o);

/* What others do. */
void land_put(const Land *l, const Object *o, const char *value);
void land_replace(Land *l, Object *o);
void land_take_away(Land *l, Object *o);

/* The bait says what it said. */
void land_check_bait(const Land *l);
