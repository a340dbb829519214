/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static int send_reply(void *userdata, const WriterReply *reply, int fd)
{
        union {
                struct cmsghdr head;
                char room[CMSG_SPACE(sizeof(int))];
        } control = { 0 };
        struct iovec iov = { (void *)reply, sizeof(*reply) };
        struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
        const int *peer = userdata;
        ssize_t n;

        if (fd >= 0) {
                control.head.cmsg_level = SOL_SOCKET;
                control.head.cmsg_type = SCM_RIGHTS;
                control.head.cmsg_len = CMSG_LEN(sizeof(int));
                memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
                message.msg_control = &control;
                message.msg_controllen = sizeof(control);
        }
        do
                n = sendmsg(*peer, &message, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : 0;
}

int writer_serve_one(Writer *w, int fd)
{
        ssize_t n;
        int r;

        do
                n = recv(fd, w->message, sizeof(WriterRequest) + 1, 0);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return errno == ECONNRESET ? 0 : -errno;
        if (n == 0)
                return 0;
        r = writer_handle(w, (const WriterRequest *)w->message, (size_t)n, send_reply, &fd);
        if (r == -EPIPE || r == -ECONNRESET)
                return 0;
        return r < 0 ? r : 1;
}

int writer_serve(Writer *w, int fd)
{
        int r;

        do
                r = writer_serve_one(w, fd);
        while (r > 0);
        return r;
}
