/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

/* Whose the object behind a file is at this moment: numbers of IRQs and SCSI hosts are given out again, also
 * between the look that a change was planned from and its write. `device` is a device id. They read what the
 * kernel shows of the device's own place, and have no effect there. Return 0, -ENODEV when it is not this
 * device's (any more), or -ENOMEM. A copy that shows no such places has none to tell: 0. */

/* proc/irq/N/... */
int irq_owner(const Root *root, const char *path, const char *device);
/* sys/devices/virtual/workqueue/NAME/...: the owner of the SCSI host that the name ends with; 0 for another
 * name. A queue's own folder would tell no more than that it is another one than before, and which host it
 * belonged to was looked up before it: only the host's place says whose it is. */
int workqueue_owner(const Root *root, const char *path, const char *device);
/* sys/devices/platform/hostN/... */
int soft_host_owner(const Root *root, const char *path, const char *device);

/* owner-iova.c */

/* sys/kernel/iommu_groups/N/...: a PCI function in the group. */
int group_owner(const Root *root, const char *path, const char *device);
/* sys/devices/.../queue/...: the PCI function that the disk lies below, with no other one between. */
int disk_owner(const Root *root, const char *path, const char *device);
/* Replaces what iova_depot_max says by what has to be written to have it so again: "default" where that is
 * the limit, since the file reads as the limit in force and does not say whose it is. Returns 0 or -ENOMEM.
 */
int depot_first(const Root *root, char **value);
