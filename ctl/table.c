/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/table.h"

#include "basic/strv.h"

#include <errno.h>
#include <libsmartcols.h>
#include <string.h>

#define CUT_MIN 30 /* columns; with less, lines are left to the terminal to wrap */

static inline void table_unref(struct libscols_table **t)
{
        scols_unref_table(*t);
}

const json_t *json_at(const json_t *o, const char *key)
{
        const char *dot;

        while ((dot = strchr(key, '.'))) {
                _cleanup_(freep) char *part = strndup(key, (size_t)(dot - key));

                o = part ? json_object_get(o, part) : NULL;
                key = dot + 1;
        }
        return json_object_get(o, key);
}

const char *json_text_at(const json_t *o, const char *key)
{
        const char *s = json_string_value(json_at(o, key));

        return s ? s : "";
}

long json_number_at(const json_t *o, const char *key)
{
        return (long)json_integer_value(json_at(o, key));
}

static char *join(const json_t *array)
{
        char *all = NULL;
        const json_t *item;
        size_t i;

        json_array_foreach((json_t *)array, i, item)
        {
                _cleanup_(freep) char *before = all, *text = json_for_people(item);

                all = text ? strf("%s%s%s", before ? before : "", before ? " " : "", text) : NULL;
                if (!all)
                        return NULL;
        }
        return all ? all : strdup("-");
}

char *json_for_people(const json_t *v)
{
        if (json_is_array(v))
                return join(v);
        if (json_is_string(v))
                return strdup(*json_string_value(v) ? json_string_value(v) : "-");
        if (json_is_integer(v))
                return strf("%" JSON_INTEGER_FORMAT, json_integer_value(v));
        if (json_is_boolean(v))
                return strdup(json_is_true(v) ? "yes" : "no");
        return strdup("-");
}

static int add_columns(struct libscols_table *t, const Column *columns, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const Column *c = &columns[i];
                int flags = (c->flags & COLUMN_RIGHT ? SCOLS_FL_RIGHT : 0) |
                            (c->flags & COLUMN_TREE ? SCOLS_FL_TREE : 0) |
                            (c->flags & COLUMN_CUT ? SCOLS_FL_TRUNC : 0);

                if (!scols_table_new_column(t, c->title, c->flags & COLUMN_CUT ? 0.3 : 0, flags))
                        return -ENOMEM;
        }
        return 0;
}

static int add_rows(struct libscols_table *t, struct libscols_line *parent, const Column *columns, size_t n,
                    const json_t *rows)
{
        const json_t *row;
        size_t i;

        json_array_foreach((json_t *)rows, i, row)
        {
                struct libscols_line *line = scols_table_new_line(t, parent);

                if (!line)
                        return -ENOMEM;
                for (size_t j = 0; j < n; j++) {
                        const Column *c = &columns[j];
                        const json_t *value = c->key ? json_at(row, c->key) : NULL;
                        char *text = c->text ? c->text(row, value) : json_for_people(value);

                        if (!text || scols_line_refer_data(line, j, text) < 0) {
                                free(text);
                                return -ENOMEM;
                        }
                }
                if (add_rows(t, line, columns, n, json_object_get(row, "children")) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* Widest cell of a column, in bytes, its title included. */
static size_t column_width(struct libscols_table *t, struct libscols_column *c)
{
        size_t width = strlen(scols_cell_get_data(scols_column_get_header(c)));

        for (size_t i = 0; i < scols_table_get_nlines(t); i++) {
                const char *text =
                        scols_cell_get_data(scols_line_get_column_cell(scols_table_get_line(t, i), c));
                size_t n = text ? strlen(text) : 0;

                width = n > width ? n : width;
        }
        return width;
}

/* Is there a sentence's worth of room for what is cut where the terminal ends? */
static bool is_wide_enough(struct libscols_table *t)
{
        size_t taken = 0;

        for (size_t i = 0; i < scols_table_get_ncols(t); i++) {
                struct libscols_column *c = scols_table_get_column(t, i);

                taken += scols_column_is_trunc(c) ? CUT_MIN : column_width(t, c) + 1;
        }
        return taken <= scols_table_get_termwidth(t);
}

int table_print(const Column *columns, size_t n_columns, const json_t *rows, Error *e)
{
        _cleanup_(table_unref) struct libscols_table *t = scols_new_table();

        if (!t || add_columns(t, columns, n_columns) < 0 || add_rows(t, NULL, columns, n_columns, rows) < 0)
                return error_set(e, -ENOMEM, NULL, "memory is short");
        if (!is_wide_enough(t))
                (void)scols_table_set_termforce(t, SCOLS_TERMFORCE_NEVER);
        if (scols_print_table(t) < 0)
                return error_set(e, -EIO, NULL, "the table cannot be printed");
        return 0;
}
