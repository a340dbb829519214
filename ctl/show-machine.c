/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/cells.h"
#include "ctl/show.h"

#include "basic/strv.h"

#include <errno.h>
#include <string.h>

/* ---- status ---- */

static void show_errors(const json_t *errors)
{
        const json_t *item;
        size_t i;

        json_array_foreach((json_t *)errors, i, item)
                line("Policy error", "%s: %s", json_text_at(item, "where"), json_text_at(item, "text"));
}

static void show_irqbalance(const json_t *b)
{
        long waiting = json_number_at(b, "waiting"), alone = json_number_at(b, "left_alone");

        if (!json_is_true(json_object_get(b, "running")))
                line("irqbalance", "does not run");
        else if (waiting > 0 && alone > 0)
                line("irqbalance", "leaves %ld interrupts alone, and %ld changes wait until it has ended: %s",
                     alone, waiting, json_text_at(b, "command"));
        else if (alone > 0)
                line("irqbalance", "runs, and leaves %ld interrupts alone", alone);
        else if (waiting > 0)
                line("irqbalance", "runs, and %ld changes wait until it has ended: %s", waiting,
                     json_text_at(b, "command"));
        else
                line("irqbalance", "runs; to end it: %s", json_text_at(b, "command"));
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
        line("Drift", "%ld drifted, %ld yielded, %ld contested", json_number_at(answer, "drifted"),
             json_number_at(answer, "yielded"), json_number_at(answer, "contested"));
        value_line("Held", json_at(answer, "held"));
        value_line("Policies", json_at(answer, "policies"));
        show_errors(json_at(answer, "policy_errors"));
        show_irqbalance(json_at(answer, "irqbalance"));
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
        if (json_array_size(json_at(answer, "absent")) > 0)
                value_line("Absent", json_at(answer, "absent"));
        putchar('\n');
        r = table_print(columns, ARRAY_SIZE(columns), rows, e);
        json_decref(rows);
        return r;
}

/* ---- devices ---- */

/* Shares of the vectors that somebody can place; kernel-managed ones stay what they are. */
static char *settable_share(const json_t *device, long local)
{
        long total = json_number_at(device, "settable.local") + json_number_at(device, "settable.remote"),
             managed = json_number_at(device, "vectors.local") - json_number_at(device, "settable.local");

        if (total == 0)
                return strdup("-");
        return strf("%ld %%", (local - managed) * 100 / total);
}

static char *cell_share_before(const json_t *row, const json_t *value)
{
        return value ? settable_share(row, json_integer_value(value)) : strdup("-");
}

static char *cell_settable_count(const json_t *row, const json_t *value)
{
        return strf("%ld", json_number_at(row, "vectors.total") - json_number_at(row, "vectors.managed"));
}

/* What was decided about a device as a whole, of all its knobs. */
static char *cell_why(const json_t *row, const json_t *value)
{
        return strdup(json_string_value(value) ? json_string_value(value) : "-");
}

static const char *reason_of_device(const json_t *decisions, const char *device)
{
        const char *text = "", *idle = "";
        const json_t *d;
        size_t i;

        json_array_foreach((json_t *)decisions, i, d)
        {
                const char *state = json_text_at(d, "state");

                if (!json_is_null(json_object_get(d, "path")) ||
                    strcmp(json_text_at(d, "device"), device) != 0 || strcmp(state, "none") == 0)
                        continue;
                if (is_idle(d))
                        idle = json_text_at(d, "reason.text");
                else if (!*text)
                        text = json_text_at(d, "reason.text");
        }
        return *text ? text : idle;
}

/* Gives each device its reason as a member of its own. */
static int add_reasons(Ctl *c, const json_t *devices, Error *e)
{
        json_t *decisions = NULL, *device;
        size_t i;
        int r;

        r = ctl_fetch(c, verb_find("decisions"), NULL, &decisions, e);
        if (r < 0)
                return r;
        json_array_foreach((json_t *)devices, i, device)
        {
                const char *why =
                        reason_of_device(json_object_get(decisions, "items"), json_text_at(device, "id"));

                if (json_object_set_new(device, "why", json_string(why)) < 0)
                        r = -ENOMEM;
        }
        json_decref(decisions);
        return r < 0 ? no_memory(e) : 0;
}

int show_devices(Ctl *c, const json_t *answer, Error *e)
{
        static const Column columns[] = {
                { "DEVICE", "id" },
                { "CLASS", "class" },
                { "DRIVER", "driver" },
                { "NAMES", NULL, cell_names },
                { "NODE", "node", .flags = COLUMN_RIGHT },
                { "VECTORS", "vectors.total", .flags = COLUMN_RIGHT },
                { "MANAGED", "vectors.managed", .flags = COLUMN_RIGHT },
                { "SETTABLE", NULL, cell_settable_count, .flags = COLUMN_RIGHT },
                { "LOCAL FIRST", "before.local", cell_share_before, .flags = COLUMN_RIGHT },
                { "NOW", "vectors.local", cell_share_before, .flags = COLUMN_RIGHT },
                { "WHY", "why", cell_why, .flags = COLUMN_CUT },
        };
        const json_t *devices = json_object_get(answer, "items");
        int r = add_reasons(c, devices, e);

        return r < 0 ? r : table_print(columns, ARRAY_SIZE(columns), devices, e);
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
        if (json_is_integer(json_object_get(iscsi, "rx_node")))
                line("Received on", "CPU %ld of node %ld", json_number_at(iscsi, "rx_cpu"),
                     json_number_at(iscsi, "rx_node"));
        else if (json_is_integer(json_object_get(iscsi, "rx_cpu")))
                line("Received on", "CPU %ld", json_number_at(iscsi, "rx_cpu"));
        if (json_is_object(json_object_get(iscsi, "xmit")))
                line("Transmitted", "%ld times on the node that receives, %ld times elsewhere",
                     json_number_at(iscsi, "xmit.local"), json_number_at(iscsi, "xmit.remote"));
}

/* "32 of at most 128 magazines" */
static void show_depot(const json_t *depot)
{
        const json_t *limit = json_object_get(depot, "limit");

        if (json_is_integer(limit))
                line("Depot", "at most %ld magazines in each size class, by default %ld",
                     json_number_at(depot, "limit"), json_number_at(depot, "default"));
        else if (strcmp(json_text_at(depot, "kind"), "self-scaling") == 0)
                line("Depot", "scales itself");
        else if (strcmp(json_text_at(depot, "kind"), "fixed") == 0)
                line("Depot", "as it was built");
}

static void show_iommu(const json_t *iommu)
{
        const json_t *caches = json_object_get(iommu, "caches"), *class;
        long fill = 0;
        size_t i;

        if (!json_is_object(iommu))
                return;
        line("IOMMU", "group %s, type %s, %ld device%s", json_text_at(iommu, "group"),
             *json_text_at(iommu, "type") ? json_text_at(iommu, "type") : "unknown",
             json_number_at(iommu, "devices"), json_number_at(iommu, "devices") == 1 ? "" : "s");
        show_depot(json_object_get(iommu, "depot"));
        if (!json_is_object(caches))
                return;
        json_array_foreach(json_object_get(caches, "classes"), i, class) fill +=
                json_number_at(class, "depot");
        line("IOVA caches", "%ld allocations, %ld misses (%.2f %%); %ld magazines dropped, %ld in depots",
             json_number_at(caches, "allocations"), json_number_at(caches, "misses"),
             100 * json_real_value(json_object_get(caches, "miss_share")), json_number_at(caches, "dropped"),
             fill);
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
        static const Column files[] = {
                { "KNOB", "knob" },
                { "VALUE", "value" },
                { "SETTABLE", "settable" },
                { "PATH", "path" },
        };
        const json_t *irqs = json_object_get(answer, "irqs"), *queues = json_object_get(answer, "workqueues"),
                     *knobs = json_object_get(answer, "knobs");
        int r = 0;

        printf("%s\n", json_text_at(answer, "id"));
        line("Class", "%s", json_text_at(answer, "class"));
        value_line("Model", json_object_get(answer, "model"));
        value_line("Driver", json_object_get(answer, "driver"));
        if (node_is_known(answer))
                line("Node", "%ld (%s)", json_number_at(answer, "node"), json_text_at(answer, "node_text"));
        else
                line("Node", "unknown");
        value_line("Netdevs", json_object_get(answer, "netdevs"));
        value_line("SCSI hosts", json_object_get(answer, "scsi_hosts"));
        value_line("Disks", json_object_get(answer, "disks"));
        show_iscsi(json_object_get(answer, "iscsi"));
        show_iommu(json_object_get(answer, "iommu"));
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
        if (r == 0 && json_array_size(knobs)) {
                putchar('\n');
                r = table_print(files, ARRAY_SIZE(files), knobs, e);
        }
        return r;
}
