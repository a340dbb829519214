/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/observe.h"

#include <errno.h>
#include <string.h>

const char *observe_strerror(int error)
{
        if (error == -ENODATA)
                return "no CPU is online, as far as it tells";
        return error == -ENOENT ? "it has no sys or no proc" : strerror(-error);
}

/* Whole parts of /proc and /sys that a kernel may be built without. What needs them is just not there, which
 * would look as if the machine had no such devices. */
static int note_absent(const Root *root, Snapshot *s)
{
        static const struct {
                const char *path, *text;
        } parts[] = {
                { "sys/bus/pci", "/sys/bus/pci is absent: no HBA, NVMe drive or NIC can be found" },
                { "proc/irq", "/proc/irq is absent: no interrupt can be placed" },
                { "sys/class/net", "/sys/class/net is absent: no network interface is known" },
                { "sys/devices/virtual/workqueue",
                  "/sys/devices/virtual/workqueue is absent: no workqueue can be placed" },
        };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(parts); i++)
                if (!root_exists(root, "%s", parts[i].path))
                        r = strv_add(&s->absent, parts[i].text);
        return r;
}

static int observe_all(const Root *root, const KnownRefusal *refusals, size_t n_refusals, Snapshot **ret)
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
                r = note_absent(root, s);
        if (r >= 0)
                r = observe_devices(root, s);
        if (r >= 0)
                r = observe_vectors(root, refusals, n_refusals, s);
        if (r >= 0)
                r = observe_iscsi(root, s);
        if (r >= 0)
                r = observe_workqueues(root, refusals, n_refusals, s);
        if (r >= 0)
                r = observe_knobs(root, refusals, n_refusals, s);
        if (r < 0)
                return r;
        *ret = STEAL_PTR(s);
        return 0;
}

int observe(const Root *root, const KnownRefusal *refusals, size_t n_refusals, Snapshot **ret)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        int r;

        root_begin(root);
        r = observe_all(root, refusals, n_refusals, &s);
        if (r >= 0)
                r = root_end(root);
        if (r >= 0)
                *ret = STEAL_PTR(s);
        return r;
}
