/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/devices.h"
#include "observe/names.h"

#include <errno.h>

static int visit(void *context, const char *name, const char *path)
{
        char pci[PCI_ADDRESS_SIZE];
        Device *d = pci_of_path(path, pci) ? device_of_pci(context, pci) : NULL;

        /* An iSCSI offload or a storage function may carry a netdev of its own; only NICs list them. */
        return d && d->class == DEVICE_NIC ? strv_add_unique(&d->netdevs, name) : 0;
}

static int add_folder(const Root *root, Device *d, const char *child)
{
        Strv names = { 0 };
        int r = 0;

        (void)root_list(root, &names, "%s/%s", d->path, child);
        for (size_t i = 0; r >= 0 && i < names.n; i++)
                r = strv_add_unique(&d->netdevs, names.items[i]);
        strv_clear(&names);
        return r;
}

/* A function's own netdevs: in its folder "net", or in that of its virtio child. */
static int add_from_folders(const Root *root, Device *d)
{
        Strv names = { 0 };
        int r;

        r = add_folder(root, d, "net");
        (void)root_list(root, &names, "%s", d->path);
        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                _cleanup_(freep) char *child = NULL;

                if (!name_number(names.items[i], "virtio", NULL))
                        continue;
                child = strf("%s/net", names.items[i]);
                r = child ? add_folder(root, d, child) : -ENOMEM;
        }
        strv_clear(&names);
        return r;
}

int netdevs_attach(const Root *root, Snapshot *s)
{
        int r;

        r = class_walk(root, "net", visit, s);
        if (r >= 0 || r == -ENOMEM)
                return r;
        r = 0;
        for (size_t i = 0; r >= 0 && i < s->n_devices; i++)
                if (s->devices[i].class == DEVICE_NIC)
                        r = add_from_folders(root, &s->devices[i]);
        return r;
}
