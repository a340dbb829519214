/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ledger, the writer and its client while memory is short. */
#include "apply/apply.h"
#include "machine.h"
#include "shortage.h"
#include "standin/standin.h"
#include "writer/writer.h"

#include <fcntl.h>
#include <sys/wait.h>

#define IRQ30  "proc/irq/30/smp_affinity_list"
#define IRQ31  "proc/irq/31/smp_affinity_list"
#define QUEUE  "sys/devices/virtual/workqueue/iscsi_q_0/cpumask"
#define DEVICE "wq:iscsi"

typedef struct Desk {
        Machine machine;
        char folder[SCRATCH_MAX];
        char said[8192]; /* what came of the work */
        int n_done;      /* operations of the ledger that succeeded */
        char *after[32]; /* what the ledger says after so many of them, in an undisturbed run */
        int fd;
        pid_t child;
        int error; /* of the replies */
} Desk;

static int setup(void **state)
{
        Desk *d = calloc(1, sizeof(*d));

        assert_int_equal(machine_init(&d->machine), 0);
        scratch_make(d->folder, "ledger");
        d->fd = -1;
        *state = d;
        return 0;
}

static int teardown(void **state)
{
        Desk *d = *state;

        for (size_t i = 0; i < ARRAY_SIZE(d->after); i++)
                free(d->after[i]);
        remove_folder(d->folder);
        machine_done(&d->machine);
        free(d);
        return 0;
}

_printf_(2, 3) static void say(Desk *d, const char *format, ...)
{
        size_t n = strlen(d->said);
        va_list ap;

        va_start(ap, format);
        vsnprintf(d->said + n, sizeof(d->said) - n, format, ap);
        va_end(ap);
}

static void say_ledger(Desk *d, const Ledger *l)
{
        *d->said = '\0';
        for (size_t i = 0; i < ledger_count(l); i++) {
                const LedgerEntry *e = ledger_entry(l, i);

                say(d, "%s %s first=%s set=%.10s refused=%d\n", e->path ? e->path : "held", e->device,
                    e->first ? e->first : "-", e->set ? e->set : "-", e->refused);
        }
}

static void forget_ledger(const Desk *d)
{
        _cleanup_(freep) char *file = strf("%s/ledger", d->folder);

        assert_true(unlink(file) == 0 || errno == ENOENT);
}

/* The i-th operation on a ledger; long values, so that the file is written anew in between. */
static int operate(Ledger *l, int i)
{
        static char text[2][20000];
        LedgerEntry e = {
                .path = (char *)IRQ30, .device = (char *)DEVICE, .id = (char *)"id", .first = (char *)"0-7"
        };

        memset(text[0], '1', sizeof(text[0]) - 1);
        memset(text[1], '2', sizeof(text[1]) - 1);
        e.identity = (char *)"identity";
        e.kind = WRITER_IRQ_AFFINITY;
        switch (i) {
        case 0:
                return ledger_put_first(l, &e);
        case 1:
                e.path = (char *)IRQ31;
                return ledger_put_first(l, &e);
        case 2:
                e.path = (char *)QUEUE;
                e.refused = -EACCES;
                return ledger_put_refused(l, &e);
        case 3:
                return ledger_hold(l, DEVICE);
        case 4:
                return ledger_forget(l, IRQ31);
        case 5:
                return ledger_release(l, DEVICE);
        case 6:
                e.identity = (char *)"another";
                return ledger_put_first(l, &e);
        default:
                return ledger_put_set(l, IRQ30, text[i % 2]);
        }
}

#define N_OPERATIONS 27

static int keep_a_ledger(void *data, char **ret)
{
        _cleanup_(ledger_freep) Ledger *l = NULL;
        Desk *d = data;
        int r;

        d->n_done = 0;
        *d->said = '\0';
        r = ledger_open(d->folder, "boot", &l, NULL);
        while (r >= 0 && d->n_done < N_OPERATIONS) {
                r = operate(l, d->n_done);
                d->n_done += r >= 0;
        }
        shortage_over();
        if (l)
                say_ledger(d, l);
        if (r >= 0)
                *ret = strdup(d->said);
        return r;
}

/* The file says what the memory said, and both say what was done up to the failure. */
static void check_ledger(void *data, int result)
{
        _cleanup_(ledger_freep) Ledger *l = NULL;
        char before[sizeof(((Desk *)NULL)->said)];
        Desk *d = data;

        memcpy(before, d->said, sizeof(before));
        assert_int_equal(ledger_open(d->folder, "boot", &l, NULL), 0);
        say_ledger(d, l);
        if (*before)
                assert_string_equal(d->said, before);
        assert_string_equal(d->said, d->after[d->n_done]);
        l = ledger_free(l);
        forget_ledger(d);
}

static void ledgers(void **state)
{
        _cleanup_(ledger_freep) Ledger *l = NULL;
        Desk *d = *state;

        assert_int_equal(ledger_open(d->folder, "boot", &l, NULL), 0);
        for (int i = 0; i <= N_OPERATIONS; i++) {
                say_ledger(d, l);
                d->after[i] = strdup(d->said);
                if (i < N_OPERATIONS)
                        assert_int_equal(operate(l, i), 0);
        }
        l = ledger_free(l);
        forget_ledger(d);
        shortage_everywhere(keep_a_ledger, check_ledger, d);
}

static int load_a_ledger(void *data, char **ret)
{
        _cleanup_(ledger_freep) Ledger *l = NULL;
        Desk *d = data;
        int r;

        r = ledger_open(d->folder, "boot", &l, NULL);
        shortage_over();
        if (r < 0)
                return r;
        say_ledger(d, l);
        *ret = strdup(d->said);
        return 0;
}

static void loads(void **state)
{
        Desk *d = *state;
        char *text = NULL;

        assert_int_equal(keep_a_ledger(d, &text), 0);
        free(text);
        shortage_everywhere(load_a_ledger, NULL, d);
}

/* --- the writer --- */

/* As the kernel would: one write that is done or not. */
static int write_file(void *userdata, const Root *root, WriterKind kind, const char *path, const char *value)
{
        _cleanup_(closep) int fd = root_open_file(root, O_WRONLY | O_TRUNC, "%s", path);

        if (fd < 0)
                return fd;
        return write(fd, value, strlen(value)) == (ssize_t)strlen(value) ? 0 : -EIO;
}

static const WriterSink sink = { .write = write_file };

static int on_reply(void *userdata, const WriterReply *reply, int fd)
{
        Desk *d = userdata;

        say(d, "%u %s error=%d flags=%u first=%s set=%s\n", reply->op, reply->path, reply->error,
            reply->flags & ~(uint32_t)WRITER_LAST, reply->first, reply->set);
        if ((reply->flags & WRITER_LAST) && reply->error < 0)
                d->error = reply->error;
        return 0;
}

static int ask(Desk *d, Writer *w, WriterOp op, const char *path, const char *value)
{
        static WriterRequest q;
        int r;

        memset(&q, 0, sizeof(q));
        q.version = WRITER_PROTOCOL_VERSION;
        q.op = op;
        q.kind = strncmp(path, "sys/", 4) == 0 ? WRITER_WORKQUEUE_CPUMASK : WRITER_IRQ_AFFINITY;
        snprintf(q.device, sizeof(q.device), DEVICE);
        snprintf(q.id, sizeof(q.id), DEVICE "~knob~x");
        snprintf(q.path, sizeof(q.path), "%s", path);
        snprintf(q.value, sizeof(q.value), "%s", value);
        r = writer_handle(w, &q, sizeof(q), on_reply, d);
        return r < 0 ? r : d->error;
}

static const struct {
        WriterOp op;
        const char *path, *value;
} requests[] = {
        { WRITER_SET, IRQ30, "3" },    { WRITER_SET, QUEUE, "30" }, { WRITER_SET, IRQ30, "4-5" },
        { WRITER_SET, IRQ30, "4,5" },  { WRITER_HOLD, "", "" },     { WRITER_RELEASE, "", "" },
        { WRITER_LIST, "", "" },       { WRITER_SET, IRQ31, "2" },  { WRITER_RESTORE, QUEUE, "" },
        { WRITER_RESTORE, IRQ31, "" }, { WRITER_SET, QUEUE, "0f" },
};

static int serve(void *data, char **ret)
{
        _cleanup_(ledger_freep) Ledger *l = NULL;
        _cleanup_(writer_freep) Writer *w = NULL;
        Desk *d = data;
        int r;

        *d->said = '\0';
        d->error = 0;
        r = ledger_open(d->folder, "", &l, NULL);
        if (r >= 0)
                r = writer_new(d->machine.root, l, &sink, &w);
        for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(requests); i++)
                r = ask(d, w, requests[i].op, requests[i].path, requests[i].value);
        shortage_over();
        if (r >= 0)
                *ret = strdup(d->said);
        return r;
}

/* Whatever was done, the ledger knows the first value of every file that has another one. */
static void check_files(void *data, int result)
{
        _cleanup_(ledger_freep) Ledger *l = NULL;
        _cleanup_(writer_freep) Writer *w = NULL;
        Desk *d = data;

        *d->said = '\0';
        d->error = 0;
        assert_int_equal(ledger_open(d->folder, "", &l, NULL), 0);
        assert_int_equal(writer_new(d->machine.root, l, &sink, &w), 0);
        assert_int_equal(ask(d, w, WRITER_RESTORE, IRQ30, ""), 0);
        assert_int_equal(ask(d, w, WRITER_RESTORE, IRQ31, ""), 0);
        assert_int_equal(ask(d, w, WRITER_RESTORE, QUEUE, ""), 0);
        machine_expect(&d->machine, IRQ30, "0-7");
        machine_expect(&d->machine, IRQ31, "0-7");
        machine_expect(&d->machine, QUEUE, "ff");
        w = writer_free(w);
        l = ledger_free(l);
        forget_ledger(d);
}

static void writers(void **state)
{
        shortage_everywhere(serve, check_files, *state);
}

/* --- its client --- */

static void on_done(void *userdata, const ApplyResult *r)
{
        Desk *d = userdata;

        say(d, "%s error=%d written=%d set=%s\n", r->path, r->error, r->written, r->set);
        if (r->error == -ENOMEM)
                d->error = r->error;
}

static void on_entry(void *userdata, const WriterReply *e)
{
        if (e && *e->path)
                say(userdata, "%s first=%s\n", e->path, e->first);
}

static int queue_all(Applier *a, Desk *d)
{
        Change c = { .id = (char *)DEVICE "~irq.affinity~q0",
                     .device = (char *)DEVICE,
                     .kind = WRITER_IRQ_AFFINITY };
        int r;

        c.path = (char *)IRQ30;
        c.desired = (char *)"3"; /* which is full: the next one is taken */
        c.fallback = (char *)"2-5";
        r = applier_set(a, &c);
        c.path = (char *)IRQ31;
        c.desired = (char *)"2";
        c.fallback = NULL;
        if (r >= 0)
                r = applier_set(a, &c);
        if (r >= 0)
                r = applier_hold(a, "another", true);
        if (r >= 0)
                r = applier_hold(a, "another", false);
        if (r >= 0)
                r = applier_list(a, on_entry, d);
        if (r >= 0)
                r = applier_restore(a, DEVICE, IRQ31);
        return r;
}

static int apply_all(void *data, char **ret)
{
        _cleanup_(applier_freep) Applier *a = NULL;
        Desk *d = data;
        int r, k;

        *d->said = '\0';
        d->error = 0;
        r = applier_new(d->fd, on_done, d, &a);
        if (r < 0)
                return r;
        r = queue_all(a, d);
        k = apply_run(a); /* also what was queued before it failed */
        shortage_over();
        if (r >= 0)
                r = k < 0 ? k : d->error;
        if (r >= 0)
                *ret = strdup(d->said);
        return r;
}

/* The connection is in step, and everything can be put back. */
static void check_applier(void *data, int result)
{
        _cleanup_(applier_freep) Applier *a = NULL;
        Desk *d = data;

        *d->said = '\0';
        assert_int_equal(applier_new(d->fd, on_done, d, &a), 0);
        assert_int_equal(applier_restore(a, DEVICE, IRQ30), 0);
        assert_int_equal(applier_restore(a, DEVICE, IRQ31), 0);
        assert_int_equal(applier_list(a, on_entry, d), 0);
        assert_int_equal(apply_run(a), 0);
        assert_null(strstr(d->said, "first="));
        machine_expect(&d->machine, IRQ30, "0-7");
        machine_expect(&d->machine, IRQ31, "0-7");
}

static void appliers(void **state)
{
        Desk *d = *state;

        machine_put(&d->machine, "standin.json", "{\"full_cpus\": \"3\"}\n");
        d->fd = standin_start_writer(d->machine.dir, d->folder, &d->child);
        assert_true(d->fd >= 0);
        shortage_everywhere(apply_all, check_applier, d);
        close(STEAL_FD(d->fd));
        assert_int_equal(waitpid(d->child, NULL, 0), d->child);
}

int main(int argc, char **argv)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(ledgers, setup, teardown),
                cmocka_unit_test_setup_teardown(loads, setup, teardown),
                cmocka_unit_test_setup_teardown(writers, setup, teardown),
                cmocka_unit_test_setup_teardown(appliers, setup, teardown),
        };

        if (argc > 1)
                cmocka_set_test_filter(argv[1]);
        shortage_init();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
