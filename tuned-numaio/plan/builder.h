/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/build.h"

/* What only plan() does with a builder. */

/* `in` must outlive the builder. Returns 0 or -ENOMEM. */
int plan_builder_new(const PlanInput *in, PlanBuilder **ret);
PlanBuilder *plan_builder_free(PlanBuilder *b);
DEFINE_CLEANUP(PlanBuilder, plan_builder_free)

/* Hands the plan over to the caller, who frees it. */
Plan *plan_builder_finish(PlanBuilder *b);

/* Frees what a change or wish holds and empties it. */
void change_clear(Change *c);
void wish_clear(ControlWish *w);
