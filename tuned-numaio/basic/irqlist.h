/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

/* A set of IRQ numbers. Zero-initialised it is empty. */
typedef struct IrqList {
        unsigned *items; /* ascending, each once */
        size_t n;
} IrqList;

#define IRQ_LIST_MAX   65536u     /* numbers in a list that is parsed */
#define IRQ_NUMBER_MAX 999999999u /* nine digits */

/* Empties it; it is reusable afterwards. */
void irq_list_clear(IrqList *l);

bool irq_list_contains(const IrqList *l, unsigned irq);
bool irq_list_equal(const IrqList *a, const IrqList *b);

/* They return 0 or -ENOMEM. */
int irq_list_add(IrqList *l, unsigned irq);
int irq_list_add_all(IrqList *to, const IrqList *from);
int irq_list_copy(const IrqList *l, IrqList *ret);

/* Takes the numbers of `what` away, or all but those. */
void irq_list_remove_all(IrqList *l, const IrqList *what);
void irq_list_keep_all(IrqList *l, const IrqList *what);

/* Parses numbers and ranges, "4,24-31"; "" = none. No blanks, no leading zeros, ascending inside a range.
 * Returns 0, -EINVAL, -E2BIG for more than IRQ_LIST_MAX (one that comes again counts again), or -ENOMEM; *ret
 * is replaced, and untouched on failure. */
int irq_list_parse(const char *text, IrqList *ret);

/* The same form; the caller frees. NULL when memory is short. */
char *irq_list_format(const IrqList *l);
