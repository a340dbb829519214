/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "apply/apply.h"
#include "drift.h"
#include "model/snapshot.h"
#include "plan/plan.h"

#include <jansson.h>
#include <stdint.h>

/* The book of decisions: what was decided for each knob, why, and what became of it. Filled from plans and
 * from the writer's answers; kept over passes, and re-made from the ledger after a restart. */
typedef enum DecisionState {
        DECISION_RIGHT,   /* nothing had to be changed */
        DECISION_PLANNED, /* to be written: by the next apply, or by hand in the modes ask and never */
        DECISION_APPLIED, /* written, and it stands */
        DECISION_FAILED,  /* the write failed; tried again in the next round */
        DECISION_REFUSED, /* the kernel refuses this file: not tried again */
        DECISION_MANAGED, /* all vectors are kernel-managed */
        DECISION_LEFT,
        DECISION_UNKNOWN_NODE,
        DECISION_HELD,
        DECISION_DRIFTED,   /* somebody else changed it; put back later, or just reported */
        DECISION_YIELDED,   /* somebody else changed it, and may keep it so */
        DECISION_CONTESTED, /* the same, after it was put back in vain */
        DECISION_WAITING,   /* irqbalance runs: made when it has ended, or leaves this one alone */
        DECISION_ABSENT,    /* this kernel lacks the knob; the reason says what would provide it */
        DECISION_NONE,      /* no such knob on this device */
        DECISION_ERROR,     /* the policy asks for what cannot be */
        _DECISION_STATE_MAX,
} DecisionState;

typedef struct Decision {
        char *id; /* DEVICE~KNOB for a device, DEVICE~KNOB~ROLE for one file */
        char *device;
        char *plugin, *knob;
        char *path;           /* below the root; NULL for a device's */
        const FileKind *kind; /* of the file; NULL for a device's */
        int irq;              /* -1 = none */
        char *first;          /* the value before the first write; NULL = never written */
        char *set;            /* the value that was set last, by the ledger; NULL = none */
        char *current;        /* what was in force at the last look */
        char *desired;
        DecisionState state;
        bool optional; /* of the last change that was planned: what is in force is right too */
        bool wanted;   /* the last plan changes it */
        bool accepts;  /* ... and would be content with what was set */
        Drift drift;
        int error;      /* negative errno of the last write, 0 = none */
        bool no_ledger; /* that error is the ledger's: nothing was written */
        int node;
        Reason reason;
        uint64_t time;    /* of the last write, microseconds of the realtime clock; 0 = never */
        unsigned writes;  /* by this process */
        uint64_t round;   /* the last round of passes that tried it */
        char *tried;      /* the value that it tried; NULL = none */
        json_t *evidence; /* of the last step of a controller; NULL = none */
        bool waited; /* kept back while irqbalance ran: until it is written, what differs is that one's work
                      */
} Decision;

typedef struct Book Book;

Book *book_new(void);
Book *book_free(Book *b);
DEFINE_CLEANUP(Book, book_free)

/* Takes a plan over: new and changed decisions, verdicts, and what is in force now. Decisions about what is
 * no longer there are dropped; one about a file that another knob decides about now becomes that one's, with
 * all that is known of the file: there is never a second one for a path. Returns 0 or -ENOMEM. */
int book_update(Book *b, const Snapshot *s, const Plan *p);

/* What the writer answered for one change. now: realtime, microseconds. */
int book_result(Book *b, const ApplyResult *result, uint64_t now);

/* Adds the CPU that a change wanted to *full, when the answer shows that it had no free vector: another one
 * was taken, or none was found. To be asked before book_result(). Returns 0 or -ENOMEM. */
int decision_note_full(const Decision *d, const ApplyResult *result, CpuSet **full);

/* An entry of the ledger, found after a restart of this process or of the writer: the first value, and what
 * was set. The state and what is desired follow it only where no plan has said better. Returns 0 or -ENOMEM.
 */
int book_adopt(Book *b, const WriterReply *entry);

/* A path was put back to its first value, and counts as never written; or that failed with a negative errno,
 * which may be the ledger's. */
void book_restored(Book *b, const char *path, int error);

/* Keeps a change back while irqbalance runs; `why` goes before the reason. Returns 0 or -ENOMEM. */
int decision_wait(Decision *d, const char *why);

/* Notes that a round tries `value`. Returns false when this round tried it before: no second time then. */
bool decision_try(Decision *d, uint64_t round, const char *value);

/* Takes over what a look for drift made of d->drift: the state that follows from it. */
void decision_set_drift(Decision *d);

/* The paths of files that are left to others. Returns 0 or -ENOMEM; the caller clears *ret. */
int book_left(const Book *b, Strv *ret);

/* NULL = none. Belongs to the book, valid until its next change. */
Decision *book_find(Book *b, const char *id);
Decision *book_find_path(Book *b, const char *path);
size_t book_count(const Book *b);
Decision *book_at(Book *b, size_t i);

/* {id, device, plugin, knob, path, irq, first, current, desired, state, error, node, reason, time, writes,
 * drift: {count, set, foreign, since, next_try} or null, evidence: that of evidence_to_json() or null}; a new
 * reference, NULL when memory is short. */
json_t *decision_to_json(const Decision *d);
const char *decision_state_to_string(DecisionState s);
