/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/clock.h"

uint64_t clock_usec(clockid_t clock)
{
        struct timespec ts;

        clock_gettime(clock, &ts);
        return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}
