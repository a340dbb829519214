/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/snapshot.h"

#include "basic/parse.h"

#include <errno.h>
#include <string.h>

Snapshot *snapshot_new(void)
{
        return calloc(1, sizeof(Snapshot));
}

void vector_clear(Vector *v)
{
        free(v->action);
        free(v->key);
        cpuset_free(v->affinity);
        cpuset_free(v->effective);
        *v = (Vector) { 0 };
}

void workqueue_clear(Workqueue *w)
{
        free(w->name);
        free(w->path);
        cpuset_free(w->cpumask);
        *w = (Workqueue) { 0 };
}

void knob_clear(Knob *k)
{
        free(k->path);
        free(k->role);
        free(k->value);
        *k = (Knob) { 0 };
}

static void iscsi_facts_free(IscsiFacts *i)
{
        if (!i)
                return;
        free(i->transport);
        free(i->iface);
        free(i->target);
        free(i->local);
        free(i->peer);
        free(i->netdev);
        free(i->via);
        free(i->nic);
        free(i->nic_device);
        for (size_t k = 0; k < i->xmit.n_disks; k++) {
                free(i->xmit.disks[k].name);
                free(i->xmit.disks[k].scheduler);
                free(i->xmit.disks[k].request_based);
        }
        free(i->xmit.disks);
        free(i);
}

static void iommu_facts_free(IommuFacts *i)
{
        if (!i)
                return;
        free(i->group);
        free(i->type);
        free(i);
}

void device_clear(Device *d)
{
        free(d->id);
        free(d->driver);
        free(d->pci);
        free(d->model);
        free(d->path);
        free(d->node_text);
        strv_clear(&d->netdevs);
        strv_clear(&d->disks);
        strv_clear(&d->disk_paths);
        free(d->scsi_hosts);
        for (size_t i = 0; i < d->n_vectors; i++)
                vector_clear(&d->vectors[i]);
        free(d->vectors);
        iscsi_facts_free(d->iscsi);
        iommu_facts_free(d->iommu);
        for (size_t i = 0; i < d->n_knobs; i++)
                knob_clear(&d->knobs[i]);
        free(d->knobs);
        *d = (Device) { 0 };
}

Snapshot *snapshot_free(Snapshot *s)
{
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_nodes; i++) {
                cpuset_free(s->nodes[i].cpus);
                free(s->nodes[i].distance);
        }
        free(s->nodes);
        free(s->cpus);
        cpuset_free(s->possible);
        cpuset_free(s->online);
        cpuset_free(s->isolated);
        cpuset_free(s->nohz_full);
        free(s->kernel);
        free(s->boot_id);
        for (size_t i = 0; i < s->n_devices; i++)
                device_clear(&s->devices[i]);
        free(s->devices);
        for (size_t i = 0; i < s->n_workqueues; i++)
                workqueue_clear(&s->workqueues[i]);
        free(s->workqueues);
        cpuset_free(s->workqueue_mask);
        strv_clear(&s->absent);
        free(s);
        return NULL;
}

const Node *snapshot_node(const Snapshot *s, int id)
{
        for (size_t i = 0; i < s->n_nodes; i++)
                if (s->nodes[i].id == id)
                        return &s->nodes[i];
        return NULL;
}

static int compare_cpu(const void *key, const void *item)
{
        unsigned id = *(const unsigned *)key, other = ((const Cpu *)item)->id;

        return id < other ? -1 : id > other;
}

const Cpu *snapshot_cpu(const Snapshot *s, unsigned cpu)
{
        return s->n_cpus ? bsearch(&cpu, s->cpus, s->n_cpus, sizeof(*s->cpus), compare_cpu) : NULL;
}

const Device *snapshot_device(const Snapshot *s, const char *id)
{
        for (size_t i = 0; i < s->n_devices; i++)
                if (strcmp(s->devices[i].id, id) == 0)
                        return &s->devices[i];
        return NULL;
}

const Device *snapshot_device_of_netdev(const Snapshot *s, const char *netdev)
{
        for (size_t i = 0; i < s->n_devices; i++)
                if (strv_contains(&s->devices[i].netdevs, netdev))
                        return &s->devices[i];
        return NULL;
}

const Knob *device_knob(const Device *d, WriterKind kind)
{
        for (size_t i = 0; i < d->n_knobs; i++)
                if (d->knobs[i].kind == kind)
                        return &d->knobs[i];
        return NULL;
}

int knob_number(const Knob *k, int otherwise)
{
        int number;

        return parse_int(k->value, &number) < 0 ? otherwise : number;
}

int snapshot_device_of_scsi_host(const Snapshot *s, int host)
{
        for (size_t i = 0; i < s->n_devices; i++)
                for (size_t j = 0; j < s->devices[i].n_scsi_hosts; j++)
                        if (s->devices[i].scsi_hosts[j] == host)
                                return (int)i;
        return -1;
}

const CpuSet *vector_target(const Vector *v)
{
        return cpuset_is_empty(v->effective) ? v->affinity : v->effective;
}

VectorCounts device_count_vectors(const Snapshot *s, const Device *d, int node)
{
        const Node *n = snapshot_node(s, node);
        VectorCounts c = { .total = (unsigned)d->n_vectors };

        for (size_t i = 0; i < d->n_vectors; i++) {
                const Vector *v = &d->vectors[i];

                c.managed += v->managed;
                if (!n)
                        continue;
                if (cpuset_is_subset(vector_target(v), n->cpus)) {
                        c.local++;
                        c.settable_local += !v->managed;
                } else {
                        c.remote++;
                        c.settable_remote += !v->managed;
                }
        }
        return c;
}

static const char *const class_names[_DEVICE_CLASS_MAX] = {
        [DEVICE_HBA] = "hba",
        [DEVICE_NVME] = "nvme",
        [DEVICE_NIC] = "nic",
        [DEVICE_ISCSI_HOST] = "iscsi-host",
};

const char *device_class_to_string(DeviceClass c)
{
        return class_names[c];
}

int device_class_from_string(const char *s)
{
        for (int i = 0; i < _DEVICE_CLASS_MAX; i++)
                if (strcmp(class_names[i], s) == 0)
                        return i;
        return -EINVAL;
}

const char *node_source_to_string(NodeSource n)
{
        static const char *const names[_NODE_SOURCE_MAX] = {
                [NODE_SOURCE_UNKNOWN] = "unknown",   [NODE_SOURCE_DEVICE] = "device",
                [NODE_SOURCE_ANCESTOR] = "ancestor", [NODE_SOURCE_LOCAL_CPULIST] = "local-cpulist",
                [NODE_SOURCE_NETDEV] = "netdev",     [NODE_SOURCE_SINGLE] = "single-node",
                [NODE_SOURCE_POLICY] = "policy",
        };

        return names[n];
}

const char *vector_role_to_string(VectorRole r)
{
        static const char *const names[_VECTOR_ROLE_MAX] = {
                [VECTOR_QUEUE] = "queue",
                [VECTOR_RX] = "rx",
                [VECTOR_TX] = "tx",
                [VECTOR_SLOW] = "slow-path",
        };

        return names[r];
}

const char *settable_to_string(Settable s)
{
        static const char *const names[_SETTABLE_MAX] = {
                [SETTABLE_YES] = "yes",
                [SETTABLE_NO] = "no",
                [SETTABLE_UNKNOWN] = "unknown",
        };

        return names[s];
}

const char *depot_kind_to_string(DepotKind k)
{
        static const char *const names[_DEPOT_KIND_MAX] = {
                [DEPOT_UNKNOWN] = "unknown",
                [DEPOT_FIXED] = "fixed",
                [DEPOT_LIMITED] = "limited",
                [DEPOT_SELF_SCALING] = "self-scaling",
        };

        return names[k];
}
