/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/managed.h"

#include "observe/names.h"

#include <errno.h>
#include <string.h>

/* The largest number of vectors that a driver sets aside before its managed ones and still uses for I/O
 * (megaraid_sas and mpt3sas: 8 "high IOPS" queues). */
#define PRE_VECTORS_MAX 8

bool driver_uses_managed(const char *driver)
{
        static const char *const drivers[] = {
                "be2iscsi",     "csiostor", "hisi_sas_v3_hw", "hpsa",        "lpfc",
                "megaraid_sas", "mpi3mr",   "mpt3sas",        "nvme",        "pm80xx",
                "qla2xxx",      "smartpqi", "virtio_blk",     "virtio_scsi", "virtiofs",
        };

        for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
                if (strcmp(drivers[i], driver) == 0)
                        return true;
        return false;
}

void managed_basis_clear(ManagedBasis *b)
{
        cpuset_free(b->possible);
        cpuset_free(b->present);
        cpuset_free(b->online);
        *b = (ManagedBasis) { 0 };
}

static int read_set(const Root *root, const char *name, CpuSet **ret)
{
        return root_read_cpulist(root, ret, "sys/devices/system/cpu/%s", name) == -ENOMEM ? -ENOMEM : 0;
}

/* Where a machine does not say which CPUs are present, those with a folder are. */
static int count_folders(const Root *root, CpuSet **ret)
{
        Strv names = { 0 };
        unsigned cpu;
        int r = 0;

        (void)root_list(root, &names, "sys/devices/system/cpu");
        for (size_t i = 0; r >= 0 && i < names.n; i++)
                if (name_number(names.items[i], "cpu", &cpu))
                        r = cpuset_add(ret, cpu);
        strv_clear(&names);
        return r == -ENOMEM ? r : 0;
}

int managed_basis_read(const Root *root, const Snapshot *s, ManagedBasis *ret)
{
        int r;

        *ret = (ManagedBasis) { 0 };
        ret->online = cpuset_dup(s->online);
        if (!ret->online)
                return -ENOMEM;
        r = read_set(root, "possible", &ret->possible);
        if (r >= 0)
                r = read_set(root, "present", &ret->present);
        if (r >= 0 && !ret->present)
                r = count_folders(root, &ret->present);
        return r;
}

static bool covers_all(const CpuSet *cpus, const ManagedBasis *b)
{
        return (b->possible && cpuset_equal(cpus, b->possible)) ||
               (b->present && cpuset_equal(cpus, b->present)) || cpuset_equal(cpus, b->online);
}

/* The queue vectors of a device in order of index. */
typedef struct Queues {
        Vector **items;
        size_t n;
} Queues;

/* Whether the masks from item `first` on divide up all CPUs: disjoint, together all. Vectors with two kinds
 * of queues (nvme.write_queues) divide them up once for each kind, one kind after the other. 1 = yes, 0 = no.
 */
static int divides_up(const Queues *q, size_t first, const ManagedBasis *b)
{
        _cleanup_(cpuset_freep) CpuSet *seen = NULL;

        for (size_t i = first; i < q->n; i++) {
                const CpuSet *mask = q->items[i]->affinity;

                if (cpuset_is_empty(mask))
                        return 0;
                if (cpuset_intersects(seen, mask)) {
                        if (!covers_all(seen, b))
                                return 0;
                        cpuset_free(seen);
                        seen = NULL;
                }
                if (cpuset_add_all(&seen, mask) < 0)
                        return -ENOMEM;
        }
        return covers_all(seen, b);
}

/* The number of leading queue vectors before the managed ones, -ENOENT when the masks show none. Two queues
 * at least, since one mask that covers all CPUs is also what every new vector gets. */
static int find_managed(const Queues *q, const ManagedBasis *b)
{
        for (size_t first = 0; first <= PRE_VECTORS_MAX && first + 2 <= q->n; first++) {
                int r = divides_up(q, first, b);

                if (r != 0)
                        return r < 0 ? r : (int)first;
        }
        return -ENOENT;
}

/* megaraid_sas and mpi3mr set one vector aside for their own commands; its name does not tell, the masks do.
 */
static int demote_admin(Vector *v)
{
        char *key = strdup("slow-admin");

        if (!key)
                return -ENOMEM;
        free(v->key);
        v->key = key;
        v->role = VECTOR_SLOW;
        v->queue = -1;
        return 0;
}

static int settle(const Queues *q, bool table, bool alone, const ManagedBasis *b)
{
        int first = table && !alone ? find_managed(q, b) : -ENOENT;

        if (first < 0 && first != -ENOENT)
                return first;
        for (size_t i = 0; i < q->n; i++) {
                Vector *v = q->items[i];

                if (v->settable == SETTABLE_NO)
                        continue;
                v->managed = first >= 0 && i >= (size_t)first;
                if (v->managed)
                        v->settable = SETTABLE_NO;
                else if (table && !alone && first < 0)
                        v->settable = SETTABLE_UNKNOWN;
        }
        return first == 1 ? demote_admin(q->items[0]) : 0;
}

int vectors_settle_managed(Device *d, size_t n_all, const ManagedBasis *b)
{
        _cleanup_(freep) Vector **items = calloc(d->n_vectors + 1, sizeof(*items));
        Queues q = { .items = items };
        bool table = driver_uses_managed(d->driver);

        if (!items)
                return -ENOMEM;
        for (size_t i = 0; i < d->n_vectors; i++) {
                Vector *v = &d->vectors[i];

                if (v->refused && table && v->role != VECTOR_SLOW)
                        v->managed = true;
                if (v->role != VECTOR_SLOW)
                        items[q.n++] = v;
        }
        return settle(&q, table, n_all <= 1, b);
}
