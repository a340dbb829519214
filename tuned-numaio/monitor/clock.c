/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the machine slept. Its real-time clock went on meanwhile, and to the kernel that is a clock which
 * was set (timekeeping_resume(), Linux 3.0 and later): it cancels timers that ask to be told. Nobody has to
 * announce the sleep for that, neither logind nor a bus, and the timer itself never ends. Somebody who sets
 * the clock is taken for a sleep, which costs a look. */
#include "monitor/source.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Beyond what the kernel's clock can count to on any machine (2262), and within any time_t. */
#define NEVER ((time_t)(sizeof(time_t) > 4 ? INT64_MAX : INT32_MAX))

static int arm(int fd)
{
        const struct itimerspec never = { .it_value.tv_sec = NEVER };

        return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) < 0 ? -errno
                                                                                                  : 0;
}

static int on_clock(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
        static const MonitorEvent set = {
                .source = "clock", .subsystem = "clock", .action = "change", .object = ""
        };
        Monitor *m = userdata;
        uint64_t times;
        int r;

        /* -ECANCELED = the clock was set, or the machine slept. */
        if (read(fd, &times, sizeof(times)) < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        r = arm(fd);
        if (r < 0)
                source_give_up(m, SOURCE_CLOCK, r);
        else
                source_emit(m, &set);
        return 0;
}

int clock_source_open(Monitor *m)
{
        int r;

        m->clock_fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
        if (m->clock_fd < 0)
                return -errno;
        r = arm(m->clock_fd);
        return r < 0 ? r : source_watch(m, SOURCE_CLOCK, m->clock_fd, on_clock);
}
