/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/irqbalance.h"

#include "basic/irqbalance-socket.h"
#include "monitor/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/pidfd.h>

#define UNIT   "irqbalance.service"
#define FOLDER IRQBALANCE_FOLDER

struct IrqbalanceWatch {
        sd_event *event;
        const Root *root;
        IrqbalanceHandler handler;
        void *userdata;
        UnitWatch *unit; /* NULL = not known */
        int unit_error;
        sd_event_source *files; /* inotify, on the folder or, as long as it is not there, on the one above */
        bool in_folder;
        sd_event_source *process;
        int pidfd;
        unsigned pidfd_of; /* 0 = none */
        IrqbalanceState state;
};

/* --- the table of sockets --- */

/* The path is the last field of a line; an abstract name begins with '@'. */
static bool take_line(const char *line, size_t n, IrqbalanceState *ret)
{
        char path[sizeof(ret->socket)];
        const char *start = line + n, *name;
        unsigned pid;

        while (start > line && start[-1] != ' ')
                start--;
        if ((size_t)(line + n - start) >= sizeof(path))
                return false;
        snprintf(path, sizeof(path), "%.*s", (int)(line + n - start), start);
        if (*path != '@' && *path != '/')
                return false; /* bound by a path from anywhere */
        name = *path == '/' ? path + 1 : path;
        pid = irqbalance_path_pid(name);
        if (pid == 0)
                return false;
        ret->pid = pid;
        snprintf(ret->socket, sizeof(ret->socket), "%s", name);
        return true;
}

bool irqbalance_find_socket(const char *text, IrqbalanceState *ret)
{
        for (size_t n; *text; text += n + (text[n] == '\n')) {
                n = strcspn(text, "\n");
                if (take_line(text, n, ret))
                        return true;
        }
        return false;
}

/* --- looking --- */

static bool file_tells(const Root *root, const char *name, unsigned pid)
{
        struct stat st;

        if (root_stat(root, &st, FOLDER "/%s", name) < 0)
                return false;
        return !S_ISSOCK(st.st_mode) || kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

static bool find_file(const Root *root, IrqbalanceState *ret)
{
        Strv names = { 0 };
        bool found = false;

        if (root_list(root, &names, FOLDER) < 0)
                return false;
        for (size_t i = 0; !found && i < names.n; i++) {
                unsigned pid = irqbalance_socket_pid(names.items[i]);

                found = pid > 0 && file_tells(root, names.items[i], pid);
                if (found) {
                        ret->pid = pid;
                        snprintf(ret->socket, sizeof(ret->socket), FOLDER "/%s", names.items[i]);
                }
        }
        strv_clear(&names);
        return found;
}

static IrqbalanceState look(const IrqbalanceWatch *w)
{
        _cleanup_(freep) char *text = NULL;
        IrqbalanceState s = { .by_unit = w->unit && unit_watch_is_active(w->unit) };
        bool found;

        if (root_is_live(w->root))
                found = root_read(w->root, &text, "proc/net/unix") >= 0 && irqbalance_find_socket(text, &s);
        else
                found = find_file(w->root, &s);
        s.running = s.by_unit || found;
        return s;
}

/* --- events --- */

static int on_files(sd_event_source *s, const struct inotify_event *event, void *userdata)
{
        IrqbalanceWatch *w = userdata;

        if (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) {
                w->files = sd_event_source_disable_unref(w->files);
                w->in_folder = false;
        } else if (!w->in_folder && (event->len == 0 || strcmp(event->name, "irqbalance") != 0)) {
                return 0; /* somebody else's, in the folder above */
        }
        w->handler(w->userdata);
        return 0;
}

static int on_end(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
        IrqbalanceWatch *w = userdata;

        (void)sd_event_source_set_enabled(s, SD_EVENT_OFF); /* an ended process stays readable */
        w->handler(w->userdata);
        return 0;
}

static void on_unit(void *userdata)
{
        IrqbalanceWatch *w = userdata;

        w->handler(w->userdata);
}

static int watch_folder(IrqbalanceWatch *w, const char *folder, uint32_t mask)
{
        _cleanup_(closep) int fd = root_open_file(w->root, O_PATH | O_DIRECTORY, "%s", folder);
        sd_event_source *s;
        int r;

        if (fd < 0)
                return fd;
        r = sd_event_add_inotify_fd(w->event, &s, fd, mask | IN_ONLYDIR, on_files, w);
        if (r < 0)
                return r;
        (void)sd_event_source_set_description(s, "irqbalance-folder");
        sd_event_source_disable_unref(w->files);
        w->files = s;
        return 0;
}

/* The folder comes and goes with the unit. As long as it is not there, the one above tells that it comes. */
static void follow_folder(IrqbalanceWatch *w)
{
        const uint32_t names = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO,
                       self = IN_DELETE_SELF | IN_MOVE_SELF;

        if (w->files && w->in_folder)
                return;
        w->in_folder = watch_folder(w, FOLDER, names | self) >= 0;
        if (w->in_folder)
                return;
        if (!w->files)
                (void)watch_folder(w, "run", IN_CREATE | IN_MOVED_TO | self);
        /* It may have been made meanwhile. */
        w->in_folder = watch_folder(w, FOLDER, names | self) >= 0;
}

static void forget_process(IrqbalanceWatch *w)
{
        w->process = sd_event_source_disable_unref(w->process);
        if (w->pidfd >= 0)
                close(w->pidfd);
        w->pidfd = -1;
        w->pidfd_of = 0;
}

/* A killed process leaves its file behind without any event of the folder. */
static void follow_process(IrqbalanceWatch *w)
{
        if (w->pidfd_of == w->state.pid)
                return;
        forget_process(w);
        if (w->state.pid == 0)
                return;
        w->pidfd = pidfd_open((pid_t)w->state.pid, 0);
        if (w->pidfd < 0 || sd_event_add_io(w->event, &w->process, w->pidfd, EPOLLIN, on_end, w) < 0) {
                forget_process(w);
                return;
        }
        (void)sd_event_source_set_description(w->process, "irqbalance-process");
        w->pidfd_of = w->state.pid;
}

/* --- */

const IrqbalanceState *irqbalance_watch_refresh(IrqbalanceWatch *w)
{
        follow_folder(w);
        w->state = look(w);
        follow_process(w);
        return &w->state;
}

int irqbalance_watch_unit_error(const IrqbalanceWatch *w)
{
        return w->unit ? unit_watch_error(w->unit) : w->unit_error;
}

int irqbalance_watch_new(sd_event *event, const Root *root, IrqbalanceHandler handler, void *userdata,
                         IrqbalanceWatch **ret)
{
        _cleanup_(irqbalance_watch_freep) IrqbalanceWatch *w = calloc(1, sizeof(*w));

        if (!w)
                return -ENOMEM;
        w->pidfd = -1;
        w->event = sd_event_ref(event);
        w->root = root;
        w->handler = handler;
        w->userdata = userdata;
        if (root_is_live(root))
                w->unit_error = unit_watch_new(event, UNIT, on_unit, w, &w->unit);
        if (w->unit_error == -ENOMEM)
                return -ENOMEM;
        irqbalance_watch_refresh(w);
        *ret = STEAL_PTR(w);
        return 0;
}

IrqbalanceWatch *irqbalance_watch_free(IrqbalanceWatch *w)
{
        if (!w)
                return NULL;
        forget_process(w);
        sd_event_source_disable_unref(w->files);
        unit_watch_free(w->unit);
        sd_event_unref(w->event);
        free(w);
        return NULL;
}
