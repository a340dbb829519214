/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "api/peer.h"

#include "basic/cleanup.h"

#include <errno.h>
#include <sys/socket.h>

int peer_get(int fd, Peer *ret)
{
        struct ucred c;
        socklen_t size = sizeof(c);

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &size) < 0)
                return -errno;
        *ret = (Peer) { .pid = c.pid, .uid = c.uid, .gid = c.gid };
        return 0;
}

bool peer_in_group(int fd, const Peer *p, gid_t group)
{
        _cleanup_(freep) gid_t *groups = NULL;
        socklen_t size = 0;

        if (p->gid == group)
                return true;
        /* -ERANGE tells the size. */
        if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) == 0 || errno != ERANGE)
                return false;
        groups = malloc(size);
        if (!groups || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
                return false;
        for (size_t i = 0; i < size / sizeof(*groups); i++)
                if (groups[i] == group)
                        return true;
        return false;
}
