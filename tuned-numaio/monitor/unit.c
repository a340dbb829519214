/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/unit.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define MANAGER           "org.freedesktop.systemd1"
#define MANAGER_PATH      "/org/freedesktop/systemd1"
#define MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"
#define UNIT_INTERFACE    "org.freedesktop.systemd1.Unit"
/* For all questions of one connection; while the machine boots an answer may take its time. */
#define ASK_USEC 10000000u
/* A bus that was lost is looked for again after this time, then after twice as long, and so on, up to 256 s.
 */
#define REOPEN_USEC   500000u
#define REOPEN_SHIFTS 9u

struct UnitWatch {
        sd_bus *bus;
        sd_event_source *reopen; /* NULL = not known yet whether there is a bus; armed while there is none */
        unsigned vain;           /* so often it was armed since there was one */
        char *path;              /* of the unit's object */
        UnitHandler handler;
        void *userdata;
        bool active;
        int error; /* -EINPROGRESS = asked, and not answered yet */
};

bool unit_state_is_active(const char *s)
{
        return *s && strcmp(s, "inactive") != 0 && strcmp(s, "failed") != 0;
}

static void know(UnitWatch *w, int error, bool active)
{
        bool same = w->error == error && w->active == active;

        w->error = error;
        w->active = active;
        if (!same && w->reopen)
                w->handler(w->userdata);
}

static bool is_lost(const UnitWatch *w)
{
        return w->reopen && sd_event_source_get_enabled(w->reopen, NULL) > 0;
}

/* A connection that ends fails each question that is open: the first one counts. */
static void lose(UnitWatch *w, int error)
{
        unsigned shift = w->vain < REOPEN_SHIFTS ? w->vain : REOPEN_SHIFTS;

        if (is_lost(w))
                return;
        if (w->reopen) {
                w->vain++;
                (void)sd_event_source_set_time_relative(w->reopen, (uint64_t)REOPEN_USEC << shift);
                (void)sd_event_source_set_enabled(w->reopen, SD_EVENT_ONESHOT);
        }
        know(w, error, false);
}

/* Takes the one property out of the a{sv} of a signal, and passes over the others. */
static int take_changed(UnitWatch *w, sd_bus_message *m)
{
        const char *name, *state;
        int r;

        r = sd_bus_message_enter_container(m, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
                r = sd_bus_message_read(m, "s", &name);
                if (r >= 0 && strcmp(name, "ActiveState") == 0) {
                        r = sd_bus_message_read(m, "v", "s", &state);
                        if (r >= 0 && w->error == 0)
                                know(w, 0, unit_state_is_active(state));
                } else if (r >= 0) {
                        r = sd_bus_message_skip(m, "v");
                }
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
        }
        return r;
}

static int on_changed(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        const char *interface;

        if (sd_bus_message_read(m, "s", &interface) >= 0 && strcmp(interface, UNIT_INTERFACE) == 0)
                (void)take_changed(userdata, m); /* what is no signal of this form says nothing */
        return 0;
}

static int on_gone(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        lose(userdata, -ENOTCONN);
        return 0;
}

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        if (sd_bus_message_is_method_error(m, NULL))
                lose(userdata, -sd_bus_message_get_errno(m));
        return 0;
}

/* The last answer of all. */
static int on_state(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        UnitWatch *w = userdata;
        const char *state;
        int r;

        if (sd_bus_message_is_method_error(m, NULL))
                return on_answer(m, userdata, error);
        r = sd_bus_message_read(m, "v", "s", &state);
        if (r < 0) {
                lose(w, r);
        } else if (!is_lost(w)) {
                w->vain = 0;
                know(w, 0, unit_state_is_active(state));
        }
        return 0;
}

static void close_bus(UnitWatch *w)
{
        if (w->bus)
                sd_bus_detach_event(w->bus);
        w->bus = sd_bus_close_unref(w->bus);
}

/* Connects, listens, and asks, all without waiting. */
static int open_bus(UnitWatch *w)
{
        int r;

        r = sd_bus_open_system(&w->bus);
        if (r >= 0)
                r = sd_bus_set_method_call_timeout(w->bus, ASK_USEC);
        if (r >= 0)
                r = sd_bus_match_signal(w->bus, NULL, NULL, "/org/freedesktop/DBus/Local",
                                        "org.freedesktop.DBus.Local", "Disconnected", on_gone, w);
        if (r >= 0)
                r = sd_bus_match_signal_async(w->bus, NULL, MANAGER, w->path,
                                              "org.freedesktop.DBus.Properties", "PropertiesChanged",
                                              on_changed, on_answer, w);
        /* Without a subscriber the manager sends no signals. */
        if (r >= 0)
                r = sd_bus_call_method_async(w->bus, NULL, MANAGER, MANAGER_PATH, MANAGER_INTERFACE,
                                             "Subscribe", on_answer, w, NULL);
        if (r >= 0)
                r = sd_bus_call_method_async(w->bus, NULL, MANAGER, w->path,
                                             "org.freedesktop.DBus.Properties", "Get", on_state, w, "ss",
                                             UNIT_INTERFACE, "ActiveState");
        return r;
}

static int on_reopen(sd_event_source *s, uint64_t usec, void *userdata)
{
        UnitWatch *w = userdata;
        int r;

        close_bus(w);
        r = open_bus(w);
        if (r >= 0)
                r = sd_bus_attach_event(w->bus, sd_event_source_get_event(s), SD_EVENT_PRIORITY_NORMAL);
        if (r < 0)
                lose(w, r);
        return 0;
}

static int wait_for_answer(UnitWatch *w)
{
        int r = 0;

        while (r >= 0 && w->error == -EINPROGRESS) {
                r = sd_bus_process(w->bus, NULL);
                if (r == 0)
                        r = sd_bus_wait(w->bus, UINT64_MAX);
        }
        return r < 0 ? r : w->error;
}

int unit_watch_new(sd_event *event, const char *unit, UnitHandler handler, void *userdata, UnitWatch **ret)
{
        _cleanup_(unit_watch_freep) UnitWatch *w = calloc(1, sizeof(*w));
        int r;

        if (!w)
                return -ENOMEM;
        w->handler = handler;
        w->userdata = userdata;
        w->error = -EINPROGRESS;
        r = sd_bus_path_encode(MANAGER_PATH "/unit", unit, &w->path);
        if (r >= 0)
                r = open_bus(w);
        if (r >= 0)
                r = wait_for_answer(w);
        if (r >= 0)
                r = sd_event_add_time(event, &w->reopen, CLOCK_MONOTONIC, UINT64_MAX, REOPEN_USEC / 10,
                                      on_reopen, w);
        if (r >= 0)
                r = sd_event_source_set_enabled(w->reopen, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_bus_attach_event(w->bus, event, SD_EVENT_PRIORITY_NORMAL);
        if (r < 0)
                return r;
        *ret = STEAL_PTR(w);
        return 0;
}

UnitWatch *unit_watch_free(UnitWatch *w)
{
        if (!w)
                return NULL;
        sd_event_source_disable_unref(w->reopen);
        close_bus(w);
        free(w->path);
        free(w);
        return NULL;
}

bool unit_watch_is_active(const UnitWatch *w)
{
        return w->active;
}

int unit_watch_error(const UnitWatch *w)
{
        return w->error;
}
