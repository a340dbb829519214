/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/iscsi.h"

#include "monitor/source.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <sys/epoll.h>

/* include/scsi/iscsi_if.h of the kernel, which is not installed for programs. */
enum {
        ISCSI_KEVENT_CONN_ERROR = 102,
        ISCSI_KEVENT_DESTROY_SESSION = 104,
        ISCSI_KEVENT_UNBIND_SESSION = 105,
        ISCSI_KEVENT_CREATE_SESSION = 106,
};

/* The beginning of struct iscsi_uevent. What follows in the datagram (a whole PDU for RECV_PDU, perhaps with
 * a secret) is cut off by the kernel and never comes into this process. */
typedef struct IscsiHead {
        struct nlmsghdr h;
        uint32_t type;
} IscsiHead;

int iscsi_parse(unsigned type, MonitorEvent *ret)
{
        MonitorEvent e = { .source = "iscsi", .subsystem = "iscsi_session", .object = "" };

        switch (type) {
        case ISCSI_KEVENT_CONN_ERROR:
                e.subsystem = "iscsi_connection";
                e.action = "error";
                break;
        case ISCSI_KEVENT_CREATE_SESSION:
                e.action = "add";
                break;
        case ISCSI_KEVENT_DESTROY_SESSION:
                e.action = "remove";
                break;
        case ISCSI_KEVENT_UNBIND_SESSION:
                e.action = "change";
                break;
        default:
                return 0;
        }
        *ret = e;
        return 1;
}

/* 1 = one datagram taken, 0 = none left, else a negative errno. */
static int receive_head(Monitor *m, int fd)
{
        IscsiHead head;
        MonitorEvent e;
        struct sockaddr_nl from = { 0 };
        socklen_t from_size = sizeof(from);

        ssize_t n = recvfrom(fd, &head, sizeof(head), MSG_DONTWAIT, (struct sockaddr *)&from, &from_size);
        if (n < 0)
                return errno == EAGAIN ? 0 : -errno;
        if (n == 0)
                return -ENOTCONN;
        m->counts.netlink++;
        if (n == sizeof(head) && from.nl_pid == 0 && iscsi_parse(head.type, &e) > 0)
                source_emit(m, &e);
        return 1;
}

static int on_iscsi(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
        Monitor *m = userdata;
        bool overrun = false;

        for (int i = 0; i < SOURCE_BURST; i++) {
                int r = receive_head(m, fd);
                if (r == 0)
                        break;
                if (r == -ENOBUFS) {
                        overrun = true;
                } else if (r < 0 && r != -EINTR) {
                        source_give_up(m, SOURCE_ISCSI, r);
                        return 0;
                }
        }
        if (overrun)
                source_emit_overrun(m, SOURCE_ISCSI);
        return 0;
}

int monitor_add_iscsi_fd(Monitor *m, int fd)
{
        sd_event_source *before = STEAL_PTR(m->watch[SOURCE_ISCSI]);

        int r = source_watch(m, SOURCE_ISCSI, fd, on_iscsi);
        if (r < 0) {
                m->watch[SOURCE_ISCSI] = before;
                return r;
        }
        sd_event_source_disable_unref(before);
        if (m->iscsi_fd >= 0)
                close(m->iscsi_fd);
        m->iscsi_fd = fd;
        return 0;
}

bool monitor_has_iscsi(const Monitor *m)
{
        return m->watch[SOURCE_ISCSI] != NULL;
}
