/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"
#include "model/snapshot.h"

/* Which CPUs the kernel may have spread managed vectors over. */
typedef struct ManagedBasis {
        CpuSet *possible, *present, *online; /* NULL = not known */
} ManagedBasis;

/* Reads them. The caller clears it, also on failure. Returns 0 or -ENOMEM. */
int managed_basis_read(const Root *root, const Snapshot *s, ManagedBasis *ret);
void managed_basis_clear(ManagedBasis *b);

/* Whether a driver asks the kernel to manage its queue vectors (PCI_IRQ_AFFINITY, or a descriptor passed to
 * pci_alloc_irq_vectors_affinity() or virtio_find_vqs()), as of Linux 4.12 to 6.12. */
bool driver_uses_managed(const char *driver);

/* Sets managed and settable of a device's vectors, whose roles, masks and refusals are set, and which are
 * already marked where the mode of their file told. Kernels before 6.12 do not say which vectors are managed,
 * so it is inferred: a driver of the table, and masks that divide up all CPUs the way
 * irq_create_affinity_masks() in kernel/irq/affinity.c does. A table driver whose masks are not conclusive is
 * SETTABLE_UNKNOWN. A vector that alone carries queues is never managed where the function has no other.
 * n_all as in vectors_name(). Returns 0 or -ENOMEM. */
int vectors_settle_managed(Device *d, size_t n_all, const ManagedBasis *b);
