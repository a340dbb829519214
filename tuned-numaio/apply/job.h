/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Work of an applier; included by the files of this folder alone. */

#include "apply/apply.h"
#include "basic/cpuset.h"

/* One piece of work, waiting or sent. */
typedef struct Job {
        struct Job *next;
        WriterOp op;
        WriterKind kind;
        uint32_t seq;
        char *device, *id, *path, *value;
        /* SET, after -ENOSPC: the CPUs that were not tried yet, where to go on, and the whole set, which
         * comes last. */
        CpuSet *untried;
        int last_cpu;
        char *whole;
        ApplyEntry each;      /* LIST */
        ApplySocket got;      /* ISCSI */
        ApplyAnswer answered; /* BAN, PROBE */
        void *userdata;
} Job;

typedef struct Queue {
        Job *head, **tail;
        size_t n;
} Queue;

/* Each copies what it needs and returns 0, -ENOMEM, or -ENAMETOOLONG for a string that the protocol has no
 * room for. NULL strings are "". */
int job_new(WriterOp op, const char *device, const char *path, Job **ret);
int job_set_id(Job *j, const char *id);
int job_set_value(Job *j, const char *value);
/* The CPUs (a list) to try after -ENOSPC; also -EINVAL or -ERANGE for what is no list. After
 * job_set_value(). */
int job_set_fallback(Job *j, const char *cpus);
Job *job_free(Job *j);
DEFINE_CLEANUP(Job, job_free)

/* Takes the next value to try where no vector was left: one CPU after the other, then all of them. Returns 1,
 * 0 when nothing is left, or -ENOMEM. */
int job_next_value(Job *j);

void queue_init(Queue *q);
/* They take the job over. */
void queue_push(Queue *q, Job *j);
void queue_push_front(Queue *q, Job *j);
/* NULL when it is empty; the caller frees. */
Job *queue_pop(Queue *q);
