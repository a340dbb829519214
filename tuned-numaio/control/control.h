/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

#include <stdbool.h>
#include <stdint.h>

/* A controller of one knob: while the device is busy and too much of what it does goes wrong, it moves the
 * knob one step, lets a window pass, measures one, or some more while what the step made room for still
 * fills, and goes back when that did not help. When the load has gone it shrinks again. Pure: windows come
 * in, levels go out; docs/iova.md has the states. */

/* Windows: while something is under way, and while the device is idle. */
#define CONTROL_WINDOW_USEC 2000000u
#define CONTROL_IDLE_USEC   10000000u

/* Running counters of what a knob acts upon. */
typedef struct ControlCounters {
        uint64_t total;    /* of what is counted: allocations */
        uint64_t bad;      /* those of them that went wrong: misses */
        uint64_t pressure; /* signs that a higher level would help: dropped magazines */
} ControlCounters;

/* What they gained in a window. */
typedef struct ControlWindow {
        uint64_t usec;
        ControlCounters count;
} ControlWindow;

/* Shares are in 1/10,000. */
#define CONTROL_WHOLE 10000u

/* How a knob is controlled. Static data of its plug-in. */
typedef struct ControlKind {
        const char *total, *bad, *pressure; /* names of the counters, in evidence */
        unsigned threshold;                 /* a larger share of bad ones calls for a step */
        unsigned gain;            /* by how much of itself that has to fall for the step to be kept */
        unsigned busy;            /* of total in a second: fewer are no load */
        long (*up)(long level);   /* the next level */
        long (*down)(long level); /* the one before, when the load has gone; NULL = it stays */
        /* Reads the counters of a file below the root. Returns 0 or a negative errno. */
        int (*read)(const Root *root, const char *path, ControlCounters *ret);
} ControlKind;

typedef enum ControlState {
        CONTROL_WATCH,
        CONTROL_WRITE,  /* `wanted` is not in force yet */
        CONTROL_SETTLE, /* the window after the write, in which caches fill */
        CONTROL_MEASURE,
        _CONTROL_STATE_MAX,
} ControlState;

/* What became of the last step up. */
typedef enum ControlOutcome {
        CONTROL_NOTHING,   /* there was none */
        CONTROL_MEASURING, /* it is under way */
        CONTROL_KEPT,      /* it helped */
        CONTROL_BACK,      /* it did not: the level before it is in force again */
        CONTROL_UNDECIDED, /* the load ended, or the counters were lost, before that could be told: the same
                            */
        CONTROL_FAILED,    /* it could not be written, or was not put in force */
        _CONTROL_OUTCOME_MAX,
} ControlOutcome;

typedef struct Control {
        const ControlKind *kind;
        long base;   /* never shrinks below: in force before the first step */
        long level;  /* in force */
        long wanted; /* what should be */
        long max;
        ControlState state;
        unsigned idle;    /* windows without load in a row */
        unsigned blind;   /* windows that told nothing in a row */
        unsigned filling; /* measured windows that a step in force still had room in */
        unsigned fresh;   /* windows for which the last sign of pressure still counts */
        unsigned rest;    /* busy windows until the next step may be tried */
        unsigned vain;    /* steps that did not help, in a row */
        /* Evidence of the last step up. */
        ControlOutcome outcome;
        bool ignored; /* of CONTROL_FAILED: it was written without an error */
        long from, to;
        ControlWindow before, after; /* after.usec 0 = not measured */
} Control;

void control_init(Control *c, const ControlKind *kind, long base, long level, long max);

/* The gain between two looks. Returns false when it cannot be told: a counter went back. */
bool control_between(const ControlCounters *before, const ControlCounters *after, ControlCounters *ret);

/* Share of the bad ones; 0 without any. */
unsigned control_share(const ControlWindow *w);

/* A window has ended; NULL = it tells nothing, since counters were lost or began anew. Returns whether
 * `wanted` has changed and has to be written. */
bool control_step(Control *c, const ControlWindow *w);

/* What was wanted is in force (0), or cannot be written (a negative errno): then what was in force before is
 * wanted again. */
void control_written(Control *c, int error);
/* It was written without an error, and what was in force before still is: the same as an error. */
void control_ignored(Control *c);

/* How long the next window lasts. */
uint64_t control_period(const Control *c);

const char *control_outcome_to_string(ControlOutcome o);

/* What it does and did, for people: "doubles from 8 to 16: 1.07 % of 4,000 allocations were misses". NULL
 * when memory is short; the caller frees. */
char *control_text(const Control *c);
