/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/managed.h"

#include "observe/names.h"

#include <errno.h>
#include <string.h>

/* Drivers that ask the kernel to manage their queue vectors. */
static const struct ManagedDriver {
        const char *name;
        size_t before; /* at most so many vectors are set aside whose names do not tell them from the queues
                        */
        bool admin;    /* a single such vector carries the driver's own commands */
        bool sets;     /* divides up the CPUs once for each kind of queue */
} drivers[] = {
        { .name = "be2iscsi" },
        { .name = "csiostor" },
        { .name = "hisi_sas_v3_hw" },
        { .name = "hpsa" },
        { .name = "lpfc" },
        { .name = "megaraid_sas", .before = 8, .admin = true }, /* one, or 8 "high IOPS" queues */
        { .name = "mpi3mr", .before = 1, .admin = true },
        { .name = "mpt3sas", .before = 8 }, /* 8 "high IOPS" queues */
        { .name = "nvme", .sets = true },   /* nvme.write_queues */
        { .name = "pm80xx" },
        { .name = "qla2xxx", .before = 1 }, /* rsp_q */
        { .name = "smartpqi" },
        { .name = "virtio_blk" },
        { .name = "virtio_scsi" },
        { .name = "virtiofs" },
};

static const struct ManagedDriver *find_driver(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
                if (strcmp(drivers[i].name, name) == 0)
                        return &drivers[i];
        return NULL;
}

bool driver_uses_managed(const char *driver)
{
        return find_driver(driver) != NULL;
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

/* Whether the masks from item `first` on divide up all CPUs: disjoint, together all; with `sets` this may
 * begin anew each time that all are there. 1 = yes, 0 = no. */
static int divides_up(const Queues *q, size_t first, bool sets, const ManagedBasis *b)
{
        _cleanup_(cpuset_freep) CpuSet *seen = NULL;
        bool divided = false;

        for (size_t i = first; i < q->n; i++) {
                const CpuSet *mask = q->items[i]->affinity;

                if (cpuset_is_empty(mask))
                        return 0;
                if (cpuset_intersects(seen, mask)) {
                        if (!sets || !covers_all(seen, b))
                                return 0;
                        cpuset_free(seen);
                        seen = NULL;
                }
                if (cpuset_add_all(&seen, mask) < 0)
                        return -ENOMEM;
                divided = divided || !covers_all(mask, b);
        }
        return divided && covers_all(seen, b);
}

/* The number of leading queue vectors before the managed ones, -ENOENT when the masks show none. Two queues
 * at least, since one mask that covers all CPUs is also what every new vector gets. */
static int find_managed(const Queues *q, const struct ManagedDriver *driver, const ManagedBasis *b)
{
        for (size_t first = 0; first <= driver->before && first + 2 <= q->n; first++) {
                int r = divides_up(q, first, driver->sets, b);

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

/* `driver` is NULL where nothing can be managed. */
static int settle(const Queues *q, const struct ManagedDriver *driver, const ManagedBasis *b)
{
        int first = driver ? find_managed(q, driver, b) : -ENOENT;

        if (first < 0 && first != -ENOENT)
                return first;
        for (size_t i = 0; i < q->n; i++) {
                Vector *v = q->items[i];

                if (v->settable == SETTABLE_NO)
                        continue;
                v->managed = first >= 0 && i >= (size_t)first;
                if (v->managed)
                        v->settable = SETTABLE_NO;
                else if (driver && first < 0)
                        v->settable = SETTABLE_UNKNOWN;
        }
        return first == 1 && driver->admin ? demote_admin(q->items[0]) : 0;
}

int vectors_settle_managed(Device *d, size_t n_all, const ManagedBasis *b)
{
        _cleanup_(freep) Vector **items = calloc(d->n_vectors + 1, sizeof(*items));
        const struct ManagedDriver *driver = find_driver(d->driver);
        Queues q = { .items = items };

        if (!items)
                return -ENOMEM;
        for (size_t i = 0; i < d->n_vectors; i++) {
                Vector *v = &d->vectors[i];

                if (v->refused && driver && v->role != VECTOR_SLOW)
                        v->managed = true;
                if (v->role != VECTOR_SLOW)
                        items[q.n++] = v;
        }
        return settle(&q, n_all > 1 ? driver : NULL, b);
}
