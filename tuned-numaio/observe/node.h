/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"
#include "model/snapshot.h"

typedef struct NodeChoice {
        int node; /* node id or NODE_UNKNOWN */
        NodeSource source;
        char *text; /* for people; the caller frees */
} NodeChoice;

/* The node of the device at a real path below the root: its own numa_node >= 0; else the nearest ancestor's;
 * else a local_cpulist (local_cpus where that is missing) that is a real subset of the online CPUs and fits
 * one node; else unknown. A numa_node that is no node of the snapshot counts as not known. A machine without
 * NUMA, or with overlapping nodes, has the one node 0. Needs the topology. Returns 0 or -ENOMEM. */
int node_choose(const Root *root, const Snapshot *s, const char *path, NodeChoice *ret);
