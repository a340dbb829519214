/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/cleanup.h"
#include "policy/policy.h"

#include <jansson.h>

/* A machine below a root, without the daemon: the live one for looking, a copy for everything. */
typedef struct Machine Machine;

/* Reads the policy (NULL = the compiled-in one), what an earlier apply left in ROOT/run/tuned-numaio, and the
 * machine. On failure *e says why; errors of the policy stand in *errors instead. */
int machine_open(const char *root, const char *policy, Machine **ret, PolicyErrors *errors, Error *e);
Machine *machine_free(Machine *m);
DEFINE_CLEANUP(Machine, machine_free)

/* The same answers as the API's; the caller releases. argument is a device's or decision's id; NULL = all. */
int machine_topology(Machine *m, const char *argument, json_t **ret, Error *e);
int machine_devices(Machine *m, const char *argument, json_t **ret, Error *e);
int machine_device(Machine *m, const char *argument, json_t **ret, Error *e);
int machine_plan(Machine *m, const char *argument, json_t **ret, Error *e);
int machine_decisions(Machine *m, const char *argument, json_t **ret, Error *e);
int machine_decision(Machine *m, const char *argument, json_t **ret, Error *e);

/* Carries the plan out on a copy, again and again until nothing is left to do, or four times. Devices that
 * were held are released. -EPERM on the live machine. */
int machine_apply(Machine *m, const char *argument, json_t **ret, Error *e);
/* Puts first values back, and holds the devices. -EPERM on the live machine. */
int machine_restore(Machine *m, const char *argument, json_t **ret, Error *e);
