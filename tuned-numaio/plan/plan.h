/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/error.h"
#include "control/control.h"
#include "model/file-kind.h"
#include "model/snapshot.h"
#include "policy/policy.h"

/* What should be changed, and why. Made by plan(), a pure function: no I/O, no clock, the same input gives
 * the same plan. */

typedef struct Reason {
        char *rule;    /* name of the rule; "builtin" = none set it */
        char *file;    /* its file, "" = none */
        unsigned line; /* 0 = none */
        char *text;    /* a sentence with the facts that were used */
} Reason;

typedef struct Change {
        char *id;           /* DEVICE~KNOB~ROLE, stable over passes */
        char *device;       /* device id */
        const char *plugin; /* plug-in's name, static */
        const char *knob;   /* "irq.affinity", static */
        WriterKind kind;
        char *path;    /* below the root */
        char *current; /* what is in force, in the form of desired */
        char *desired; /* what will be written: in the form of its kind */
        Settable settable;
        Reason reason;
        int irq;        /* -1 = none */
        char *fallback; /* the whole set that is right too (cpulist); NULL = none. -ENOSPC tries its CPUs,
                           then all of it */
        bool optional;  /* evens out: where it is now is right too */
} Change;

/* One for each device and plug-in: how things stand there, also where nothing is to be changed. */
typedef enum VerdictState {
        VERDICT_RIGHT,        /* everything settable is where it belongs */
        VERDICT_CHANGES,      /* there are changes */
        VERDICT_MANAGED,      /* all vectors are kernel-managed */
        VERDICT_LEFT,         /* policy says leave, or no rule matches */
        VERDICT_UNKNOWN_NODE, /* left alone: nobody says which node it is on */
        VERDICT_HELD,         /* restored by hand, waits for apply */
        VERDICT_ABSENT,       /* this kernel lacks the knob; the reason says what would provide it */
        VERDICT_NONE,         /* no knob of this kind there */
        VERDICT_ERROR,        /* the policy asks for what cannot be (an isolated CPU by name ...) */
        _VERDICT_STATE_MAX,
} VerdictState;

typedef struct Verdict {
        char *device;
        const char *plugin;
        const char *knob;
        VerdictState state;
        int node; /* node that was planned for, NODE_UNKNOWN = none */
        NodeSource node_source;
        Reason reason;
} Verdict;

/* A file that another knob decides about than the one whose it is by its kind (FileKind.knob), whether it is
 * changed or not. */
typedef struct Claim {
        char *device; /* device id */
        char *path;   /* below the root */
        const char *plugin, *knob;
} Claim;

/* A knob that a controller is to set. */
typedef struct ControlWish {
        char *device; /* device id */
        const char *knob;
        const ControlKind *kind;
        char *path;     /* of the knob's file */
        char *counters; /* of the file that tells whether it helps */
        long level;     /* in force */
        long first;     /* in force where the file's first value is a word: that of the default */
        long max;
} ControlWish;

/* What a controller wants. */
typedef struct ControlTarget {
        const char *device, *knob;
        long level;
        const char *text; /* why, as the beginning of a reason */
} ControlTarget;

typedef struct Plan {
        Change *changes; /* in the order of devices, then vectors */
        size_t n_changes;
        Verdict *verdicts; /* in the order of devices, then plug-ins */
        size_t n_verdicts;
        Claim *claims; /* each path at most once */
        size_t n_claims;
        ControlWish *wishes; /* one for each device and knob, at most */
        size_t n_wishes;
} Plan;

/* What people decided besides the policies. */
typedef struct PlanInput {
        const Snapshot *snapshot;
        const Policy *policy;
        const Strv *held; /* ids of devices that were restored and are held; NULL = none */
        const Strv *left; /* files that are left to others, as paths below the root: not written, and what is
                             in them counts where it is; NULL = none */
        const CpuSet *full; /* CPUs that had no free vector (ENOSPC): no queue is moved there; NULL = none */
        const ControlTarget *targets; /* of controllers */
        size_t n_targets;
} PlanInput;

/* Returns 0 or -ENOMEM. The caller frees. */
int plan(const PlanInput *in, Plan **ret);

Plan *plan_free(Plan *p);
DEFINE_CLEANUP(Plan, plan_free)

const char *verdict_state_to_string(VerdictState s);
