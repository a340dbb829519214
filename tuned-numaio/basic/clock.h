/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>
#include <time.h>

/* What a clock says, in microseconds. CLOCK_REALTIME counts from 1970 on, the others from the boot. */
uint64_t clock_usec(clockid_t clock);
