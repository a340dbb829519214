/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The subsystems to subscribe to, as udev names them. */
extern const char *const uevent_subsystems[];
extern const size_t n_uevent_subsystems;

/* Whether a uevent can change a device, its vectors, its workqueues, or the CPUs and nodes. devpath is
 * without "/sys" ("/devices/..."). Not: partitions, virtual disks but for the device mapper's, virtual
 * netdevs (their links come through rtnetlink), "change" of disks and targets (media, capacity), drivers
 * binding to anything but PCI functions. NULL arguments are not relevant. */
bool uevent_is_relevant(const char *subsystem, const char *action, const char *devpath);
