/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "manager-internal.h"

/* What the files of numaioctl measure share: manager-measure.c (the request and its window),
 * manager-measure-iova.c (a device's IOVA caches), manager-measure-xmit.c (where an iSCSI host's transmit
 * work runs). A file begins a measurement and ends it by measure_end(); until then m->measurement is its own.
 */

/* They return API_DEFERRED, or a negative errno with a text. */
int measure_iova(Manager *m, const Device *d, Error *e);
int measure_xmit(Manager *m, const Device *d, Error *e);

/* Begins the window, which is as long for all counters; `over` is called at its end. Returns API_DEFERRED, or
 * a negative errno with a text. */
int measure_window(Manager *m, sd_event_time_handler_t over, Error *e);
/* How long it was, or is so far. */
double measure_seconds(const Manager *m);

/* Whether the writer can be asked to measure, on a kernel without counters: 0, -EOPNOTSUPP on a copy of a
 * machine, or -ENOTCONN, with a text. */
int measure_check_writer(Manager *m, Error *e);

/* Ends it with an error. */
void measure_end(Manager *m, int error, const Error *e);
/* Ends it with {device, source, scope, seconds, caches, xmit}; takes over the references of the last two, of
 * which one is null. */
void measure_answer(Manager *m, const char *source, const char *scope, double seconds, json_t *caches,
                    json_t *xmit);
