/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "apply/apply.h"
#include "code.h"
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* A writer that lies: any replies, in any order, with any descriptors, to whatever the main process asks.
 * Each piece of work ends once, what is asked is well formed, no descriptor stays behind. */

#define STEPS_MAX   96
#define WINDOW_MAX  4
#define ERRNO_LIMIT 4096
#define FDS_MAX     4

typedef struct Lie {
        Applier *applier;
        int own, peer;                            /* ends of the socket */
        WriterRequest pending[WINDOW_MAX], extra; /* asked and not answered */
        size_t n_pending;
        uint32_t seq;
        unsigned queued, ended; /* of all kinds but HOLD, of which only failures are told */
        unsigned more;          /* work that is still to be queued by a callback */
        WriterReply reply;
        char spare; /* a message may be longer by this */
} Lie;

static void check_error(int error)
{
        FUZZ_REQUIRE(error <= 0 && error > -ERRNO_LIMIT);
}

static void on_done(void *userdata, const ApplyResult *r)
{
        Lie *l = userdata;

        check_error(r->error);
        FUZZ_REQUIRE(r->device && r->id && r->path && r->first && r->set && r->value);
        FUZZ_REQUIRE(!r->no_ledger || r->error < 0);
        if (!*r->path) {
                FUZZ_REQUIRE(r->error < 0); /* a hold that failed */
                return;
        }
        l->ended++;
        if (l->more > 0) {
                l->more--;
                if (applier_restore(l->applier, "pci:y", "proc/irq/9/smp_affinity_list") == 0)
                        l->queued++;
        }
}

static void on_entry(void *userdata, const WriterReply *p)
{
        Lie *l = userdata;

        if (!p) {
                l->ended++;
                return;
        }
        check_error(p->error);
        FUZZ_REQUIRE(p->op == WRITER_LIST && !(p->flags & WRITER_LAST));
        FUZZ_REQUIRE(strlen(p->device) < sizeof(p->device) && strlen(p->value) < sizeof(p->value));
}

static void on_socket(void *userdata, int fd)
{
        Lie *l = userdata;

        l->ended++;
        if (fd < 0) {
                check_error(fd);
                return;
        }
        FUZZ_REQUIRE(fcntl(fd, F_GETFD) == FD_CLOEXEC);
        close(fd);
}

static void on_answered(void *userdata, int error, const WriterReply *p)
{
        Lie *l = userdata;

        l->ended++;
        check_error(error);
        FUZZ_REQUIRE(p || error < 0);
}

static int queue_set(Code *c, Lie *l)
{
        static const char *const values[] = { "3", "0-3", "4", "0-7", "", "nonsense", "0-200" };
        char path[WRITER_PATH_MAX + 8] = "proc/irq/30/smp_affinity_list";
        const uint8_t how = code_byte(c);
        Change change = { .device = (char *)"pci:x", .id = (char *)"pci:x~irq.affinity~q0", .path = path };

        change.knob = how & 1 ? "workqueue.cpumask" : "irq.affinity";
        change.desired = (char *)values[code_below(c, ARRAY_SIZE(values))];
        if (how & 2)
                change.fallback = (char *)values[code_below(c, ARRAY_SIZE(values))];
        if (how == 0xff)
                memset(path, 'x', sizeof(path) - 1);
        return applier_set(l->applier, &change);
}

static void queue_work(Code *c, Lie *l)
{
        const unsigned what = code_below(c, 9);
        int r;

        switch (what) {
        case 0:
        case 1:
                r = queue_set(c, l);
                break;
        case 2:
                r = applier_restore(l->applier, "pci:x", "proc/irq/30/smp_affinity_list");
                break;
        case 3:
                (void)applier_hold(l->applier, "pci:x", code_byte(c) & 1);
                return;
        case 4:
                r = applier_list(l->applier, on_entry, l);
                break;
        case 5:
                r = applier_iscsi(l->applier, on_socket, l);
                break;
        case 6:
                r = applier_ban(l->applier, "run/irqbalance/irqbalance12.sock", "4,24-31", on_answered, l);
                break;
        case 7:
                r = applier_runs_begin(l->applier, "iscsi_q_3", on_answered, l);
                break;
        default:
                r = applier_runs_end(l->applier, on_answered, l);
        }
        if (r == 0)
                l->queued++;
        else
                check_error(r);
}

static void check_request(Lie *l, const WriterRequest *q)
{
        FUZZ_REQUIRE(q->version == WRITER_PROTOCOL_VERSION && q->op >= WRITER_SET && q->op < _WRITER_OP_MAX);
        FUZZ_REQUIRE(q->seq == l->seq + 1);
        FUZZ_REQUIRE(memchr(q->device, '\0', sizeof(q->device)) && memchr(q->id, '\0', sizeof(q->id)) &&
                     memchr(q->path, '\0', sizeof(q->path)) && memchr(q->value, '\0', sizeof(q->value)));
        l->seq = q->seq;
}

static void take_requests(Lie *l)
{
        ssize_t n;

        while ((n = recv(l->peer, &l->extra, sizeof(l->extra), MSG_DONTWAIT | MSG_TRUNC)) > 0) {
                FUZZ_REQUIRE(n == sizeof(l->extra) && l->n_pending < WINDOW_MAX);
                check_request(l, &l->extra);
                l->pending[l->n_pending++] = l->extra;
        }
}

/* The oldest question, or none at all. */
static WriterRequest *oldest(Lie *l)
{
        static WriterRequest none;

        return l->n_pending > 0 ? &l->pending[0] : &none;
}

static void fill_in(Code *c, Lie *l)
{
        static const int errors[] = { 0, 0, -ENOSPC, -EIO, -EBUSY, -EINVAL, 5, INT32_MIN, -4096, -4095 };
        WriterReply *p = &l->reply;
        const WriterRequest *q = oldest(l);

        p->version = WRITER_PROTOCOL_VERSION;
        p->op = q->op;
        p->seq = q->seq;
        p->error = errors[code_below(c, ARRAY_SIZE(errors))];
        p->flags = code_byte(c) ^ WRITER_LAST;
        code_text(c, p->value, sizeof(p->value));
        code_text(c, p->set, sizeof(p->set));
}

static size_t spoil(Code *c, Lie *l)
{
        WriterReply *p = &l->reply;

        switch (code_byte(c)) {
        case 1:
                p->version = code_byte(c);
                break;
        case 2:
                p->op = code_byte(c);
                break;
        case 3:
                p->seq += code_byte(c);
                break;
        case 4:
                memset(p->device, 'x', sizeof(p->device));
                break;
        case 5:
                memset(p->id, 'x', sizeof(p->id));
                break;
        case 6:
                memset(p->path, 'x', sizeof(p->path));
                break;
        case 7:
                memset(p->first, 'x', sizeof(p->first));
                break;
        case 8:
                memset(p->set, 'x', sizeof(p->set));
                break;
        case 9:
                memset(p->value, 'x', sizeof(p->value));
                break;
        case 10:
                return sizeof(*p) + 1;
        case 11:
                return sizeof(*p) - 1 - code_byte(c);
        case 12:
                return 0;
        }
        return sizeof(*p);
}

/* Returns whether it was sent. */
static bool send_reply(Lie *l, size_t size, unsigned n_fds)
{
        union {
                struct cmsghdr head;
                char room[CMSG_SPACE(FDS_MAX * sizeof(int))];
        } control = { 0 };
        struct iovec iov = { &l->reply, size };
        struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

        if (n_fds > 0) {
                const int fds[FDS_MAX] = { l->own, l->own, l->own, l->own };

                m.msg_control = &control;
                m.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
                control.head.cmsg_level = SOL_SOCKET;
                control.head.cmsg_type = SCM_RIGHTS;
                control.head.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
                memcpy(CMSG_DATA(&control.head), fds, n_fds * sizeof(int));
        }
        return sendmsg(l->peer, &m, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

/* QEMU's user emulation keeps those open that it cuts off. */
static unsigned fds_max(void)
{
        const char *emulator = getenv("TEST_EMULATED");
        static bool told;

        if (emulator && !told)
                printf("skipped: more than two descriptors: %s keeps those that there is no room for\n",
                       emulator);
        told = true;
        return emulator ? 2 : FDS_MAX;
}

static void answer(Code *c, Lie *l)
{
        const uint8_t how = code_byte(c);
        size_t size = sizeof(l->reply);

        memset(&l->reply, 0, sizeof(l->reply));
        fill_in(c, l);
        if (how & 0x80)
                size = spoil(c, l);
        if (!send_reply(l, size, how % (fds_max() + 1)))
                return;
        if (l->n_pending > 0 && l->reply.flags & WRITER_LAST)
                memmove(&l->pending[0], &l->pending[1], --l->n_pending * sizeof(l->pending[0]));
}

static void step(Code *c, Lie *l)
{
        switch (code_below(c, 8)) {
        case 0:
        case 1:
                queue_work(c, l);
                break;
        case 2:
        case 3:
                (void)applier_process(l->applier);
                break;
        case 4:
                take_requests(l);
                break;
        case 5:
        case 6:
                answer(c, l);
                break;
        default:
                l->more = code_byte(c) % 8;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const unsigned n_open = fuzz_descriptors();
        static Lie l;
        Code c = { data, size };
        int fds[2], r = 0;

        l = (Lie) { 0 };
        FUZZ_REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
        l.own = fds[0];
        l.peer = fds[1];
        FUZZ_REQUIRE(applier_new(l.own, on_done, &l, &l.applier) == 0);
        for (int i = 0; c.left > 0 && i < STEPS_MAX; i++)
                step(&c, &l);
        l.more = 0;
        close(l.peer);
        for (int i = 0; r >= 0 && i < STEPS_MAX; i++)
                r = applier_process(l.applier);
        FUZZ_REQUIRE(r < 0 && !applier_is_busy(l.applier) && applier_events(l.applier) == 0);
        FUZZ_REQUIRE(l.ended == l.queued);
        FUZZ_REQUIRE(applier_restore(l.applier, "pci:x", "x") == r);
        applier_free(l.applier);
        close(l.own);
        FUZZ_REQUIRE(fuzz_descriptors() == n_open);
        return 0;
}
