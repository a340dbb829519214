/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/owner.h"

#include "apply/protocol.h"
#include "model/knob-file.h"
#include "observe/names.h"
#include "writer/ops.h"

#include <errno.h>
#include <string.h>

#define DIGITS        "0123456789"
#define PCI_FOLDER    "sys/bus/pci/devices"
#define PCI_PREFIX    "pci:" /* of a device id */
#define ISCSI_PREFIX  "iscsi:"
#define ADDRESS_CHARS DIGITS "abcdefABCDEF:."

/* A function owns the message interrupts that it lists; one without a list, but with a driver, has a line. A
 * machine without a PCI bus is a copy of a part. */
int irq_owner(const Root *root, const char *path, const char *device)
{
        const char *address = device + strlen(PCI_PREFIX);

        if (strncmp(device, PCI_PREFIX, strlen(PCI_PREFIX)) != 0 || !root_exists(root, PCI_FOLDER))
                return 0;
        if (!*address || address[strspn(address, ADDRESS_CHARS)] ||
            !root_exists(root, PCI_FOLDER "/%s", address))
                return -ENODEV;
        if (root_exists(root, PCI_FOLDER "/%s/msi_irqs", address))
                return root_exists(root, PCI_FOLDER "/%s/msi_irqs/%u", address, operation_irq(path))
                               ? 0
                               : -ENODEV;
        return root_exists(root, PCI_FOLDER "/%s/driver", address) ? 0 : -ENODEV;
}

static bool has_prefix(const char *s, const char *prefix)
{
        return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* The folder of a SCSI host: of its member of a class, which says where it really is. Returns 0, -ENOENT when
 * there is no such host, or -ENOMEM. The caller frees. */
static int host_folder(const Root *root, const char *class, int host, char **ret)
{
        _cleanup_(freep) char *path = NULL;
        char *tail;
        int r;

        r = root_realpath(root, &path, "sys/class/%s/host%d", class, host);
        if (r < 0)
                return r == -ENOMEM ? r : -ENOENT;
        tail = strstr(path, "/scsi_host/");
        if (!tail)
                tail = strstr(path, "/iscsi_host/");
        if (!tail)
                return -ENOENT;
        *tail = '\0';
        *ret = STEAL_PTR(path);
        return 0;
}

static int pci_owns(const char *folder, const char *device)
{
        char address[PCI_ADDRESS_SIZE];

        return pci_of_path(folder, address) && strcmp(address, device + strlen(PCI_PREFIX)) == 0 ? 0
                                                                                                 : -ENODEV;
}

/* An attribute of a session, "" = it says nothing. */
static int read_session(const Root *root, const char *folder, const char *session, const char *name,
                        char **ret)
{
        int r;

        r = root_read(root, ret, "%s/%s/iscsi_session/%s/%s", folder, session, session, name);
        if (r == -ENOMEM)
                return r;
        if (r >= 0 && strcmp(*ret, "(null)") != 0)
                return 0;
        if (r >= 0)
                free(*ret);
        *ret = strdup("");
        return *ret ? 0 : -ENOMEM;
}

/* Interface and target of the host's first session that has a target; "" = none. The caller frees both. */
static int find_session(const Root *root, const char *folder, char **ret_iface, char **ret_target)
{
        _cleanup_(freep) char *target = strdup(""), *iface = strdup("");
        Strv names = { 0 };
        int r = target && iface ? 0 : -ENOMEM;

        if (r >= 0 && root_list(root, &names, "%s", folder) == -ENOMEM)
                r = -ENOMEM;
        for (size_t i = 0; r >= 0 && !*target && i < names.n; i++) {
                if (!name_number(names.items[i], "session", NULL))
                        continue;
                free(STEAL_PTR(target));
                free(STEAL_PTR(iface));
                r = read_session(root, folder, names.items[i], "targetname", &target);
                if (r >= 0)
                        r = read_session(root, folder, names.items[i], "ifacename", &iface);
        }
        strv_clear(&names);
        if (r < 0)
                return r;
        *ret_target = STEAL_PTR(target);
        *ret_iface = STEAL_PTR(iface);
        return 0;
}

/* Without the "#2" of a second host of the same interface and target. */
static size_t length_of_id(const char *device)
{
        const char *number = strrchr(device, '#');

        return number && number[1] && !number[1 + strspn(number + 1, DIGITS)] ? (size_t)(number - device)
                                                                              : strlen(device);
}

/* The id is "iscsi:IFACE:TARGET"; an interface that no session names has a name that observe gave it. */
static int iscsi_owns(const Root *root, const char *folder, const char *device)
{
        _cleanup_(freep) char *iface = NULL, *target = NULL, *want = NULL;
        size_t n = length_of_id(device), length;
        int r;

        r = find_session(root, folder, &iface, &target);
        if (r < 0)
                return r;
        want = *iface ? strf(ISCSI_PREFIX "%s:%s", iface, target) : strf(":%s", target);
        if (!want)
                return -ENOMEM;
        length = strlen(want);
        if (n < length || (*iface && n != length))
                return -ENODEV;
        return strncmp(device + n - length, want, length) == 0 ? 0 : -ENODEV;
}

static int host_owner(const Root *root, int host, const char *device)
{
        const bool iscsi = has_prefix(device, ISCSI_PREFIX);
        const char *class = iscsi ? "iscsi_host" : "scsi_host";
        _cleanup_(freep) char *folder = NULL;
        int r;

        if ((!iscsi && !has_prefix(device, PCI_PREFIX)) || !root_exists(root, "sys/class/%s", class))
                return 0;
        r = host_folder(root, class, host, &folder);
        if (r < 0)
                return r == -ENOENT ? -ENODEV : r;
        return iscsi ? iscsi_owns(root, folder, device) : pci_owns(folder, device);
}

int workqueue_owner(const Root *root, const char *path, const char *device)
{
        const char *name = path + strlen("sys/devices/virtual/workqueue/");
        _cleanup_(freep) char *copy = strndup(name, strcspn(name, "/"));
        int host;

        if (!copy)
                return -ENOMEM;
        host = workqueue_host(copy);
        return host < 0 ? 0 : host_owner(root, host, device);
}

int soft_host_owner(const Root *root, const char *path, const char *device)
{
        return host_owner(root, path_number(path, "host"), device);
}
