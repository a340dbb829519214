/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "model/snapshot.h"

#include <jansson.h>

/* Runs of an iSCSI host's transmit work on the node that receives and elsewhere, as the kernel counted them:
 * {runs, local, remote, remote_share, node, nodes: []}; node is null, since the kernel does not tell it, and
 * so is the share of no runs. A new reference; NULL = memory is short. */
json_t *report_xmit_runs(uint64_t local, uint64_t remote);

/* The same of the writer's "MSEC CPU:RUNS CPU:RUNS ...", with nodes: [{id, runs}], all nodes of the snapshot.
 * `node` is the one that receives; local, remote and the share are null when it is NODE_UNKNOWN. Returns 0,
 * -EPROTO for text of another form, or -ENOMEM; seconds and result are set on success alone. */
int report_xmit_runs_by_cpu(const Snapshot *s, int node, const char *text, double *ret_seconds, json_t **ret);
