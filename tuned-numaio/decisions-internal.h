/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "decisions.h"

/* What the files of the book share: decisions.c, and decisions-claims.c (which knob a decision is about). */

struct Book {
        Decision *items; /* in order of id */
        size_t n;
};

/* The place of an id, or where it would be. */
size_t book_locate(const Book *b, const char *id, bool *ret_found);
/* Frees what a decision holds, not the decision itself. */
void decision_clear(Decision *d);
/* Replaces a string by a copy; the old one stays when memory is short. NULL changes nothing. */
int decision_set_string(char **s, const char *value);
int decision_set_reason(Reason *to, const Reason *from);
/* NULL = the plan has no verdict of this knob. */
const Verdict *plan_verdict_of(const Plan *p, const char *device, const char *knob);

/* Makes each decision about a file one of the knob that decides about it in this plan; of those that it would
 * rename it drops the ones whose file is gone. Returns 0 or -ENOMEM. */
int book_hand_over(Book *b, const Snapshot *s, const Plan *p);
