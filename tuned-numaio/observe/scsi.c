/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "observe/devices.h"
#include "observe/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct Walk {
        Snapshot *snapshot;
        Strv iscsi; /* names of the hosts that are iSCSI's */
} Walk;

static int note(void *context, const char *name, const char *path)
{
        return strv_add(context, name);
}

static int walk(const Root *root, Snapshot *s, const char *class, ClassVisit visit)
{
        Walk w = { .snapshot = s };
        int r;

        r = class_walk(root, "iscsi_host", note, &w.iscsi);
        if (r != -ENOMEM)
                r = class_walk(root, class, visit, &w);
        strv_clear(&w.iscsi);
        return r == -ENOMEM ? r : 0;
}

static int visit_host(void *context, const char *name, const char *path)
{
        char pci[PCI_ADDRESS_SIZE];
        const Walk *w = context;
        Device *d = pci_of_path(path, pci) ? device_of_pci(w->snapshot, pci) : NULL;
        unsigned number;
        int *slot;

        if (!d || !name_number(name, "host", &number) || strv_contains(&w->iscsi, name))
                return 0;
        slot = ARRAY_APPEND(d->scsi_hosts, d->n_scsi_hosts);
        if (!slot)
                return -ENOMEM;
        *slot = (int)number;
        return 0;
}

int scsi_hosts_attach(const Root *root, Snapshot *s)
{
        return walk(root, s, "scsi_host", visit_host);
}

/* A whole disk is the child of a folder "block" or of an NVMe controller; a partition is the child of a disk.
 */
static bool is_whole_disk(const char *path)
{
        const char *name = strrchr(path, '/'), *parent = name;

        while (parent && parent > path && parent[-1] != '/')
                parent--;
        if (!parent)
                return false;
        if (strncmp(parent, "block/", 6) == 0)
                return true;
        return strncmp(parent, "nvme", 4) == 0 &&
               strspn(parent + 4, "0123456789") == (size_t)(name - parent) - 4;
}

/* "nvme0n1" of "nvme0c1n1", the hidden path of a multipath namespace over controller 1. */
static bool visible_disk(const char *name, char *ret, size_t size)
{
        size_t subsystem, controller;

        if (strncmp(name, "nvme", 4) != 0)
                return false;
        subsystem = strspn(name + 4, "0123456789");
        if (subsystem == 0 || name[4 + subsystem] != 'c')
                return false;
        controller = strspn(name + 4 + subsystem + 1, "0123456789");
        if (controller == 0 || name[4 + subsystem + 1 + controller] != 'n')
                return false;
        snprintf(ret, size, "%.*s%s", (int)(4 + subsystem), name, name + 4 + subsystem + 1 + controller);
        return true;
}

static int visit_disk(void *context, const char *name, const char *path)
{
        char pci[PCI_ADDRESS_SIZE];
        const Walk *w = context;
        Device *d = pci_of_path(path, pci) ? device_of_pci(w->snapshot, pci) : NULL;
        char text[64];
        int host;

        if (!d || !is_whole_disk(path))
                return 0;
        host = path_number(path, "host");
        snprintf(text, sizeof(text), "host%d", host);
        if (host >= 0 && strv_contains(&w->iscsi, text))
                return 0;
        if (visible_disk(name, text, sizeof(text)))
                name = text;
        if (strv_add(&d->disk_paths, path) < 0)
                return -ENOMEM;
        return strv_add_unique(&d->disks, name);
}

int disks_attach(const Root *root, Snapshot *s)
{
        return walk(root, s, "block", visit_disk);
}
