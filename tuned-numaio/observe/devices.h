/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"
#include "model/snapshot.h"

/* The steps of observe_devices(), one file each. All return 0 or -ENOMEM. */

/* Adds netdevs to the devices of the PCI functions that they lie in. A USB network card lies in the function
 * of its USB controller, which is no device here, and so stays out. Without sys/class/net the functions' own
 * folders are read. */
int netdevs_attach(const Root *root, Snapshot *s);

/* Adds SCSI hosts to the devices of the PCI functions that they lie in; hosts of iSCSI stay out, since they
 * are devices of their own. */
int scsi_hosts_attach(const Root *root, Snapshot *s);

/* Adds the disks (whole ones, no partitions) to the devices of the PCI functions that they lie in; disks of
 * iSCSI hosts stay out. A hidden path of a multipath NVMe namespace (nvme0c1n1) counts as the disk that
 * people see (nvme0n1). */
int disks_attach(const Root *root, Snapshot *s);

/* The device of a PCI address, NULL = none. */
Device *device_of_pci(Snapshot *s, const char *pci);

/* Brings the devices into natural order of their ids, PCI functions into that of their addresses. */
void devices_sort(Snapshot *s);

/* The driver of a virtio device by its PCI device id, NULL = not a virtio id that is known. */
const char *virtio_driver_of_id(unsigned id);
