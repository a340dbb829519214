/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/iscsi-knobs.h"

#include "basic/array.h"
#include "observe/names.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A software host lies below the platform bus, and has a transmit queue of its own: drivers/scsi/libiscsi.c.
 */
#define HOST       "sys/devices/platform/host%d/scsi_host/host%d"
#define QUEUE      "sys/devices/virtual/workqueue/iscsi_q_%d"
#define PARAMETERS "sys/module/iscsi_tcp/parameters"

/* Device mapper targets over device mapper targets: more than anybody builds. */
#define DEPTH_MAX 8u

int xmit_stats_parse(const char *text, XmitFacts *ret)
{
        uint64_t local, remote;
        int n = 0;

        if (sscanf(text, "local %" SCNu64 " remote %" SCNu64 "%n", &local, &remote, &n) != 2 ||
            text[n] != '\0')
                return -EINVAL;
        ret->counted = true;
        ret->local = local;
        ret->remote = remote;
        return 0;
}

/* --- files that can be written --- */

static int add_host_file(const Root *root, const Refusals *refusals, Device *d, WriterKind kind,
                         const char *name)
{
        _cleanup_(freep) char *path = strf(HOST "/%s", d->iscsi->host, d->iscsi->host, name);

        return path ? observe_knob(root, refusals, d, kind, name, path) : -ENOMEM;
}

static int add_queue_file(const Root *root, const Refusals *refusals, Device *d, WriterKind kind,
                          const char *name)
{
        _cleanup_(freep) char *path = strf(QUEUE "/%s", d->iscsi->host, name);

        return path ? observe_knob(root, refusals, d, kind, name, path) : -ENOMEM;
}

static int add_files(const Root *root, const Refusals *refusals, Device *d)
{
        int r;

        r = add_host_file(root, refusals, d, WRITER_ISCSI_XMIT_NUMA, "xmit_numa");
        if (r >= 0)
                r = add_host_file(root, refusals, d, WRITER_ISCSI_XMIT_INLINE, "xmit_inline");
        if (r >= 0)
                r = add_queue_file(root, refusals, d, WRITER_WORKQUEUE_NUMA, "numa");
        if (r >= 0)
                r = add_queue_file(root, refusals, d, WRITER_WORKQUEUE_SCOPE, "affinity_scope");
        if (r >= 0)
                r = add_queue_file(root, refusals, d, WRITER_WORKQUEUE_STRICT, "affinity_strict");
        return r < 0 ? r : 0;
}

/* --- what stands in the way --- */

static bool is_true(const Root *root, const char *path)
{
        _cleanup_(freep) char *text = NULL;

        return root_read_value(root, &text, "%s", path) >= 0 && (*text == 'Y' || *text == '1');
}

int observe_xmit_counters(const Root *root, int host, XmitFacts *x)
{
        _cleanup_(freep) char *stats = NULL;
        int r;

        x->rx_cpu = -1;
        x->counted = false;
        (void)root_read_int(root, &x->rx_cpu, HOST "/rx_cpu", host, host);
        r = root_read_value(root, &stats, HOST "/xmit_stats", host, host);
        if (r >= 0)
                (void)xmit_stats_parse(stats, x);
        return r == -ENOMEM ? r : 0;
}

static int read_host(const Root *root, const Device *d, XmitFacts *x)
{
        Strv names = { 0 };
        int r;

        r = observe_xmit_counters(root, d->iscsi->host, x);
        if (r >= 0)
                r = root_list(root, &names, "%s", d->path);
        for (size_t i = 0; i < names.n; i++)
                x->sessions += name_number(names.items[i], "session", NULL);
        strv_clear(&names);
        x->receives = is_true(root, PARAMETERS "/recv_from_iscsi_q");
        x->no_pools = is_true(root, "sys/module/workqueue/parameters/disable_numa");
        return r == -ENOMEM ? r : 0;
}

static int find_above(const Root *root, const char *folder, unsigned depth, char **ret);

/* One that holds a block device. A request-based target has hardware queues: drivers/md/dm-rq.c. */
static int look_at_holder(const Root *root, const char *name, unsigned depth, char **ret)
{
        _cleanup_(freep) char *folder = strf("sys/block/%s", name);

        if (!folder)
                return -ENOMEM;
        if (strncmp(name, "dm-", 3) != 0 || !root_exists(root, "%s/mq", folder))
                return depth < DEPTH_MAX ? find_above(root, folder, depth + 1, ret) : 0;
        *ret = strdup(name);
        return *ret ? 0 : -ENOMEM;
}

static int find_above(const Root *root, const char *folder, unsigned depth, char **ret)
{
        Strv holders = { 0 };
        int r;

        r = root_list(root, &holders, "%s/holders", folder);
        if (r != -ENOMEM)
                r = 0;
        for (size_t i = 0; r >= 0 && !*ret && i < holders.n; i++)
                r = look_at_holder(root, holders.items[i], depth, ret);
        strv_clear(&holders);
        return r;
}

/* Partitions are folders of their disk, and begin with its name. */
static int find_request_based(const Root *root, const char *disk, char **ret)
{
        _cleanup_(freep) char *folder = strf("sys/block/%s", disk);
        Strv names = { 0 };
        int r;

        if (!folder)
                return -ENOMEM;
        r = find_above(root, folder, 0, ret);
        if (r >= 0 && !*ret)
                r = root_list(root, &names, "%s", folder);
        for (size_t i = 0; r >= 0 && !*ret && i < names.n; i++) {
                _cleanup_(freep) char *part = NULL;

                if (strncmp(names.items[i], disk, strlen(disk)) != 0)
                        continue;
                part = strf("%s/%s", folder, names.items[i]);
                r = part ? find_above(root, part, 0, ret) : -ENOMEM;
        }
        strv_clear(&names);
        return r == -ENOMEM ? r : 0;
}

/* "none" of "[none] mq-deadline". */
static void keep_chosen(char *text)
{
        const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
        size_t n = close ? (size_t)(close - open) - 1 : 0;

        if (!close)
                return;
        memmove(text, open + 1, n);
        text[n] = '\0';
}

static int add_disk(const Root *root, const char *name, XmitFacts *x)
{
        IscsiDisk *disk = ARRAY_APPEND(x->disks, x->n_disks);
        int r;

        if (!disk)
                return -ENOMEM;
        disk->name = strdup(name);
        if (!disk->name)
                return -ENOMEM;
        r = root_read_value(root, &disk->scheduler, "sys/block/%s/queue/scheduler", name);
        if (r >= 0)
                keep_chosen(disk->scheduler);
        return r == -ENOMEM ? r : find_request_based(root, name, &disk->request_based);
}

int observe_iscsi_knobs(const Root *root, const Refusals *refusals, Device *d)
{
        XmitFacts *x = &d->iscsi->xmit;
        int r;

        r = add_files(root, refusals, d);
        if (r >= 0)
                r = read_host(root, d, x);
        /* Nobody asks for them where the submitter cannot transmit. */
        for (size_t i = 0; r >= 0 && device_knob(d, WRITER_ISCSI_XMIT_INLINE) && i < d->disks.n; i++)
                r = add_disk(root, d->disks.items[i], x);
        return r;
}
