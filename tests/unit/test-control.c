/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/control.h"
#include "test.h"

#include <errno.h>

/* The controller against loads that are made up: each window comes from a share of misses that depends on the
 * level, or does not. */

static long twice(long level)
{
        return 2 * level;
}

static long half(long level)
{
        return level / 2;
}

static const ControlKind kind = {
        .total = "allocations",
        .bad = "misses",
        .pressure = "dropped",
        .threshold = 50,
        .gain = 1000,
        .busy = 100,
        .up = twice,
        .down = half,
};

static ControlWindow window(uint64_t total, double share, uint64_t pressure)
{
        return (ControlWindow) { .usec = CONTROL_WINDOW_USEC,
                                 .count = { total, (uint64_t)((double)total * share), pressure } };
}

/* A cliff: the misses fall to a third with each doubling. */
static double cliff(long level)
{
        double share = 0.36;

        for (; level > 1; level /= 2)
                share /= 3;
        return share;
}

static double flat(long level)
{
        return 0.2;
}

/* Lets windows pass; each write succeeds at once. Returns how many writes there were. */
static unsigned run(Control *c, double (*share)(long level), uint64_t total, unsigned windows)
{
        unsigned writes = 0;

        for (unsigned i = 0; i < windows; i++) {
                ControlWindow w = window(total, share(c->level), total > 0 && share(c->level) > 0.001);

                if (!control_step(c, &w))
                        continue;
                writes++;
                assert_true(c->wanted >= c->base && c->wanted <= c->max);
                control_written(c, 0);
        }
        return writes;
}

static Control start(long base, long level, long max)
{
        Control c;

        control_init(&c, &kind, base, level, max);
        return c;
}

static void it_climbs_until_misses_are_few(void **state)
{
        Control c = start(1, 1, 512);

        assert_int_equal(run(&c, cliff, 5000, 100), 4);
        assert_int_equal(c.level, 16); /* 0.36, 0.12, 0.04, 0.013, 0.0044 */
        assert_int_equal(c.outcome, CONTROL_KEPT);
        assert_int_equal(c.from, 8);
        assert_int_equal(c.to, 16);
        assert_int_equal(control_share(&c.before), 132);
        assert_int_equal(control_share(&c.after), 44);
}

/* Each step takes two windows: the one in which caches fill, and the one that is measured, which calls for
 * the next step too. */
static void it_takes_few_windows(void **state)
{
        Control c = start(1, 1, 512);

        (void)run(&c, cliff, 5000, 1 + 4 * 2);
        assert_int_equal(c.level, 16);
        assert_int_equal(c.outcome, CONTROL_KEPT);
}

static void it_shrinks_when_the_load_has_gone(void **state)
{
        Control c = start(3, 3, 512);
        _cleanup_(freep) char *high = NULL, *low = NULL;

        (void)run(&c, cliff, 5000, 100);
        assert_true(c.level > 6);
        high = control_text(&c);
        assert_null(strstr(high, "no load"));
        assert_int_equal(control_period(&c), CONTROL_WINDOW_USEC);
        assert_int_equal(run(&c, cliff, 0, 4), 0); /* a pause is no end */
        (void)run(&c, cliff, 0, 20);
        assert_int_equal(c.level, 3);
        assert_int_equal(c.outcome, CONTROL_KEPT); /* the evidence stays */
        low = control_text(&c);
        assert_non_null(strstr(low, "3 since there was no load; before, "));
        assert_non_null(strstr(low, high));
        assert_int_equal(control_period(&c), CONTROL_IDLE_USEC);
        (void)run(&c, cliff, 5000, 20); /* and the load comes back */
        assert_true(c.level > 6);
}

static void it_goes_back_when_nothing_changes(void **state)
{
        Control c = start(32, 32, 512);
        _cleanup_(freep) char *text = NULL;
        ControlWindow w = window(5000, 0.2, 3);

        assert_true(control_step(&c, &w));
        assert_int_equal(c.wanted, 64);
        control_written(&c, 0);
        assert_false(control_step(&c, &w));
        assert_true(control_step(&c, &w));
        assert_int_equal(c.wanted, 32);
        assert_int_equal(c.outcome, CONTROL_BACK);
        assert_int_equal(control_share(&c.before), 2000);
        assert_int_equal(control_share(&c.after), 2000);
        control_written(&c, 0);
        assert_int_equal(c.level, 32);
        assert_int_equal(c.state, CONTROL_WATCH);
        text = control_text(&c);
        assert_non_null(strstr(text, "did not help, so it went back: 20.00 % misses before, 20.00 % after"));
}

/* Misses fill what there is room for, and at low rates that takes a while. */
static void it_waits_while_the_caches_fill(void **state)
{
        Control c = start(2, 2, 512), never;
        ControlWindow before = window(800, 0.02, 1), filling = window(1800, 0.02, 0),
                      full = window(1800, 0, 0);

        assert_true(control_step(&c, &before));
        control_written(&c, 0);
        assert_false(control_step(&c, &filling));
        for (unsigned i = 0; i < 5; i++)
                assert_false(control_step(&c, &filling));
        never = c;
        assert_false(control_step(&c, &full));
        assert_int_equal(c.outcome, CONTROL_KEPT);
        assert_int_equal(c.level, 4);
        assert_int_equal(control_share(&c.after), 0);

        assert_true(control_step(&never, &filling)); /* it does not wait for ever */
        assert_int_equal(never.outcome, CONTROL_BACK);
        assert_int_equal(never.wanted, 2);
}

/* What did not help is tried again, ever more rarely. */
static void it_tries_in_vain_ever_more_rarely(void **state)
{
        Control c = start(32, 32, 512);
        unsigned first, second, later;

        first = run(&c, flat, 5000, 100);
        second = run(&c, flat, 5000, 100);
        later = run(&c, flat, 5000, 900);
        assert_true(first >= 2);
        assert_true(second <= first && later <= 6);
        assert_int_equal(c.level, 32);
}

static void a_little_less_is_not_enough(void **state)
{
        Control c = start(32, 32, 512);
        ControlWindow before = window(10000, 0.20, 3), after = window(10000, 0.19, 3);

        assert_true(control_step(&c, &before));
        control_written(&c, 0);
        assert_false(control_step(&c, &after));
        assert_true(control_step(&c, &after));
        assert_int_equal(c.outcome, CONTROL_BACK);
}

static void no_step_without_reason(void **state)
{
        Control c = start(32, 32, 512), full = start(32, 512, 512);
        ControlWindow few = window(5000, 0.004, 9), undropped = window(5000, 0.5, 0),
                      idle = window(100, 0.5, 9), many = window(5000, 0.5, 9);

        for (unsigned i = 0; i < 10; i++) {
                assert_false(control_step(&c, &few));
                assert_false(control_step(&full, &many));
        }
        for (unsigned i = 0; i < 10; i++)
                assert_false(control_step(&c, &idle));
        c.fresh = 0;
        for (unsigned i = 0; i < 10; i++)
                assert_false(control_step(&c, &undropped));
        assert_true(control_step(&c, &many));
}

/* At low rates a magazine is dropped only now and then. */
static void pressure_counts_for_some_windows(void **state)
{
        Control c = start(8, 8, 512);
        ControlWindow few = window(5000, 0.004, 1), many = window(5000, 0.02, 0);

        assert_false(control_step(&c, &few));
        assert_true(control_step(&c, &many));
}

static void load_that_ends_in_between_leaves_it_undecided(void **state)
{
        Control c = start(8, 8, 512);
        ControlWindow busy = window(5000, 0.2, 3), idle = window(0, 0, 0);

        assert_true(control_step(&c, &busy));
        control_written(&c, 0);
        assert_false(control_step(&c, &idle));
        assert_true(control_step(&c, &idle));
        assert_int_equal(c.outcome, CONTROL_UNDECIDED);
        assert_int_equal(c.wanted, 8);
        control_written(&c, 0);
        assert_true(control_step(&c, &busy)); /* no reason to wait */
}

static void counters_that_go_away_confuse_nothing(void **state)
{
        Control c = start(8, 8, 512);
        ControlWindow busy = window(5000, 0.2, 3);

        for (unsigned i = 0; i < 20; i++)
                assert_false(control_step(&c, NULL));
        for (unsigned settled = 0; settled < 2; settled++) {
                assert_true(control_step(&c, &busy));
                control_written(&c, 0);
                if (settled)
                        assert_false(control_step(&c, &busy));
                for (unsigned i = 0; i < 4; i++)
                        assert_false(control_step(&c, NULL));
                assert_true(control_step(&c, NULL)); /* nobody can tell any more whether it helps */
                assert_int_equal(c.outcome, CONTROL_UNDECIDED);
                assert_int_equal(c.wanted, 8);
                control_written(&c, 0);
        }
}

static void counters_that_go_back_tell_nothing(void **state)
{
        const ControlCounters a = { 100, 10, 1 }, more = { 150, 10, 1 },
                              fewer[] = { { 99, 10, 1 }, { 200, 9, 1 }, { 200, 10, 0 } };
        ControlCounters d = { 7, 7, 7 };

        for (size_t i = 0; i < ARRAY_SIZE(fewer); i++)
                assert_false(control_between(&a, &fewer[i], &d));
        assert_int_equal(d.total, 7);
        assert_true(control_between(&a, &more, &d));
        assert_int_equal(d.total, 50);
        assert_int_equal(d.bad, 0);
}

static void what_cannot_be_written_is_said(void **state)
{
        Control c = start(8, 8, 512);
        ControlWindow busy = window(5000, 0.2, 3);

        assert_true(control_step(&c, &busy));
        assert_false(control_step(&c, &busy)); /* it waits for the write */
        control_written(&c, -EINVAL);
        assert_int_equal(c.outcome, CONTROL_FAILED);
        assert_int_equal(c.level, 8);
        assert_int_equal(c.wanted, 8);
        assert_false(control_step(&c, &busy)); /* not again at once */
}

static void expect_text(const Control *c, const char *part)
{
        _cleanup_(freep) char *text = control_text(c);

        assert_non_null(text);
        if (!strstr(text, part))
                fail_msg("\"%s\" does not say \"%s\"", text, part);
}

/* The kernel takes the value, and goes on as before. */
static void what_is_not_put_in_force_is_said(void **state)
{
        Control c = start(8, 8, 512);
        ControlWindow busy = window(5000, 0.2, 3);

        control_ignored(&c); /* nothing was to be written */
        assert_int_equal(c.outcome, CONTROL_NOTHING);
        assert_true(control_step(&c, &busy));
        control_ignored(&c);
        assert_int_equal(c.outcome, CONTROL_FAILED);
        assert_int_equal(c.wanted, 8);
        expect_text(&c, "16 was written and changed nothing: 8 is still in force");
        for (unsigned i = 0; i < 29; i++)
                assert_false(control_step(&c, &busy)); /* not again at once */
        assert_true(control_step(&c, &busy));
        control_written(&c, -EINVAL);
        expect_text(&c, "16 instead of 8 could not be written");
}

static void a_step_that_cannot_be_taken_back_is_said(void **state)
{
        Control c = start(32, 32, 512);
        ControlWindow w = window(5000, 0.2, 3);

        assert_true(control_step(&c, &w));
        control_written(&c, 0);
        assert_false(control_step(&c, &w));
        assert_true(control_step(&c, &w));
        expect_text(&c, "so it went back");
        control_ignored(&c);
        assert_int_equal(c.outcome, CONTROL_BACK);
        assert_int_equal(c.wanted, 64);
        expect_text(&c, "but 32 was not put in force, 64 still is");
}

/* A switch: on and off, and never off by itself. */
static long on(long level)
{
        return 1;
}

static void a_switch_is_turned_once(void **state)
{
        ControlKind k = kind;
        Control c;
        ControlWindow remote = window(5000, 0.86, 1), local = window(5000, 0, 0), idle = window(0, 0, 0);

        k.up = on;
        k.down = NULL;
        control_init(&c, &k, 0, 0, 1);
        assert_true(control_step(&c, &remote));
        assert_int_equal(c.wanted, 1);
        control_written(&c, 0);
        assert_false(control_step(&c, &local));
        assert_false(control_step(&c, &local));
        assert_int_equal(c.outcome, CONTROL_KEPT);
        for (unsigned i = 0; i < 20; i++)
                assert_false(control_step(&c, i % 2 ? &idle : &remote));
        assert_int_equal(c.level, 1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(it_climbs_until_misses_are_few),
                cmocka_unit_test(it_takes_few_windows),
                cmocka_unit_test(it_shrinks_when_the_load_has_gone),
                cmocka_unit_test(it_goes_back_when_nothing_changes),
                cmocka_unit_test(it_waits_while_the_caches_fill),
                cmocka_unit_test(it_tries_in_vain_ever_more_rarely),
                cmocka_unit_test(a_little_less_is_not_enough),
                cmocka_unit_test(no_step_without_reason),
                cmocka_unit_test(pressure_counts_for_some_windows),
                cmocka_unit_test(load_that_ends_in_between_leaves_it_undecided),
                cmocka_unit_test(counters_that_go_away_confuse_nothing),
                cmocka_unit_test(counters_that_go_back_tell_nothing),
                cmocka_unit_test(what_cannot_be_written_is_said),
                cmocka_unit_test(what_is_not_put_in_force_is_said),
                cmocka_unit_test(a_step_that_cannot_be_taken_back_is_said),
                cmocka_unit_test(a_switch_is_turned_once),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
