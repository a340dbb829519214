/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ctl/collection.h"

/* Takes out of a few files what has no say in placement and could tell anything: of the kernel's command line
 * all but the options about CPUs, nodes, interrupts and the IOMMU; of its version who built it; of udev's
 * database all but the names of vendor and model. */
void filter_files(Entry *const *entries, size_t n);

/* One of them each, in place; returns the new length. */
size_t filter_cmdline(char *text, size_t size);
size_t filter_version(char *text, size_t size);
size_t filter_udev(char *text, size_t size);
