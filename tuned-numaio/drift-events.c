/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drift-events.h"

#include "basic/array.h"
#include "drift.h"

#include <errno.h>
#include <string.h>

/* Clocks are read one after the other. */
#define SLEEP_MIN (DRIFT_SECOND / 10)

static struct DriftEvent *find(const DriftEvents *e, const char *device)
{
        for (size_t i = 0; i < e->n; i++)
                if (strcmp(e->items[i].device, device) == 0)
                        return &e->items[i];
        return NULL;
}

/* What explains nothing any more. */
static void drop_old(DriftEvents *e, uint64_t now)
{
        size_t kept = 0;

        for (size_t i = 0; i < e->n; i++) {
                if (e->items[i].at + 2 * DRIFT_EVENT_WINDOW >= now)
                        e->items[kept++] = e->items[i];
                else
                        free(e->items[i].device);
        }
        e->n = kept;
}

static int add(DriftEvents *e, const char *device, uint64_t now)
{
        struct DriftEvent *item = find(e, device);

        if (!item) {
                drop_old(e, now);
                item = ARRAY_APPEND(e->items, e->n);
                if (!item)
                        return -ENOMEM;
                item->device = strdup(device);
                if (!item->device) {
                        e->n--;
                        return -ENOMEM;
                }
        }
        item->at = now;
        return 0;
}

/* Whether one path is the other, or a folder above it. */
static bool is_above(const char *path, const char *other)
{
        size_t n = strlen(path);

        return strncmp(path, other, n) == 0 && (other[n] == '\0' || other[n] == '/');
}

/* A device and what is in it; a bridge and what is behind it. */
static int add_at(DriftEvents *e, const Snapshot *s, const char *syspath, uint64_t now)
{
        const char *path = syspath + strspn(syspath, "/");
        int r = 0;

        for (size_t i = 0; r >= 0 && *path && i < s->n_devices; i++) {
                const Device *d = &s->devices[i];

                if (d->path && (is_above(d->path, path) || is_above(path, d->path)))
                        r = add(e, d->id, now);
        }
        return r;
}

static bool is_one_of(const char *word, const char *const *words, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(word, words[i]) == 0)
                        return true;
        return false;
}

/* Subsystems of udev that concern every device, or the function that their object belongs to; subsystems of
 * netlink that name an interface. A disk that comes or goes does nothing to masks. */
static const char *const machine_wide[] = { "cpu", "node" };
static const char *const of_function[] = { "pci", "net", "nvme", "scsi_host" };
static const char *const of_interface[] = { "link", "channels", "rings" };

#define IS_ONE_OF(word, words) is_one_of(word, words, ARRAY_SIZE(words))

static int take(DriftEvents *e, const Snapshot *s, const MonitorEvent *event, uint64_t now)
{
        const char *subsystem = event->subsystem ? event->subsystem : "",
                   *object = event->object ? event->object : "";
        const Device *d;

        if (event->overrun || IS_ONE_OF(subsystem, machine_wide)) {
                e->all = now;
                return 0;
        }
        if (!s)
                return 0;
        if (strcmp(event->source, "udev") == 0)
                return IS_ONE_OF(subsystem, of_function) ? add_at(e, s, object, now) : 0;
        if (!IS_ONE_OF(subsystem, of_interface))
                return 0;
        d = snapshot_device_of_netdev(s, object);
        return d ? add(e, d->id, now) : 0;
}

void drift_events_add(DriftEvents *e, const Snapshot *s, const MonitorEvent *event, uint64_t now)
{
        /* What is forgotten would make a fight of what a driver does. */
        if (take(e, s, event, now) < 0)
                e->all = now;
}

void drift_events_add_sleep(DriftEvents *e, uint64_t suspended, uint64_t now)
{
        if (e->awake && suspended > e->suspended + SLEEP_MIN)
                e->all = now;
        e->awake = true;
        e->suspended = suspended;
}

uint64_t drift_events_last(const DriftEvents *e, const char *device)
{
        const struct DriftEvent *item = find(e, device);

        return item && item->at > e->all ? item->at : e->all;
}

void drift_events_clear(DriftEvents *e)
{
        for (size_t i = 0; i < e->n; i++)
                free(e->items[i].device);
        free(e->items);
        *e = (DriftEvents) { 0 };
}
