/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/knobs.h"

#include "basic/array.h"
#include "basic/error.h"

#include <errno.h>
#include <string.h>

#define WORKQUEUE_DIR "sys/devices/virtual/workqueue"

bool refusals_know(const Refusals *r, const char *path)
{
        for (size_t i = 0; i < r->n; i++)
                if (error_is_refusal(r->items[i].error) && strcmp(r->items[i].path, path) == 0)
                        return true;
        return false;
}

int observe_knob(const Root *root, const Refusals *refusals, Device *d, WriterKind kind, const char *role,
                 const char *path)
{
        Knob k = { .kind = kind }, *slot;
        struct stat st;
        int r;

        r = root_read_value(root, &k.value, "%s", path);
        if (r >= 0)
                r = root_stat(root, &st, "%s", path);
        if (r < 0) {
                knob_clear(&k);
                return r == -ENOMEM ? r : 0;
        }
        file_kind_trim(file_kind_find(kind), k.value);
        k.settable = refusals_know(refusals, path) || !(st.st_mode & 0222) ? SETTABLE_NO : SETTABLE_YES;
        k.path = strdup(path);
        k.role = strdup(role);
        slot = k.path && k.role ? ARRAY_APPEND(d->knobs, d->n_knobs) : NULL;
        if (!slot) {
                knob_clear(&k);
                return -ENOMEM;
        }
        *slot = k;
        return 1;
}

/* A software host lies below the platform bus, and has a transmit queue of its own: drivers/scsi/libiscsi.c.
 */
static int add_iscsi(const Root *root, const Refusals *refusals, Device *d)
{
        const struct {
                WriterKind kind;
                const char *role;
                char *path;
        } files[] = {
                { WRITER_ISCSI_XMIT_NUMA, "xmit_numa",
                  strf("sys/devices/platform/host%d/scsi_host/host%d/xmit_numa", d->iscsi->host,
                       d->iscsi->host) },
                { WRITER_ISCSI_XMIT_INLINE, "xmit_inline",
                  strf("sys/devices/platform/host%d/scsi_host/host%d/xmit_inline", d->iscsi->host,
                       d->iscsi->host) },
                { WRITER_WORKQUEUE_NUMA, "numa", strf(WORKQUEUE_DIR "/iscsi_q_%d/numa", d->iscsi->host) },
                { WRITER_WORKQUEUE_SCOPE, "affinity_scope",
                  strf(WORKQUEUE_DIR "/iscsi_q_%d/affinity_scope", d->iscsi->host) },
                { WRITER_WORKQUEUE_STRICT, "affinity_strict",
                  strf(WORKQUEUE_DIR "/iscsi_q_%d/affinity_strict", d->iscsi->host) },
        };
        int r = 0;

        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                if (r >= 0)
                        r = files[i].path ? observe_knob(root, refusals, d, files[i].kind, files[i].role,
                                                         files[i].path)
                                          : -ENOMEM;
                free(files[i].path);
        }
        return r < 0 ? r : 0;
}

static int add_iommu(const Root *root, const Refusals *refusals, Device *d)
{
        _cleanup_(freep) char *group = NULL, *type = NULL, *depot = NULL;
        int r;

        r = root_read_link_name(root, &group, "%s/iommu_group", d->path);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        type = strf("sys/kernel/iommu_groups/%s/type", group);
        depot = strf("sys/kernel/iommu_groups/%s/iova_depot_max", group);
        if (!type || !depot)
                return -ENOMEM;
        r = observe_knob(root, refusals, d, WRITER_IOMMU_TYPE, "type", type);
        if (r >= 0)
                r = observe_knob(root, refusals, d, WRITER_IOVA_DEPOT, "iova_depot_max", depot);
        return r < 0 ? r : 0;
}

int observe_knobs(const Root *root, const KnownRefusal *refusals, size_t n_refusals, Snapshot *s)
{
        const Refusals known = { refusals, n_refusals };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < s->n_devices; i++) {
                Device *d = &s->devices[i];

                if (d->iscsi && !d->iscsi->offload)
                        r = add_iscsi(root, &known, d);
                if (r >= 0 && d->pci)
                        r = add_iommu(root, &known, d);
        }
        return r;
}
