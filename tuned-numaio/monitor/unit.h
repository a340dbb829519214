/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/cleanup.h"

#include <stdbool.h>
#include <systemd/sd-event.h>

/* Whether a unit of the system's manager is active, over D-Bus and without any privilege. */
typedef struct UnitWatch UnitWatch;

/* Its state has changed, or is not known any more. Called from the event loop; it must not free the watch. */
typedef void (*UnitHandler)(void *userdata);

/* Asks once, waiting a few seconds at most, and listens from then on; a connection that is lost is opened
 * again, without waiting, more and more rarely. `unit` has to live as long as the watch. Returns 0, or a
 * negative errno when nobody can be asked (-ENOENT, -ECONNREFUSED: there is no bus), which is not tried
 * again. The caller frees. */
int unit_watch_new(sd_event *event, const char *unit, UnitHandler handler, void *userdata, UnitWatch **ret);
UnitWatch *unit_watch_free(UnitWatch *w);
DEFINE_CLEANUP(UnitWatch, unit_watch_free)

/* Whether it runs: also while it starts or stops. */
bool unit_watch_is_active(const UnitWatch *w);

/* Negative errno: the bus is gone or does not answer, and the unit counts as not active; 0 = it is there. */
int unit_watch_error(const UnitWatch *w);

/* Whether a unit in this ActiveState has, or may have, processes. */
bool unit_state_is_active(const char *active_state);
