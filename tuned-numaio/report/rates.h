/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "model/snapshot.h"
#include "observe/counters.h"
#include "plan/plan.h"

/* Interrupts per second between two looks at the counters, as JSON text: {window_seconds, per_second, nodes:
 * [{id, per_second}], devices: [{id, class, node, per_second, local_per_second, remote_per_second}]}, rates
 * with three decimals. Text at once and no tree of values: this is what is asked for again and again. A
 * vector's interrupts are counted where its effective affinity was at the snapshot's look; nodes count those
 * of the devices alone, and a vector whose CPUs belong to several nodes is in none of them. local and remote
 * are 0 while the device's node is unknown. usec: between the two looks, more than 0. plan may be NULL. The
 * caller frees; NULL when memory is short. */
char *report_rates(const Snapshot *s, const Plan *p, const Counters *before, const Counters *now,
                   uint64_t usec);
