/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

/* What iova_depot_max reads after a write: the limit in force. Returns 0 or a negative errno; the caller
 * frees. */
int standin_depot_text(const Root *root, const char *value, char **ret);
