/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "apply/apply.h"
#include "machine.h"
#include "standin/standin.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* A machine, a writer in a child, an applier, and what came out of it. */
typedef struct Bench {
        Machine machine;
        char folder[SCRATCH_MAX]; /* of the ledger */
        int fd;
        pid_t child;
        Applier *applier;
        Strv results; /* "ID error=E written=W set=S" */
        Strv entries; /* "PATH first=F set=S error=E" */
        int lists;
        int peer; /* the writer's end, where there is no writer */
        WriterRequest request;
        WriterReply reply;
        int got, n_got;
} Bench;

static void on_done(void *userdata, const ApplyResult *r)
{
        Bench *b = userdata;
        _cleanup_(freep) char *line =
                strf("%s %s error=%d written=%d set=%s", r->device, r->id, r->error, r->written, r->set);

        assert_int_equal(strv_add(&b->results, line), 0);
}

static void on_entry(void *userdata, const WriterReply *e)
{
        Bench *b = userdata;
        _cleanup_(freep) char *line = NULL;

        b->lists += !e;
        if (!e)
                return;
        line = strf("%s first=%s set=%s error=%d held=%d", e->path, e->first, e->set, e->error,
                    !!(e->flags & WRITER_HELD));
        assert_int_equal(strv_add(&b->entries, line), 0);
}

static void start(Bench *b)
{
        b->fd = standin_start_writer(b->machine.dir, b->folder, &b->child);
        assert_true(b->fd >= 0);
        assert_int_equal(applier_new(b->fd, on_done, b, &b->applier), 0);
}

static void stop(Bench *b)
{
        b->applier = applier_free(b->applier);
        close(STEAL_FD(b->fd));
        assert_int_equal(waitpid(b->child, NULL, 0), b->child);
}

static int setup(void **state)
{
        Bench *b = calloc(1, sizeof(*b));

        assert_int_equal(machine_init(&b->machine), 0);
        scratch_make(b->folder, "ledger");
        *state = b;
        return 0;
}

static int teardown(void **state)
{
        Bench *b = *state;

        if (b->applier)
                stop(b);
        strv_clear(&b->results);
        strv_clear(&b->entries);
        remove_folder(b->folder);
        machine_done(&b->machine);
        free(b);
        return 0;
}

static void set_irq(Bench *b, int irq, const char *desired, const char *fallback)
{
        _cleanup_(freep) char *id = strf("pci:x~irq.affinity~q%d", irq);
        _cleanup_(freep) char *path = strf("proc/irq/%d/smp_affinity_list", irq);
        Change c = {
                .id = id,
                .device = (char *)"pci:x",
                .knob = "irq.affinity",
                .kind = WRITER_IRQ_AFFINITY,
                .path = path,
                .desired = (char *)desired,
                .fallback = (char *)fallback,
        };

        assert_int_equal(applier_set(b->applier, &c), 0);
}

static void expect_results(const Bench *b, size_t n, const char *const *want)
{
        for (size_t i = 0; i < b->results.n && i < n; i++)
                assert_string_equal(b->results.items[i], want[i]);
        assert_int_equal(b->results.n, n);
}

#define EXPECT(b, ...)                                                    \
        do {                                                              \
                const char *const _want[] = { __VA_ARGS__ };              \
                expect_results(b, sizeof(_want) / sizeof(*_want), _want); \
        } while (0)

static void changes_come_back_in_order(void **state)
{
        Bench *b = *state;

        start(b);
        for (int irq = 30; irq <= 35; irq++)
                set_irq(b, irq, irq == 33 ? "0-7" : "3", NULL);
        set_irq(b, 40, "3", NULL);
        assert_true(applier_is_busy(b->applier));
        assert_int_equal(apply_run(b->applier), 0);
        EXPECT(b, "pci:x pci:x~irq.affinity~q30 error=0 written=1 set=3",
               "pci:x pci:x~irq.affinity~q31 error=0 written=1 set=3",
               "pci:x pci:x~irq.affinity~q32 error=0 written=1 set=3",
               "pci:x pci:x~irq.affinity~q33 error=0 written=0 set=0-7",
               "pci:x pci:x~irq.affinity~q34 error=0 written=1 set=3",
               "pci:x pci:x~irq.affinity~q35 error=0 written=1 set=3",
               "pci:x pci:x~irq.affinity~q40 error=-5 written=0 set=3");
        machine_expect(&b->machine, "proc/irq/30/effective_affinity_list", "3");
        machine_expect(&b->machine, "proc/irq/30/smp_affinity", "08");
}

static void restores_and_holds(void **state)
{
        Bench *b = *state;

        start(b);
        set_irq(b, 30, "3", NULL);
        set_irq(b, 31, "4", NULL);
        assert_int_equal(apply_run(b->applier), 0);
        /* The next writer adopts what this one left. */
        stop(b);
        start(b);
        assert_int_equal(applier_list(b->applier, on_entry, b), 0);
        assert_int_equal(applier_restore(b->applier, "pci:x", "proc/irq/30/smp_affinity_list"), 0);
        assert_int_equal(applier_hold(b->applier, "pci:x", true), 0);
        set_irq(b, 30, "5", NULL);
        assert_int_equal(applier_hold(b->applier, "pci:x", false), 0);
        set_irq(b, 32, "5", NULL);
        assert_int_equal(apply_run(b->applier), 0);
        assert_int_equal(b->lists, 1);
        assert_int_equal(b->entries.n, 2);
        assert_string_equal(b->entries.items[0],
                            "proc/irq/30/smp_affinity_list first=0-7 set=3 error=0 held=0");
        assert_string_equal(b->entries.items[1],
                            "proc/irq/31/smp_affinity_list first=0-7 set=4 error=0 held=0");
        EXPECT(b, "pci:x pci:x~irq.affinity~q30 error=0 written=1 set=3",
               "pci:x pci:x~irq.affinity~q31 error=0 written=1 set=4",
               "pci:x pci:x~irq.affinity~q30 error=0 written=1 set=3",
               "pci:x pci:x~irq.affinity~q30 error=-16 written=0 set=5",
               "pci:x pci:x~irq.affinity~q32 error=0 written=1 set=5");
        machine_expect(&b->machine, "proc/irq/30/smp_affinity_list", "0-7");
}

/* CPUs 3 and 4 have no vector: the next of the node is tried, around its end. */
static void no_vector_left(void **state)
{
        Bench *b = *state;

        machine_put(&b->machine, "standin.json", "{\"full_cpus\": [3, 4]}");
        start(b);
        set_irq(b, 30, "3", "2-4");
        set_irq(b, 31, "3", NULL);
        set_irq(b, 32, "3", "3-4");
        assert_int_equal(apply_run(b->applier), 0);
        EXPECT(b, "pci:x pci:x~irq.affinity~q31 error=-28 written=0 set=3",
               "pci:x pci:x~irq.affinity~q30 error=0 written=1 set=2",
               "pci:x pci:x~irq.affinity~q32 error=-28 written=0 set=3-4");
        machine_expect(&b->machine, "proc/irq/30/smp_affinity_list", "2");
        machine_expect(&b->machine, "proc/irq/32/smp_affinity_list", "0-7");
}

/* The other end of the socket in the test's own hands. */
static int setup_wire(void **state)
{
        Bench *b = calloc(1, sizeof(*b));
        int fds[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
        b->fd = fds[0];
        b->peer = fds[1];
        assert_int_equal(applier_new(b->fd, on_done, b, &b->applier), 0);
        *state = b;
        return 0;
}

static int teardown_wire(void **state)
{
        Bench *b = *state;

        applier_free(b->applier);
        close(b->fd);
        if (b->peer >= 0)
                close(b->peer);
        strv_clear(&b->results);
        strv_clear(&b->entries);
        free(b);
        return 0;
}

/* Takes one request off the wire; false = there is none. */
static bool take(Bench *b)
{
        ssize_t n = recv(b->peer, &b->request, sizeof(b->request), 0);

        if (n < 0)
                return false;
        assert_int_equal(n, sizeof(b->request));
        return true;
}

static void prepare_reply(Bench *b, int error, uint32_t flags)
{
        memset(&b->reply, 0, sizeof(b->reply));
        b->reply.version = WRITER_PROTOCOL_VERSION;
        b->reply.op = b->request.op;
        b->reply.seq = b->request.seq;
        b->reply.error = error;
        b->reply.flags = flags;
}

static void answer(Bench *b, int error, uint32_t flags)
{
        prepare_reply(b, error, flags);
        assert_int_equal(send(b->peer, &b->reply, sizeof(b->reply), 0), sizeof(b->reply));
}

static void expect_asked(Bench *b, const char *value)
{
        assert_int_equal(applier_process(b->applier), 0);
        assert_true(take(b));
        assert_string_equal(b->request.value, value);
        assert_string_equal(b->request.path, "proc/irq/30/smp_affinity_list");
        assert_int_equal(b->request.kind, WRITER_IRQ_AFFINITY);
}

/* Each CPU once, beginning after the wanted one, then the whole set. */
static void order_of_the_fallback(void **state)
{
        static const char *const order[] = { "3", "4", "5", "2", "2-5" };
        Bench *b = *state;

        set_irq(b, 30, "3", "2-5");
        for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
                expect_asked(b, order[i]);
                answer(b, -ENOSPC, WRITER_LAST);
        }
        assert_int_equal(applier_process(b->applier), 0);
        assert_false(applier_is_busy(b->applier));
        EXPECT(b, "pci:x pci:x~irq.affinity~q30 error=-28 written=0 set=2-5");
}

/* The whole set was asked for already. */
static void fallback_of_a_whole_node(void **state)
{
        static const char *const order[] = { "2-3", "3", "2" };
        Bench *b = *state;

        set_irq(b, 30, "2-3", "2,3");
        for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
                expect_asked(b, order[i]);
                answer(b, -ENOSPC, WRITER_LAST);
        }
        assert_int_equal(applier_process(b->applier), 0);
        EXPECT(b, "pci:x pci:x~irq.affinity~q30 error=-28 written=0 set=2");
}

/* A full ledger is not a full CPU. */
static void no_fallback_without_ledger(void **state)
{
        Bench *b = *state;

        set_irq(b, 30, "3", "2-5");
        expect_asked(b, "3");
        answer(b, -ENOSPC, WRITER_LAST | WRITER_NO_LEDGER);
        assert_int_equal(applier_process(b->applier), 0);
        EXPECT(b, "pci:x pci:x~irq.affinity~q30 error=-28 written=0 set=3");
}

static void window_of_four(void **state)
{
        Bench *b = *state;
        int n = 0;

        for (int irq = 30; irq < 36; irq++)
                set_irq(b, irq, "3", NULL);
        assert_int_equal(applier_events(b->applier), POLLIN | POLLOUT);
        assert_int_equal(applier_process(b->applier), 0);
        assert_int_equal(applier_events(b->applier), POLLIN);
        while (take(b))
                n++;
        assert_int_equal(n, 4);
}

static void connection_lost(void **state)
{
        Bench *b = *state;
        Change c = {
                .id = (char *)"i", .device = (char *)"d", .kind = WRITER_IRQ_AFFINITY, .path = (char *)"p"
        };

        assert_int_equal(applier_list(b->applier, on_entry, b), 0);
        for (int irq = 30; irq < 34; irq++)
                set_irq(b, irq, "3", NULL);
        assert_int_equal(applier_hold(b->applier, "pci:x", true), 0);
        assert_int_equal(applier_process(b->applier), 0);
        assert_true(take(b));
        answer(b, 0, WRITER_LAST);
        assert_true(take(b));
        answer(b, 0, WRITER_LAST | WRITER_WRITTEN);
        close(STEAL_FD(b->peer));
        /* What was answered before counts. */
        assert_int_equal(apply_run(b->applier), -EPIPE);
        assert_int_equal(b->lists, 1);
        EXPECT(b, "pci:x pci:x~irq.affinity~q30 error=0 written=1 set=3",
               "pci:x pci:x~irq.affinity~q31 error=-104 written=0 set=3",
               "pci:x pci:x~irq.affinity~q32 error=-104 written=0 set=3",
               "pci:x pci:x~irq.affinity~q33 error=-107 written=0 set=3", "pci:x  error=-107 written=0 set=");
        assert_false(applier_is_busy(b->applier));
        assert_int_equal(applier_process(b->applier), -EPIPE);
        c.desired = (char *)"1";
        assert_int_equal(applier_set(b->applier, &c), -EPIPE);
        assert_int_equal(applier_list(b->applier, on_entry, b), -EPIPE);
        assert_int_equal(b->lists, 1);
}

static void list_is_cut_off(void **state)
{
        Bench *b = *state;

        assert_int_equal(applier_list(b->applier, on_entry, b), 0);
        assert_int_equal(applier_process(b->applier), 0);
        assert_true(take(b));
        answer(b, 0, 0);
        answer(b, -EIO, WRITER_REFUSED);
        close(STEAL_FD(b->peer));
        assert_int_equal(apply_run(b->applier), -EPIPE);
        assert_int_equal(b->entries.n, 2);
        assert_int_equal(b->lists, 1);
}

typedef enum Nonsense {
        WRONG_SEQ,
        WRONG_OP,
        WRONG_VERSION,
        POSITIVE_ERROR,
        NO_ERRNO,
        NOT_THE_LAST,
        UNTERMINATED,
        SHORT,
        LONG,
        _NONSENSE_MAX,
} Nonsense;

static void send_nonsense(Bench *b, Nonsense what)
{
        static const char zeros[sizeof(WriterReply) + 1];
        const void *message = &b->reply;
        size_t size = sizeof(b->reply);

        prepare_reply(b,
                      what == POSITIVE_ERROR ? 5
                      : what == NO_ERRNO     ? INT32_MIN
                                             : 0,
                      what == NOT_THE_LAST ? 0 : WRITER_LAST);
        b->reply.seq += what == WRONG_SEQ;
        b->reply.op += what == WRONG_OP;
        b->reply.version += what == WRONG_VERSION;
        if (what == UNTERMINATED)
                memset(b->reply.value, 'x', sizeof(b->reply.value));
        if (what == SHORT)
                size = 100;
        if (what == LONG) {
                message = zeros;
                size = sizeof(zeros);
        }
        assert_int_equal(send(b->peer, message, size, 0), (ssize_t)size);
}

static void nonsense_ends_the_connection(void **state)
{
        for (int what = 0; what < _NONSENSE_MAX; what++) {
                Bench *b;
                void *s;

                assert_int_equal(setup_wire(&s), 0);
                b = s;
                set_irq(b, 30, "3", NULL);
                expect_asked(b, "3");
                send_nonsense(b, (Nonsense)what);
                assert_int_equal(applier_process(b->applier), -EPROTO);
                EXPECT(b, "pci:x pci:x~irq.affinity~q30 error=-104 written=0 set=3");
                assert_int_equal(teardown_wire(&s), 0);
        }
}

static void answer_without_question(void **state)
{
        Bench *b = *state;

        answer(b, 0, WRITER_LAST);
        assert_int_equal(applier_process(b->applier), -EPROTO);
}

static void on_socket(void *userdata, int fd)
{
        Bench *b = userdata;

        b->got = fd;
        b->n_got++;
}

static void iscsi_socket_is_handed_over(void **state)
{
        union {
                struct cmsghdr head;
                char room[CMSG_SPACE(sizeof(int))];
        } control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
        Bench *b = *state;
        struct iovec iov = { &b->reply, sizeof(b->reply) };
        struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control };

        m.msg_controllen = sizeof(control);
        assert_int_equal(applier_iscsi(b->applier, on_socket, b), 0);
        assert_int_equal(applier_iscsi(b->applier, on_socket, b), 0);
        assert_int_equal(applier_process(b->applier), 0);
        assert_true(take(b));
        prepare_reply(b, 0, WRITER_LAST);
        memcpy(CMSG_DATA(&control.head), &b->peer, sizeof(int));
        assert_int_equal(sendmsg(b->peer, &m, 0), sizeof(b->reply));
        assert_int_equal(applier_process(b->applier), 0);
        assert_int_equal(b->n_got, 1);
        assert_true(b->got >= 0 && fcntl(b->got, F_GETFD) & FD_CLOEXEC);
        close(b->got);
        assert_true(take(b));
        answer(b, -ENOENT, WRITER_LAST);
        assert_int_equal(applier_process(b->applier), 0);
        assert_int_equal(b->n_got, 2);
        assert_int_equal(b->got, -ENOENT);
}

/* Descriptors that nobody asked for are closed, however many there are. */
static void strange_descriptors_are_closed(void **state)
{
        union {
                struct cmsghdr head;
                char room[CMSG_SPACE(2 * sizeof(int))];
        } control = { .head = { CMSG_LEN(2 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
        Bench *b = *state;
        const int fds[2] = { b->peer, b->peer };
        struct iovec iov = { &b->reply, sizeof(b->reply) };
        struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control };
        int before, after;

        m.msg_controllen = sizeof(control);
        memcpy(CMSG_DATA(&control.head), fds, sizeof(fds));
        assert_int_equal(applier_iscsi(b->applier, on_socket, b), 0);
        assert_int_equal(applier_process(b->applier), 0);
        assert_true(take(b));
        prepare_reply(b, 0, WRITER_LAST);
        before = dup(b->peer);
        close(before);
        assert_int_equal(sendmsg(b->peer, &m, 0), sizeof(b->reply));
        assert_int_equal(applier_process(b->applier), 0);
        assert_int_equal(b->n_got, 1);
        assert_int_equal(b->got, -EPROTO);
        after = dup(b->peer);
        close(after);
        assert_int_equal(before, after);
}

static void what_does_not_fit(void **state)
{
        Bench *b = *state;
        _cleanup_(freep) char *text = calloc(1, WRITER_VALUE_MAX + 1);
        Change c = {
                .id = (char *)"i", .device = (char *)"d", .kind = _WRITER_KIND_MAX, .path = (char *)"p"
        };

        memset(text, '1', WRITER_VALUE_MAX);
        c.desired = (char *)"1";
        assert_int_equal(applier_set(b->applier, &c), -EOPNOTSUPP);
        c.kind = WRITER_IRQ_AFFINITY;
        c.desired = text;
        assert_int_equal(applier_set(b->applier, &c), -ENAMETOOLONG);
        assert_int_equal(applier_restore(b->applier, "d", text), -ENAMETOOLONG);
        assert_int_equal(applier_hold(b->applier, text, true), -ENAMETOOLONG);
        assert_false(applier_is_busy(b->applier));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(changes_come_back_in_order, setup, teardown),
                cmocka_unit_test_setup_teardown(restores_and_holds, setup, teardown),
                cmocka_unit_test_setup_teardown(no_vector_left, setup, teardown),
                cmocka_unit_test_setup_teardown(order_of_the_fallback, setup_wire, teardown_wire),
                cmocka_unit_test_setup_teardown(fallback_of_a_whole_node, setup_wire, teardown_wire),
                cmocka_unit_test_setup_teardown(no_fallback_without_ledger, setup_wire, teardown_wire),
                cmocka_unit_test_setup_teardown(window_of_four, setup_wire, teardown_wire),
                cmocka_unit_test_setup_teardown(connection_lost, setup_wire, teardown_wire),
                cmocka_unit_test_setup_teardown(list_is_cut_off, setup_wire, teardown_wire),
                cmocka_unit_test(nonsense_ends_the_connection),
                cmocka_unit_test_setup_teardown(answer_without_question, setup_wire, teardown_wire),
                cmocka_unit_test_setup_teardown(iscsi_socket_is_handed_over, setup_wire, teardown_wire),
                cmocka_unit_test_setup_teardown(strange_descriptors_are_closed, setup_wire, teardown_wire),
                cmocka_unit_test_setup_teardown(what_does_not_fit, setup_wire, teardown_wire),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
