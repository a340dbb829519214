/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "standin/standin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#define CHILD_SOCKET 3 /* the descriptor that a child keeps */

/* What a child serves with. */
typedef struct Service {
        Root *root;
        Standin *standin;
        Ledger *ledger;
        Writer *writer;
        WriterSink sink;
} Service;

static void service_done(Service *v)
{
        writer_free(v->writer);
        ledger_free(v->ledger);
        standin_free(v->standin);
        root_free(v->root);
}

/* The ledger of a writer whose parent was killed is free a moment later: that writer ends what it is at
 * first. */
static int open_ledger(const char *folder, const char *boot_id, Ledger **ret)
{
        const struct timespec pause = { .tv_nsec = 20000000 };
        int r;

        for (unsigned tries = 0; tries < 150; tries++) {
                r = ledger_open(folder, boot_id, ret, NULL);
                if (r != -EBUSY)
                        return r;
                (void)nanosleep(&pause, NULL);
        }
        return -EBUSY;
}

static int service_init(Service *v, const char *root, const char *folder)
{
        _cleanup_(freep) char *boot_id = NULL;
        int r;

        r = root_open(root, &v->root);
        if (r >= 0)
                r = standin_new(v->root, &v->standin);
        if (r < 0)
                return r;
        r = root_read(v->root, &boot_id, "proc/sys/kernel/random/boot_id");
        if (r < 0 && r != -ENOENT)
                return r;
        r = open_ledger(folder, boot_id ? boot_id : "", &v->ledger);
        if (r < 0)
                return r;
        v->sink = standin_sink(v->standin);
        return writer_new(v->root, v->ledger, &v->sink, &v->writer);
}

/* The first message tells the parent how the start went. */
static int run_child(const char *root, const char *folder)
{
        _cleanup_(service_done) Service v = { 0 };
        int r;

        r = service_init(&v, root, folder);
        if (send(CHILD_SOCKET, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r) || r < 0)
                return r;
        return writer_serve(v.writer, CHILD_SOCKET);
}

/* Ctrl-C on a terminal reaches the child too; it ends when its parent does, not before. */
static int become_child(int parents_fd, int fd, pid_t parent)
{
        sigset_t none;

        close(parents_fd);
        sigemptyset(&none);
        if (sigprocmask(SIG_SETMASK, &none, NULL) < 0 || signal(SIGINT, SIG_IGN) == SIG_ERR ||
            signal(SIGTERM, SIG_DFL) == SIG_ERR || prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
                return -errno;
        if (getppid() != parent)
                return -ESRCH;
        if (fd != CHILD_SOCKET && dup2(fd, CHILD_SOCKET) < 0)
                return -errno;
        return close_range(CHILD_SOCKET + 1, ~0u, 0) < 0 ? -errno : 0;
}

int standin_make_folder(const char *root, char **ret, Error *e)
{
        static const char *const parts[] = { "/run", "/tuned-numaio", "/ledger" };
        _cleanup_(freep) char *path = strdup(root);
        struct stat st;

        for (size_t i = 0; path && i < ARRAY_SIZE(parts); i++) {
                char *longer = strf("%s%s", path, parts[i]);

                free(path);
                path = longer;
                if (!path)
                        break;
                if ((mkdir(path, 0755) < 0 && errno != EEXIST) || lstat(path, &st) < 0)
                        return error_set(e, -errno, path, "it cannot be made: %s", strerror(errno));
                if (!S_ISDIR(st.st_mode))
                        return error_set(e, -ENOTDIR, path,
                                         "this has to be a folder, what was set is kept there");
        }
        if (!path)
                return error_set(e, -ENOMEM, NULL, "out of memory");
        *ret = STEAL_PTR(path);
        return 0;
}

void standin_end_writer(pid_t pid)
{
        const struct timespec pause = { .tv_nsec = 10000000 };

        for (unsigned tries = 0; tries < 100; tries++) {
                if (waitpid(pid, NULL, WNOHANG) != 0)
                        return;
                (void)nanosleep(&pause, NULL);
        }
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
}

int standin_start_writer(const char *root, const char *folder, pid_t *ret_pid)
{
        _cleanup_(closep) int mine = -1, theirs = -1;
        int fds[2], r = 0;
        pid_t parent = getpid(), pid;
        ssize_t n;

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
                return -errno;
        mine = fds[0];
        theirs = fds[1];
        pid = fork();
        if (pid < 0)
                return -errno;
        if (pid == 0) {
                r = become_child(mine, theirs, parent);
                if (r >= 0)
                        r = run_child(root, folder);
                _exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
        }
        close(STEAL_FD(theirs));
        do
                n = recv(mine, &r, sizeof(r), 0);
        while (n < 0 && errno == EINTR);
        if (n != sizeof(r))
                r = -ECHILD;
        else if (r >= 0 && fcntl(mine, F_SETFL, O_NONBLOCK) < 0)
                r = -errno;
        if (r < 0) {
                /* The child has ended, or does so now. */
                close(STEAL_FD(mine));
                (void)waitpid(pid, NULL, 0);
                return r;
        }
        *ret_pid = pid;
        return STEAL_FD(mine);
}
