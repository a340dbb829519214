/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/names.h"
#include "writer/owner.h"

#include <errno.h>
#include <string.h>

#define GROUPS     "sys/kernel/iommu_groups/"
#define PCI_FOLDER "sys/bus/pci/devices"
#define PCI_PREFIX "pci:" /* of a device id */

/* The address in a device id; NULL = it has none. */
static const char *address_of(const char *device)
{
        const char *address = device + strlen(PCI_PREFIX);
        size_t n;

        if (strncmp(device, PCI_PREFIX, strlen(PCI_PREFIX)) != 0)
                return NULL;
        n = pci_address(address, NULL);
        return n > 0 && !address[n] ? address : NULL;
}

int group_owner(const Root *root, const char *path, const char *device)
{
        const char *number = path + strlen(GROUPS), *address = address_of(device);
        _cleanup_(freep) char *group = NULL;
        size_t n = strcspn(number, "/");
        int r;

        if (!root_exists(root, PCI_FOLDER))
                return 0;
        if (!address)
                return -ENODEV;
        r = root_read_link_name(root, &group, PCI_FOLDER "/%s/iommu_group", address);
        if (r < 0)
                return r == -ENOMEM ? r : -ENODEV;
        return strlen(group) == n && strncmp(group, number, n) == 0 ? 0 : -ENODEV;
}

int disk_owner(const Root *root, const char *path, const char *device)
{
        const char *address = address_of(device);
        char found[PCI_ADDRESS_SIZE];

        if (!root_exists(root, PCI_FOLDER))
                return 0;
        return address && pci_of_path(path, found) && strcmp(found, address) == 0 ? 0 : -ENODEV;
}

int depot_first(const Root *root, char **value)
{
        _cleanup_(freep) char *max = NULL;
        int r;

        r = root_read_value(root, &max, "sys/module/iova/parameters/depot_max");
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if (strcmp(max, *value) != 0)
                return 0;
        free(*value);
        *value = strdup("default");
        return *value ? 0 : -ENOMEM;
}
