/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/build.h"

/* Whether iscsi.dynamic decides about the cpumask of a workqueue: workqueue.cpumask leaves it alone then.
 * Pure. Returns 1, 0 or -ENOMEM. */
int iscsi_holds_queue(const PlanBuilder *b, const Workqueue *w);
