/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/cells.h"
#include "ctl/show.h"

#include "basic/strv.h"

#include <errno.h>
#include <string.h>

/* ---- plan ---- */

/* What decided about a device: the verdict that has something to say. */
static const char *why(const json_t *answer, const char *device)
{
        const char *text = "", *idle = "";
        const json_t *v;
        size_t i;

        json_array_foreach(json_object_get(answer, "verdicts"), i, v)
        {
                if (strcmp(json_text_at(v, "device"), device) != 0 ||
                    strcmp(json_text_at(v, "state"), "none") == 0)
                        continue;
                if (strcmp(json_text_at(v, "state"), "changes") == 0)
                        return json_text_at(v, "reason.text");
                if (is_idle(v))
                        idle = json_text_at(v, "reason.text");
                else if (!*text)
                        text = json_text_at(v, "reason.text");
        }
        return *text ? text : idle;
}

static json_t *change_row(const json_t *change)
{
        const char *id = json_text_at(change, "id"), *part = strchr(id, '~');

        return json_pack("{s:s, s:O, s:O, s:O, s:O}", "name", part ? part + 1 : id, "path",
                         json_object_get(change, "path"), "current", json_object_get(change, "current"),
                         "desired", json_object_get(change, "desired"), "why",
                         json_at(change, "reason.text"));
}

static json_t *plan_row(const json_t *answer, const json_t *device, bool with_changes)
{
        const char *id = json_text_at(device, "id");
        _cleanup_(freep) char *before = cell_local(device, NULL), *after = cell_planned(device, NULL);
        json_t *children = json_array();
        const json_t *change;
        long n = 0;
        size_t i;
        int r = 0;

        json_array_foreach(json_object_get(answer, "changes"), i, change)
        {
                if (strcmp(json_text_at(change, "device"), id) != 0)
                        continue;
                n++;
                if (with_changes && r == 0)
                        r = json_array_append_new(children, change_row(change));
        }
        if (r < 0 || !before || !after) {
                json_decref(children);
                return NULL;
        }
        return json_pack("{s:s, s:O, s:O, s:O, s:s, s:s, s:I, s:s, s:o}", "name", id, "class",
                         json_object_get(device, "class"), "node", json_object_get(device, "node"), "managed",
                         json_at(device, "vectors.managed"), "current", before, "desired", after, "changes",
                         (json_int_t)n, "why", why(answer, id), "children", children);
}

/* A plan's devices and, when asked for, their changes below them. */
static json_t *plan_rows(const json_t *answer, bool with_changes)
{
        json_t *rows = json_array();
        const json_t *device;
        size_t i;

        json_array_foreach(json_object_get(answer, "devices"), i, device)
        {
                if (json_array_append_new(rows, plan_row(answer, device, with_changes)) < 0) {
                        json_decref(rows);
                        return NULL;
                }
        }
        return rows;
}

static void show_shares(const json_t *answer)
{
        long total = 0, managed = 0, before = 0, after = 0;
        const json_t *device;
        size_t i;

        json_array_foreach(json_object_get(answer, "devices"), i, device)
        {
                if (!node_is_known(device))
                        continue;
                total += json_number_at(device, "vectors.total");
                managed += json_number_at(device, "vectors.managed");
                before += json_number_at(device, "vectors.local");
                after += json_number_at(device, "planned.local");
        }
        printf("\n%zu changes. %ld of %ld vectors are local now, %ld afterwards",
               json_array_size(json_object_get(answer, "changes")), before, total, after);
        if (managed > 0)
                printf("; %ld are kernel-managed, nobody can move them", managed);
        puts(".");
}

int show_plan(Ctl *c, const json_t *answer, Error *e)
{
        static const Column columns[] = {
                { "DEVICE", "name", .flags = COLUMN_TREE },
                { "CLASS", "class" },
                { "NODE", "node", .flags = COLUMN_RIGHT },
                { "MANAGED", "managed", .flags = COLUMN_RIGHT },
                { "LOCAL NOW", "current", cell_cpus, .flags = COLUMN_RIGHT },
                { "THEN", "desired", cell_cpus, .flags = COLUMN_RIGHT },
                { "CHANGES", "changes", .flags = COLUMN_RIGHT },
                { "WHY", "why", .flags = COLUMN_CUT },
        };
        json_t *rows = plan_rows(answer, c->changes);
        int r;

        if (!rows)
                return no_memory(e);
        r = table_print(columns, ARRAY_SIZE(columns), rows, e);
        json_decref(rows);
        if (r == 0)
                show_shares(answer);
        return r;
}

/* ---- apply, restore ---- */

/* "17 applied, 1 refused." */
static void show_states(const json_t *changes)
{
        static const char *const states[] = { "applied", "held",         "right",   "refused", "failed",
                                              "planned", "managed",      "drifted", "yielded", "contested",
                                              "waiting", "unknown-node", "left",    "absent",  "error" };
        const char *separator = "\n";

        for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
                const json_t *item;
                size_t j, n = 0;

                json_array_foreach((json_t *)changes, j, item) n +=
                        strcmp(json_text_at(item, "state"), states[i]) == 0;
                if (n == 0)
                        continue;
                printf("%s%zu %s", separator, n, states[i]);
                separator = ", ";
        }
        puts(".");
}

static int show_changes(const Column *columns, size_t n, const json_t *answer, const char *nothing, Error *e)
{
        const json_t *changes = json_object_get(answer, "changes");
        int r;

        if (json_array_size(changes) == 0) {
                puts(nothing);
                return 0;
        }
        r = table_print(columns, n, changes, e);
        if (r == 0)
                show_states(changes);
        return r;
}

int show_applied(Ctl *c, const json_t *answer, Error *e)
{
        static const Column columns[] = {
                { "DECISION", "id" },
                { "FILE", "path" },
                { "FIRST", "first", cell_cpus },
                { "NOW", "current", cell_cpus },
                { "STATE", NULL, cell_error },
        };

        return show_changes(columns, ARRAY_SIZE(columns), answer, "Nothing had to be changed.", e);
}

int show_restored(Ctl *c, const json_t *answer, Error *e)
{
        static const Column columns[] = {
                { "DECISION", "id" },
                { "FILE", "path" },
                { "NOW", "current", cell_cpus },
                { "WAS", "desired", cell_cpus },
                { "STATE", NULL, cell_error },
        };

        return show_changes(columns, ARRAY_SIZE(columns), answer, "Nothing had ever been changed.", e);
}

/* ---- decisions ---- */

/* What a device lacks, and what nobody asked for, is nothing to look at. */
static bool is_shown(const json_t *decision)
{
        const char *state = json_text_at(decision, "state");
        bool idle = strcmp(state, "left") == 0 || strcmp(state, "absent") == 0;

        return strcmp(state, "none") != 0 &&
               !(idle && strcmp(json_text_at(decision, "reason.rule"), "builtin") == 0);
}

int show_decisions(Ctl *c, const json_t *answer, Error *e)
{
        static const Column columns[] = {
                { "DECISION", "id" },
                { "STATE", NULL, cell_error },
                { "FIRST", "first", cell_cpus },
                { "NOW", "current", cell_cpus },
                { "DESIRED", "desired", cell_cpus },
                { "RULE", NULL, cell_rule },
        };
        json_t *items = json_object_get(answer, "items");

        for (size_t i = json_array_size(items); i > 0; i--)
                if (!is_shown(json_array_get(items, i - 1)))
                        json_array_remove(items, i - 1);
        return table_print(columns, ARRAY_SIZE(columns), items, e);
}

/* The state of a decision as the end of a sentence. */
static const char *state_sentence(const char *state)
{
        static const struct {
                const char *state, *text;
        } rows[] = {
                { "applied", "It was written, and it stands." },
                { "right", "It is as it should be." },
                { "planned", "It is planned, and not written yet." },
                { "failed", "The write failed; it is tried again at the next pass." },
                { "refused", "The kernel lets nobody write this file; it is not tried again." },
                { "managed", "The kernel manages these vectors by itself; nobody can place them." },
                { "left", "It is left alone, as the policy says." },
                { "unknown-node", "It is left alone: nobody knows which node the device is on." },
                { "held", "The device was restored by hand, and is held until numaioctl apply." },
                { "drifted", "Somebody else changed it." },
                { "yielded", "Somebody else changed it; it is left to them until numaioctl apply." },
                { "contested", "Somebody else changes it each time that it is set; it is left to them." },
                { "waiting", "It waits until irqbalance has ended." },
                { "absent", "This kernel has no such knob." },
                { "none", "The device has no such knob." },
                { "error", "The policy asks for what cannot be." },
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                if (strcmp(rows[i].state, state) == 0)
                        return rows[i].text;
        return state;
}

static void value_of_file(const char *label, const json_t *d, const char *key, const char *more)
{
        const json_t *value = json_object_get(d, key);
        _cleanup_(freep) char *text = json_is_string(value) ? cell_cpus(d, value) : NULL;

        if (text)
                line(label, "%s%s", text, more);
}

/* What others did to the file, and what comes of it. */
static void show_drift(const json_t *d)
{
        const json_t *drift = json_object_get(d, "drift");
        _cleanup_(freep) char *foreign = cell_cpus(d, json_object_get(drift, "foreign")),
                              *set = cell_cpus(d, json_object_get(drift, "set"));
        const char *since = json_text_at(drift, "since"), *next = json_text_at(drift, "next_try");
        long count = json_number_at(drift, "count");

        if (!json_is_object(drift) || !foreign || !set)
                return;
        if (*since)
                line("Drift", "%s instead of %s, found at %s", foreign, set, since);
        else
                line("Drift", "%s instead of %s, put right", foreign, set);
        if (count > 0)
                line("Put back", "%ld time%s in ten minutes", count, count == 1 ? "" : "s");
        if (*next)
                line("Next try", "%s, or numaioctl apply", next);
}

static void show_window(const char *label, const json_t *w)
{
        json_t *counters = json_object_get(w, "counters"), *number;
        _cleanup_(freep) char *text = strdup("");
        const char *name;

        json_object_foreach(counters, name, number)
        {
                char *longer =
                        text ? strf("%s, %" JSON_INTEGER_FORMAT " %s", text, json_integer_value(number), name)
                             : NULL;

                free(text);
                text = longer;
        }
        if (json_is_object(w))
                line(label, "%.1f s, %.2f %%%s", json_number_value(json_object_get(w, "seconds")),
                     100 * json_number_value(json_object_get(w, "share")), text ? text : "");
}

/* The counters of the window before and after a controller's last step. */
static void show_evidence(const json_t *e)
{
        if (!json_is_object(e))
                return;
        line("Last step", "%ld to %ld: %s", json_number_at(e, "from"), json_number_at(e, "to"),
             json_text_at(e, "outcome"));
        show_window("Before", json_object_get(e, "before"));
        show_window("After", json_object_get(e, "after"));
}

static void show_history(const json_t *d)
{
        long writes = json_number_at(d, "writes");

        value_of_file("First", d, "first", ", before anything was written");
        value_of_file("Now", d, "current", "");
        value_of_file("Desired", d, "desired", "");
        if (writes > 0)
                line("Written", "%ld time%s, last at %s", writes, writes == 1 ? "" : "s",
                     json_text_at(d, "time"));
        show_drift(d);
        show_evidence(json_object_get(d, "evidence"));
        if (*json_text_at(d, "error")) {
                _cleanup_(freep) char *text = error_for_people(json_text_at(d, "error"));

                line("Error", "%s", text ? text : json_text_at(d, "error"));
        }
}

int show_decision(Ctl *c, const json_t *answer, Error *e)
{
        _cleanup_(freep) char *rule = cell_rule(answer, NULL),
                              *node = json_for_people(json_object_get(answer, "node"));
        const json_t *irq = json_object_get(answer, "irq");

        if (!rule || !node)
                return no_memory(e);
        printf("%s\n", json_text_at(answer, "id"));
        line("State", "%s. %s", json_text_at(answer, "state"), state_sentence(json_text_at(answer, "state")));
        line("Why", "%s", json_text_at(answer, "reason.text"));
        line("Rule", "%s", rule);
        line("Device", "%s, node %s", json_text_at(answer, "device"), node);
        if (json_is_integer(irq))
                line("IRQ", "%" JSON_INTEGER_FORMAT, json_integer_value(irq));
        if (*json_text_at(answer, "path"))
                line("File", "/%s", json_text_at(answer, "path"));
        show_history(answer);
        return 0;
}
