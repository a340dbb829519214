/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ctl/table.h"

/* Parts of pages for people. The cells are for Column.text; each gives a new string, NULL = memory is short.
 */

/* Fills *e and returns -ENOMEM. */
int no_memory(Error *e);

/* Prints a line "   Label: text", aligned over the labels of one page. */
void line(const char *label, const char *format, ...) _printf_(2, 3);
void value_line(const char *label, const json_t *v);

bool node_is_known(const json_t *device);

/* Whether a verdict, or a decision about a device, is about a knob that no rule sets. */
bool is_idle(const json_t *verdict);

/* "EIO (Input/output error)" for the name of an error number; NULL = memory is short. The caller frees. */
char *error_for_people(const char *name);

/* Of a device: local vectors now and as planned, "4/19"; its netdevs or disks. */
char *cell_local(const json_t *row, const json_t *value);
char *cell_planned(const json_t *row, const json_t *value);
char *cell_names(const json_t *row, const json_t *value);

/* Of a vector. */
char *cell_queue(const json_t *row, const json_t *value);
char *cell_settable(const json_t *row, const json_t *value);

/* The value of a file that holds CPUs, as a list: a mask of 1,024 CPUs is nothing to look at. */
char *cell_cpus(const json_t *row, const json_t *value);

/* Of a decision: "RULE (FILE:LINE)"; its state with the error. */
char *cell_rule(const json_t *row, const json_t *value);
char *cell_error(const json_t *row, const json_t *value);
