/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/irqlist.h"

/* What about irqbalance has to outlive the writer: two files of a folder, which is given by its descriptor.
 * Each is written whole or not at all. */

/* What was sent to an irqbalance, in the file "irqbalance". */
typedef struct BanMemo {
        char *instance; /* tells it from every other irqbalance; NULL = nothing was sent */
        IrqList users;  /* those that users had banned */
        IrqList sent;   /* all that was sent last */
} BanMemo;

void ban_memo_clear(BanMemo *m);

/* A memo that is not there, or not whole, is an empty one. Returns 0 or a negative errno. */
int ban_memo_read(int folder, BanMemo *m);
int ban_memo_put(int folder, const BanMemo *m);

/* Puts IRQs, one in a line, into the file "irqs", where the policy script looks them up; an empty list takes
 * it away. *ret_changed tells whether it said something else before. Returns 0 or a negative errno. */
int ban_put_list(int folder, const IrqList *ours, bool *ret_changed);
