/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/node.h"

#include <errno.h>
#include <string.h>

static const char *last_component(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

/* Reads numa_node of a folder; NODE_UNKNOWN when it has none, says -1, or names a node that is not there. */
static int read_node(const Root *root, const Snapshot *s, const char *path)
{
        int node;

        if (root_read_int(root, &node, "%s/numa_node", path) < 0)
                return NODE_UNKNOWN;
        return snapshot_node(s, node) ? node : NODE_UNKNOWN;
}

/* Walks up from the parent of path; shortens `path` to the ancestor that has a node. */
static int ancestor_node(const Root *root, const Snapshot *s, char *path)
{
        char *slash;

        while ((slash = strrchr(path, '/'))) {
                int node;

                *slash = '\0';
                if (strcmp(path, "sys/devices") == 0)
                        break;
                node = read_node(root, s, path);
                if (node != NODE_UNKNOWN)
                        return node;
        }
        return NODE_UNKNOWN;
}

static int local_cpus_node(const Root *root, const Snapshot *s, const char *path, const char **ret_file)
{
        _cleanup_(cpuset_freep) CpuSet *cpus = NULL;
        int r;

        *ret_file = "local_cpulist";
        r = root_read_cpulist(root, &cpus, "%s/local_cpulist", path);
        if (r == -ENOENT) {
                *ret_file = "local_cpus";
                r = root_read_cpumask(root, &cpus, "%s/local_cpus", path);
        }
        if (r < 0)
                return NODE_UNKNOWN;
        cpuset_keep(cpus, s->online);
        if (cpuset_is_empty(cpus) || cpuset_equal(cpus, s->online))
                return NODE_UNKNOWN;
        for (size_t i = 0; i < s->n_nodes; i++)
                if (cpuset_is_subset(cpus, s->nodes[i].cpus))
                        return s->nodes[i].id;
        return NODE_UNKNOWN;
}

static int found(NodeChoice *ret, int node, NodeSource source, char *text)
{
        if (!text)
                return -ENOMEM;
        *ret = (NodeChoice) { .node = node, .source = source, .text = text };
        return 0;
}

int node_choose(const Root *root, const Snapshot *s, const char *path, NodeChoice *ret)
{
        _cleanup_(freep) char *up = NULL;
        const char *file, *name = last_component(path);
        int node;

        if (s->overlapping)
                return found(ret, 0, NODE_SOURCE_SINGLE,
                             strdup("the nodes overlap: the machine counts as one node"));
        if (!s->numa)
                return found(ret, 0, NODE_SOURCE_SINGLE, strdup("no NUMA: one node with all CPUs"));
        node = read_node(root, s, path);
        if (node != NODE_UNKNOWN)
                return found(ret, node, NODE_SOURCE_DEVICE, strf("numa_node of %s", name));
        up = strdup(path);
        if (!up)
                return -ENOMEM;
        node = ancestor_node(root, s, up);
        if (node != NODE_UNKNOWN)
                return found(ret, node, NODE_SOURCE_ANCESTOR, strf("numa_node of %s", last_component(up)));
        node = local_cpus_node(root, s, path, &file);
        if (node != NODE_UNKNOWN)
                return found(ret, node, NODE_SOURCE_LOCAL_CPULIST, strf("%s of %s", file, name));
        return found(ret, NODE_UNKNOWN, NODE_SOURCE_UNKNOWN,
                     strf("neither numa_node nor local_cpulist of %s or a device above it tells", name));
}
