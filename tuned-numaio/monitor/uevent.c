/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/uevent.h"

#include "basic/cleanup.h"

#include <ctype.h>
#include <string.h>

#define VIRTUAL "/devices/virtual/"

const char *const uevent_subsystems[] = {
        "pci",       "net",        "block",         "scsi_host",        "scsi_target",
        "scsi",      "iscsi_host", "iscsi_session", "iscsi_connection", "nvme",
        "workqueue", "cpu",        "node",
};
const size_t n_uevent_subsystems = ARRAY_SIZE(uevent_subsystems);

static bool streq(const char *a, const char *b)
{
        return strcmp(a, b) == 0;
}

static bool is_subscribed(const char *subsystem)
{
        for (size_t i = 0; i < n_uevent_subsystems; i++)
                if (streq(uevent_subsystems[i], subsystem))
                        return true;
        return false;
}

/* A partition's folder is inside its disk's and named after it: sda/sda1, nvme0n1/nvme0n1p1. nvme0/nvme0n1 is
 * a disk inside its controller. */
static bool is_partition(const char *devpath)
{
        const char *name = strrchr(devpath, '/');
        if (!name || name == devpath)
                return false;
        const char *parent = memrchr(devpath, '/', (size_t)(name - devpath));
        if (!parent)
                return false;
        size_t n = (size_t)(name - parent) - 1;
        if (n == 0 || strncmp(name + 1, parent + 1, n) != 0)
                return false;
        const char *rest = name + 1 + n;
        if (*rest == 'p')
                rest++;
        return isdigit((unsigned char)*rest);
}

static bool begins_with(const char *text, const char *start)
{
        return strncmp(text, start, strlen(start)) == 0;
}

/* A device mapper target decides about the disks below it, which change with its table: iscsi.transmit. */
static bool is_mapper(const char *devpath)
{
        return begins_with(devpath, VIRTUAL "block/dm-");
}

/* "change" says that the device lives on with other properties: of these, only a controller that connected
 * again has new queues, only a PCI function may have come out of a reset, and only a device mapper target has
 * other disks below it. */
static bool change_matters(const char *subsystem, const char *devpath)
{
        return streq(subsystem, "nvme") || streq(subsystem, "pci") || begins_with(subsystem, "iscsi_") ||
               is_mapper(devpath);
}

bool uevent_is_relevant(const char *subsystem, const char *action, const char *devpath)
{
        if (!subsystem || !action || !devpath || !is_subscribed(subsystem))
                return false;
        if (streq(action, "bind") || streq(action, "unbind"))
                return streq(subsystem, "pci");
        if (streq(action, "change") && !change_matters(subsystem, devpath))
                return false;
        if (streq(subsystem, "block"))
                return !is_partition(devpath) &&
                       (is_mapper(devpath) || !begins_with(devpath, VIRTUAL "block/"));
        if (streq(subsystem, "net"))
                return !begins_with(devpath, VIRTUAL "net/");
        return true;
}
