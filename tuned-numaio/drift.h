/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "model/file-kind.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stdint.h>

/* Drift: a file that was set, and no longer holds what was set, because somebody else wrote it. What the plan
 * itself wants differently now is none, nor what a driver or the kernel does after an event (drift-events.h):
 * such a file is planned anew. Pure: the clock comes in. All times in microseconds, of the monotonic clock
 * where nothing else is said. */

#define DRIFT_SECOND UINT64_C(1000000)
/* Drivers write their masks so long after their event; udev tells of one so late. */
#define DRIFT_EVENT_WINDOW (5 * DRIFT_SECOND)
/* The first drift is put back at once, the next so long after that, the next after twice as long. */
#define DRIFT_WAIT (10 * DRIFT_SECOND)
/* So many fights within this time, and the file is contested: left to the others. A fight is a value that was
 * put back. */
#define DRIFT_FIGHTS       3u
#define DRIFT_FIGHT_WINDOW (600 * DRIFT_SECOND)
/* Looks after a file was put back, at DRIFT_WAIT and each twice as late as the one before; the regular look
 * follows. */
#define DRIFT_LOOKS 5u
/* A contested file is tried again after this time, and twice as late each time that it is contested anew. */
#define DRIFT_QUIET     (3600 * DRIFT_SECOND)
#define DRIFT_QUIET_MAX (24 * DRIFT_QUIET)

typedef enum DriftState {
        DRIFT_NONE,      /* no drift, or none that is not explained */
        DRIFT_FOUND,     /* somebody else's value is in force, and may be put back now */
        DRIFT_WAITING,   /* it is put back at `next` */
        DRIFT_REPORTED,  /* left as it is: on_drift: report */
        DRIFT_YIELDED,   /* left to the others: on_drift: yield */
        DRIFT_CONTESTED, /* left to the others after too many fights, until `next` */
        _DRIFT_STATE_MAX,
} DriftState;

typedef struct DriftTime {
        uint64_t now;
        uint64_t real; /* the same moment on the realtime clock */
} DriftTime;

/* What is known of one file. Zero-initialised it is one without drift. */
typedef struct Drift {
        DriftState state;
        char *foreign;                 /* somebody else's value, the last one that was seen; NULL = none */
        DriftTime since;               /* when it was found; now = 0: it is not in force */
        DriftTime next;                /* when it is put back or tried again; now = 0: not by itself */
        uint64_t fights[DRIFT_FIGHTS]; /* when it was put back, in order of time */
        unsigned n_fights;
        unsigned contests; /* in a row */
} Drift;

/* What one look found out about the file. */
typedef struct DriftLook {
        const char *current;  /* the set in force */
        const char *set;      /* what was set last; NULL = nothing, or nothing that counts any more */
        const FileKind *kind; /* of the file */
        bool wanted;          /* the plan would write the file */
        bool accepts;         /* the plan would still be content with what was set */
        bool by_hand;         /* somebody asked to apply: what was left to others is taken back */
        bool automatic;       /* plans are carried out without being asked for */
        bool explained;       /* it is known whose doing it is */
        uint64_t event;       /* the last event that explains a change of this file; 0 = none */
        OnDrift mode;
} DriftLook;

/* Takes a look over. Returns 1 when the new state is to be told to people (it was reported, yielded or
 * contested just now, or a reported one has another value), 0 when not, -ENOMEM. Looking twice at the same
 * moment changes nothing. */
int drift_look(Drift *d, const DriftLook *look, const DriftTime *t);

/* The plan wrote the file. In the state DRIFT_FOUND that was a fight. */
void drift_written(Drift *d, uint64_t now);

/* Policies were read anew: fights are forgotten, and what was contested is tried again. */
void drift_forget_fights(Drift *d);

/* Forgets everything. */
void drift_clear(Drift *d);

/* Whether the file is left to others: it is not written, and counts where it is. */
bool drift_is_left(const Drift *d);
/* Whether it is theirs for good, or for a long time: what is only reported is left too, but to nobody. */
bool drift_is_given_up(const Drift *d);

/* When to look at the file again, UINT64_MAX = no sooner than at others. */
uint64_t drift_due(const Drift *d, uint64_t now);

/* Whether a plan that wants `desired` would be content with `set`: it wants just that, or anything inside
 * `fallback` is right (NULL = none), or it evens out, for which the file's own value is no reason. */
bool drift_accepts(const char *set, const char *desired, const char *fallback, bool optional,
                   const FileKind *kind);
