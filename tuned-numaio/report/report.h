/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/error.h"
#include "model/snapshot.h"
#include "plan/plan.h"

#include <jansson.h>

/* One walk over the data for everybody: the API sends this JSON, and numaioctl makes its tables from it.
 * Every function returns a new reference, or NULL when memory is short. The forms are those of
 * api/openapi.yaml. */

/* {nodes: [{id, cpus, distance: {"0": 10, ...}}], numa, overlapping, online, isolated, nohz_full, cpus: N,
 * kernel} */
json_t *report_topology(const Snapshot *s);

/* {id, class, driver, pci, node, node_source, node_text, netdevs, scsi_hosts, disks, vectors: {total,
 * managed, local, remote}, iscsi: {...}}; node and node_source are those that were planned for (plan may be
 * NULL: as observed). An unknown node is null. */
json_t *report_device(const Snapshot *s, const Plan *p, const Device *d);
/* The same and `irqs`: [{irq, action, key, role, queue, affinity, effective, managed, settable, pending,
 * local}], and `workqueues`:
 * [{name, cpumask}]. */
json_t *report_device_details(const Snapshot *s, const Plan *p, const Device *d);

/* {id, device, plugin, knob, path, current, desired, settable, irq, reason: {rule, file, line, text}} */
json_t *report_change(const Change *c);

/* {devices: [...], changes: [...], verdicts: [{device, plugin, knob, state, node, reason}]} */
json_t *report_plan(const Snapshot *s, const Plan *p);

/* RFC 9457: {type, title, status, detail, where?}. */
json_t *report_problem(int status, const char *slug, const char *title, const Error *e);
