/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/source.h"
#include "monitor/uevent.h"

#include <errno.h>
#include <libudev.h>
#include <stdio.h>

static void deliver(Monitor *m, struct udev_device *d)
{
        MonitorEvent e = { .source = "udev",
                           .subsystem = udev_device_get_subsystem(d),
                           .action = udev_device_get_action(d),
                           .object = udev_device_get_syspath(d) };

        m->counts.udev++;
        if (e.object && uevent_is_relevant(e.subsystem, e.action, udev_device_get_devpath(d)))
                source_emit(m, &e);
}

static int on_udev(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
        Monitor *m = userdata;
        bool overrun = false;

        for (int i = 0; i < SOURCE_BURST; i++) {
                errno = 0;
                struct udev_device *d = udev_monitor_receive_device(m->udev_monitor);
                if (d) {
                        deliver(m, d);
                        udev_device_unref(d);
                } else if (errno == ENOBUFS) {
                        overrun = true;
                } else if (errno == EBADF || errno == ENOTSOCK) {
                        source_give_up(m, SOURCE_UDEV, -errno);
                        return 0;
                } else if (errno == EAGAIN || errno == 0) {
                        break;
                }
                /* Anything else is one message that libudev refused. */
        }
        if (overrun)
                source_emit_overrun(m, SOURCE_UDEV);
        return 0;
}

int udev_source_open(Monitor *m)
{
        int r;

        /* Without udevd nobody sends to udev's group; the kernel's is as good, only earlier. */
        const char *group = access("/run/udev/control", F_OK) == 0 ? "udev" : "kernel";
        struct udev *udev = udev_new();
        if (!udev)
                return -ENOMEM;
        m->udev_monitor = udev_monitor_new_from_netlink(udev, group);
        r = m->udev_monitor ? 0 : errno ? -errno : -ENOMEM;
        udev_unref(udev);
        if (r < 0)
                return r;
        for (size_t i = 0; i < n_uevent_subsystems; i++) {
                r = udev_monitor_filter_add_match_subsystem_devtype(m->udev_monitor, uevent_subsystems[i],
                                                                    NULL);
                if (r < 0)
                        return r;
        }
        /* What is granted without privilege is enough: lost events are noticed. */
        (void)udev_monitor_set_receive_buffer_size(m->udev_monitor, SOURCE_RECEIVE_BUFFER);
        r = udev_monitor_enable_receiving(m->udev_monitor);
        if (r < 0)
                return r;
        return source_watch(m, SOURCE_UDEV, udev_monitor_get_fd(m->udev_monitor), on_udev);
}
