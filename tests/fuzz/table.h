/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The writer's closed table once more, in other words. */

/* The kind of file that a path names; 0 = it is not in the table. */
uint32_t table_kind(const char *path);
/* Whether a value has the form of its kind and is no empty set. A mask's commas are not looked at. */
bool table_takes(uint32_t kind, const char *value);
/* Whether a device or id is free of control characters. */
bool table_is_text(const char *s);
/* Whether a path is one of irqbalance's sockets. */
bool table_is_socket(const char *path);
/* Whether a name is that of an iSCSI host's workqueue. */
bool table_is_queue(const char *name);
