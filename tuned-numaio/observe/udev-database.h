/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

/* What udev knows of a device beyond sysfs: names from its hardware database, kept in one file for each
 * device below /run/udev/data (udevadm(8); lines "E:KEY=VALUE"). */

/* The model of a PCI function by its address: "VENDOR MODEL", or the one of them that is known. *ret stays as
 * it is when udev knows neither or there is no database. Returns 0 or -ENOMEM; the caller frees. */
int udev_model_of_pci(const Root *root, const char *pci, char **ret);
