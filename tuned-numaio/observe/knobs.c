/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/knobs.h"

#include "basic/array.h"
#include "basic/error.h"
#include "observe/iommu.h"
#include "observe/iscsi-knobs.h"

#include <errno.h>
#include <string.h>

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

int observe_knobs(const Root *root, const KnownRefusal *refusals, size_t n_refusals, Snapshot *s)
{
        const Refusals known = { refusals, n_refusals };
        int r;

        r = observe_depot_max(root, s);
        for (size_t i = 0; r >= 0 && i < s->n_devices; i++) {
                Device *d = &s->devices[i];

                if (d->iscsi && !d->iscsi->offload)
                        r = observe_iscsi_knobs(root, &known, d);
                if (r >= 0 && d->pci)
                        r = observe_iommu(root, &known, d);
        }
        return r;
}
