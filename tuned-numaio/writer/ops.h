/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "apply/protocol.h"
#include "basic/root.h"

/* The closed table of what the writer may write: for each kind of file the form of its path, the form of its
 * value, and what tells the object behind the path from a later one of the same name. A row is everything
 * that a new kind needs. */
typedef struct Operation {
        WriterKind kind;
        const char *knob;    /* name in the journal, as in policies */
        const char *pattern; /* of the path: a component "#" is a number, "*" a name, others are themselves */
        const char *charset; /* the characters that a value consists of */
        /* Reads a value as the kernel would, to compare and to refuse the empty set. */
        int (*parse)(const char *text, CpuSet **ret);
        /* A string that no other object at this path will have during this boot; the caller frees. */
        int (*identity)(const Root *root, const char *path, char **ret);
        /* Whether the object is the device's at this moment: 0, or -ENODEV. NULL = that cannot be told. */
        int (*owner)(const Root *root, const char *path, const char *device);
} Operation;

/* NULL = there is no such kind. */
const Operation *operation_find(uint32_t kind);

/* Whether the path is one of this kind: whole components, numbers without leading zeros, names of letters,
 * digits and "_-:." that are neither "." nor "..". */
bool operation_accepts_path(const Operation *op, const char *path);

/* Returns 0, or -EINVAL for a value that the writer does not write: another form, or the empty set (a
 * workqueue takes it and means every CPU). */
int operation_check_value(const Operation *op, const char *value);

/* Returns 1 when two values say the same, 0 when they do not (a value that cannot be read equals none), or
 * -ENOMEM. */
int operation_equal(const Operation *op, const char *a, const char *b);

/* The number in a path of the kind WRITER_IRQ_AFFINITY. */
unsigned operation_irq(const char *path);
