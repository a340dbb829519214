/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/cleanup.h"

#include <syslog.h>

/* Message ids of the structured journal entries; docs/architecture.md lists them for readers of the journal.
 */
#define MESSAGE_ID_CHANGE   "5b1a3c1d9a8e4f0d8b6e2f7c40d1a9e1" /* a knob was written */
#define MESSAGE_ID_REFUSED  "5b1a3c1d9a8e4f0d8b6e2f7c40d1a9e2" /* the kernel refused a write */
#define MESSAGE_ID_RESTORED "5b1a3c1d9a8e4f0d8b6e2f7c40d1a9e3" /* a knob was put back to its first value */
#define MESSAGE_ID_POLICY   "5b1a3c1d9a8e4f0d8b6e2f7c40d1a9e4" /* a policy was loaded or refused */
#define MESSAGE_ID_OVERRUN                                                               \
        "5b1a3c1d9a8e4f0d8b6e2f7c40d1a9e5" /* events were lost: everything is read again \
                                            */
#define MESSAGE_ID_IRQBALANCE "5b1a3c1d9a8e4f0d8b6e2f7c40d1a9e7" /* irqbalance has started or ended */
#define MESSAGE_ID_UNKNOWN    "5b1a3c1d9a8e4f0d8b6e2f7c40d1a9e6" /* a device's node is not known */
#define MESSAGE_ID_CONTESTED \
        "5b1a3c1d9a8e4f0d8b6e2f7c40d1a9f1" /* a file that others fight over is left to them */
#define MESSAGE_ID_DRIFT "5b1a3c1d9a8e4f0d8b6e2f7c40d1a9f2" /* somebody else's value is left in force */

/* Writes one line at a syslog level (LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG): to the journal
 * when standard error is connected to it, else to standard error. Lines above the level of NUMAIO_LOG_LEVEL
 * (a name or number, default info) are dropped. Called by main files and event handlers; library code does
 * not log. */
void log_line(int level, const char *format, ...) _printf_(2, 3);

#define log_error(...)   log_line(LOG_ERR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_notice(...)  log_line(LOG_NOTICE, __VA_ARGS__)
#define log_info(...)    log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...)   log_line(LOG_DEBUG, __VA_ARGS__)

/* What one structured entry about a knob carries; NULL members are left out. */
typedef struct LogKnob {
        const char *message_id;
        const char *device, *knob, *path, *old_value, *new_value, *rule;
        int error; /* negative errno, 0 = none */
} LogKnob;

/* A line with the fields NUMAIO_DEVICE, NUMAIO_KNOB, NUMAIO_PATH, NUMAIO_OLD, NUMAIO_NEW, NUMAIO_RULE, ERRNO
 * and MESSAGE_ID in the journal, or just the line on standard error. */
void log_knob(int level, const LogKnob *knob, const char *format, ...) _printf_(3, 4);
