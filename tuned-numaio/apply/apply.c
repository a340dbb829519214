/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "apply/apply.h"

#include "apply/job.h"
#include "basic/error.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

/* Messages are large (a reply has 62 KiB), and a socket holds about 200 KiB each way. */
#define WINDOW 4
/* Replies taken in one call, so that an event loop gets its turn. */
#define BATCH 32

struct Applier {
        int fd;
        int lost; /* the error that ended the connection; 0 = it stands */
        uint32_t seq;
        ApplyDone done;
        void *userdata;
        Queue waiting, sent;
        WriterRequest request;
        WriterReply reply;
};

int applier_new(int fd, ApplyDone done, void *userdata, Applier **ret)
{
        Applier *a = calloc(1, sizeof(*a));

        if (!a)
                return -ENOMEM;
        a->fd = fd;
        a->done = done;
        a->userdata = userdata;
        queue_init(&a->waiting);
        queue_init(&a->sent);
        *ret = a;
        return 0;
}

Applier *applier_free(Applier *a)
{
        Job *j;

        if (!a)
                return NULL;
        while ((j = queue_pop(&a->sent)))
                job_free(j);
        while ((j = queue_pop(&a->waiting)))
                job_free(j);
        free(a);
        return NULL;
}

/* Queues a piece of work, unless the connection is lost. */
static int add(Applier *a, Job *job)
{
        _cleanup_(job_freep) Job *j = job;

        if (a->lost < 0)
                return a->lost;
        queue_push(&a->waiting, STEAL_PTR(j));
        return 0;
}

static int prepare_set(Job *j, const Change *change)
{
        int r;

        r = job_set_id(j, change->id);
        if (r >= 0)
                r = job_set_value(j, change->desired);
        if (r >= 0 && change->fallback && change->kind == WRITER_IRQ_AFFINITY)
                r = job_set_fallback(j, change->fallback);
        return r;
}

int applier_set(Applier *a, const Change *change)
{
        _cleanup_(job_freep) Job *j = NULL;
        int r;

        if (!file_kind_find(change->kind))
                return -EOPNOTSUPP;
        r = job_new(WRITER_SET, change->device, change->path, &j);
        if (r >= 0)
                r = prepare_set(j, change);
        if (r < 0)
                return r;
        j->kind = change->kind;
        return add(a, STEAL_PTR(j));
}

int applier_restore(Applier *a, const char *device, const char *path)
{
        Job *j;
        int r;

        r = job_new(WRITER_RESTORE, device, path, &j);
        return r < 0 ? r : add(a, j);
}

int applier_hold(Applier *a, const char *device, bool hold)
{
        Job *j;
        int r;

        r = job_new(hold ? WRITER_HOLD : WRITER_RELEASE, device, NULL, &j);
        return r < 0 ? r : add(a, j);
}

int applier_list(Applier *a, ApplyEntry each, void *userdata)
{
        Job *j;
        int r;

        r = job_new(WRITER_LIST, NULL, NULL, &j);
        if (r < 0)
                return r;
        j->each = each;
        j->userdata = userdata;
        return add(a, j);
}

int applier_iscsi(Applier *a, ApplySocket got, void *userdata)
{
        Job *j;
        int r;

        r = job_new(WRITER_ISCSI, NULL, NULL, &j);
        if (r < 0)
                return r;
        j->got = got;
        j->userdata = userdata;
        return add(a, j);
}

/* Work whose answer goes to `done`; path and value NULL = "". */
static int ask(Applier *a, WriterOp op, const char *path, const char *value, ApplyAnswer done, void *userdata)
{
        _cleanup_(job_freep) Job *j = NULL;
        int r;

        r = job_new(op, NULL, path, &j);
        if (r >= 0 && value)
                r = job_set_value(j, value);
        if (r < 0)
                return r;
        j->answered = done;
        j->userdata = userdata;
        return add(a, STEAL_PTR(j));
}

int applier_ban(Applier *a, const char *socket, const char *list, ApplyAnswer done, void *userdata)
{
        return ask(a, WRITER_BAN, socket, list, done, userdata);
}

int applier_probe(Applier *a, ApplyAnswer done, void *userdata)
{
        return ask(a, WRITER_PROBE, NULL, NULL, done, userdata);
}

int applier_runs_begin(Applier *a, const char *queue, ApplyAnswer done, void *userdata)
{
        return ask(a, WRITER_RUNS_BEGIN, NULL, queue, done, userdata);
}

int applier_runs_end(Applier *a, ApplyAnswer done, void *userdata)
{
        return ask(a, WRITER_RUNS_END, NULL, NULL, done, userdata);
}

/* Tells the caller how a piece of work ended, and frees it. `fd` and `reply` are what the writer answered. */
static void finish(Applier *a, Job *job, int error, const WriterReply *reply, int fd)
{
        _cleanup_(job_freep) Job *j = job;
        ApplyResult result = {
                .device = j->device,
                .id = j->id   ? j->id
                      : reply ? reply->id
                              : "",
                .path = j->path,
                .identity = reply ? reply->identity : "",
                .error = error,
                .no_ledger = error < 0 && reply && (reply->flags & WRITER_NO_LEDGER),
                .written = reply && (reply->flags & WRITER_WRITTEN),
                .first = reply ? reply->first : "",
                .set = j->value ? j->value
                       : reply  ? reply->set
                                : "",
                .value = reply ? reply->value : "",
        };

        switch (j->op) {
        case WRITER_LIST:
                j->each(j->userdata, NULL);
                return;
        case WRITER_ISCSI:
                j->got(j->userdata, error < 0 ? error : fd >= 0 ? fd : -EPROTO);
                return;
        case WRITER_BAN:
        case WRITER_PROBE:
        case WRITER_RUNS_BEGIN:
        case WRITER_RUNS_END:
                j->answered(j->userdata, error, reply);
                return;
        case WRITER_HOLD:
        case WRITER_RELEASE:
                if (error == 0)
                        return;
                break;
        case WRITER_SET:
        case WRITER_RESTORE:
        case _WRITER_OP_MAX:
                break;
        }
        if (a->done)
                a->done(a->userdata, &result);
}

static int lose(Applier *a, int error)
{
        Job *j;

        a->lost = error;
        while ((j = queue_pop(&a->sent)))
                finish(a, j, -ECONNRESET, NULL, -1);
        while ((j = queue_pop(&a->waiting)))
                finish(a, j, -ENOTCONN, NULL, -1);
        return error;
}

static int send_request(Applier *a, const Job *j)
{
        WriterRequest *q = &a->request;
        ssize_t n;

        memset(q, 0, sizeof(*q));
        q->version = WRITER_PROTOCOL_VERSION;
        q->op = j->op;
        q->kind = j->kind;
        q->seq = j->seq;
        snprintf(q->device, sizeof(q->device), "%s", j->device);
        snprintf(q->id, sizeof(q->id), "%s", j->id ? j->id : "");
        snprintf(q->path, sizeof(q->path), "%s", j->path);
        snprintf(q->value, sizeof(q->value), "%s", j->value ? j->value : "");
        do
                n = send(a->fd, q, sizeof(*q), MSG_NOSIGNAL | MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : 0;
}

/* Returns 0 when nothing more can be sent now. */
static int send_jobs(Applier *a)
{
        int r;

        while (a->waiting.head && a->sent.n < WINDOW) {
                a->waiting.head->seq = a->seq + 1;
                r = send_request(a, a->waiting.head);
                if (r == -EAGAIN)
                        return 0;
                if (r < 0)
                        return r;
                a->seq++;
                queue_push(&a->sent, queue_pop(&a->waiting));
        }
        return 0;
}

/* The descriptor that came along; -1 when there is none, or more than one, which nobody asked for. */
static int take_descriptor(const struct msghdr *m)
{
        const struct cmsghdr *c = CMSG_FIRSTHDR(m);
        size_t n;
        int fd = -1;

        if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
                return -1;
        n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(fd);
        for (size_t i = 0; i < n; i++) {
                memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
                if (n > 1)
                        close(fd);
        }
        return n == 1 ? fd : -1;
}

/* Returns the size of the message, 0 at the end, or a negative errno; *ret_fd is a descriptor that came
 * along, or -1. */
static ssize_t receive(Applier *a, int *ret_fd)
{
        union {
                struct cmsghdr head;
                char room[CMSG_SPACE(sizeof(int))];
        } control = { 0 };
        struct iovec iov = { &a->reply, sizeof(a->reply) };
        struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control };
        ssize_t n;

        m.msg_controllen = sizeof(control);
        /* A writer that closed with requests unread gives one ECONNRESET before what it had answered. */
        do
                n = recvmsg(a->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        while (n < 0 && (errno == EINTR || errno == ECONNRESET));
        if (n < 0)
                return -errno;
        *ret_fd = take_descriptor(&m);
        return m.msg_flags & MSG_TRUNC ? (ssize_t)sizeof(a->reply) + 1 : n;
}

static bool is_reply(const WriterReply *p, const Job *j)
{
        return p->version == WRITER_PROTOCOL_VERSION && p->op == j->op && p->seq == j->seq && p->error <= 0 &&
               p->error >= -ERRNO_MAX && memchr(p->device, '\0', sizeof(p->device)) &&
               memchr(p->id, '\0', sizeof(p->id)) && memchr(p->path, '\0', sizeof(p->path)) &&
               memchr(p->identity, '\0', sizeof(p->identity)) && memchr(p->first, '\0', sizeof(p->first)) &&
               memchr(p->set, '\0', sizeof(p->set)) && memchr(p->value, '\0', sizeof(p->value));
}

/* Returns 1 when a reply was taken, 0 when there is none now. */
static int take_reply(Applier *a)
{
        _cleanup_(closep) int fd = -1;
        const WriterReply *p = &a->reply;
        Job *j = a->sent.head;
        int error, again = 0;
        ssize_t n;

        n = receive(a, &fd);
        if (n <= 0)
                return n == 0 ? -EPIPE : n == -EAGAIN ? 0 : (int)n;
        if (n != sizeof(*p) || !j || !is_reply(p, j))
                return -EPROTO;
        if (!(p->flags & WRITER_LAST)) {
                if (j->op != WRITER_LIST)
                        return -EPROTO;
                j->each(j->userdata, p);
                return 1;
        }
        j = queue_pop(&a->sent);
        error = p->error;
        if (error == -ENOSPC && !(p->flags & WRITER_NO_LEDGER) && j->op == WRITER_SET)
                again = job_next_value(j);
        if (again > 0) {
                queue_push_front(&a->waiting, j);
                return 1;
        }
        finish(a, j, again < 0 ? again : error, p,
               j->op == WRITER_ISCSI && p->error == 0 ? STEAL_FD(fd) : -1);
        return 1;
}

int applier_process(Applier *a)
{
        int r;

        if (a->lost)
                return a->lost;
        for (int i = 0; i < BATCH; i++) {
                r = send_jobs(a);
                if (r == -EPIPE || r == -ECONNRESET)
                        r = 0; /* what it answered before is still to be read, and the end after it */
                if (r >= 0)
                        r = take_reply(a);
                if (r < 0)
                        return lose(a, r);
                if (r == 0)
                        return 0;
        }
        return 0;
}

bool applier_is_busy(const Applier *a)
{
        return a->waiting.n > 0 || a->sent.n > 0;
}

short applier_events(const Applier *a)
{
        if (a->lost)
                return 0;
        return POLLIN | (a->waiting.n > 0 && a->sent.n < WINDOW ? POLLOUT : 0);
}

int apply_run(Applier *a)
{
        int r;

        for (;;) {
                struct pollfd p = { .fd = a->fd };

                r = applier_process(a);
                if (r < 0 || !applier_is_busy(a))
                        return r;
                p.events = applier_events(a);
                if (poll(&p, 1, -1) < 0 && errno != EINTR)
                        return -errno;
        }
}
