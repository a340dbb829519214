/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "observe/knobs.h"
#include "observe/symbols.h"

/* The default limit of IOVA depots, of a kernel that has one: fills s->depot and s->depot_max. Returns 0 or
 * -ENOMEM. */
int observe_depot_max(const Root *root, Snapshot *s);

/* Fills d->iommu of a PCI function, and adds the knobs of its group; and while its domain allocates IOVAs,
 * those of its disks, whose roles are "0:1:0" (channel, target, LUN) on its first SCSI host, "0:1:0#2" on its
 * second, "ns1" for an NVMe namespace, else "disk". Returns 0 or -ENOMEM. */
int observe_iommu(const Root *root, const Refusals *refusals, Device *d);

/* Whether a kernel without files for it limits its depots, by its symbols. Fills s->depot. Returns 0 or
 * -ENOMEM. */
int observe_depot_kind(const Root *root, SymbolMemo *memo, Snapshot *s);
