/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/monitor.h"

#include "basic/log.h"
#include "monitor/source.h"

#include <errno.h>
#include <libudev.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

static const char *const source_names[_SOURCE_MAX] = {
        [SOURCE_UDEV] = "udev",   [SOURCE_RTNL] = "rtnetlink", [SOURCE_ETHTOOL] = "ethtool",
        [SOURCE_CLOCK] = "clock", [SOURCE_ISCSI] = "iscsi",
};

int source_watch(Monitor *m, SourceKind kind, int fd, sd_event_io_handler_t callback)
{
        sd_event_source *s;

        int r = sd_event_add_io(m->event, &s, fd, EPOLLIN, callback, m);
        if (r < 0)
                return r;
        /* First of all: a receive queue that nobody empties loses events. */
        r = sd_event_source_set_priority(s, SD_EVENT_PRIORITY_IMPORTANT);
        if (r < 0) {
                sd_event_source_disable_unref(s);
                return r;
        }
        (void)sd_event_source_set_description(s, source_names[kind]);
        m->watch[kind] = s;
        return 0;
}

static int add_missing(Monitor *m, SourceKind kind, int error)
{
        _cleanup_(freep) char *line = strf("%s: %s", source_names[kind], strerror(-error));
        return line ? strv_add(&m->missing, line) : -ENOMEM;
}

static void close_fd(int *fd)
{
        if (*fd >= 0)
                close(*fd);
        *fd = -1;
}

static void close_source(Monitor *m, SourceKind kind)
{
        m->watch[kind] = sd_event_source_disable_unref(m->watch[kind]);
        switch (kind) {
        case SOURCE_UDEV:
                udev_monitor_unref(m->udev_monitor);
                m->udev_monitor = NULL;
                break;
        case SOURCE_RTNL:
                nl_socket_free(m->rtnl);
                m->rtnl = NULL;
                link_table_clear(&m->links);
                break;
        case SOURCE_ETHTOOL:
                nl_socket_free(m->ethtool);
                m->ethtool = NULL;
                break;
        case SOURCE_CLOCK:
                close_fd(&m->clock_fd);
                break;
        case SOURCE_ISCSI:
                close_fd(&m->iscsi_fd);
                break;
        case _SOURCE_MAX:
                break;
        }
}

void source_give_up(Monitor *m, SourceKind kind, int error)
{
        log_warning("no more events from %s: %s", source_names[kind], strerror(-error));
        (void)add_missing(m, kind, error);
        close_source(m, kind);
        source_emit_overrun(m, kind);
}

void source_emit(Monitor *m, const MonitorEvent *e)
{
        m->counts.delivered++;
        m->handler(m->userdata, e);
}

void source_emit_overrun(Monitor *m, SourceKind kind)
{
        MonitorEvent e = {
                .source = source_names[kind], .subsystem = "", .action = "", .object = "", .overrun = true
        };

        m->counts.overruns++;
        m->handler(m->userdata, &e);
}

int netlink_errno(int nl_error)
{
        switch (-nl_error) {
        case NLE_NOMEM:
                return -ENOMEM;
        case NLE_PERM:
        case NLE_NOACCESS:
                return -EPERM;
        case NLE_OBJ_NOTFOUND:
        case NLE_NODEV:
                return -ENOENT;
        case NLE_AF_NOSUPPORT:
                return -EAFNOSUPPORT;
        case NLE_PROTO_MISMATCH:
                return -EPROTONOSUPPORT;
        default:
                return -EIO;
        }
}

void netlink_prepare(struct nl_sock *sk)
{
        int fd = nl_socket_get_fd(sk), size = SOURCE_RECEIVE_BUFFER;

        nl_socket_disable_seq_check(sk);
        (void)nl_socket_set_nonblocking(sk);
        if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
                (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

/* Returns the length of the next datagram of the kernel, 0 for one to pass over, -EAGAIN when none is left,
 * -ENOBUFS when some were lost, or the error of the socket. */
static int receive(Monitor *m, int fd)
{
        struct sockaddr_nl from = { 0 };
        struct iovec iov = { .iov_base = m->buffer, .iov_len = SOURCE_MESSAGE_MAX };
        struct msghdr msg = {
                .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1
        };

        ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT);
        if (n < 0)
                return errno == EINTR ? 0 : -errno;
        if (msg.msg_flags & MSG_TRUNC)
                return -ENOBUFS;
        /* Other programs can send to our port. */
        return from.nl_pid == 0 ? (int)n : 0;
}

int netlink_drain(Monitor *m, int fd, NetlinkMessage message)
{
        bool lost = false;

        for (int i = 0; i < SOURCE_BURST; i++) {
                int left = receive(m, fd);
                if (left == -EAGAIN)
                        break;
                if (left == -ENOBUFS) {
                        lost = true;
                        continue;
                }
                if (left < 0)
                        return left;
                for (struct nlmsghdr *h = m->buffer; nlmsg_ok(h, left); h = nlmsg_next(h, &left)) {
                        m->counts.netlink++;
                        message(m, h);
                }
        }
        return lost;
}

/* Opens each source; 0 when at least one works that tells of devices, else the first error. */
static int open_sources(Monitor *m)
{
        static int (*const open[])(Monitor *) = {
                [SOURCE_UDEV] = udev_source_open,
                [SOURCE_RTNL] = rtnl_source_open,
                [SOURCE_ETHTOOL] = ethtool_source_open,
                [SOURCE_CLOCK] = clock_source_open,
        };
        int first = 0;
        size_t n_open = 0;

        for (SourceKind kind = 0; kind < ARRAY_SIZE(open); kind++) {
                int r = open[kind](m);
                if (r >= 0) {
                        n_open += kind != SOURCE_CLOCK; /* which knows of no device */
                        continue;
                }
                close_source(m, kind);
                if (first == 0)
                        first = r;
                r = add_missing(m, kind, r);
                if (r < 0)
                        return r;
        }
        return n_open > 0 ? 0 : first;
}

int monitor_new(sd_event *event, MonitorHandler handler, void *userdata, Monitor **ret)
{
        _cleanup_(monitor_freep) Monitor *m = calloc(1, sizeof(*m));
        if (!m)
                return -ENOMEM;
        m->iscsi_fd = m->clock_fd = -1;
        m->event = sd_event_ref(event);
        m->handler = handler;
        m->userdata = userdata;
        m->buffer = malloc(SOURCE_MESSAGE_MAX);
        if (!m->buffer)
                return -ENOMEM;
        int r = open_sources(m);
        if (r < 0)
                return r;
        *ret = STEAL_PTR(m);
        return 0;
}

Monitor *monitor_free(Monitor *m)
{
        if (!m)
                return NULL;
        for (SourceKind kind = 0; kind < _SOURCE_MAX; kind++)
                close_source(m, kind);
        strv_clear(&m->missing);
        sd_event_unref(m->event);
        free(m->buffer);
        free(m);
        return NULL;
}

const Strv *monitor_missing(const Monitor *m)
{
        return &m->missing;
}

MonitorCounts monitor_counts(const Monitor *m)
{
        return m->counts;
}
