/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "control/control.h"

#include <jansson.h>

/* What became of a controller's last step: {outcome, from, to, before: WINDOW, after: WINDOW or null}, where
 * WINDOW is {seconds, counters: {NAME: number ...}, share}; null when there was no step. A new reference;
 * NULL = memory is short. */
json_t *evidence_to_json(const Control *c);
json_t *evidence_window(const ControlKind *k, const ControlWindow *w);
