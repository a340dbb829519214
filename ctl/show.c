/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/show.h"

#include "basic/cpuset.h"
#include "basic/strv.h"
#include "ctl/table.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static int no_memory(Error *e)
{
        return error_set(e, -ENOMEM, NULL, "memory is short");
}

/* A line "   Label: text", aligned over the labels of one page. */
static void line(const char *label, const char *format, ...) _printf_(2, 3);
static void line(const char *label, const char *format, ...)
{
        va_list ap;

        printf("%14s: ", label);
        va_start(ap, format);
        vprintf(format, ap);
        va_end(ap);
        putchar('\n');
}

static void value_line(const char *label, const json_t *v)
{
        _cleanup_(freep) char *text = json_for_people(v);

        line(label, "%s", text ? text : "");
}

/* ---- cells ---- */

static char *share(long part, long whole)
{
        return whole ? strf("%ld/%ld", part, whole) : strdup("-");
}

static bool node_is_known(const json_t *device)
{
        return json_is_integer(json_object_get(device, "node"));
}

static char *cell_local(const json_t *row, const json_t *value)
{
        if (!node_is_known(row))
                return strdup("-");
        return share(json_number_at(row, "vectors.local"), json_number_at(row, "vectors.total"));
}

static char *cell_planned(const json_t *row, const json_t *value)
{
        if (!node_is_known(row))
                return strdup("-");
        return share(json_number_at(row, "planned.local"), json_number_at(row, "vectors.total"));
}

/* What people know a device by: its netdevs and disks. */
static char *cell_names(const json_t *row, const json_t *value)
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

/* The value of a file that holds CPUs, as a list: a mask of 1,024 CPUs is nothing to look at. */
static char *cell_cpus(const json_t *row, const json_t *value)
{
        const char *path = json_text_at(row, "path"), *end = strrchr(path, '/'),
                   *text = json_string_value(value);
        _cleanup_(cpuset_freep) CpuSet *set = NULL;

        if (text && end && strcmp(end, "/cpumask") == 0 && cpuset_parse_mask(text, &set) == 0)
                return cpuset_format_list(set);
        return json_for_people(value);
}

static char *cell_queue(const json_t *row, const json_t *value)
{
        const json_t *queue = json_object_get(row, "queue");

        if (json_is_integer(queue))
                return strf("%s %" JSON_INTEGER_FORMAT, json_text_at(row, "role"), json_integer_value(queue));
        return strdup(json_text_at(row, "role"));
}

static char *cell_settable(const json_t *row, const json_t *value)
{
        if (json_is_true(json_object_get(row, "managed")))
                return strdup("managed");
        if (json_is_true(json_object_get(row, "pending")))
                return strdup("pending");
        return strdup(json_text_at(row, "settable"));
}

static char *cell_rule(const json_t *row, const json_t *value)
{
        const char *file = json_text_at(row, "reason.file"), *rule = json_text_at(row, "reason.rule");

        if (*file)
                return strf("%s (%s:%ld)", rule, file, json_number_at(row, "reason.line"));
        return strdup(*rule ? rule : "-");
}

static char *cell_error(const json_t *row, const json_t *value)
{
        const char *error = json_text_at(row, "error");

        return *error ? strf("%s: %s", json_text_at(row, "state"), error)
                      : strdup(json_text_at(row, "state"));
}

/* ---- status ---- */

static void show_errors(const json_t *errors)
{
        const json_t *item;
        size_t i;

        json_array_foreach((json_t *)errors, i, item)
                line("Policy error", "%s: %s", json_text_at(item, "where"), json_text_at(item, "text"));
}

int show_status(Ctl *c, const json_t *answer, Error *e)
{
        long seconds = json_number_at(answer, "uptime_seconds");

        printf("tuned-numaio %s: %s\n", json_text_at(answer, "version"), json_text_at(answer, "state"));
        line("Status", "%s", json_text_at(answer, "status"));
        line("Up for", "%ld d %ld h %ld min", seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60);
        line("Machine", "%s", json_text_at(answer, "root"));
        line("Apply", "%s", json_text_at(answer, "apply"));
        line("Writer", "%s", json_text_at(answer, "writer"));
        value_line("Devices", json_at(answer, "devices"));
        line("Vectors", "%ld: %ld local, %ld remote; %ld kernel-managed",
             json_number_at(answer, "vectors.total"), json_number_at(answer, "vectors.local"),
             json_number_at(answer, "vectors.remote"), json_number_at(answer, "vectors.managed"));
        line("Changes", "%ld pending, %ld written, %ld refused", json_number_at(answer, "changes_pending"),
             json_number_at(answer, "writes"), json_number_at(answer, "refused"));
        value_line("Held", json_at(answer, "held"));
        value_line("Policies", json_at(answer, "policies"));
        show_errors(json_at(answer, "policy_errors"));
        line("Events", "%ld udev, %ld netlink, %ld overruns; %ld passes",
             json_number_at(answer, "events.udev"), json_number_at(answer, "events.netlink"),
             json_number_at(answer, "events.overruns"), json_number_at(answer, "passes"));
        return 0;
}

/* ---- topology ---- */

static json_t *devices_of_node(const json_t *devices, const json_t *node)
{
        json_t *rows = json_array(), *device;
        size_t i;

        json_array_foreach((json_t *)devices, i, device)
        {
                _cleanup_(freep) char *local = cell_local(device, NULL), *names = cell_names(device, NULL);

                if (!json_equal(json_object_get(device, "node"), node))
                        continue;
                if (!local || !names ||
                    json_array_append_new(rows, json_pack("{s:O, s:O, s:O, s:s, s:s}", "name",
                                                          json_object_get(device, "id"), "class",
                                                          json_object_get(device, "class"), "driver",
                                                          json_object_get(device, "driver"), "local", local,
                                                          "names", names)) < 0) {
                        json_decref(rows);
                        return NULL;
                }
        }
        return rows;
}

static char *distances(const json_t *node)
{
        const json_t *value;
        const char *key;
        char *all = NULL;

        json_object_foreach((json_t *)json_object_get(node, "distance"), key, value)
        {
                _cleanup_(freep) char *before = all, *text = json_for_people(value);

                all = text ? strf("%s%s%s", before ? before : "", before ? " " : "", text) : NULL;
                if (!all)
                        return NULL;
        }
        return all ? all : strdup("-");
}

static json_t *node_row(const json_t *node, const json_t *devices)
{
        _cleanup_(freep) char *name = strf("node %ld", json_number_at(node, "id")),
                              *distance = distances(node);

        return name && distance ? json_pack("{s:s, s:O, s:s, s:o}", "name", name, "cpus",
                                            json_object_get(node, "cpus"), "distance", distance, "children",
                                            devices_of_node(devices, json_object_get(node, "id")))
                                : NULL;
}

static json_t *topology_rows(const json_t *answer, const json_t *devices)
{
        json_t *rows = json_array(), *nowhere = devices_of_node(devices, json_null());
        const json_t *node;
        size_t i;
        int r = nowhere ? 0 : -1;

        json_array_foreach(json_object_get(answer, "nodes"), i, node) if (r == 0) r =
                json_array_append_new(rows, node_row(node, devices));
        if (r == 0 && json_array_size(nowhere) > 0)
                r = json_array_append_new(
                        rows, json_pack("{s:s, s:O}", "name", "node unknown", "children", nowhere));
        json_decref(nowhere);
        if (r < 0) {
                json_decref(rows);
                return NULL;
        }
        return rows;
}

int show_topology(Ctl *c, const json_t *answer, Error *e)
{
        static const Column columns[] = {
                { "NODE, DEVICE", "name", .flags = COLUMN_TREE },
                { "CPUS", "cpus" },
                { "DISTANCES", "distance" },
                { "CLASS", "class" },
                { "DRIVER", "driver" },
                { "LOCAL", "local", .flags = COLUMN_RIGHT },
                { "NAMES", "names" },
        };
        json_t *devices = NULL, *rows;
        int r;

        r = ctl_fetch(c, verb_find("devices"), NULL, &devices, e);
        if (r < 0)
                return r;
        rows = topology_rows(answer, json_object_get(devices, "items"));
        json_decref(devices);
        if (!rows)
                return no_memory(e);
        value_line("Kernel", json_at(answer, "kernel"));
        line("CPUs", "%ld online: %s", json_number_at(answer, "cpus"), json_text_at(answer, "online"));
        value_line("Isolated", json_at(answer, "isolated"));
        value_line("nohz_full", json_at(answer, "nohz_full"));
        line("NUMA", "%s",
             json_is_true(json_at(answer, "overlapping")) ? "nodes share CPUs: taken for one node"
             : json_is_true(json_at(answer, "numa"))      ? "yes"
                                                          : "no: one node with all CPUs");
        putchar('\n');
        r = table_print(columns, ARRAY_SIZE(columns), rows, e);
        json_decref(rows);
        return r;
}

/* ---- devices ---- */

int show_devices(Ctl *c, const json_t *answer, Error *e)
{
        static const Column columns[] = {
                { "DEVICE", "id" },
                { "CLASS", "class" },
                { "DRIVER", "driver" },
                { "NODE", "node", .flags = COLUMN_RIGHT },
                { "FROM", "node_source" },
                { "VECTORS", "vectors.total", .flags = COLUMN_RIGHT },
                { "MANAGED", "vectors.managed", .flags = COLUMN_RIGHT },
                { "LOCAL", "vectors.local", .flags = COLUMN_RIGHT },
                { "REMOTE", "vectors.remote", .flags = COLUMN_RIGHT },
                { "NAMES", NULL, cell_names },
        };

        return table_print(columns, ARRAY_SIZE(columns), json_object_get(answer, "items"), e);
}

static void show_iscsi(const json_t *iscsi)
{
        if (!json_is_object(iscsi))
                return;
        line("iSCSI", "%s, interface %s, host %ld", json_text_at(iscsi, "transport"),
             json_text_at(iscsi, "iface"), json_number_at(iscsi, "host"));
        value_line("Target", json_object_get(iscsi, "target"));
        value_line("Connection", json_object_get(iscsi, "peer"));
        value_line("Through", json_object_get(iscsi, "via"));
        value_line("NIC", json_object_get(iscsi, "nic_device"));
}

int show_device(Ctl *c, const json_t *answer, Error *e)
{
        static const Column vectors[] = {
                { "IRQ", "irq", .flags = COLUMN_RIGHT },
                { "ACTION", "action" },
                { "ROLE", NULL, cell_queue },
                { "AFFINITY", "affinity" },
                { "EFFECTIVE", "effective" },
                { "LOCAL", "local" },
                { "SETTABLE", NULL, cell_settable },
        };
        static const Column workqueues[] = {
                { "WORKQUEUE", "name" }, { "CPUMASK", "cpumask" },   { "CPUS", "cpus" },
                { "NUMA", "numa" },      { "SETTABLE", "settable" },
        };
        const json_t *irqs = json_object_get(answer, "irqs"), *queues = json_object_get(answer, "workqueues");
        int r = 0;

        printf("%s\n", json_text_at(answer, "id"));
        line("Class", "%s", json_text_at(answer, "class"));
        value_line("Driver", json_object_get(answer, "driver"));
        if (node_is_known(answer))
                line("Node", "%ld (%s)", json_number_at(answer, "node"), json_text_at(answer, "node_text"));
        else
                line("Node", "unknown");
        value_line("Netdevs", json_object_get(answer, "netdevs"));
        value_line("SCSI hosts", json_object_get(answer, "scsi_hosts"));
        value_line("Disks", json_object_get(answer, "disks"));
        show_iscsi(json_object_get(answer, "iscsi"));
        line("Vectors", "%ld: %ld local, %ld remote; %ld kernel-managed",
             json_number_at(answer, "vectors.total"), json_number_at(answer, "vectors.local"),
             json_number_at(answer, "vectors.remote"), json_number_at(answer, "vectors.managed"));
        if (json_array_size(irqs)) {
                putchar('\n');
                r = table_print(vectors, ARRAY_SIZE(vectors), irqs, e);
        }
        if (r == 0 && json_array_size(queues)) {
                putchar('\n');
                r = table_print(workqueues, ARRAY_SIZE(workqueues), queues, e);
        }
        return r;
}

/* ---- plan ---- */

/* What decided about a device: the verdict that has something to say. */
static const char *why(const json_t *answer, const char *device)
{
        const char *text = "";
        const json_t *v;
        size_t i;

        json_array_foreach(json_object_get(answer, "verdicts"), i, v)
        {
                if (strcmp(json_text_at(v, "device"), device) != 0 ||
                    strcmp(json_text_at(v, "state"), "none") == 0)
                        continue;
                if (!*text || strcmp(json_text_at(v, "state"), "changes") == 0)
                        text = json_text_at(v, "reason.text");
                if (strcmp(json_text_at(v, "state"), "changes") == 0)
                        break;
        }
        return text;
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

static size_t count_state(const json_t *changes, const char *state)
{
        const json_t *item;
        size_t i, n = 0;

        json_array_foreach((json_t *)changes, i, item) n += strcmp(json_text_at(item, "state"), state) == 0;
        return n;
}

int show_results(Ctl *c, const json_t *answer, Error *e)
{
        static const Column columns[] = {
                { "CHANGE", "id" },
                { "PATH", "path" },
                { "BEFORE", "before", cell_cpus },
                { "NOW", "current", cell_cpus },
                { "STATE", NULL, cell_error },
        };
        static const char *const states[] = { "applied", "restored", "right", "refused", "failed" };
        const json_t *changes = json_object_get(answer, "changes");
        const char *separator = "";
        int r = 0;

        if (json_array_size(changes) == 0) {
                puts("Nothing had to be changed.");
                return 0;
        }
        r = table_print(columns, ARRAY_SIZE(columns), changes, e);
        if (r < 0)
                return r;
        putchar('\n');
        for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
                size_t n = count_state(changes, states[i]);

                if (n == 0)
                        continue;
                printf("%s%zu %s", separator, n, states[i]);
                separator = ", ";
        }
        puts(".");
        return 0;
}

/* ---- decisions ---- */

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

        return table_print(columns, ARRAY_SIZE(columns), json_object_get(answer, "items"), e);
}

/* The state of a decision as the end of a sentence. */
static const char *state_sentence(const char *state)
{
        static const struct {
                const char *state, *text;
        } rows[] = {
                { "applied", "It was written, and it stands." },
                { "right", "Nothing had to be changed: it is right as it is." },
                { "planned", "It is planned, and not written yet." },
                { "failed", "The write failed; it is tried again at the next pass." },
                { "refused", "The kernel lets nobody write this file; it is not tried again." },
                { "managed", "The kernel manages these vectors by itself; nobody can place them." },
                { "left", "It is left alone, as the policy says." },
                { "unknown-node", "It is left alone: nobody knows which node the device is on." },
                { "held", "The device was restored by hand, and is held until numaioctl apply." },
                { "waiting", "It waits until irqbalance has ended." },
                { "none", "The device has no such knob." },
                { "error", "The policy asks for what cannot be." },
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                if (strcmp(rows[i].state, state) == 0)
                        return rows[i].text;
        return state;
}

static void show_history(const json_t *d)
{
        long writes = json_number_at(d, "writes");

        if (*json_text_at(d, "first"))
                line("First", "%s, before anything was written", json_text_at(d, "first"));
        if (*json_text_at(d, "current"))
                line("Now", "%s", json_text_at(d, "current"));
        if (*json_text_at(d, "desired"))
                line("Desired", "%s", json_text_at(d, "desired"));
        if (writes > 0)
                line("Written", "%s%ld times, last at %s", writes == 1 ? "once, " : "", writes,
                     json_text_at(d, "time"));
        if (*json_text_at(d, "error"))
                line("Error", "%s", json_text_at(d, "error"));
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
