/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ctl/ctl.h"

/* How each verb's answer looks to people. Each returns 0 or a negative errno. */
int show_status(Ctl *c, const json_t *answer, Error *e);
int show_topology(Ctl *c, const json_t *answer, Error *e);
int show_devices(Ctl *c, const json_t *answer, Error *e);
int show_device(Ctl *c, const json_t *answer, Error *e);
int show_rates(Ctl *c, const json_t *answer, Error *e);
int show_plan(Ctl *c, const json_t *answer, Error *e);
int show_applied(Ctl *c, const json_t *answer, Error *e);
int show_restored(Ctl *c, const json_t *answer, Error *e);
int show_decisions(Ctl *c, const json_t *answer, Error *e);
int show_measured(Ctl *c, const json_t *answer, Error *e);
int show_captured(Ctl *c, const json_t *answer, Error *e);
int show_decision(Ctl *c, const json_t *answer, Error *e);
