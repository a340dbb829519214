/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "apply/protocol.h"
#include "basic/root.h"

/* The closed table of what the writer may write: for each kind of file the form of its path, the form of its
 * value, and whose the object behind the path is. A row is everything
 * that a new kind needs. */
typedef struct Operation {
        WriterKind kind;
        const char *pattern; /* of the path: a component "#" is a number, "NAME#" a name that ends with one,
                                "*" a name, "**" one or more names; others are themselves */
        /* Whether the object is the device's at this moment: 0, or -ENODEV. NULL = that cannot be told. */
        int (*owner)(const Root *root, const char *path, const char *device);
        /* What has to be written to have things again as they are while the file says *value, which it may
         * replace: 0 or -ENOMEM. NULL = that value. */
        int (*first)(const Root *root, char **value);
} Operation;

/* NULL = there is no such kind. */
const Operation *operation_find(uint32_t kind);

/* Whether the path is one of this kind: whole components, numbers without leading zeros, names of letters,
 * digits and "_-:." that are neither "." nor "..". */
bool operation_accepts_path(const Operation *op, const char *path);

/* How its values read. */
const FileKind *operation_kind(const Operation *op);

/* Returns 0, or -EINVAL for a value that the writer does not write: one that is too long, of another form, or
 * the empty set (a workqueue takes it and means every CPU). */
int operation_check_value(const Operation *op, const char *value);

/* As file_kind_equal(). */
int operation_equal(const Operation *op, const char *a, const char *b);

/* The number in a path of the kind WRITER_IRQ_AFFINITY. */
unsigned operation_irq(const char *path);
