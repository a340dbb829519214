/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* irqbalance's socket has the number of its process in its name (irqbalance(1), API). */

#define IRQBALANCE_FOLDER "run/irqbalance" /* below the root */

/* The number in "irqbalanceNUMBER.sock"; 0 = another name. */
unsigned irqbalance_socket_pid(const char *name);

/* The same of "run/irqbalance/irqbalanceNUMBER.sock", or the abstract "@irqbalanceNUMBER.sock". */
unsigned irqbalance_path_pid(const char *path);
