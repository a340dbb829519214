/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "basic/error.h"
#include "model/knob-file.h"
#include "observe/knobs.h"

#include <errno.h>
#include <string.h>

#define WORKQUEUE_DIR "sys/devices/virtual/workqueue"

static bool is_refused(const Refusals *refusals, const Workqueue *w)
{
        for (size_t i = 0; i < refusals->n; i++)
                if (error_is_refusal(refusals->items[i].error) && workqueue_is_at(w, refusals->items[i].path))
                        return true;
        return false;
}

static bool is_read_only(const Root *root, const Workqueue *w)
{
        struct stat st;

        return root_stat(root, &st, "%s/cpumask", w->path) >= 0 && !(st.st_mode & 0222);
}

/* A workqueue has max_active; the folder also holds the files cpumask and uevent and the folder power. */
static bool is_workqueue(const Root *root, const char *name)
{
        return root_exists(root, WORKQUEUE_DIR "/%s/max_active", name) ||
               root_exists(root, WORKQUEUE_DIR "/%s/cpumask", name);
}

/* A per-CPU workqueue has no cpumask. */
static int fill(const Root *root, const Refusals *refusals, const Snapshot *s, const char *name, Workqueue *w)
{
        int host = workqueue_host(name), r;

        w->name = strdup(name);
        w->path = strf(WORKQUEUE_DIR "/%s", name);
        if (!w->name || !w->path)
                return -ENOMEM;
        w->device = host >= 0 ? snapshot_device_of_scsi_host(s, host) : -1;
        w->numa = -1;
        (void)root_read_int(root, &w->numa, "%s/numa", w->path);
        r = root_read_cpumask(root, &w->cpumask, "%s/cpumask", w->path);
        w->per_cpu = r == -ENOENT;
        w->settable =
                w->per_cpu || is_refused(refusals, w) || is_read_only(root, w) ? SETTABLE_NO : SETTABLE_YES;
        if (r < 0 && !w->per_cpu)
                return r;
        return 0;
}

static int add(const Root *root, const Refusals *refusals, Snapshot *s, const char *name)
{
        Workqueue workqueue = { 0 }, *slot;
        int r;

        if (!is_workqueue(root, name))
                return 0;
        r = fill(root, refusals, s, name, &workqueue);
        if (r >= 0) {
                slot = ARRAY_APPEND(s->workqueues, s->n_workqueues);
                if (slot)
                        *slot = workqueue;
                else
                        r = -ENOMEM;
        }
        if (r < 0)
                workqueue_clear(&workqueue);
        return r == -ENOMEM ? r : 0;
}

int observe_workqueues(const Root *root, const KnownRefusal *refusals, size_t n_refusals, Snapshot *s)
{
        const Refusals known = { refusals, n_refusals };
        Strv names = { 0 };
        int r;

        (void)root_read_cpumask(root, &s->workqueue_mask, WORKQUEUE_DIR "/cpumask");
        if (root_list(root, &names, WORKQUEUE_DIR) == -ENOMEM)
                return -ENOMEM;
        r = 0;
        for (size_t i = 0; r >= 0 && i < names.n; i++)
                r = add(root, &known, s, names.items[i]);
        strv_clear(&names);
        return r;
}
