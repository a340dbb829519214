/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* When to look again after events: the first event after quiet acts at once, later ones within SCHEDULE_GAP,
 * and at most SCHEDULE_MAX behind a storm. Pure: the clock comes in. All times in microseconds of the
 * monotonic clock. */
#define SCHEDULE_GAP   20000u
#define SCHEDULE_MAX   250000u
#define SCHEDULE_QUIET 250000u
/* A second look after the last event: drivers write their own masks a while after link and CPU events, and
 * IRQs appear without any event. */
#define SCHEDULE_SETTLE 1000000u

typedef struct Schedule {
        bool dirty;
        uint64_t first; /* of the events that wait */
        uint64_t last;  /* of all events */
        uint64_t pass;  /* end of the last pass; 0 = none yet */
        bool settle;    /* the second look is due */
} Schedule;

/* An event came. */
void schedule_event(Schedule *s, uint64_t now);
/* A pass was made between two times: what came before it is dealt with. The settling look is done when the
 * pass began late enough after the last event; an earlier pass, of whatever cause, does not replace it. */
void schedule_passed(Schedule *s, uint64_t begin, uint64_t end);
/* When the next pass is due: 0 = at once, UINT64_MAX = not until the next event. */
uint64_t schedule_next(const Schedule *s, uint64_t now);
