/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/observe.h"

#include <errno.h>
#include <string.h>

const char *observe_strerror(int error)
{
        return error == -ENODATA ? "no CPU is online, as far as it tells" : strerror(-error);
}

int observe(const Root *root, const KnownRefusal *refusals, size_t n_refusals, Snapshot **ret)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        struct stat st;
        int r;

        r = root_stat(root, &st, "sys");
        if (r >= 0)
                r = root_stat(root, &st, "proc");
        if (r < 0)
                return r;
        s = snapshot_new();
        if (!s)
                return -ENOMEM;
        r = observe_topology(root, s);
        if (r >= 0 && s->n_cpus == 0)
                r = -ENODATA;
        if (r >= 0)
                r = observe_devices(root, s);
        if (r >= 0)
                r = observe_vectors(root, refusals, n_refusals, s);
        if (r >= 0)
                r = observe_iscsi(root, s);
        if (r >= 0)
                r = observe_workqueues(root, refusals, n_refusals, s);
        if (r < 0)
                return r;
        *ret = STEAL_PTR(s);
        return 0;
}
