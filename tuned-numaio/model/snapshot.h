/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/cpuset.h"
#include "basic/strv.h"
#include "model/file-kind.h"

#include <stdbool.h>
#include <stdint.h>

/* What one look at a machine saw: plain data, made by observe, never changed afterwards. */

#define NODE_UNKNOWN (-1)

typedef enum DeviceClass {
        DEVICE_HBA, /* SAS, FC, RAID, AHCI, virtio-scsi, virtio-blk ... */
        DEVICE_NVME,
        DEVICE_NIC,
        DEVICE_ISCSI_HOST, /* software and offload */
        _DEVICE_CLASS_MAX,
} DeviceClass;

/* Where a device's node came from: rule 1 and 2 of docs/architecture.md. */
typedef enum NodeSource {
        NODE_SOURCE_UNKNOWN,
        NODE_SOURCE_DEVICE,        /* its own numa_node */
        NODE_SOURCE_ANCESTOR,      /* the nearest ancestor's numa_node */
        NODE_SOURCE_LOCAL_CPULIST, /* local_cpulist: a real subset of the online CPUs that fits one node */
        NODE_SOURCE_NETDEV,        /* the NIC that a software iSCSI host's connection goes through */
        NODE_SOURCE_SINGLE,        /* a machine without NUMA: the one node with all CPUs */
        NODE_SOURCE_POLICY,        /* a policy's `node` (set by plan, never by observe) */
        _NODE_SOURCE_MAX,
} NodeSource;

typedef enum VectorRole {
        VECTOR_QUEUE, /* a queue's only vector */
        VECTOR_RX,
        VECTOR_TX,
        VECTOR_SLOW, /* slow path: admin, misc, config, async, mailbox */
        _VECTOR_ROLE_MAX,
} VectorRole;

typedef enum Settable {
        SETTABLE_YES,
        SETTABLE_NO,      /* mode 0444, kernel-managed, or refused before */
        SETTABLE_UNKNOWN, /* only a write tells */
        _SETTABLE_MAX,
} Settable;

typedef struct Node {
        int id;
        CpuSet *cpus;  /* its online CPUs; empty on a memory-only node */
        int *distance; /* to the node at the same place of Snapshot.nodes; n_nodes entries; 0 = not known */
} Node;

typedef struct Cpu {
        unsigned id;
        int node;   /* node id, or NODE_UNKNOWN */
        int core;   /* number of the physical core, equal for SMT siblings: the lowest sibling's CPU number */
        int thread; /* place among the core's online siblings, 0 = first */
        int cache;  /* last-level cache domain: the lowest CPU number that shares it */
} Cpu;

typedef struct Vector {
        unsigned irq;   /* the IRQ number: a fact shown, never a key */
        unsigned index; /* place among the function's vectors, in order of IRQ number */
        char *action;   /* the action's name, several joined by ", " */
        char *key; /* stable within the device: "q3", "rx3", "tx3", "slow-config"; made unique with "#2" */
        VectorRole role;
        int queue;         /* number of the queue; -1 = slow path */
        CpuSet *affinity;  /* smp_affinity_list */
        CpuSet *effective; /* effective_affinity_list; empty = the kernel does not say */
        bool managed;      /* kernel-managed affinity: cannot be written */
        Settable settable;
        int refused;  /* negative errno of an earlier refusal, 0 = none */
        bool pending; /* smp_affinity was changed, the move waits for the next interrupt */
} Vector;

typedef struct Workqueue {
        char *name;        /* as in sysfs; may hold a colon */
        char *path;        /* its folder below the root */
        int device;        /* index in Snapshot.devices, -1 = belongs to none */
        bool per_cpu;      /* has no cpumask */
        CpuSet *cpumask;   /* the requested mask as read; NULL when per_cpu */
        int numa;          /* 0, 1, or -1 = this kernel has no such file */
        Settable settable; /* no: per_cpu, mode 0444, or refused before */
} Workqueue;

/* A file of a device that is neither a vector's nor a workqueue's cpumask. */
typedef struct Knob {
        WriterKind kind;
        char *path;  /* below the root, without symbolic links */
        char *role;  /* stable among the device's: the last part of its change's id */
        char *value; /* what is in force, in the form of its kind */
        Settable settable;
} Knob;

/* A disk of a software iSCSI host. */
typedef struct IscsiDisk {
        char *name;
        char *scheduler;     /* NULL = not known */
        char *request_based; /* a request-based device mapper target above it: "dm-3"; NULL = none */
} IscsiDisk;

/* Whether a workqueue that runs one item at a time is ordered for good, whatever is written to its files. */
typedef enum QueueOrder {
        QUEUE_ORDER_UNKNOWN, /* nobody asked, or the kernel does not tell */
        QUEUE_STAYS_ORDERED, /* Linux 6.6 to 6.8 */
        QUEUE_NOT_ORDERED,
} QueueOrder;

/* How a software iSCSI host transmits. */
typedef struct XmitFacts {
        unsigned sessions;      /* of the host; they share its queue */
        bool counted;           /* the kernel has xmit_stats: local and remote count */
        uint64_t local, remote; /* runs on the node that receives, and elsewhere */
        int rx_cpu;             /* CPU that received last; -1 = none yet, or the kernel does not tell */
        bool receives;          /* iscsi_tcp.recv_from_iscsi_q: the queue receives, too */
        bool no_pools;          /* workqueue.disable_numa: no queue has a pool for each node */
        QueueOrder order;       /* of queues with an affinity_scope */
        IscsiDisk *disks;       /* in order of name; only where xmit_inline is there */
        size_t n_disks;
} XmitFacts;

typedef struct IscsiFacts {
        char *transport; /* "tcp", "qedi" ... */
        char *iface;     /* name of the iscsi interface, "default" when iscsid set none */
        char *target;    /* IQN of the first session's target; "" = not logged in yet */
        int host;        /* SCSI host number */
        bool offload;
        char *local, *peer; /* "ADDRESS:PORT" of the connection, NULL = not known */
        char *netdev;       /* the netdev that the connection uses, before the descent; NULL = not known */
        char *via;          /* how it was found, for people: "route to 10.9.0.2: bond0 > eth1" */
        char *nic;          /* netdev of the physical NIC at the end of the descent; NULL = not known */
        char *nic_device;   /* its device id ("pci:0000:22:00.0"); NULL = not a device of this snapshot */
        XmitFacts xmit;     /* of software hosts alone */
} IscsiFacts;

/* One size class of the IOVA caches of a group: a line of iova_stats, Documentation/ABI of kernel/. Counters
 * run since the group's domain was made. */
typedef struct IovaClass {
        uint64_t alloc_cpu, alloc_depot, alloc_miss, free_cpu, free_depot, free_drop;
        unsigned depot_size; /* magazines in the depot now */
} IovaClass;

#define IOVA_CLASSES_MAX 16

typedef struct IovaStats {
        IovaClass classes[IOVA_CLASSES_MAX]; /* by order: ranges of 2^order granules */
        size_t n;                            /* 0 = this kernel does not count */
} IovaStats;

/* The IOMMU group of a device. */
typedef struct IommuFacts {
        char *group;        /* its number */
        char *type;         /* of its default domain: "DMA", "DMA-FQ", "identity" ...; "" = not told */
        unsigned devices;   /* in the group, this one among them; 0 = not told */
        unsigned functions; /* those of them that are no bridges */
        unsigned dma_bits;  /* width of the device's DMA mask, 0 = not told */
        IovaStats stats;
} IommuFacts;

/* How the depots of the IOVA caches are limited: docs/iova.md. */
typedef enum DepotKind {
        DEPOT_UNKNOWN,      /* nobody asked, or the kernel does not tell */
        DEPOT_FIXED,        /* for good, when the kernel was built */
        DEPOT_LIMITED,      /* by files: kernel/ */
        DEPOT_SELF_SCALING, /* not at all; the kernel shrinks them by itself */
        _DEPOT_KIND_MAX,
} DepotKind;

typedef struct Device {
        char *id; /* "pci:0000:21:00.0", "iscsi:IFACE:TARGET" */
        DeviceClass class;
        char *driver; /* "" = none */
        char *pci;    /* address of its PCI function; NULL = none */
        char *model;  /* its vendor and model, from udev's database; NULL = not known */
        char *path;   /* its folder below the root, links resolved */
        int node;     /* node id or NODE_UNKNOWN */
        NodeSource node_source;
        char *node_text; /* for people: "numa_node of 0000:20:00.0" */
        Strv netdevs;
        Strv disks;      /* block devices: "sda", "nvme0n1" */
        Strv disk_paths; /* folders below the root of those that lie below the device; of a multipath NVMe
                            namespace that of the hidden path over this controller */
        int *scsi_hosts; /* SCSI host numbers */
        size_t n_scsi_hosts;
        Vector *vectors; /* those with an action, in order of index */
        size_t n_vectors;
        IscsiFacts *iscsi; /* of iscsi-hosts alone */
        IommuFacts *iommu; /* NULL = its DMA is not translated, or that is not told */
        Knob *knobs;       /* those that this kernel has; in no order */
        size_t n_knobs;
} Device;

typedef struct Snapshot {
        bool numa;        /* false: the kernel has no nodes, node 0 stands for the whole machine */
        bool overlapping; /* broken firmware: nodes share CPUs; treated as one node 0, says the topology */
        Node *nodes;      /* in order of id; ids may be sparse */
        size_t n_nodes;
        Cpu *cpus; /* online ones, in order of id */
        size_t n_cpus;
        CpuSet *possible; /* CPUs that are there or may be plugged in; NULL = not known */
        CpuSet *online;
        CpuSet *isolated; /* cpu/isolated and isolcpus= without "managed_irq" alone */
        CpuSet *nohz_full;
        unsigned cpu_bits; /* highest possible CPU + 1: the width of masks */
        char *kernel;      /* release */
        char *boot_id;     /* "" = not known */
        Device *devices;   /* in natural order of id; PCI functions by address */
        size_t n_devices;
        Workqueue *workqueues;
        size_t n_workqueues;
        CpuSet *workqueue_mask; /* the global unbound mask; NULL = not known */
        DepotKind depot;
        int depot_max; /* default limit of DEPOT_LIMITED; 0 = not known */
        Strv absent;   /* what this kernel lacks altogether, and what follows: sentences for people */
} Snapshot;

Snapshot *snapshot_new(void);
Snapshot *snapshot_free(Snapshot *s);
DEFINE_CLEANUP(Snapshot, snapshot_free)

/* Frees what a part holds, not the part itself; used while a snapshot is built. */
void device_clear(Device *d);
void vector_clear(Vector *v);
void workqueue_clear(Workqueue *w);
void knob_clear(Knob *k);

/* Look-ups; NULL = not there. The result belongs to the snapshot. */
const Node *snapshot_node(const Snapshot *s, int id);
const Cpu *snapshot_cpu(const Snapshot *s, unsigned cpu);
const Device *snapshot_device(const Snapshot *s, const char *id);
const Device *snapshot_device_of_netdev(const Snapshot *s, const char *netdev);
/* The device's only or first knob of a kind. */
const Knob *device_knob(const Device *d, WriterKind kind);
/* The number that it says, or `otherwise` while it says a word ("default"). */
int knob_number(const Knob *k, int otherwise);
/* Index of the device that owns a SCSI host, -1 = none. */
int snapshot_device_of_scsi_host(const Snapshot *s, int host);

/* The CPUs that the vector's interrupts really go to: effective, or affinity where the kernel does not say.
 */
const CpuSet *vector_target(const Vector *v);

typedef struct VectorCounts {
        unsigned total, managed, local, remote;
        unsigned settable_local, settable_remote; /* those of them that are not kernel-managed */
        unsigned managed_local;                   /* of the managed ones */
} VectorCounts;

/* Counts a device's vectors against a node; local and remote are 0 while the node is NODE_UNKNOWN. A vector
 * is local when its target lies inside the node's CPUs. */
VectorCounts device_count_vectors(const Snapshot *s, const Device *d, int node);

/* Names of the enumerations as they appear in JSON and YAML. *_from_string return the value or -EINVAL. */
const char *device_class_to_string(DeviceClass c);
int device_class_from_string(const char *s);
const char *node_source_to_string(NodeSource n);
const char *vector_role_to_string(VectorRole r);
const char *settable_to_string(Settable s);
const char *depot_kind_to_string(DepotKind k);
