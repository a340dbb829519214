/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the sources of the monitor share; included by the files of this folder and their tests alone. */

#include "monitor/links.h"
#include "monitor/monitor.h"

#include <linux/netlink.h>
#include <sys/socket.h>

struct nl_sock;
struct udev_monitor;

typedef enum SourceKind {
        SOURCE_UDEV,
        SOURCE_RTNL,
        SOURCE_ETHTOOL,
        SOURCE_CLOCK,
        SOURCE_ISCSI,
        _SOURCE_MAX,
} SourceKind;

/* A burst larger than this lets the rest of the loop have a turn; what is left wakes the loop again. */
#define SOURCE_BURST 256
/* Asked for; without CAP_NET_ADMIN the kernel gives net.core.rmem_max at most. */
#define SOURCE_RECEIVE_BUFFER (16 * 1024 * 1024)
/* No notification is larger: the largest are links with their bridge and statistics attributes, some KiB. */
#define SOURCE_MESSAGE_MAX ((size_t)64 * 1024)

struct Monitor {
        sd_event *event;
        MonitorHandler handler;
        void *userdata;
        MonitorCounts counts;
        Strv missing;
        sd_event_source *watch[_SOURCE_MAX];
        struct udev_monitor *udev_monitor;
        struct nl_sock *rtnl;
        LinkTable links;
        struct nl_sock *ethtool;
        int ethtool_family;
        int clock_fd;
        int iscsi_fd;
        struct nlmsghdr *buffer; /* SOURCE_MESSAGE_MAX bytes */
};

/* Each opens its source and watches it. 0 or a negative errno; what is half open is closed by
 * monitor_free(). */
int udev_source_open(Monitor *m);
int rtnl_source_open(Monitor *m);
int ethtool_source_open(Monitor *m);
int clock_source_open(Monitor *m);

/* Watches fd with a callback that gets the monitor. */
int source_watch(Monitor *m, SourceKind kind, int fd, sd_event_io_handler_t callback);
/* Ends the watch of a source that fails without end (EBADF and the like), so that the loop does not spin, and
 * tells the journal, and the handler once as an overrun. */
void source_give_up(Monitor *m, SourceKind kind, int error);

/* Hands an event to the handler, and counts it. */
void source_emit(Monitor *m, const MonitorEvent *e);
void source_emit_overrun(Monitor *m, SourceKind kind);

/* Makes a libnl socket fit for notifications: not blocking, with the largest receive buffer that is allowed.
 */
void netlink_prepare(struct nl_sock *sk);

/* Reads what waits on a netlink socket and hands each message of the kernel to `message`. Returns 1 when
 * events were lost, 0 when not, or a negative errno when the socket does not work. */
typedef void (*NetlinkMessage)(Monitor *m, struct nlmsghdr *h);
int netlink_drain(Monitor *m, int fd, NetlinkMessage message);

/* Errors of libnl as errno. */
int netlink_errno(int nl_error);
