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
        char folder[40]; /* of the ledger */
        int fd;
        pid_t child;
        Applier *applier;
        Strv results; /* "ID error=E written=W set=S" */
        Strv entries; /* "PATH first=F set=S error=E" */
        int lists;
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
        snprintf(b->folder, sizeof(b->folder), "/tmp/numaio-ledger-XXXXXX");
        assert_non_null(mkdtemp(b->folder));
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

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(changes_come_back_in_order, setup, teardown),
                cmocka_unit_test_setup_teardown(restores_and_holds, setup, teardown),
                cmocka_unit_test_setup_teardown(no_vector_left, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
