/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"
#include "model/snapshot.h"

/* Whether the name of an action says that this function requested the line interrupt (INTx) that it stands
 * for: it names the function's PCI address and no other one; or it begins with the name of the driver or its
 * module (- and _ alike), of one of the function's netdevs, or of its virtio child, which is what drivers
 * pass to request_irq(). */
bool line_is_of_function(const Root *root, const Device *d, const char *action);
