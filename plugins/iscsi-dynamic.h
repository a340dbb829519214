/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/build.h"

/* iscsi.dynamic: which CPUs a software iSCSI host's transmit work runs on. The choice is made by what the
 * kernel offers; docs/iscsi.md has the table. All of it is pure. */

#define DYNAMIC "iscsi.dynamic"

/* How the policy's wish is brought about. */
typedef enum XmitWay {
        WAY_NONE,    /* not at all: Choice.state and why */
        WAY_OFF,     /* one pool for the queue, as the kernel makes it */
        WAY_HINT,    /* xmit_numa: on the node that receives */
        WAY_CPUMASK, /* the queue runs on the node that receives */
        WAY_NUMA,    /* a pool for each node: on the node that submits; up to 6.5 */
        WAY_SCOPE,   /* the same from 6.9 on */
        WAY_WATCH,   /* pools and hint stay as they are, on every CPU, until a controller says otherwise */
        WAY_BACK,    /* a controller has taken its step back: one pool, on every CPU */
        _XMIT_WAY_MAX,
} XmitWay;

typedef struct Choice {
        const Setting *setting; /* NULL = no rule */
        const Workqueue *queue; /* iscsi_q_N; NULL = sysfs does not show it */
        XmitWay way;
        VerdictState state; /* of WAY_NONE */
        char *why;          /* of WAY_NONE; of others what has to be added, NULL = nothing */
        Home home;
} Choice;

void choice_clear(Choice *c);

/* Chooses for a device; the caller clears, also on failure. Returns 0, -ENOMEM, or -EINVAL with a text when
 * the policy asks for CPUs or a node that cannot be used. */
int iscsi_choose(const PlanBuilder *b, const Device *d, Choice *ret, Error *e);

/* Whether a way sets the queue's cpumask. */
bool way_holds_mask(XmitWay way);

/* plugins/iscsi-auto.c: of WAY_WATCH what a controller has found, and the wish for one. Returns 0 or -ENOMEM.
 */
int iscsi_control(PlanBuilder *b, const Device *d, Choice *c);

/* Plans a choice. Returns 0 or -ENOMEM. */
int iscsi_plan_way(PlanBuilder *b, const Device *d, const Choice *c);

/* plugins/iscsi-transmit.c: the knob iscsi.transmit, whole. Returns 0 or -ENOMEM. */
int iscsi_plan_transmit(PlanBuilder *b, const Device *d);
