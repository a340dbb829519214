/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/strv.h"

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

/* Events of the running machine, without any capability: libudev, rtnetlink, the ethtool monitor, its clock
 * (which tells that it slept), and the iSCSI events whose descriptor the writer opens. They carry no state:
 * they only say what to look at again. What cannot change a decision is dropped here (see uevent.h, links.h
 * and rtnl.c). */
typedef struct MonitorEvent {
        const char *source;    /* "udev", "rtnetlink", "ethtool", "clock" or "iscsi" */
        const char *subsystem; /* udev's; of the others "link", "addr", "route", "rule", "channels", "rings",
                                  "clock", "iscsi_session", "iscsi_connection" */
        const char *action; /* udev's; of the others "add", "change", "remove"; of a link also "up", "down",
                               "rename"; of a connection "error" */
        const char *object; /* sysfs path ("/sys/devices/...") or netdev; "" = none */
        bool overrun;       /* the kernel dropped events of this source: read everything again. The other
                               strings are "" then */
} MonitorEvent;

/* Called from the event loop. The strings are valid until it returns; it must not free the monitor. */
typedef void (*MonitorHandler)(void *userdata, const MonitorEvent *e);

typedef struct MonitorCounts {
        uint64_t udev;      /* uevents received in the subscribed subsystems */
        uint64_t netlink;   /* rtnetlink, ethtool and iSCSI messages received */
        uint64_t delivered; /* how many of both reached the handler */
        uint64_t overruns;
} MonitorCounts;

typedef struct Monitor Monitor;

/* Opens udev, rtnetlink, ethtool and the clock and adds them to the loop, before everything of normal
 * priority. Events from then on are delivered: whoever reads the machine after this misses nothing. A source
 * that cannot be opened is listed by monitor_missing(). Returns 0; -ENOMEM; or, when none but the clock could
 * be opened, the error of the first. The caller frees. */
int monitor_new(sd_event *event, MonitorHandler handler, void *userdata, Monitor **ret);
Monitor *monitor_free(Monitor *m);
DEFINE_CLEANUP(Monitor, monitor_free)

/* "SOURCE: REASON" for each source that could not be opened; owned by the monitor. */
const Strv *monitor_missing(const Monitor *m);

/* Adds a NETLINK_ISCSI socket that has joined group 1, in place of an earlier one. Login and logout PDUs,
 * which may hold secrets, are dropped unread. The monitor owns fd from here on if 0 is returned; else a
 * negative errno of sd-event. */
int monitor_add_iscsi_fd(Monitor *m, int fd);
/* Whether there is one: a socket that fails is closed. */
bool monitor_has_iscsi(const Monitor *m);

MonitorCounts monitor_counts(const Monitor *m);
