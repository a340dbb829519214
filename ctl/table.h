/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/error.h"

#include <jansson.h>
#include <stdbool.h>

/* One column of a table: what it shows of a row. */
typedef struct Column {
        const char *title;
        const char *key; /* a member of the row, "vectors.total" for one of a member */
        /* What to show of it, a new string; NULL = memory is short. Without: json_for_people(). */
        char *(*text)(const json_t *row, const json_t *value);
        unsigned flags;
} Column;

enum {
        COLUMN_RIGHT = 1 << 0,
        COLUMN_TREE = 1 << 1, /* a row's `children` stand below it */
        COLUMN_CUT = 1 << 2,  /* cut where the terminal ends, if that leaves anything to read */
};

/* Prints an array of objects; returns 0 or a negative errno. */
int table_print(const Column *columns, size_t n_columns, const json_t *rows, Error *e);

/* A member by its dotted name; NULL = not there. */
const json_t *json_at(const json_t *o, const char *key);
/* The same as a string or number: "" and 0 when it is not there or something else. */
const char *json_text_at(const json_t *o, const char *key);
long json_number_at(const json_t *o, const char *key);

/* A value for people: strings as they are, "-" for null and for nothing, yes and no, arrays with spaces
 * between. NULL when memory is short. The caller frees. */
char *json_for_people(const json_t *v);
