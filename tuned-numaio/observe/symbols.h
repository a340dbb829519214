/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

#include <stdbool.h>

/* What no file of a kernel says, its functions do: /proc/kallsyms. */

typedef enum KernelSymbol {
        SYMBOL_DEPOT_WORK,      /* the depots of IOVA caches scale by themselves: drivers/iommu/iova.c */
        SYMBOL_NODE_MAX_ACTIVE, /* a workqueue that runs one item at a time heeds its affinity scope: those
                                   with kernel/workqueue.c of 6.9, that also came and went in stable kernels
                                 */
        _KERNEL_SYMBOL_MAX,
} KernelSymbol;

/* Zero-initialised nothing was asked for yet. */
typedef struct SymbolMemo {
        bool asked;
        bool told; /* it could be read */
        bool has[_KERNEL_SYMBOL_MAX];
} SymbolMemo;

/* Reads the symbols when the memo has none: 8 MB, once for each memo. Returns 0, also when they cannot be
 * told, or -ENOMEM. */
int symbols_ask(const Root *root, SymbolMemo *memo);

/* The symbols that the memo has, as lines of /proc/kallsyms without addresses: all that a copy of a machine
 * needs of its 8 MB. Returns 0 with *ret = NULL when they could not be told, or -ENOMEM; the caller frees. */
int symbols_excerpt(const SymbolMemo *memo, char **ret);
