/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/cells.h"

#include "basic/cpuset.h"
#include "basic/strv.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int no_memory(Error *e)
{
        return error_set(e, -ENOMEM, NULL, "memory is short");
}

void line(const char *label, const char *format, ...)
{
        va_list ap;

        printf("%14s: ", label);
        va_start(ap, format);
        vprintf(format, ap);
        va_end(ap);
        putchar('\n');
}

void value_line(const char *label, const json_t *v)
{
        _cleanup_(freep) char *text = json_for_people(v);

        line(label, "%s", text ? text : "");
}

static char *share(long part, long whole)
{
        return whole ? strf("%ld/%ld", part, whole) : strdup("-");
}

bool node_is_known(const json_t *device)
{
        return json_is_integer(json_object_get(device, "node"));
}

bool is_idle(const json_t *verdict)
{
        const char *state = json_text_at(verdict, "state");

        return (strcmp(state, "left") == 0 || strcmp(state, "absent") == 0) &&
               strcmp(json_text_at(verdict, "reason.rule"), "builtin") == 0;
}

char *cell_local(const json_t *row, const json_t *value)
{
        if (!node_is_known(row))
                return strdup("-");
        return share(json_number_at(row, "vectors.local"), json_number_at(row, "vectors.total"));
}

char *cell_planned(const json_t *row, const json_t *value)
{
        if (!node_is_known(row))
                return strdup("-");
        return share(json_number_at(row, "planned.local"), json_number_at(row, "vectors.total"));
}

char *cell_names(const json_t *row, const json_t *value)
{
        const json_t *disks = json_object_get(row, "disks"), *netdevs = json_object_get(row, "netdevs");
        _cleanup_(freep) char *text = NULL;

        if (json_array_size(netdevs))
                return json_for_people(netdevs);
        if (json_array_size(disks) <= 4)
                return json_for_people(disks);
        text = json_for_people(json_array_get(disks, 0));
        return text ? strf("%s and %zu more", text, json_array_size(disks) - 1) : NULL;
}

char *cell_cpus(const json_t *row, const json_t *value)
{
        const char *path = json_text_at(row, "path"), *end = strrchr(path, '/'),
                   *text = json_string_value(value);
        _cleanup_(cpuset_freep) CpuSet *set = NULL;

        if (text && end && strcmp(end, "/cpumask") == 0 && cpuset_parse_mask(text, &set) == 0)
                return cpuset_format_list(set);
        return json_for_people(value);
}

char *cell_queue(const json_t *row, const json_t *value)
{
        const json_t *queue = json_object_get(row, "queue");

        if (json_is_integer(queue))
                return strf("%s %" JSON_INTEGER_FORMAT, json_text_at(row, "role"), json_integer_value(queue));
        return strdup(json_text_at(row, "role"));
}

char *cell_settable(const json_t *row, const json_t *value)
{
        if (json_is_true(json_object_get(row, "managed")))
                return strdup("managed");
        if (json_is_true(json_object_get(row, "pending")))
                return strdup("pending");
        return strdup(json_text_at(row, "settable"));
}

char *cell_rule(const json_t *row, const json_t *value)
{
        const char *file = json_text_at(row, "reason.file"), *rule = json_text_at(row, "reason.rule");

        if (*file)
                return strf("%s (%s:%ld)", rule, file, json_number_at(row, "reason.line"));
        return strdup(*rule ? rule : "-");
}

char *error_for_people(const char *name)
{
        for (int i = 1; i < 200; i++) {
                const char *other = strerrorname_np(i);

                if (other && strcmp(other, name) == 0)
                        return strf("%s (%s)", name, strerrordesc_np(i));
        }
        return strdup(name);
}

char *cell_error(const json_t *row, const json_t *value)
{
        const char *error = json_text_at(row, "error"), *state = json_text_at(row, "state");
        _cleanup_(freep) char *text = *error ? error_for_people(error) : NULL;

        return text ? strf("%s: %s", state, text) : strdup(state);
}
