/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/plan.h"

/* What plug-ins build a plan with. Pure like plan() itself. */
typedef struct PlanBuilder PlanBuilder;

/* Where a device's work belongs: the node of rule 1 and 2, its home CPUs of rule 3. */
typedef struct Home {
        bool leave; /* the policy says leave, or no rule matches this plug-in */
        int node;   /* NODE_UNKNOWN with spread: over all nodes */
        NodeSource source;
        CpuSet *cpus; /* empty = nowhere: node unknown, or no CPU is left */
        char *text; /* for the reason: "node 1 (numa_node of 0000:21:00.0)", with the nearest node where it is
                       used */
} Home;

void home_clear(Home *h);

const Snapshot *plan_snapshot(const PlanBuilder *b);
const Policy *plan_policy(const PlanBuilder *b);
const CpuSet *plan_full_cpus(const PlanBuilder *b);
bool plan_is_held(const PlanBuilder *b, const Device *d);
/* Whether a file is left to others: it is neither written nor counted elsewhere than it is. */
bool plan_is_left(const PlanBuilder *b, const char *path);

/* Finds the home of a device; the caller clears. -EINVAL with error text when the policy names CPUs that
 * cannot be used (isolated, nohz_full, not there), or a node that is not there or has no CPU. */
int plan_home(const PlanBuilder *b, const Device *d, Home *ret, Error *e);

/* A node's home CPUs: online, not isolated, not nohz_full, inside `allowed` (NULL = any); those of the
 * nearest node by distance that has some when it has none. *ret_node tells whose they are. Returns 0 (the set
 * may be empty when no node has any) or -ENOMEM. The caller frees. */
int plan_home_cpus(const Snapshot *s, int node, const CpuSet *allowed, CpuSet **ret, int *ret_node);

/* Those of `from` that may be a target: online, not isolated, not nohz_full, inside `allowed` (NULL = any).
 * Returns 0 or -ENOMEM; the caller frees. */
int plan_usable_cpus(const Snapshot *s, const CpuSet *from, const CpuSet *allowed, CpuSet **ret);

/* Checks a CPU list that a person wrote in a policy or override: -EINVAL with the reason when one of them is
 * isolated or nohz_full or does not exist, or none is online. *ret is the online part; the caller frees. */
int plan_check_cpus(const Snapshot *s, const CpuSet *wanted, const Setting *from, CpuSet **ret, Error *e);

/* What a reason calls such a list, with those of it that are offline; NULL when memory is short. The caller
 * frees. */
char *plan_describe_cpus(const Snapshot *s, const CpuSet *wanted);

/* Adds a change; takes ownership of what *c holds and clears it, also on failure. id and
 * reason.rule/file/line are filled here from `setting` (NULL = built in). role completes the id:
 * DEVICE~KNOB~ROLE, NULL = DEVICE~KNOB. */
int plan_add_change(PlanBuilder *b, const Device *d, const char *role, const Setting *setting, Change *c);

/* Says that a knob decides about a file that is another's by its kind: the other leaves it alone, and what
 * was ever written there is this one's now. The path is copied. Returns 0 or -ENOMEM. */
int plan_add_claim(PlanBuilder *b, const Device *d, const char *plugin, const char *knob, const char *path);

/* Has a controller set a knob. Takes ownership of what *w holds and clears it, also on failure; device is
 * filled here. Returns 0 or -ENOMEM. */
int plan_add_wish(PlanBuilder *b, const Device *d, ControlWish *w);
/* What the controller of a knob wants; NULL = there is none, or it has not changed anything so far. */
const ControlTarget *plan_target(const PlanBuilder *b, const Device *d, const char *knob);
/* Why there is none, for the reason of a knob that wishes for a controller. Static. */
const char *plan_no_target(const PlanBuilder *b);

/* Adds the verdict of one plug-in for one device; text is copied. */
int plan_add_verdict(PlanBuilder *b, const Device *d, const char *plugin, const char *knob,
                     VerdictState state, const Home *home, const Setting *setting, const char *format, ...)
        _printf_(8, 9);

/* Number of queues of all devices (kernel-managed ones too) whose interrupts go to each CPU: shared by all
 * devices on a node, so that the second HBA does not pile onto the first one's cores. */
typedef struct Loads {
        unsigned *cpu; /* by CPU number; n entries */
        unsigned n;
} Loads;

Loads *plan_loads(PlanBuilder *b);

/* One unit to place: a queue, whose rx and tx vectors stay together. */
typedef struct SpreadUnit {
        int queue;
        int cpu;      /* in: the home CPU it is on, -1 = to be placed; out: the CPU it goes to */
        bool movable; /* may be moved to even out */
        bool evened;  /* out: was moved off a home CPU, to even out */
} SpreadUnit;

/* Places the units of one device over its home CPUs (rule 4 and 5): one each over physical cores first, SMT
 * siblings after, even over cache domains, least loaded first; then evens out as long as one home CPU carries
 * at least two more than another. CPUs in `full` (NULL = none) are no targets as long as there are others.
 * Loads are updated by what was placed. Returns 0, -ENOMEM, or -EINVAL when cpus is empty. */
int spread(const Snapshot *s, const CpuSet *cpus, const CpuSet *full, Loads *loads, SpreadUnit *units,
           size_t n_units);
