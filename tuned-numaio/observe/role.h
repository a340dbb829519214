/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "model/snapshot.h"

/* What an action's name tells about a vector. */
typedef struct VectorName {
        VectorRole role;
        int queue;     /* -1 = slow path, or a queue without a number in its name */
        bool bare;     /* the name tells nothing ("megasas", "eno1"): role and queue are open */
        char slow[40]; /* of the slow path: the name without host numbers, PCI addresses and netdev names */
} VectorName;

/* Reads an action's name: a table of names per driver first, then the words that drivers commonly use.
 * netdevs (may be NULL) are names to take out first, so that a netdev called "mgmt0" is no management vector.
 */
void vector_name_parse(const char *driver, const char *action, const Strv *netdevs, VectorName *ret);

/* Sets role, queue and key of a device's vectors. n_all is how many vectors the function has, with or without
 * action. A function's only vector is queue 0. Queues without a number are numbered among those of the same
 * name in order of IRQ. A name that tells nothing is a queue when it repeats or when no other vector is one,
 * else slow path. Returns 0 or -ENOMEM. */
int vectors_name(Device *d, size_t n_all);
