/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/irqbalance.h"

#include "basic/clock.h"
#include "basic/irqbalance-socket.h"
#include "config.h"
#include "writer/ban-files.h"
#include "writer/ban.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define ANSWER_MAX    ((size_t)256 << 10)
#define ARGUMENTS_MAX 8192
#define RETRY_USEC    20000

void ban_answer_clear(BanAnswer *a)
{
        irq_list_clear(&a->left_alone);
        irq_list_clear(&a->users);
        a->script = false;
}

bool irqbalance_accepts_socket(const char *path)
{
        return irqbalance_path_pid(path) > 0;
}

/* --- the connection --- */

/* Waits for the events until the deadline. */
static int wait_for(int fd, short events, uint64_t deadline)
{
        struct pollfd p = { .fd = fd, .events = events };
        uint64_t now = clock_usec(CLOCK_MONOTONIC);
        int n;

        if (now >= deadline)
                return -ETIMEDOUT;
        n = poll(&p, 1, (int)((deadline - now) / 1000) + 1);
        if (n < 0 && errno != EINTR)
                return -errno;
        return n == 0 ? -ETIMEDOUT : 0;
}

/* The address of a socket below the root: by way of a descriptor, so that no link leads out and no path is
 * too long. *ret_fd has to stay open meanwhile. */
static int find_address(const Root *root, const char *path, struct sockaddr_un *sa, socklen_t *ret_size,
                        int *ret_fd)
{
        struct stat st;
        int fd;

        *sa = (struct sockaddr_un) { .sun_family = AF_UNIX };
        if (*path == '@') {
                if (!root_is_live(root))
                        return -EOPNOTSUPP;
                snprintf(sa->sun_path + 1, sizeof(sa->sun_path) - 1, "%s", path + 1);
                *ret_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
                return 0;
        }
        fd = root_open_file(root, O_PATH | O_NOFOLLOW, "%s", path);
        if (fd < 0)
                return fd;
        *ret_fd = fd;
        if (fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISSOCK(st.st_mode))
                return -ECONNREFUSED;
        snprintf(sa->sun_path, sizeof(sa->sun_path), "/proc/self/fd/%d", fd);
        *ret_size = sizeof(*sa);
        return 0;
}

/* A process that has bound its socket may listen a moment later, and one that is busy takes two at once. */
static int connect_to(const Root *root, const char *path, uint64_t deadline, int *ret_fd)
{
        const struct timespec pause = { .tv_nsec = RETRY_USEC * 1000L };
        _cleanup_(closep) int fd = -1, node = -1;
        struct sockaddr_un sa;
        socklen_t size = 0;
        int r;

        r = find_address(root, path, &sa, &size, &node);
        if (r < 0)
                return r;
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        for (unsigned tries = 0; connect(fd, (struct sockaddr *)&sa, size) < 0; tries++) {
                bool again = errno == EAGAIN || errno == EINTR || (errno == ECONNREFUSED && tries < 25);

                if (!again)
                        return -errno;
                if (clock_usec(CLOCK_MONOTONIC) >= deadline)
                        return errno == ECONNREFUSED ? -ECONNREFUSED : -ETIMEDOUT;
                (void)nanosleep(&pause, NULL);
        }
        *ret_fd = STEAL_FD(fd);
        return 0;
}

/* irqbalance does what root says, and only root. */
static int send_command(int fd, const char *command)
{
        union {
                struct cmsghdr head;
                char room[CMSG_SPACE(sizeof(struct ucred))];
        } control = { 0 };
        struct ucred me = { .pid = getpid(), .uid = geteuid(), .gid = getegid() };
        struct iovec iov = { (char *)command, strlen(command) };
        struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control };
        ssize_t n;

        m.msg_controllen = sizeof(control);
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_CREDENTIALS;
        control.head.cmsg_len = CMSG_LEN(sizeof(me));
        memcpy(CMSG_DATA(&control.head), &me, sizeof(me));
        do
                n = sendmsg(fd, &m, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        return (size_t)n == iov.iov_len ? 0 : -EIO;
}

static int check_peer(int fd)
{
        socklen_t size = sizeof(struct ucred);
        struct ucred peer;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
                return -errno;
        return peer.uid == geteuid() ? 0 : -EPERM;
}

static int receive_all(int fd, uint64_t deadline, char **ret)
{
        _cleanup_(freep) char *text = malloc(ANSWER_MAX + 1);
        size_t n = 0;
        ssize_t k;

        if (!text)
                return -ENOMEM;
        for (;;) {
                int r = wait_for(fd, POLLIN, deadline);

                if (r < 0)
                        return r;
                k = recv(fd, text + n, ANSWER_MAX - n, 0);
                if (k == 0)
                        break;
                if (k < 0 && errno != EINTR && errno != EAGAIN)
                        return -errno;
                n += k > 0 ? (size_t)k : 0;
                if (n == ANSWER_MAX)
                        return -EBADMSG;
        }
        text[n] = '\0';
        *ret = STEAL_PTR(text);
        return 0;
}

/* One command has one connection, which irqbalance closes when it is done. It must be sent at once:
 * irqbalance does nothing else until it has come. */
static int ask(const Root *root, const char *path, const char *command, uint64_t deadline, char **ret)
{
        _cleanup_(closep) int fd = -1;
        int r;

        r = connect_to(root, path, deadline, &fd);
        if (r >= 0)
                r = check_peer(fd);
        if (r >= 0)
                r = send_command(fd, command);
        return r < 0 ? r : receive_all(fd, deadline, ret);
}

static int ask_list(const Root *root, const char *path, uint64_t deadline, IrqList *ret)
{
        _cleanup_(freep) char *answer = NULL;
        int r;

        r = ask(root, path, BAN_COMMAND_SETUP, deadline, &answer);
        return r < 0 ? r : ban_parse_setup(answer, ret);
}

/* --- what was handed over --- */

/* A string that no other irqbalance of this boot has: names are given again, a file's number is not. */
static int make_instance(const Root *root, const char *path, char **ret)
{
        struct stat st = { 0 };
        int r = 0;

        if (*path != '@')
                r = root_stat(root, &st, "%s", path);
        if (r < 0)
                return r;
        *ret = strf("%s %llu", path, (unsigned long long)st.st_ino);
        return *ret ? 0 : -ENOMEM;
}

/* The memo for the process that has the socket now; it is empty for one that nothing was sent to. */
static int recall(const Root *root, int folder, const char *path, BanMemo *m)
{
        _cleanup_(freep) char *instance = NULL;
        int r;

        r = make_instance(root, path, &instance);
        if (r >= 0)
                r = ban_memo_read(folder, m);
        if (r < 0)
                return r;
        if (!m->instance || strcmp(m->instance, instance) != 0) {
                ban_memo_clear(m);
                m->instance = STEAL_PTR(instance);
        }
        return 0;
}

/* --- handing over --- */

static bool uses_script(const Root *root, const char *path)
{
        char arguments[ARGUMENTS_MAX];
        _cleanup_(closep) int fd = -1;
        ssize_t n;

        fd = root_open_file(root, O_RDONLY, "proc/%u/cmdline", irqbalance_path_pid(path));
        if (fd < 0)
                return false;
        n = read(fd, arguments, sizeof(arguments));
        return n > 0 && ban_uses_script(arguments, (size_t)n, IRQBALANCE_SCRIPT);
}

/* Should this process end between the two, both the list before and the new one count as ours. */
static int send_list(const Root *root, int folder, const char *path, const char *command, const IrqList *list,
                     BanMemo *m, uint64_t deadline)
{
        _cleanup_(freep) char *answer = NULL;
        int r;

        r = irq_list_add_all(&m->sent, list);
        if (r >= 0)
                r = ban_memo_put(folder, m);
        if (r >= 0)
                r = ask(root, path, command, deadline, &answer);
        if (r >= 0)
                r = irq_list_copy(list, &m->sent);
        return r < 0 ? r : ban_memo_put(folder, m);
}

typedef struct HandOver {
        BanMemo memo;
        IrqList listed, wanted;
        char command[BAN_COMMAND_MAX + 1];
} HandOver;

static void hand_over_clear(HandOver *h)
{
        ban_memo_clear(&h->memo);
        irq_list_clear(&h->listed);
        irq_list_clear(&h->wanted);
}

/* Asks what irqbalance has, and makes what it is to have. */
static int prepare(const Root *root, const char *path, const IrqList *ours, uint64_t deadline, HandOver *h)
{
        int r;

        r = ask_list(root, path, deadline, &h->listed);
        if (r >= 0)
                r = ban_of_users(&h->memo.users, &h->memo.sent, &h->listed, &h->memo.users);
        return r < 0 ? r : ban_command(&h->memo.users, ours, h->command, &h->wanted);
}

int irqbalance_hand_over(const Root *root, int folder, const char *path, const IrqList *ours, bool again,
                         BanAnswer *ret)
{
        _cleanup_(ban_answer_clear) BanAnswer answer = { 0 };
        _cleanup_(hand_over_clear) HandOver h = { 0 };
        const uint64_t deadline = clock_usec(CLOCK_MONOTONIC) + IRQBALANCE_USEC;
        int r;

        r = recall(root, folder, path, &h.memo);
        if (r >= 0 && ours->n == 0 && h.memo.sent.n == 0)
                return 0; /* it never heard of us */
        if (r >= 0)
                r = prepare(root, path, ours, deadline, &h);
        if (r < 0)
                return r;
        answer.script = uses_script(root, path);
        if (!irq_list_equal(&h.listed, &h.wanted) || (again && answer.script)) {
                r = send_list(root, folder, path, h.command, &h.wanted, &h.memo, deadline);
                if (r >= 0)
                        r = ask_list(root, path, deadline, &h.listed);
        }
        if (r >= 0)
                r = irq_list_copy(ours, &answer.left_alone);
        if (r >= 0)
                r = irq_list_copy(&h.memo.users, &answer.users);
        if (r < 0)
                return r;
        if (!answer.script)
                irq_list_keep_all(&answer.left_alone, &h.listed);
        ban_answer_clear(ret);
        *ret = answer;
        memset(&answer, 0, sizeof(answer)); /* the caller has it */
        return 0;
}
