/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "basic/parse.h"
#include "observe/isolation.h"
#include "observe/names.h"
#include "observe/observe.h"

#include <errno.h>
#include <string.h>

#define CPU_DIR  "sys/devices/system/cpu"
#define NODE_DIR "sys/devices/system/node"

/* The CPUs that have a folder; without_offline leaves out those that say so themselves. */
static int cpu_folders(const Root *root, bool without_offline, CpuSet **ret)
{
        Strv names = { 0 };
        int r;

        if (root_list(root, &names, CPU_DIR) == -ENOMEM)
                return -ENOMEM;
        r = 0;
        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                unsigned cpu;
                int online = 1;

                if (!name_number(names.items[i], "cpu", &cpu))
                        continue;
                if (without_offline)
                        (void)root_read_int(root, &online, CPU_DIR "/cpu%u/online", cpu);
                if (online)
                        r = cpuset_add(ret, cpu);
        }
        strv_clear(&names);
        return r;
}

static void widen(Snapshot *s, const CpuSet *cpus)
{
        FOREACH_CPU (cpu, cpus)
                if ((unsigned)cpu >= s->cpu_bits)
                        s->cpu_bits = (unsigned)cpu + 1;
}

static int read_width(const Root *root, Snapshot *s)
{
        _cleanup_(cpuset_freep) CpuSet *present = NULL;
        int r = 0;

        if (root_read_cpulist(root, &s->possible, CPU_DIR "/possible") < 0)
                r = cpu_folders(root, false, &present);
        widen(s, s->possible);
        widen(s, present);
        widen(s, s->online);
        return r;
}

/* A node's online CPUs. Its cpulist may hold CPUs that are not online, and only one of the two files may
 * exist. Where both do and disagree, the list counts. */
static int read_node_cpus(const Root *root, unsigned id, CpuSet **ret)
{
        int r;

        r = root_read_cpulist(root, ret, NODE_DIR "/node%u/cpulist", id);
        if (r < 0 && r != -ENOMEM)
                r = root_read_cpumask(root, ret, NODE_DIR "/node%u/cpumap", id);
        if (r < 0 && r != -ENOMEM) {
                *ret = cpuset_new(1);
                r = *ret ? 0 : -ENOMEM;
        }
        return r;
}

/* The CPUs of all nodes. */
static int node_cpus(const Root *root, CpuSet **ret)
{
        Strv names = { 0 };
        int r = 0;

        (void)root_list(root, &names, NODE_DIR);
        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                _cleanup_(cpuset_freep) CpuSet *cpus = NULL;
                unsigned id;

                if (!name_number(names.items[i], "node", &id))
                        continue;
                r = read_node_cpus(root, id, &cpus);
                if (r >= 0)
                        r = cpuset_add_all(ret, cpus);
        }
        strv_clear(&names);
        return r;
}

int observe_online(const Root *root, CpuSet **ret)
{
        _cleanup_(cpuset_freep) CpuSet *online = NULL, *offline = NULL;
        int r;

        r = root_read_cpulist(root, &online, CPU_DIR "/online");
        if (r != -ENOMEM && cpuset_is_empty(online)) {
                r = cpu_folders(root, true, &online);
                if (r >= 0 && cpuset_is_empty(online))
                        r = node_cpus(root, &online);
                if (r >= 0 && root_read_cpulist(root, &offline, CPU_DIR "/offline") >= 0 && online)
                        cpuset_remove_all(online, offline);
        }
        if (r < 0)
                return r;
        *ret = STEAL_PTR(online);
        return 0;
}

static int add_node(const Root *root, Snapshot *s, unsigned id)
{
        Node *n = ARRAY_APPEND(s->nodes, s->n_nodes);

        if (!n)
                return -ENOMEM;
        n->id = (int)id;
        return read_node_cpus(root, id, &n->cpus);
}

/* The nodes that have a folder go to *ret_all; those that are online become the snapshot's. */
static int read_nodes(const Root *root, Snapshot *s, CpuSet **ret_all)
{
        _cleanup_(cpuset_freep) CpuSet *online = NULL;
        Strv names = { 0 };
        int r;

        if (root_list(root, &names, NODE_DIR) == -ENOMEM)
                return -ENOMEM;
        (void)root_read_cpulist(root, &online, NODE_DIR "/online");
        r = 0;
        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                unsigned id;

                if (!name_number(names.items[i], "node", &id) || id >= CPUSET_MAX)
                        continue;
                r = cpuset_add(ret_all, id);
                if (r >= 0 && (cpuset_is_empty(online) || cpuset_has(online, id)))
                        r = add_node(root, s, id);
        }
        strv_clear(&names);
        return r;
}

/* Place of a member in a set, in order of number. */
static size_t place_in(const CpuSet *set, int member)
{
        size_t place = 0;

        FOREACH_CPU (i, set) {
                if (i == member)
                        break;
                place++;
        }
        return place;
}

static size_t parse_row(char *text, int *row, size_t room)
{
        char *save = NULL;
        size_t n = 0;

        for (char *word = strtok_r(text, " \t\n", &save); word && n < room;
             word = strtok_r(NULL, " \t\n", &save))
                if (parse_int(word, &row[n]) >= 0)
                        n++;
        return n;
}

/* A row is positional over the online nodes (node_read_distance() in drivers/base/node.c). An edited capture
 * may still have an entry for each node that has a folder, or is possible; a row of any other length says
 * nothing. */
static int read_distance(const Root *root, const Snapshot *s, const CpuSet *const *orders, size_t n_orders,
                         Node *n)
{
        _cleanup_(freep) char *text = NULL;
        _cleanup_(freep) int *row = NULL;
        size_t k, length;

        n->distance = calloc(s->n_nodes, sizeof(*n->distance));
        if (!n->distance)
                return -ENOMEM;
        if (root_read(root, &text, NODE_DIR "/node%d/distance", n->id) < 0)
                return 0;
        length = strlen(text) / 2 + 1;
        row = calloc(length, sizeof(*row));
        if (!row)
                return -ENOMEM;
        length = parse_row(text, row, length);
        for (k = 0; k < n_orders; k++)
                if (cpuset_count(orders[k]) == length)
                        break;
        for (size_t j = 0; k < n_orders && j < s->n_nodes; j++) {
                size_t place = place_in(orders[k], s->nodes[j].id);

                if (place < length && row[place] > 0)
                        n->distance[j] = row[place];
        }
        return 0;
}

static int read_distances(const Root *root, Snapshot *s, const CpuSet *all)
{
        _cleanup_(cpuset_freep) CpuSet *mine = NULL, *possible = NULL;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < s->n_nodes; i++)
                r = cpuset_add(&mine, (unsigned)s->nodes[i].id);
        (void)root_read_cpulist(root, &possible, NODE_DIR "/possible");
        for (size_t i = 0; r >= 0 && i < s->n_nodes; i++) {
                const CpuSet *const orders[] = { mine, all, possible };

                r = read_distance(root, s, orders, ARRAY_SIZE(orders), &s->nodes[i]);
        }
        return r;
}

/* Replaces whatever nodes there are by node 0 with all online CPUs. */
static int make_single_node(Snapshot *s)
{
        Node *n;

        for (size_t i = 0; i < s->n_nodes; i++) {
                cpuset_free(s->nodes[i].cpus);
                free(s->nodes[i].distance);
        }
        free(s->nodes);
        s->nodes = NULL;
        s->n_nodes = 0;
        s->numa = false;
        n = ARRAY_APPEND(s->nodes, s->n_nodes);
        if (!n)
                return -ENOMEM;
        n->cpus = cpuset_dup(s->online);
        n->distance = calloc(1, sizeof(*n->distance));
        if (!n->cpus || !n->distance)
                return -ENOMEM;
        n->distance[0] = 10;
        return 0;
}

/* Leaves out CPUs that are not online, and finds nodes that share CPUs. */
static int settle_nodes(Snapshot *s)
{
        _cleanup_(cpuset_freep) CpuSet *seen = NULL;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < s->n_nodes; i++) {
                cpuset_keep(s->nodes[i].cpus, s->online);
                s->overlapping = s->overlapping || cpuset_intersects(seen, s->nodes[i].cpus);
                r = cpuset_add_all(&seen, s->nodes[i].cpus);
        }
        s->numa = s->n_nodes > 0;
        return r;
}

static int node_of_cpu(const Snapshot *s, unsigned cpu)
{
        for (size_t i = 0; i < s->n_nodes; i++)
                if (cpuset_has(s->nodes[i].cpus, cpu))
                        return s->nodes[i].id;
        return NODE_UNKNOWN;
}

static Cpu *find_cpu(Snapshot *s, unsigned cpu)
{
        return (Cpu *)snapshot_cpu(s, cpu);
}

/* The CPU's set in one of two files, list or mask form, cut to the online ones; NULL when it is not told or
 * does not hold the CPU itself. */
static CpuSet *read_siblings(const Root *root, const Snapshot *s, unsigned cpu, const char *list,
                             const char *mask)
{
        _cleanup_(cpuset_freep) CpuSet *cpus = NULL;
        int r;

        r = root_read_cpulist(root, &cpus, CPU_DIR "/cpu%u/%s", cpu, list);
        if (r < 0)
                r = root_read_cpumask(root, &cpus, CPU_DIR "/cpu%u/%s", cpu, mask);
        if (r < 0)
                return NULL;
        cpuset_keep(cpus, s->online);
        return cpuset_has(cpus, cpu) ? STEAL_PTR(cpus) : NULL;
}

/* One read tells a core's place for all its siblings. */
static void read_core(const Root *root, Snapshot *s, Cpu *c)
{
        _cleanup_(cpuset_freep) CpuSet *siblings = NULL;
        int thread = 0;

        siblings = read_siblings(root, s, c->id, "topology/thread_siblings_list", "topology/thread_siblings");
        if (!siblings) {
                c->core = (int)c->id;
                return;
        }
        FOREACH_CPU (cpu, siblings) {
                Cpu *sibling = find_cpu(s, (unsigned)cpu);

                if (!sibling || sibling->core >= 0)
                        continue;
                sibling->core = cpuset_next(siblings, -1);
                sibling->thread = thread++;
        }
}

/* The name of the CPU's last-level cache folder, "" = not told. */
static int last_level_cache(const Root *root, unsigned cpu, char *ret, size_t size)
{
        Strv names = { 0 };
        int highest = 0;

        ret[0] = '\0';
        if (root_list(root, &names, CPU_DIR "/cpu%u/cache", cpu) == -ENOMEM)
                return -ENOMEM;
        for (size_t i = 0; i < names.n; i++) {
                int level;

                if (!name_number(names.items[i], "index", NULL) ||
                    root_read_int(root, &level, CPU_DIR "/cpu%u/cache/%s/level", cpu, names.items[i]) < 0 ||
                    level <= highest)
                        continue;
                highest = level;
                snprintf(ret, size, "cache/%s", names.items[i]);
        }
        strv_clear(&names);
        return 0;
}

/* CPUs whose caches are not told share one domain with the rest of their node. */
static int read_cache(const Root *root, Snapshot *s, Cpu *c)
{
        _cleanup_(cpuset_freep) CpuSet *shared = NULL;
        const Node *node = snapshot_node(s, c->node);
        char folder[64], list[96], mask[96];
        int r;

        r = last_level_cache(root, c->id, folder, sizeof(folder));
        if (r < 0)
                return r;
        snprintf(list, sizeof(list), "%s/shared_cpu_list", folder);
        snprintf(mask, sizeof(mask), "%s/shared_cpu_map", folder);
        if (folder[0])
                shared = read_siblings(root, s, c->id, list, mask);
        if (!shared) {
                c->cache = node ? cpuset_next(node->cpus, -1) : (int)c->id;
                return 0;
        }
        FOREACH_CPU (cpu, shared) {
                Cpu *other = find_cpu(s, (unsigned)cpu);

                if (other && other->cache < 0)
                        other->cache = cpuset_next(shared, -1);
        }
        return 0;
}

static int read_cpus(const Root *root, Snapshot *s)
{
        int r = 0;

        FOREACH_CPU (cpu, s->online) {
                Cpu *c = ARRAY_APPEND(s->cpus, s->n_cpus);

                if (!c)
                        return -ENOMEM;
                *c = (Cpu) {
                        .id = (unsigned)cpu, .node = node_of_cpu(s, (unsigned)cpu), .core = -1, .cache = -1
                };
        }
        for (size_t i = 0; i < s->n_cpus; i++)
                if (s->cpus[i].core < 0)
                        read_core(root, s, &s->cpus[i]);
        for (size_t i = 0; r >= 0 && i < s->n_cpus; i++)
                if (s->cpus[i].cache < 0)
                        r = read_cache(root, s, &s->cpus[i]);
        return r;
}

static int read_identity(const Root *root, Snapshot *s)
{
        if (root_read(root, &s->kernel, "proc/sys/kernel/osrelease") < 0)
                s->kernel = strdup("");
        if (root_read(root, &s->boot_id, "proc/sys/kernel/random/boot_id") < 0)
                s->boot_id = strdup("");
        return s->kernel && s->boot_id ? 0 : -ENOMEM;
}

int observe_topology(const Root *root, Snapshot *s)
{
        _cleanup_(cpuset_freep) CpuSet *all = NULL;
        int r;

        r = observe_online(root, &s->online);
        if (r >= 0)
                r = read_nodes(root, s, &all);
        if (r >= 0)
                r = settle_nodes(s);
        if (r >= 0)
                r = read_width(root, s);
        if (r >= 0)
                r = s->numa && !s->overlapping ? read_distances(root, s, all) : make_single_node(s);
        if (r >= 0)
                r = read_cpus(root, s);
        if (r >= 0)
                r = observe_isolation(root, s);
        if (r >= 0)
                r = read_identity(root, s);
        return r;
}
