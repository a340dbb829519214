/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/log.h"
#include "config.h"
#include "writer/probe.h"
#include "writer/runs.h"
#include "writer/writer.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

/* The only service besides root that may ask for writes. */
#define PEER_USER      "tuned-numaio"
#define DEFAULT_FOLDER "/run/tuned-numaio/ledger"

/* How long it waits before it accepts again when there was no descriptor for a connection. */
#define PAUSE_MSEC 250

static const char *arg_ledger = DEFAULT_FOLDER;

typedef struct Service {
        Root *root;
        Ledger *ledger;
        Writer *writer;
        int listener;
        int peer;  /* the connection that is served; -1 = none */
        bool full; /* no descriptor could be had for the last one that came: the listener is left alone for a
                      while */
        bool full_told;
} Service;

static void service_done(Service *s)
{
        writer_free(s->writer);
        ledger_free(s->ledger);
        root_free(s->root);
        if (s->peer >= 0)
                close(s->peer);
        if (s->listener >= 0)
                close(s->listener);
}

/* What is denied is said here. The rest is said once, by the process that asked, which knows the rule; at
 * debug level it stands here too. */
static void on_event(void *userdata, const WriterEvent *e)
{
        const bool restore = e->op == WRITER_RESTORE;
        LogKnob k = {
                .message_id = e->error  ? MESSAGE_ID_REFUSED
                              : restore ? MESSAGE_ID_RESTORED
                                        : MESSAGE_ID_CHANGE,
                .device = e->device,
                .knob = e->knob,
                .path = e->path,
                .old_value = e->old_value,
                .new_value = e->new_value,
                .error = e->error,
        };

        if (e->denied)
                log_knob(LOG_WARNING, &k, "Denied a request for a file or value outside the table: %s",
                         strerror(-e->error));
        else if (e->error)
                log_knob(LOG_DEBUG, &k, "%s: %s: the kernel refused to %s /%s from \"%s\" to \"%s\": %s",
                         e->device, e->knob, restore ? "restore" : "change", e->path, e->old_value,
                         e->new_value, strerror(-e->error));
        else
                log_knob(LOG_DEBUG, &k, "%s: %s: %s /%s from \"%s\" to \"%s\"", e->device, e->knob,
                         restore ? "restored" : "changed", e->path, e->old_value, e->new_value);
}

static void notify_status(const Service *s)
{
        size_t kept = 0, held = 0;

        for (size_t i = 0; i < ledger_count(s->ledger); i++) {
                const LedgerEntry *e = ledger_entry(s->ledger, i);

                kept += !!e->first;
                held += e->held;
        }
        (void)sd_notifyf(0, "STATUS=%s; keeps the first values of %zu files, holds %zu devices",
                         s->peer >= 0 ? "Serves the daemon" : "Waits for the daemon", kept, held);
}

static bool may_connect(int fd)
{
        const struct passwd *user;
        socklen_t size = sizeof(struct ucred);
        struct ucred peer;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) {
                log_warning("Refused a connection: its peer is not known: %m");
                return false;
        }
        if (peer.uid == 0)
                return true;
        user = getpwnam(PEER_USER);
        if (user && user->pw_uid == peer.uid)
                return true;
        log_warning("Refused a connection of process %d, user id %u: only root and \"" PEER_USER
                    "\" may connect",
                    (int)peer.pid, (unsigned)peer.uid);
        return false;
}

/* One connection at a time: a second daemon is told at once that it is one too many. */
static int accept_peer(Service *s)
{
        _cleanup_(closep) int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);

        s->full = fd < 0 && error_is_shortage(-errno);
        if (s->full && !s->full_told)
                log_warning("A connection has to wait: %m");
        s->full_told = s->full;
        if (s->full)
                return 0;
        if (fd < 0)
                return errno == EINTR || errno == EAGAIN || errno == ECONNABORTED ? 0 : -errno;
        if (!may_connect(fd))
                return 0;
        if (s->peer >= 0)
                log_warning("Refused a second connection while another one is served");
        else
                s->peer = STEAL_FD(fd);
        return 0;
}

static void serve_peer(Service *s)
{
        int r = writer_serve_one(s->writer, s->peer);

        if (r > 0)
                return;
        if (r == -EPROTO)
                log_warning("Closed the connection: a message had another version or form");
        else if (r < 0)
                log_warning("Closed the connection: %s", strerror(-r));
        writer_drop(s->writer);
        close(STEAL_FD(s->peer));
}

/* For poll(2); -1 = nothing but the sockets gives it something to do. */
static int wait_msec(const Service *s, bool changed)
{
        int own = s->full ? PAUSE_MSEC : changed ? 0 : -1, left = writer_msec_left(s->writer);

        return own < 0 || (left >= 0 && left < own) ? left : own;
}

/* What the served peer sent comes first, its end too, so that a daemon that was restarted finds its place
 * free. The status follows when there is nothing else to do. */
static int run(Service *s)
{
        bool changed = true;

        for (;;) {
                struct pollfd p[] = {
                        { .fd = s->full ? -1 : s->listener, .events = POLLIN },
                        { .fd = s->peer, .events = POLLIN },
                };
                int n = poll(p, ARRAY_SIZE(p), wait_msec(s, changed)), r = 0;

                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n == 0 && changed)
                        notify_status(s);
                if (n == 0)
                        s->full = false;
                changed = n > 0;
                if (writer_msec_left(s->writer) == 0)
                        writer_drop(s->writer);
                if (n > 0 && p[1].revents)
                        serve_peer(s);
                else if (n > 0)
                        r = accept_peer(s);
                if (r < 0)
                        return r;
        }
}

static int take_listener(int *ret_fd)
{
        int n = sd_listen_fds(1), fd = SD_LISTEN_FDS_START;

        if (n < 0)
                return n;
        if (n != 1 || sd_is_socket_unix(fd, SOCK_SEQPACKET, 1, NULL, 0) <= 0)
                return -ENOTSOCK;
        *ret_fd = fd;
        return 0;
}

static int start(Service *s, Error *e)
{
        _cleanup_(freep) char *boot_id = NULL;
        int r;

        r = take_listener(&s->listener);
        if (r < 0)
                return error_set(
                        e, r, NULL,
                        "the writer is started by tuned-numaio-writer.socket, which hands it one listening "
                        "SOCK_SEQPACKET socket");
        r = root_open("/", &s->root);
        if (r < 0)
                return error_set(e, r, "/", "cannot open it: %s", strerror(-r));
        r = root_read(s->root, &boot_id, "proc/sys/kernel/random/boot_id");
        if (r < 0)
                return error_set(e, r, "/proc/sys/kernel/random/boot_id", "cannot read it: %s", strerror(-r));
        r = ledger_open(arg_ledger, boot_id, &s->ledger, e);
        if (r < 0)
                return r;
        r = writer_new(s->root, s->ledger, &writer_sink_kernel, &s->writer);
        if (r < 0)
                return error_set(e, r, NULL, "%s", strerror(-r));
        writer_set_log(s->writer, on_event, s);
        probe_clean(s->root);
        runs_clean(s->root);
        return 0;
}

static void help(void)
{
        printf("%s [OPTION...]\n\n"
               "Writes what the tuned-numaio daemon asks for, after checking it against a\n"
               "closed table of files, and keeps the value before the first write.\n"
               "Started by systemd through tuned-numaio-writer.socket.\n\n"
               "  -h --help         Show this help\n"
               "     --version      Show the version\n"
               "     --ledger=DIR   Keep the first values in DIR (default: " DEFAULT_FOLDER ")\n",
               program_invocation_short_name);
}

/* Returns 1 = go on, 0 = done, -EINVAL after getopt_long(3) has told what is wrong. */
static int parse_argv(int argc, char **argv)
{
        enum { ARG_VERSION = 0x100, ARG_LEDGER };
        static const struct option options[] = {
                { "help", no_argument, NULL, 'h' },
                { "version", no_argument, NULL, ARG_VERSION },
                { "ledger", required_argument, NULL, ARG_LEDGER },
                { 0 },
        };
        int c;

        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
                switch (c) {
                case 'h':
                        help();
                        return 0;
                case ARG_VERSION:
                        puts("tuned-numaio-writer " PACKAGE_VERSION);
                        return 0;
                case ARG_LEDGER:
                        arg_ledger = optarg;
                        break;
                default:
                        return -EINVAL;
                }
        if (optind < argc) {
                fprintf(stderr, "%s: takes no arguments\n", program_invocation_short_name);
                return -EINVAL;
        }
        return 1;
}

int main(int argc, char **argv)
{
        _cleanup_(service_done) Service s = { .listener = -1, .peer = -1 };
        Error e = { 0 };
        int r;

        r = parse_argv(argc, argv);
        if (r <= 0)
                return r < 0 ? 2 : EXIT_SUCCESS;
        r = start(&s, &e);
        if (r < 0) {
                log_error("%s%s%s", e.where, *e.where ? ": " : "", e.text);
                return EXIT_FAILURE;
        }
        (void)sd_notify(0, "READY=1");
        r = run(&s);
        log_error("Cannot go on: %s", strerror(-r));
        return EXIT_FAILURE;
}
