/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/unit.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define MANAGER           "org.freedesktop.systemd1"
#define MANAGER_PATH      "/org/freedesktop/systemd1"
#define MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"
#define UNIT_INTERFACE    "org.freedesktop.systemd1.Unit"
/* For each of the questions at the start; while the machine boots an answer may take its time. */
#define ASK_USEC 5000000u

struct UnitWatch {
        sd_bus *bus;
        char *path; /* of the unit's object */
        UnitHandler handler;
        void *userdata;
        bool active;
        int error;
};

bool unit_state_is_active(const char *s)
{
        return *s && strcmp(s, "inactive") != 0 && strcmp(s, "failed") != 0;
}

static void take_state(UnitWatch *w, const char *state)
{
        bool active = unit_state_is_active(state);

        if (active == w->active)
                return;
        w->active = active;
        w->handler(w->userdata);
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
                        if (r >= 0)
                                take_state(w, state);
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
        UnitWatch *w = userdata;

        w->error = -ENOTCONN;
        w->active = false;
        w->handler(w->userdata);
        return 0;
}

static int subscribe(UnitWatch *w)
{
        int r;

        r = sd_bus_match_signal(w->bus, NULL, MANAGER, w->path, "org.freedesktop.DBus.Properties",
                                "PropertiesChanged", on_changed, w);
        if (r >= 0)
                r = sd_bus_match_signal(w->bus, NULL, NULL, "/org/freedesktop/DBus/Local",
                                        "org.freedesktop.DBus.Local", "Disconnected", on_gone, w);
        /* Without a subscriber the manager sends no signals. */
        if (r >= 0)
                r = sd_bus_call_method(w->bus, MANAGER, MANAGER_PATH, MANAGER_INTERFACE, "Subscribe", NULL,
                                       NULL, NULL);
        return r;
}

static int ask_state(UnitWatch *w)
{
        _cleanup_(freep) char *state = NULL;
        int r;

        r = sd_bus_get_property_string(w->bus, MANAGER, w->path, UNIT_INTERFACE, "ActiveState", NULL, &state);
        if (r >= 0)
                w->active = unit_state_is_active(state);
        return r;
}

int unit_watch_new(sd_event *event, const char *unit, UnitHandler handler, void *userdata, UnitWatch **ret)
{
        _cleanup_(unit_watch_freep) UnitWatch *w = calloc(1, sizeof(*w));
        int r;

        if (!w)
                return -ENOMEM;
        w->handler = handler;
        w->userdata = userdata;
        r = sd_bus_path_encode(MANAGER_PATH "/unit", unit, &w->path);
        if (r >= 0)
                r = sd_bus_open_system(&w->bus);
        if (r >= 0)
                r = sd_bus_set_method_call_timeout(w->bus, ASK_USEC);
        if (r >= 0)
                r = subscribe(w);
        if (r >= 0)
                r = ask_state(w);
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
        if (w->bus)
                sd_bus_detach_event(w->bus);
        sd_bus_close_unref(w->bus);
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
