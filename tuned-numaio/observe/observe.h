/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"
#include "model/snapshot.h"

/* A refusal that is known from an earlier write: such a file is not tried again. */
typedef struct KnownRefusal {
        const char *path; /* below the root: "proc/irq/45/smp_affinity_list",
                             "sys/devices/virtual/workqueue/iscsi_q_4/cpumask" */
        int error;        /* negative errno */
} KnownRefusal;

/* Reads the whole machine once. Reads only; a file or device that vanishes meanwhile is left out and is no
 * error. Refusals mark their vectors and workqueues: SETTABLE_NO, and vectors managed where the errno and the
 * driver say so. Returns 0, -ENOMEM, -ENODATA when nothing tells of an online CPU, or the errno of a root
 * without /sys and /proc. The caller frees. */
int observe(const Root *root, const KnownRefusal *refusals, size_t n_refusals, Snapshot **ret);

/* What a person is told of an error that observe() returned. */
const char *observe_strerror(int error);

/* The online CPUs: cpu/online, or where a capture lacks it the CPU folders, or in the end the nodes' CPUs,
 * without those that are offline. *ret may be NULL or empty when nothing tells. Returns 0 or -ENOMEM. The
 * caller frees. */
int observe_online(const Root *root, CpuSet **ret);

/* The parts, called by observe() in this order; each fills its own members of the snapshot. */
int observe_topology(const Root *root, Snapshot *s); /* nodes, CPUs, isolation, kernel, boot id */
int observe_devices(const Root *root,
                    Snapshot *s); /* PCI functions: hba, nvme, nic; their netdevs, hosts, disks */
int observe_vectors(const Root *root, const KnownRefusal *refusals, size_t n_refusals, Snapshot *s);
int observe_iscsi(const Root *root, Snapshot *s); /* iscsi-hosts, mapped to their NICs */
/* All of them, tied to their devices. */
int observe_workqueues(const Root *root, const KnownRefusal *refusals, size_t n_refusals, Snapshot *s);
/* What else of a device can be set: IOMMU group, iSCSI transmit work. */
int observe_knobs(const Root *root, const KnownRefusal *refusals, size_t n_refusals, Snapshot *s);
