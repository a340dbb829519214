/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

#include <stdbool.h>
#include <stdint.h>

/* Names and paths of sysfs, as text. */

/* Whether name is prefix and a decimal number ("host12"); the number goes to *ret, which may be NULL. */
bool name_number(const char *name, const char *prefix, unsigned *ret);

/* Reads a PCI address ("0000:21:00.0", domains of five digits too) at the start of s. Returns its length and
 * sets *ret, when not NULL, to domain << 16 | bus << 8 | device << 3 | function; 0 = there is none. */
size_t pci_address(const char *s, uint64_t *ret);

#define PCI_ADDRESS_SIZE 17 /* of "ffffffff:ff:1f.7" with its NUL */

/* The address of the PCI function that a path below the root lies in or is: its last component that is one.
 * Returns false when there is none. */
bool pci_of_path(const char *path, char ret[PCI_ADDRESS_SIZE]);

/* The number in the first component "PREFIXn" of a path, -1 = there is none ("host" finds the SCSI host). */
int path_number(const char *path, const char *prefix);

/* Called for each member of a class with the class's name of it and its real path below the root; a negative
 * return ends the walk. */
typedef int (*ClassVisit)(void *context, const char *name, const char *path);

/* Walks sys/class/CLASS in natural order; members that vanish are left out. Returns 0, the visitor's negative
 * value, or a negative errno (-ENOENT: this machine has no such class). */
int class_walk(const Root *root, const char *class, ClassVisit visit, void *context);
