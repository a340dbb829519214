/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

/* Whether a root is that of a container, by the files that container managers leave for the programs inside:
 * https://systemd.io/CONTAINER_INTERFACE, and what podman, docker and OpenVZ do. Returns 1 and who made it
 * in *ret, which the caller frees; 0 when nothing tells; or -ENOMEM. */
int container_detect(const Root *root, char **ret);
