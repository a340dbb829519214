/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/error.h"
#include "model/snapshot.h"
#include "plan/plan.h"

#include <jansson.h>

/* One walk over the data for everybody: the API sends this JSON, and numaioctl makes its tables from it.
 * Every function returns a new reference, or NULL when memory is short. The forms are those of
 * api/openapi.yaml. */

/* A string; bytes that are no UTF-8 (a netdev may have any name) become "?", NULL becomes null. */
json_t *report_text(const char *s);
/* Appends to an array and returns it; takes the item's reference over. Where one of them is NULL (memory is
 * short) the other is released, and the result is NULL. */
json_t *report_append(json_t *array, json_t *item);

/* {nodes: [{id, cpus, distance: {"0": 10, ...}}], numa, overlapping, online, isolated, nohz_full, cpus: N,
 * kernel, absent: [...]} */
json_t *report_topology(const Snapshot *s);

/* {id, class, driver, pci, model, node, node_source, node_text, netdevs, scsi_hosts, disks, vectors: {total,
 * managed, local, remote}, settable: {local, remote}, iscsi: {...}}; settable counts those that are not
 * kernel-managed; node and node_source are those that were planned for (plan may be NULL: as observed). An
 * unknown node is null, and so is a model that udev does not tell. */
json_t *report_device(const Snapshot *s, const Plan *p, const Device *d);
/* The same and `irqs`: [{irq, action, key, role, queue, affinity, effective, managed, settable, pending,
 * local}], and `workqueues`: [{name, cpumask, cpus, per_cpu, numa, settable}]. */
json_t *report_device_details(const Snapshot *s, const Plan *p, const Device *d);

/* Of a software iSCSI host: {rx_cpu, rx_node, xmit: {local, remote}}, each null where the kernel does not
 * tell. */
json_t *report_xmit(const Snapshot *s, const XmitFacts *x);

/* The node that was planned for; as observed where p is NULL. */
int report_planned_node(const Plan *p, const Device *d);

/* {rule, file, line, text}; file and line are null for what is built in. */
json_t *report_reason(const Reason *r);
/* {id, device, plugin, knob, path, current, desired, settable, irq, reason: {rule, file, line, text}} */
json_t *report_change(const Change *c);

/* {device, plugin, knob, state, node, node_source, reason} */
json_t *report_verdict(const Verdict *v);

/* {devices: [...], changes: [...], verdicts: [...]}; each device also has `planned`: {local, remote}, its
 * vectors as they will be once the plan is carried out. */
json_t *report_plan(const Snapshot *s, const Plan *p);

/* RFC 9457: {type, title, status, detail, where?}. */
json_t *report_problem(int status, const char *slug, const char *title, const Error *e);
