/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "api/http.h"
#include "basic/log.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/eventfd.h>

#define USEC_PER_MSEC 1000u
#define USEC_PER_SEC  1000000u

/* How long the API waits before it looks for clients again when there are no descriptors. */
#define PAUSE_USEC (250 * USEC_PER_MSEC)

/* Whose members may write. */
#define API_GROUP "tuned-numaio"

static const ApiLimits default_limits = {
        .body = 256 * 1024,
        .url = 2048,
        .connections = 32,
        .connections_user = 8,
        .request_usec = 10 * USEC_PER_SEC,
        .idle_usec = 60 * USEC_PER_SEC,
        .deferred_usec = 120 * USEC_PER_SEC,
};

/* For a request's head, which libmicrohttpd keeps together with what it answers from. */
#define CONNECTION_MEMORY (32u * 1024)

int api_new(sd_event *event, const ApiBackend *backend, void *userdata, Api **ret)
{
        Api *api = calloc(1, sizeof(*api));

        if (!api)
                return -ENOMEM;
        *api = (Api) {
                .event = sd_event_ref(event),
                .backend = backend,
                .userdata = userdata,
                .limits = default_limits,
                .group = (gid_t)-1,
        };
        *ret = api;
        return 0;
}

void api_set_limits(Api *api, const ApiLimits *limits)
{
        api->limits = *limits;
}

/* After every event, timer, or resumed connection: libmicrohttpd's epoll is edge-triggered, so what it left
 * unread has to be asked for by its timeout. */
static int pump(Listener *l)
{
        MHD_UNSIGNED_LONG_LONG msec;
        int r;

        /* With all connections taken it does not listen. Only when it begins to run does it see that one is
         * free. */
        do {
                l->closed = false;
                if (l->api->mhd.run(l->mhd) != MHD_YES)
                        return -EIO;
        } while (l->closed);
        if (l->api->mhd.get_timeout(l->mhd, &msec) != MHD_YES)
                return sd_event_source_set_enabled(l->timer, SD_EVENT_OFF);
        r = sd_event_source_set_time_relative(l->timer, msec * USEC_PER_MSEC);
        return r < 0 ? r : sd_event_source_set_enabled(l->timer, SD_EVENT_ONESHOT);
}

static int pump_or_log(Listener *l)
{
        int r = pump(l);

        if (r < 0)
                log_error("The API's socket does not work any more: %s", strerror(-r));
        return r;
}

/* Whether a descriptor can be had, be it the process or the system that has none. */
static bool has_descriptor(void)
{
        int fd = eventfd(0, EFD_CLOEXEC);

        if (fd < 0)
                return false;
        close(fd);
        return true;
}

/* Looks for clients again in a while. `why` is said once. */
static int pause_listener(Listener *l, const char *why)
{
        int r;

        if (!l->short_of_fds && !has_descriptor())
                log_warning("No file descriptors are left: new clients of the API have to wait");
        else if (!l->short_of_fds)
                log_error("The API cannot answer, it is tried again: libmicrohttpd: %s", why);
        l->short_of_fds = true;
        r = sd_event_source_set_time_relative(l->pause, PAUSE_USEC);
        if (r >= 0)
                r = sd_event_source_set_enabled(l->pause, SD_EVENT_ONESHOT);
        return r < 0 ? r : sd_event_source_set_enabled(l->io, SD_EVENT_OFF);
}

/* A client that cannot be accepted for want of a descriptor keeps libmicrohttpd's epoll ready, and the loop
 * busy: whether that is so is asked when it had nothing else to do. */
static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
        Listener *l = userdata;
        int r;

        l->busy = false;
        r = pump_or_log(l);
        if (r < 0)
                return r;
        if (l->busy && !l->short_of_fds)
                return 0;
        if (has_descriptor()) {
                l->short_of_fds = false;
                return 0;
        }
        return pause_listener(l, "no file descriptors");
}

static int on_pause_end(sd_event_source *source, uint64_t usec, void *userdata)
{
        Listener *l = userdata;

        return sd_event_source_set_enabled(l->io, SD_EVENT_ON);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
        return pump_or_log(userdata);
}

static void on_message(void *userdata, const char *format, va_list ap) _printf_(2, 0);
static void on_message(void *userdata, const char *format, va_list ap)
{
        char text[256];

        vsnprintf(text, sizeof(text), format, ap);
        text[strcspn(text, "\n")] = '\0';
        log_debug("libmicrohttpd: %s", text);
}

static struct MHD_Daemon *start(Listener *l, int fd)
{
        return l->api->mhd.start_daemon(
                MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, http_request, l,
                MHD_OPTION_EXTERNAL_LOGGER, on_message, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
                MHD_OPTION_CONNECTION_LIMIT, l->api->limits.connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                (size_t)CONNECTION_MEMORY, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION,
                http_connection, l, MHD_OPTION_URI_LOG_CALLBACK, http_target, l, MHD_OPTION_NOTIFY_COMPLETED,
                http_completed, l, MHD_OPTION_END);
}

/* libmicrohttpd's descriptor in place of the socket's. */
static int watch(Listener *l)
{
        const union MHD_DaemonInfo *i = l->api->mhd.get_daemon_info(l->mhd, MHD_DAEMON_INFO_EPOLL_FD);

        if (!i)
                return -EIO;
        l->io = sd_event_source_disable_unref(l->io);
        return sd_event_add_io(l->api->event, &l->io, i->epoll_fd, EPOLLIN, on_io, l);
}

static int load(Api *api, const char **ret_why)
{
        const struct group *g;
        int r;

        if (api->loaded)
                return 0;
        r = mhd_load(&api->mhd, ret_why);
        if (r < 0)
                return r;
        g = getgrnam(API_GROUP);
        api->group = g ? g->gr_gid : (gid_t)-1;
        api->loaded = true;
        return 0;
}

/* Somebody connects for the first time. What cannot be begun now for want of descriptors or memory is tried
 * again. */
static int on_first(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
        const char *why = "it does not start";
        Listener *l = userdata;

        if (load(l->api, &why) >= 0)
                l->mhd = start(l, fd);
        if (!l->mhd)
                return pause_listener(l, why);
        l->fd = -1;
        l->short_of_fds = false;
        return watch(l) < 0 ? -EIO : pump_or_log(l);
}

/* What waits for the first client. */
static int wait_for_client(Listener *l)
{
        int r;

        r = sd_event_add_io(l->api->event, &l->io, l->fd, EPOLLIN, on_first, l);
        /* Accuracy 1, not 0: that would mean 250 ms. */
        if (r >= 0)
                r = sd_event_add_time(l->api->event, &l->timer, CLOCK_MONOTONIC, UINT64_MAX, 1, on_timer, l);
        if (r >= 0)
                r = sd_event_add_time(l->api->event, &l->pause, CLOCK_MONOTONIC, UINT64_MAX, 1, on_pause_end,
                                      l);
        if (r >= 0)
                r = sd_event_source_set_enabled(l->timer, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_source_set_enabled(l->pause, SD_EVENT_OFF);
        return r;
}

/* libmicrohttpd must find no suspended connection when it stops. */
static void listener_free(Listener *l)
{
        Error e = { 0 };

        (void)error_set(&e, -ECONNRESET, NULL, "the daemon is stopping");
        for (Connection *c = l->connections; c; c = c->next)
                if (c->request && c->request->suspended)
                        http_answer(c->request, e.code, NULL, &e);
        sd_event_source_disable_unref(l->io);
        sd_event_source_disable_unref(l->timer);
        sd_event_source_disable_unref(l->pause);
        if (l->mhd)
                l->api->mhd.stop_daemon(l->mhd); /* closes the socket too */
        if (l->fd >= 0)
                close(l->fd);
        free(l);
}

int api_add_socket(Api *api, int fd, bool read_only)
{
        Listener *l = calloc(1, sizeof(*l));
        int flags = fcntl(fd, F_GETFL), r;

        if (!l || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
                r = l ? -errno : -ENOMEM;
                close(fd);
                free(l);
                return r;
        }
        l->api = api;
        l->fd = fd;
        l->read_only = read_only;
        r = wait_for_client(l);
        if (r < 0) {
                listener_free(l);
                return r;
        }
        l->next = api->listeners;
        api->listeners = l;
        return 0;
}

Api *api_free(Api *api)
{
        if (!api)
                return NULL;
        while (api->listeners) {
                Listener *l = api->listeners;

                api->listeners = l->next;
                listener_free(l);
        }
        while (api->deferred) {
                ApiRequest *req = api->deferred;

                api->deferred = req->next;
                http_request_free(req);
        }
        sd_event_unref(api->event);
        free(api);
        return NULL;
}
