/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Who is at the other end of a connected unix socket, as the kernel noted it at connect(2). */
typedef struct Peer {
        pid_t pid;
        uid_t uid;
        gid_t gid;
} Peer;

/* Returns 0 or a negative errno. */
int peer_get(int fd, Peer *ret);

/* Whether the peer's groups (its own one, SO_PEERGROUPS) hold `group`; false when that cannot be read. */
bool peer_in_group(int fd, const Peer *p, gid_t group);
