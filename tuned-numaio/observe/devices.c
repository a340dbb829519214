/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/devices.h"

#include "basic/array.h"
#include "observe/names.h"
#include "observe/node.h"
#include "observe/observe.h"
#include "observe/udev-database.h"

#include <errno.h>
#include <string.h>

/* Which PCI functions are devices, by class code; the first row that fits decides. A function without a
 * driver has no interrupts and is left out, unless it lists MSI numbers (captures may lack the driver links).
 */
static const struct {
        unsigned mask, code;
        DeviceClass class;
        bool needs_netdev; /* InfiniBand, WLAN and other networks count once they have a netdev */
} classes[] = {
        { 0xffff00, 0x010800, DEVICE_NVME, false }, /* NVM Express */
        { 0xff0000, 0x010000, DEVICE_HBA, false },  /* all other storage controllers */
        { 0xffff00, 0x0c0400, DEVICE_HBA, false },  /* Fibre Channel */
        { 0xffff00, 0x020000, DEVICE_NIC, false },  /* Ethernet */
        { 0xff0000, 0x020000, DEVICE_NIC, true },
};

static int find_class(unsigned code)
{
        for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
                if ((code & classes[i].mask) == classes[i].code)
                        return (int)i;
        return -1;
}

static int read_hex(const Root *root, const char *folder, const char *file, unsigned *ret)
{
        _cleanup_(freep) char *text = NULL;
        char *end;
        int r;

        r = root_read(root, &text, "%s/%s", folder, file);
        if (r < 0)
                return r;
        *ret = (unsigned)strtoul(text, &end, 16);
        return end == text || *end ? -EINVAL : 0;
}

const char *virtio_driver_of_id(unsigned id)
{
        /* Transitional ids first, then 0x1040 + virtio device type. */
        static const struct {
                unsigned id;
                const char *driver;
        } table[] = {
                { 0x1000, "virtio_net" }, { 0x1001, "virtio_blk" }, { 0x1004, "virtio_scsi" },
                { 0x1041, "virtio_net" }, { 0x1042, "virtio_blk" }, { 0x1048, "virtio_scsi" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(table); i++)
                if (table[i].id == id)
                        return table[i].driver;
        return NULL;
}

/* What people know a virtio device by is the driver of its virtio child, not virtio-pci. */
static char *virtio_driver(const Root *root, const char *path)
{
        const char *known = NULL;
        char *driver = NULL;
        Strv names = { 0 };
        unsigned id;

        (void)root_list(root, &names, "%s", path);
        for (size_t i = 0; !driver && i < names.n; i++)
                if (name_number(names.items[i], "virtio", NULL))
                        (void)root_read_link_name(root, &driver, "%s/%s/driver", path, names.items[i]);
        strv_clear(&names);
        if (!driver && read_hex(root, path, "device", &id) >= 0)
                known = virtio_driver_of_id(id);
        return driver || !known ? driver : strdup(known);
}

static int read_driver(const Root *root, const char *path, char **ret)
{
        _cleanup_(freep) char *driver = NULL;

        if (root_read_link_name(root, &driver, "%s/driver", path) < 0) {
                *ret = strdup("");
                return *ret ? 0 : -ENOMEM;
        }
        if (strcmp(driver, "virtio-pci") == 0) {
                char *child = virtio_driver(root, path);

                if (child) {
                        free(driver);
                        driver = child;
                }
        }
        *ret = STEAL_PTR(driver);
        return 0;
}

static int fill(const Root *root, const Snapshot *s, const char *address, DeviceClass class, Device *d)
{
        NodeChoice choice;
        int r;

        d->class = class;
        r = root_realpath(root, &d->path, "sys/bus/pci/devices/%s", address);
        if (r < 0)
                return r;
        r = read_driver(root, d->path, &d->driver);
        if (r < 0)
                return r;
        if (!d->driver[0] && !root_exists(root, "%s/msi_irqs", d->path))
                return -ENODEV;
        d->pci = strdup(address);
        d->id = strf("pci:%s", address);
        if (!d->pci || !d->id)
                return -ENOMEM;
        r = udev_model_of_pci(root, address, &d->model);
        if (r < 0)
                return r;
        r = node_choose(root, s, d->path, &choice);
        if (r < 0)
                return r;
        d->node = choice.node;
        d->node_source = choice.source;
        d->node_text = choice.text;
        return 0;
}

static int add_function(const Root *root, Snapshot *s, const char *address)
{
        Device device = { 0 }, *slot;
        unsigned code;
        int k, r;

        if (read_hex(root, address, "class", &code) < 0)
                return 0;
        k = find_class(code);
        if (k < 0)
                return 0;
        r = fill(root, s, address + strlen("sys/bus/pci/devices/"), classes[k].class, &device);
        if (r >= 0) {
                slot = ARRAY_APPEND(s->devices, s->n_devices);
                if (slot)
                        *slot = device;
                else
                        r = -ENOMEM;
        }
        if (r < 0)
                device_clear(&device);
        return r == -ENOMEM ? r : 0;
}

static int add_functions(const Root *root, Snapshot *s)
{
        Strv names = { 0 };
        int r;

        if (root_list(root, &names, "sys/bus/pci/devices") == -ENOMEM)
                return -ENOMEM;
        r = 0;
        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                _cleanup_(freep) char *folder = strf("sys/bus/pci/devices/%s", names.items[i]);

                r = folder ? add_function(root, s, folder) : -ENOMEM;
        }
        strv_clear(&names);
        return r;
}

/* Drops network functions that only count with a netdev and have none. */
static void drop_bare_networks(const Root *root, Snapshot *s)
{
        size_t kept = 0;

        for (size_t i = 0; i < s->n_devices; i++) {
                Device *d = &s->devices[i];
                unsigned code = 0;
                int k = -1;

                if (d->class == DEVICE_NIC && d->netdevs.n == 0 &&
                    read_hex(root, d->path, "class", &code) >= 0)
                        k = find_class(code);
                if (k >= 0 && classes[k].needs_netdev) {
                        device_clear(d);
                        continue;
                }
                s->devices[kept++] = *d;
        }
        s->n_devices = kept;
}

Device *device_of_pci(Snapshot *s, const char *pci)
{
        for (size_t i = 0; i < s->n_devices; i++)
                if (s->devices[i].pci && strcmp(s->devices[i].pci, pci) == 0)
                        return &s->devices[i];
        return NULL;
}

/* An address is hexadecimal: 18 before 3e. */
static int compare(const void *a, const void *b)
{
        const Device *x = a, *y = b;
        uint64_t p, q;

        if (strncmp(x->id, "pci:", 4) == 0 && strncmp(y->id, "pci:", 4) == 0 &&
            pci_address(x->id + 4, &p) != 0 && pci_address(y->id + 4, &q) != 0 && p != q)
                return p < q ? -1 : 1;
        return natural_compare(x->id, y->id);
}

void devices_sort(Snapshot *s)
{
        if (s->n_devices > 1)
                qsort(s->devices, s->n_devices, sizeof(*s->devices), compare);
}

int observe_devices(const Root *root, Snapshot *s)
{
        int r;

        r = add_functions(root, s);
        if (r < 0)
                return r;
        devices_sort(s);
        r = netdevs_attach(root, s);
        if (r < 0)
                return r;
        drop_bare_networks(root, s);
        r = scsi_hosts_attach(root, s);
        if (r < 0)
                return r;
        return disks_attach(root, s);
}
