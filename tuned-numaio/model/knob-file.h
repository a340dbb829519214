/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "model/snapshot.h"

/* The files that changes write, found in a snapshot: "proc/irq/N/smp_affinity_list" of a device's vectors,
 * "sys/devices/virtual/workqueue/NAME/cpumask" of its workqueues, and its other knobs. */

typedef struct KnobFile {
        char *role;    /* the last part of a change's id DEVICE~KNOB~ROLE: "q3", "iscsi_q" */
        char *current; /* what is in force, in the form that is written: that of its kind */
} KnobFile;

void knob_file_clear(KnobFile *f);

/* What a device has at a path. Returns 1 and fills *ret, which the caller clears; 0 = nothing of this device
 * is there; -ENOMEM. */
int device_find_file(const Snapshot *s, const Device *d, const char *path, KnobFile *ret);

/* Whether the file at a path is still the one that a change with this id (DEVICE~KNOB~ROLE) is about: numbers
 * of IRQs and hosts can be reused. Returns 1, 0 or -ENOMEM. */
int snapshot_change_is_at(const Snapshot *s, const char *id, const char *path);

/* The number in "proc/irq/N/smp_affinity" and "proc/irq/N/smp_affinity_list"; false = another path. */
bool irq_of_path(const char *path, unsigned *ret);

/* The number of the SCSI host that a workqueue serves, by its name; -1 = none. */
int workqueue_host(const char *name);

/* Whether a path is the cpumask of this workqueue. */
bool workqueue_is_at(const Workqueue *w, const char *path);

/* The role of a workqueue among those of its device: its name without host and session number ("iscsi_ctrl"
 * of "iscsi_ctrl_4:1"), and "#2" for the second of one name. NULL when memory is short; the caller frees. */
char *workqueue_role(const Snapshot *s, size_t workqueue);
