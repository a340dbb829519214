/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tree.h"
#include "writer/probe.h"

/* The fixed probe on a folder that looks like tracefs: what is written there, and that it is taken back. */

#define TRACING "sys/kernel/tracing"
#define EVENTS  TRACING "/kprobe_events"
#define ENABLE  TRACING "/instances/tuned_numaio/events/tuned_numaio/enable"
#define ADDED                                           \
        "p:tuned_numaio/numaio_alloc alloc_iova_fast\n" \
        "p:tuned_numaio/numaio_miss alloc_iova\n"       \
        "p:tuned_numaio/numaio_drop iova_magazine_free_pfns\n"
#define REMOVED "-:tuned_numaio/numaio_alloc\n-:tuned_numaio/numaio_miss\n-:tuned_numaio/numaio_drop"

static int setup(void **state)
{
        Machine *m = malloc(sizeof(*m));

        assert_non_null(m);
        tree_init(m);
        tree_put(m, "p:others/probe do_something\n", EVENTS);
        tree_put(m, "  numaio_alloc   5000   0\n  numaio_miss  50  0\n  numaio_drop  3  0\n  others  9  0\n",
                 TRACING "/kprobe_profile");
        tree_folder(m, TRACING "/instances");
        *state = m;
        return 0;
}

static int teardown(void **state)
{
        machine_done(*state);
        free(*state);
        return 0;
}

static void counts_are_read(void **state)
{
        ProbeCounts n = { 7, 7, 7 };

        assert_int_equal(probe_parse("  numaio_alloc 10 0\n  numaio_miss 2 0\n  numaio_drop 1 0\n", &n), 0);
        assert_int_equal(n.allocations, 10);
        assert_int_equal(n.misses, 2);
        assert_int_equal(n.dropped, 1);
        assert_int_equal(probe_parse("numaio_miss 2 0\nnumaio_alloc 10 0", &n), 0);
        assert_int_equal(n.dropped, -1);
        assert_int_equal(probe_parse("numaio_alloc 10 0\nnumaio_drop 1 0\n", &n), -EINVAL);
        assert_int_equal(probe_parse("numaio_allocs 10 0\nnumaio_miss 1 0\n", &n), -EINVAL);
        assert_int_equal(probe_parse("", &n), -EINVAL);
}

/* Others' probes stay: lines are appended. */
static void it_counts_and_leaves_nothing(void **state)
{
        Machine *m = *state;
        ProbeCounts n;

        tree_put(m, "x", ENABLE);
        tree_put(m, "1", TRACING "/instances/tuned_numaio/tracing_on");
        /* A folder that exists stands for a writer that was killed: it is taken away first, as far as this
         * folder lets one. */
        assert_int_equal(probe_count(m->root, 1, &n), -EEXIST);
        machine_expect(m, ENABLE, "0");
        {
                _cleanup_(freep) char *text = NULL;

                assert_int_equal(root_read(m->root, &text, EVENTS), 0);
                assert_string_equal(text, "p:others/probe do_something\n" REMOVED "\n" ADDED REMOVED);
        }
}

/* tracefs fills a new instance's folder; here it stays empty, which is a failure in the middle. */
static void a_failure_in_the_middle_leaves_nothing(void **state)
{
        Machine *m = *state;
        _cleanup_(freep) char *text = NULL;
        ProbeCounts n;

        assert_int_equal(probe_count(m->root, 1, &n), -ENOENT);
        assert_false(root_exists(m->root, TRACING "/instances/tuned_numaio"));
        assert_int_equal(root_read(m->root, &text, EVENTS), 0);
        assert_string_equal(text, "p:others/probe do_something\n" ADDED REMOVED);
}

static void without_tracing_it_says_so(void **state)
{
        Machine *m = *state;
        _cleanup_(freep) char *events = strf("%s/" EVENTS, m->dir);
        ProbeCounts n;

        assert_int_equal(unlink(events), 0);
        assert_int_equal(probe_count(m->root, 1, &n), -ENOENT);
        assert_false(root_exists(m->root, TRACING "/instances/tuned_numaio"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(counts_are_read),
                cmocka_unit_test_setup_teardown(it_counts_and_leaves_nothing, setup, teardown),
                cmocka_unit_test_setup_teardown(a_failure_in_the_middle_leaves_nothing, setup, teardown),
                cmocka_unit_test_setup_teardown(without_tracing_it_says_so, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
