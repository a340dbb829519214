/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tree.h"
#include "writer/runs.h"
#include "writer/writer.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Where transmit work runs, counted in a folder that looks like tracefs: what is written there, what is read,
 * and that nothing is left after any failure. Linked with --wrap=mkdirat,--wrap=unlinkat,--wrap=write, by
 * which a new instance has its files at once, and goes as a whole. */

#define INSTANCES "sys/kernel/tracing/instances"
#define NAME      "tuned_numaio_xmit"
#define INSTANCE  INSTANCES "/" NAME
#define QUEUED    INSTANCE "/events/workqueue/workqueue_queue_work"
#define RAN       INSTANCE "/events/workqueue/workqueue_execute_start"

/* As the kernel writes them: two items of the queue, of which one transmits, and others' runs. */
#define QUEUED_TEXT                                                                                          \
        "# event histogram\n#\n# trigger info: hist:keys=work,function.sym:vals=hitcount:sort=hitcount:"     \
        "size=2048 if workqueue == \"iscsi_q_3\" [active]\n#\n\n"                                            \
        "{ work: 18446622877051273600, function: [ffffffffc06b2c10] iscsi_sw_tcp_recv_data_work "            \
        "[iscsi_tcp] "                                                                                       \
        "        } hitcount:         77\n"                                                                   \
        "{ work: 18446622877051274000, function: [ffffffffc0a42c10] iscsi_xmitworker [libiscsi]            " \
        " "                                                                                                  \
        "        } hitcount:       1040\n"                                                                   \
        "\nTotals:\n    Hits: 1117\n    Entries: 2\n    Dropped: 0\n"
#define RAN_TEXT                                                                                            \
        "# event histogram\n#\n# trigger info: hist:keys=work,common_cpu:vals=hitcount:sort=hitcount:size=" \
        "16384 [active]\n#\n\n"                                                                             \
        "{ work: 18446622877051273600, common_cpu:          0 } hitcount:         77\n"                     \
        "{ work: 18446622877051274000, common_cpu:         12 } hitcount:         40\n"                     \
        "{ work: 18446622870000000000, common_cpu:          3 } hitcount:        500\n"                     \
        "{ work: 18446622877051274000, common_cpu:          3 } hitcount:       1000\n"                     \
        "\nTotals:\n    Hits: 1617\n    Entries: 4\n    Dropped: 0\n"
#define EMPTY_TEXT                                                                                           \
        "# event histogram\n#\n# trigger info: x [active]\n#\n\n\nTotals:\n    Hits: 0\n    Entries: 0\n   " \
        " Dropped: 0\n"

typedef struct Tracefs {
        Machine m;
        RunsCount count;
        const char *queued, *ran; /* what the histograms say */
        bool no_hist;             /* the kernel has no hist triggers */
        const char *refuses;      /* the kernel refuses triggers with this in them, with EINVAL */
        bool no_folder;           /* the instance cannot be made */
        bool in_use;              /* nor removed */
        unsigned made, removed;
} Tracefs;

static Tracefs *tracefs; /* for the wrappers, which have no argument for it */

int __real_mkdirat(int folder, const char *name, mode_t mode);
int __wrap_mkdirat(int folder, const char *name, mode_t mode);
int __real_unlinkat(int folder, const char *name, int flags);
int __wrap_unlinkat(int folder, const char *name, int flags);
ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);

int __wrap_mkdirat(int folder, const char *name, mode_t mode)
{
        Tracefs *t = tracefs;

        if (!t || strcmp(name, NAME) != 0)
                return __real_mkdirat(folder, name, mode);
        if (t->no_folder) {
                errno = ENOMEM;
                return -1;
        }
        if (__real_mkdirat(folder, name, mode) < 0)
                return -1;
        t->made++;
        tree_put(&t->m, "", QUEUED "/trigger");
        tree_put(&t->m, "", RAN "/trigger");
        if (t->no_hist)
                return 0;
        if (t->queued)
                tree_put(&t->m, t->queued, QUEUED "/hist");
        tree_put(&t->m, t->ran, RAN "/hist");
        return 0;
}

int __wrap_unlinkat(int folder, const char *name, int flags)
{
        Tracefs *t = tracefs;
        _cleanup_(freep) char *path = NULL;

        if (!t || strcmp(name, NAME) != 0)
                return __real_unlinkat(folder, name, flags);
        assert_int_equal(flags, AT_REMOVEDIR);
        if (t->in_use) {
                errno = EBUSY;
                return -1;
        }
        path = strf("%s/" INSTANCE, t->m.dir);
        remove_folder(path);
        t->removed++;
        return 0;
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
        Tracefs *t = tracefs;

        if (t && t->refuses && size >= 4 && memcmp(data, "hist", 4) == 0 &&
            memmem(data, size, t->refuses, strlen(t->refuses))) {
                errno = EINVAL;
                return -1;
        }
        return __real_write(fd, data, size);
}

static int setup(void **state)
{
        Tracefs *t = calloc(1, sizeof(*t));

        assert_non_null(t);
        tree_init(&t->m);
        tree_folder(&t->m, INSTANCES "/others");
        t->queued = QUEUED_TEXT;
        t->ran = RAN_TEXT;
        *state = tracefs = t;
        return 0;
}

static int teardown(void **state)
{
        Tracefs *t = *state;

        tracefs = NULL;
        machine_done(&t->m);
        free(t);
        return 0;
}

static void expect_nothing_left(const Tracefs *t)
{
        assert_false(root_exists(t->m.root, INSTANCE));
        assert_true(root_exists(t->m.root, INSTANCES "/others"));
        assert_false(t->count.on);
        assert_int_equal(runs_msec_left(&t->count), -1);
}

static void names(void **state)
{
        static const char *const right[] = { "iscsi_q_0", "iscsi_q_3", "iscsi_q_999999999" };
        static const char *const wrong[] = { "",
                                             "iscsi_q_",
                                             "iscsi_q_-1",
                                             "iscsi_q_03",
                                             "iscsi_q_1000000000",
                                             "iscsi_q_3 ",
                                             "iscsi_q_3\n",
                                             "iscsi_q_3\" || work != 0 || workqueue == \"x",
                                             "iscsi_q_*",
                                             "iscsi_ctrl_3:1",
                                             "events",
                                             "nvme-wq" };
        RunsCount c = { 0 };

        for (size_t i = 0; i < ARRAY_SIZE(right); i++)
                assert_true(runs_is_queue(right[i]));
        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
                assert_false(runs_is_queue(wrong[i]));
                assert_int_equal(runs_begin(&c, NULL, wrong[i]), -EINVAL);
        }
}

static void join(const char *queued, const char *ran, int error, const char *want)
{
        char text[64] = "x";

        assert_int_equal(runs_join(queued, ran, text, sizeof(text)), error);
        if (error == 0)
                assert_string_equal(text, want);
}

#define TOTALS            "\nTotals:\n    Hits: 9\n    Entries: 9\n    Dropped: "
#define WORK(n, function) "{ work: " n ", function: [ffffffffc0000000] " function "   } hitcount:   1\n"
#define RUN(n, cpu, hits) "{ work: " n ", common_cpu:   " cpu " } hitcount:   " hits "\n"
#define XMIT              WORK("5", "iscsi_xmitworker [libiscsi]") TOTALS "0\n"

static void texts_are_joined(void **state)
{
        char small[8];

        join(QUEUED_TEXT, RAN_TEXT, 0, "3:1000 12:40");
        join(EMPTY_TEXT, RAN_TEXT, 0, "");
        join(QUEUED_TEXT, EMPTY_TEXT, 0, "");
        /* libiscsi may be built in; many sessions may share a queue. */
        join(WORK("5", "iscsi_xmitworker") WORK("6", "iscsi_xmitworker [libiscsi]")
                     WORK("7", "iscsi_xmitworker_x [y]") TOTALS "0",
             RUN("5", "1", "2") RUN("6", "1", "3") RUN("7", "1", "100") RUN("6", "0", "1") TOTALS "0", 0,
             "0:1 1:5");
        join(XMIT, RUN("5", "65535", "18446744073709551615") TOTALS "0", 0, "65535:18446744073709551615");

        /* A count that is not whole is none. */
        join(XMIT, RUN("5", "1", "2") TOTALS "1\n", -EOVERFLOW, NULL);
        join(WORK("5", "iscsi_xmitworker") TOTALS "3\n", EMPTY_TEXT, -EOVERFLOW, NULL);
        join("", RAN_TEXT, -EPROTO, NULL);
        join(XMIT, RUN("5", "1", "2"), -EPROTO, NULL);
        join(XMIT, RUN("5", "65536", "2") TOTALS "0\n", -EPROTO, NULL);
        join(XMIT, "{ work: 5, pid: 7 } hitcount: 1\n" TOTALS "0\n", -EPROTO, NULL);
        join("{ work: 5 } hitcount: 1\n" TOTALS "0\n", EMPTY_TEXT, -EPROTO, NULL);

        assert_int_equal(runs_join(XMIT, RUN("5", "1", "12345") TOTALS "0", small, 8), 0);
        assert_string_equal(small, "1:12345");
        assert_int_equal(runs_join(XMIT, RUN("5", "1", "123456") TOTALS "0", small, 8), -E2BIG);
        assert_int_equal(runs_join(XMIT, EMPTY_TEXT, small, 0), -E2BIG);
}

static void it_counts_and_leaves_nothing(void **state)
{
        Tracefs *t = *state;
        char text[64];
        unsigned long msec;
        int n = 0;

        assert_int_equal(runs_begin(&t->count, t->m.root, "iscsi_q_3"), 0);
        machine_expect(&t->m, QUEUED "/trigger", "hist:keys=work,function.sym if workqueue == \"iscsi_q_3\"");
        machine_expect(&t->m, RAN "/trigger", "hist:keys=work,common_cpu:size=16384");
        assert_in_range(runs_msec_left(&t->count), 0, RUNS_MSEC_MAX);
        assert_int_equal(runs_begin(&t->count, t->m.root, "iscsi_q_4"), -EBUSY);
        assert_true(root_exists(t->m.root, INSTANCE));
        assert_int_equal(runs_end(&t->count, t->m.root, text, sizeof(text)), 0);
        assert_int_equal(sscanf(text, "%lu %n", &msec, &n), 1);
        assert_string_equal(text + n, "3:1000 12:40");
        expect_nothing_left(t);
        assert_int_equal(runs_end(&t->count, t->m.root, text, sizeof(text)), -ENODATA);
        assert_int_equal(t->made, 1);
        assert_int_equal(t->removed, 1);
}

/* Each step of the beginning fails in turn. */
static void a_failed_beginning_leaves_nothing(void **state)
{
        static const char *const triggers[] = { "queue", "common_cpu" };
        Tracefs *t = *state;

        t->no_folder = true;
        assert_int_equal(runs_begin(&t->count, t->m.root, "iscsi_q_3"), -ENOMEM);
        expect_nothing_left(t);
        t->no_folder = false;
        t->no_hist = true;
        assert_int_equal(runs_begin(&t->count, t->m.root, "iscsi_q_3"), -ENOSYS);
        expect_nothing_left(t);
        t->no_hist = false;
        for (size_t i = 0; i < ARRAY_SIZE(triggers); i++) {
                t->refuses = triggers[i];
                assert_int_equal(runs_begin(&t->count, t->m.root, "iscsi_q_3"), -ENOSYS);
                expect_nothing_left(t);
        }
        assert_int_equal(t->made, 3);
        assert_int_equal(t->removed, 3);
}

/* Each step of the end fails in turn. */
static void a_failed_end_leaves_nothing(void **state)
{
        static const char *const lost[] = { QUEUED "/hist", RAN "/hist" };
        Tracefs *t = *state;
        char text[64];

        for (size_t i = 0; i < ARRAY_SIZE(lost); i++) {
                _cleanup_(freep) char *path = strf("%s/%s", t->m.dir, lost[i]);

                assert_int_equal(runs_begin(&t->count, t->m.root, "iscsi_q_3"), 0);
                assert_int_equal(unlink(path), 0);
                assert_int_equal(runs_end(&t->count, t->m.root, text, sizeof(text)), -ENOENT);
                expect_nothing_left(t);
        }
        assert_int_equal(runs_begin(&t->count, t->m.root, "iscsi_q_3"), 0);
        assert_int_equal(runs_end(&t->count, t->m.root, text, 1), -E2BIG);
        expect_nothing_left(t);
        t->ran = "nonsense";
        assert_int_equal(runs_begin(&t->count, t->m.root, "iscsi_q_3"), 0);
        assert_int_equal(runs_end(&t->count, t->m.root, text, sizeof(text)), -EPROTO);
        expect_nothing_left(t);
}

static void it_is_dropped(void **state)
{
        Tracefs *t = *state;

        runs_drop(&t->count, t->m.root);
        assert_int_equal(runs_begin(&t->count, t->m.root, "iscsi_q_3"), 0);
        t->count.begun -= (RUNS_MSEC_MAX - 1) * UINT64_C(1000);
        assert_in_range(runs_msec_left(&t->count), 0, 1);
        t->count.begun -= UINT64_C(5000000);
        assert_int_equal(runs_msec_left(&t->count), 0);
        runs_drop(&t->count, t->m.root);
        expect_nothing_left(t);
}

/* A writer that was killed has left its instance. */
static void what_was_left_is_removed(void **state)
{
        Tracefs *t = *state;

        assert_int_equal(runs_begin(&t->count, t->m.root, "iscsi_q_3"), 0);
        t->count = (RunsCount) { 0 };
        runs_clean(t->m.root);
        expect_nothing_left(t);
        assert_int_equal(runs_begin(&t->count, t->m.root, "iscsi_q_3"), 0);
        t->count = (RunsCount) { 0 };
        t->in_use = true;
        assert_int_equal(runs_begin(&t->count, t->m.root, "iscsi_q_4"), -EEXIST);
        assert_false(t->count.on);
        t->in_use = false;
        assert_int_equal(runs_begin(&t->count, t->m.root, "iscsi_q_4"), 0);
        machine_expect(&t->m, QUEUED "/trigger", "hist:keys=work,function.sym if workqueue == \"iscsi_q_4\"");
        runs_drop(&t->count, t->m.root);
        expect_nothing_left(t);
        runs_clean(t->m.root);
        assert_int_equal(t->removed, 3);
}

static void without_tracing_it_says_so(void **state)
{
        Tracefs *t = *state;
        _cleanup_(freep) char *folder = strf("%s/sys/kernel/tracing", t->m.dir);

        remove_folder(folder);
        assert_int_equal(runs_begin(&t->count, t->m.root, "iscsi_q_3"), -ENOENT);
        assert_false(t->count.on);
        assert_int_equal(t->made, 0);
}

/* What a main process may ask for through the writer. */
typedef struct Asked {
        int error; /* of the last reply */
        unsigned denied;
} Asked;

static int on_reply(void *userdata, const WriterReply *reply, int fd)
{
        Asked *a = userdata;

        a->error = reply->error;
        return 0;
}

static void on_event(void *userdata, const WriterEvent *e)
{
        Asked *a = userdata;

        a->denied += e->denied && e->error == -EINVAL;
}

static int ask(Writer *w, WriterOp op, const char *value, Asked *a)
{
        _cleanup_(freep) WriterRequest *q = calloc(1, sizeof(*q));

        assert_non_null(q);
        q->version = WRITER_PROTOCOL_VERSION;
        q->op = op;
        snprintf(q->value, sizeof(q->value), "%s", value);
        assert_int_equal(writer_handle(w, q, sizeof(*q), on_reply, a), 0);
        return a->error;
}

static void the_writer_denies_other_names(void **state)
{
        Tracefs *t = *state;
        char folder[SCRATCH_MAX];
        _cleanup_(ledger_freep) Ledger *l = NULL;
        _cleanup_(writer_freep) Writer *w = NULL;
        Asked a = { 0 };

        scratch_make(folder, "ledger");
        assert_int_equal(ledger_open(folder, "", &l, NULL), 0);
        assert_int_equal(writer_new(t->m.root, l, &writer_sink_kernel, &w), 0);
        writer_set_log(w, on_event, &a);
        assert_int_equal(ask(w, WRITER_RUNS_BEGIN, "nvme-wq", &a), -EINVAL);
        assert_int_equal(ask(w, WRITER_RUNS_BEGIN, "iscsi_q_3\" || 1", &a), -EINVAL);
        assert_int_equal(a.denied, 2);
        /* Nothing runs on a copy. */
        assert_int_equal(ask(w, WRITER_RUNS_BEGIN, "iscsi_q_3", &a), -EOPNOTSUPP);
        assert_int_equal(ask(w, WRITER_RUNS_END, "", &a), -ENODATA);
        assert_int_equal(a.denied, 2);
        assert_int_equal(writer_msec_left(w), -1);
        writer_drop(w);
        assert_int_equal(t->made, 0);
        remove_folder(folder);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names),
                cmocka_unit_test(texts_are_joined),
                cmocka_unit_test_setup_teardown(it_counts_and_leaves_nothing, setup, teardown),
                cmocka_unit_test_setup_teardown(a_failed_beginning_leaves_nothing, setup, teardown),
                cmocka_unit_test_setup_teardown(a_failed_end_leaves_nothing, setup, teardown),
                cmocka_unit_test_setup_teardown(it_is_dropped, setup, teardown),
                cmocka_unit_test_setup_teardown(what_was_left_is_removed, setup, teardown),
                cmocka_unit_test_setup_teardown(without_tracing_it_says_so, setup, teardown),
                cmocka_unit_test_setup_teardown(the_writer_denies_other_names, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
