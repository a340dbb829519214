/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What iova.depot: auto does about a busy device at the end of a window, as far as it depends on counters
 * alone. */
#define RULE_MISS_SHARE 0.005 /* of all allocations: fewer misses are no reason to change anything */

typedef enum RuleStep {
        RULE_KEEP,
        RULE_DOUBLE,
        RULE_BACK, /* to the limit before the last step, which did not help, and there it stays */
} RuleStep;

/* What to do after a window with this share of misses. `before` is the share of the window before the last
 * doubling, or NULL when there was none. */
static inline RuleStep rule_step(const double *before, double misses, bool dropped, unsigned limit,
                                 unsigned max)
{
        if (before && misses >= *before)
                return RULE_BACK;
        return dropped && misses > RULE_MISS_SHARE && 2 * limit <= max ? RULE_DOUBLE : RULE_KEEP;
}
