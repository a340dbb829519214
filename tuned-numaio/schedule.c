/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schedule.h"

void schedule_event(Schedule *s, uint64_t now)
{
        if (!s->dirty)
                s->first = now;
        s->dirty = true;
        s->last = now;
        s->settle = true;
}

void schedule_passed(Schedule *s, uint64_t begin, uint64_t end)
{
        if (begin >= s->last + SCHEDULE_SETTLE)
                s->settle = false;
        s->dirty = false;
        s->pass = end;
}

uint64_t schedule_next(const Schedule *s, uint64_t now)
{
        uint64_t due;

        if (!s->dirty)
                return s->settle ? s->last + SCHEDULE_SETTLE : UINT64_MAX;
        /* Quiet before the first of these events: at once. */
        if (s->pass == 0 || s->first > s->pass + SCHEDULE_QUIET)
                return 0;
        due = s->last + SCHEDULE_GAP;
        if (due > s->first + SCHEDULE_MAX)
                due = s->first + SCHEDULE_MAX;
        return due <= now ? 0 : due;
}
