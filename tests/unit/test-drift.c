/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drift.h"
#include "test.h"

#include <string.h>

/* One file of a queue that was set to CPU 4 of the home 4-7, seen at times in seconds after START. The clock
 * of the day is far from the other one. */
#define START 5000u
#define REAL  (UINT64_C(1700000000) * DRIFT_SECOND)

static DriftTime at(uint64_t seconds)
{
        return (DriftTime) { .now = (START + seconds) * DRIFT_SECOND, .real = REAL + seconds * DRIFT_SECOND };
}

static DriftLook found(const char *current)
{
        return (DriftLook) { .current = current,
                             .set = "4",
                             .kind = file_kind_find(WRITER_IRQ_AFFINITY),
                             .wanted = strcmp(current, "4") != 0,
                             .accepts = true,
                             .automatic = true,
                             .mode = ON_DRIFT_REAPPLY };
}

/* One look, and the write that a plan makes when it may. Returns whether there is news. */
static int step(Drift *d, DriftLook l, uint64_t seconds)
{
        DriftTime t = at(seconds);
        Drift before;
        int news;

        if (drift_is_left(d))
                l.wanted = false; /* the plan leaves it out */
        news = drift_look(d, &l, &t);
        before = *d;
        assert_int_equal(drift_look(d, &l, &t), 0); /* twice is once */
        before.foreign = d->foreign;                /* the text may be another copy */
        assert_memory_equal(d, &before, sizeof(before));
        if (d->state == DRIFT_FOUND)
                drift_written(d, t.now);
        return news;
}

static int see(Drift *d, const char *current, uint64_t seconds)
{
        return step(d, found(current), seconds);
}

/* Somebody who writes at once what was put back. Returns when it is contested. */
static uint64_t fight(Drift *d, const char *current, uint64_t seconds)
{
        for (;;) {
                uint64_t next;

                if (see(d, current, seconds))
                        return seconds;
                next = drift_due(d, at(seconds).now);
                assert_true(next > at(seconds).now && next != UINT64_MAX);
                seconds = next / DRIFT_SECOND - START;
        }
}

static void once_is_put_back_at_once(void **state)
{
        static const uint64_t looks[] = { 10, 20, 40, 80, 160 };
        _cleanup_(drift_clear) Drift d = { 0 };

        assert_int_equal(see(&d, "4", 0), 0);
        assert_int_equal(d.state, DRIFT_NONE);
        assert_true(drift_due(&d, at(0).now) == UINT64_MAX);
        assert_int_equal(see(&d, "31", 100), 0);
        assert_int_equal(d.n_fights, 1);
        assert_int_equal(d.state, DRIFT_NONE);
        assert_string_equal(d.foreign, "31");
        /* Looks for whoever does it again, and then none any more. */
        for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
                uint64_t now = 100 + (i ? looks[i - 1] : 0);

                assert_int_equal(drift_due(&d, at(now).now), at(100 + looks[i]).now);
                see(&d, "4", 100 + looks[i]);
        }
        assert_true(drift_due(&d, at(260).now) == UINT64_MAX);
        assert_int_equal(d.n_fights, 1);
        see(&d, "4", 701);
        assert_int_equal(d.n_fights, 0);
}

static void again_waits_longer_each_time(void **state)
{
        _cleanup_(drift_clear) Drift d = { 0 };

        see(&d, "31", 0);
        see(&d, "31", 3);
        assert_int_equal(d.state, DRIFT_WAITING);
        assert_int_equal(d.next.now, at(10).now);
        assert_int_equal(d.next.real, at(10).real);
        assert_int_equal(d.since.real, at(3).real);
        assert_int_equal(drift_due(&d, at(3).now), at(10).now);
        see(&d, "31", 9);
        assert_int_equal(d.n_fights, 1);
        assert_int_equal(d.since.real, at(3).real);
        see(&d, "31", 10);
        assert_int_equal(d.n_fights, 2);
        see(&d, "31", 11);
        assert_int_equal(d.next.now, at(30).now);
        /* They put it right themselves: nothing waits any more, but the next time counts on. */
        see(&d, "4", 12);
        assert_int_equal(d.state, DRIFT_NONE);
        assert_int_equal(d.next.now, 0);
        see(&d, "30", 13);
        assert_int_equal(d.state, DRIFT_WAITING);
        assert_int_equal(d.next.now, at(30).now);
        assert_string_equal(d.foreign, "30");
}

static void three_fights_are_enough(void **state)
{
        _cleanup_(drift_clear) Drift d = { 0 };

        assert_int_equal(fight(&d, "31", 0), 40);
        assert_int_equal(d.state, DRIFT_CONTESTED);
        assert_true(drift_is_left(&d));
        assert_true(drift_is_given_up(&d));
        assert_int_equal(d.n_fights, 3);
        assert_int_equal(d.next.now, at(40 + 3600).now);
        assert_true(drift_due(&d, at(40).now) == UINT64_MAX); /* the regular look finds its end */
        /* Said once, whatever they do now. */
        for (uint64_t s = 41; s < 3640; s += 100)
                assert_int_equal(see(&d, s % 200 > 100 ? "30" : "4", s), 0);
        assert_int_equal(d.state, DRIFT_CONTESTED);
}

/* Seldom enough is no contest. */
static void fights_grow_old(void **state)
{
        _cleanup_(drift_clear) Drift d = { 0 };

        for (uint64_t s = 0; s < 10000; s += 201) {
                assert_int_equal(see(&d, "31", s), 0);
                assert_int_equal(d.state, DRIFT_NONE);
                assert_int_equal(see(&d, "4", s + 100), 0);
        }
        assert_int_equal(see(&d, "31", 20000), 0);
        assert_int_equal(see(&d, "31", 20199), 0);
        assert_int_equal(see(&d, "31", 20398), 0);
        assert_int_equal(see(&d, "31", 20597), 1);
        assert_int_equal(d.state, DRIFT_CONTESTED);
}

/* After a quiet time it is tried again; a longer one when that was in vain. */
static void contest_ends_after_a_while(void **state)
{
        _cleanup_(drift_clear) Drift d = { 0 };
        uint64_t now = fight(&d, "31", 0), quiet = 3600;

        for (int i = 0; i < 8; i++) {
                assert_int_equal(d.next.now, at(now + quiet).now);
                assert_int_equal(see(&d, "31", now + quiet - 1), 0);
                assert_int_equal(d.state, DRIFT_CONTESTED);
                now += quiet;
                /* The first look ends it, and the plan that it leads to puts the value back. */
                assert_int_equal(see(&d, "31", now), 0);
                assert_int_equal(d.state, DRIFT_NONE);
                assert_int_equal(see(&d, "31", now), 0);
                assert_int_equal(d.n_fights, 1);
                now = fight(&d, "31", now);
                quiet = quiet * 2 < 86400 ? quiet * 2 : 86400;
        }
        /* It held: the next contest is a first one. */
        now += quiet;
        see(&d, "31", now);
        see(&d, "31", now);
        see(&d, "4", now + 601);
        assert_int_equal(d.contests, 0);
        now = fight(&d, "31", now + 700);
        assert_int_equal(d.next.now, at(now + 3600).now);
}

static void apply_and_reload_end_it(void **state)
{
        _cleanup_(drift_clear) Drift d = { 0 };
        DriftLook by_hand = found("31");

        by_hand.by_hand = true;
        fight(&d, "31", 0);
        assert_int_equal(step(&d, by_hand, 50), 0); /* no longer left, and so planned again: */
        assert_int_equal(step(&d, by_hand, 50), 0);
        assert_int_equal(d.state, DRIFT_NONE);
        assert_int_equal(d.n_fights, 1);
        assert_int_equal(fight(&d, "31", 51), 90);
        drift_forget_fights(&d);
        assert_int_equal(d.state, DRIFT_NONE);
        see(&d, "31", 91);
        assert_int_equal(d.n_fights, 1);
        /* A wait ends as well. */
        see(&d, "31", 92);
        assert_int_equal(d.state, DRIFT_WAITING);
        step(&d, by_hand, 93);
        assert_int_equal(d.state, DRIFT_NONE);
        assert_int_equal(d.n_fights, 1);
}

static void restored_is_forgotten(void **state)
{
        _cleanup_(drift_clear) Drift d = { 0 };
        DriftLook l = found("0");

        fight(&d, "31", 0);
        l.set = NULL;
        assert_int_equal(step(&d, l, 50), 0);
        assert_int_equal(d.state, DRIFT_NONE);
        assert_int_equal(d.n_fights, 0);
        assert_null(d.foreign);
}

/* What the plan wants now, or is content with, is nobody's drift. */
static void plan_is_no_drift(void **state)
{
        _cleanup_(drift_clear) Drift d = { 0 };
        DriftLook l = found("31");

        for (int mode = 0; mode < _ON_DRIFT_MAX; mode++) {
                l = found("31");
                l.mode = (OnDrift)mode;
                l.accepts = false; /* it was planned for other CPUs */
                assert_int_equal(step(&d, l, 0), 0);
                assert_int_equal(d.state, DRIFT_NONE);
                l = found("5");
                l.mode = (OnDrift)mode;
                l.wanted = false; /* a home CPU, too */
                assert_int_equal(step(&d, l, 1), 0);
                assert_int_equal(d.state, DRIFT_NONE);
                l = found("4");
                l.mode = (OnDrift)mode;
                l.wanted = true; /* in force is what was set, planned is something else */
                assert_int_equal(step(&d, l, 2), 0);
                assert_int_equal(d.state, DRIFT_NONE);
        }
        assert_int_equal(d.n_fights, 0);
}

static void what_a_plan_accepts(void **state)
{
        const FileKind *list = file_kind_find(WRITER_IRQ_AFFINITY);
        const FileKind *mask = file_kind_find(WRITER_WORKQUEUE_CPUMASK);

        assert_true(drift_accepts("4", "4", NULL, false, list));
        assert_true(drift_accepts("4", "6", "4-7", false, list));
        assert_true(drift_accepts("4-7", "6", "4-7", false, list));
        assert_false(drift_accepts("4", "6", NULL, false, list));
        assert_false(drift_accepts("3", "6", "4-7", false, list));
        assert_true(drift_accepts("3", "6", NULL, true, list)); /* evens out */
        assert_true(drift_accepts("0c", "0000000c", NULL, false, mask));
        assert_false(drift_accepts("0c", "000000c0", NULL, false, mask));
        assert_true(drift_accepts("0,2-3", "2,3,0", NULL, false, list));
        assert_false(drift_accepts("x", "4", "4-7", false, list));
}

static void masks_are_compared_as_sets(void **state)
{
        _cleanup_(drift_clear) Drift d = { 0 };
        DriftLook l = { .set = "00000000,0000000c",
                        .current = "c",
                        .kind = file_kind_find(WRITER_WORKQUEUE_CPUMASK),
                        .wanted = true,
                        .accepts = true,
                        .automatic = true };

        step(&d, l, 0);
        assert_int_equal(d.n_fights, 0);
        l.current = "10";
        step(&d, l, 1);
        assert_int_equal(d.n_fights, 1);
}

/* A driver that writes its own mask, time and again, before or after its event is told of. */
static void drivers_do_not_fight(void **state)
{
        _cleanup_(drift_clear) Drift d = { 0 };

        for (int mode = 0; mode < _ON_DRIFT_MAX; mode++)
                for (uint64_t s = 100; s < 200; s += 10) {
                        DriftLook l = found("0-7");

                        l.mode = (OnDrift)mode;
                        l.event = at(s).now;
                        assert_int_equal(step(&d, l, s + 1), 0);
                        assert_int_equal(d.state, DRIFT_NONE); /* written, if the plan wants it */
                        assert_int_equal(step(&d, l, s + 5), 0);
                        assert_int_equal(d.n_fights, 0);
                }
        for (uint64_t s = 300; s < 500; s += 20) {
                DriftLook l = found("0-7");

                step(&d, l, s);
                step(&d, l, s + 1);
                assert_int_equal(d.state, DRIFT_WAITING);
                l.event = at(s + 2).now;
                step(&d, l, s + 2); /* at once now */
                assert_int_equal(d.state, DRIFT_NONE);
                assert_int_equal(d.n_fights, 0);
        }
}

static void late_event_takes_a_yield_back(void **state)
{
        for (int mode = ON_DRIFT_YIELD; mode < _ON_DRIFT_MAX; mode++) {
                _cleanup_(drift_clear) Drift d = { 0 };
                DriftLook l = found("0-7");

                l.mode = (OnDrift)mode;
                assert_int_equal(step(&d, l, 100), 1);
                l.event = at(105).now;
                step(&d, l, 105);
                assert_int_equal(d.state, DRIFT_NONE);
                /* Somebody's value from long before stays. */
                l.event = 0;
                assert_int_equal(step(&d, l, 200), 1);
                l.event = at(210).now;
                assert_int_equal(step(&d, l, 210), 0);
                assert_true(drift_is_left(&d));
        }
}

/* Long before, and long after. */
static void other_times_explain_nothing(void **state)
{
        _cleanup_(drift_clear) Drift d = { 0 };
        DriftLook l = found("31");

        l.event = at(0).now;
        step(&d, l, 6);
        assert_int_equal(d.n_fights, 1);
        l.event = at(20).now;
        step(&d, l, 20);
        assert_int_equal(d.n_fights, 1);
        /* Nor do events end a contest. */
        fight(&d, "31", 100);
        l.event = at(141).now;
        assert_int_equal(step(&d, l, 141), 0);
        assert_int_equal(d.state, DRIFT_CONTESTED);
}

static void yield_leaves_it_to_them(void **state)
{
        _cleanup_(drift_clear) Drift d = { 0 };
        DriftLook l = found("31"), by_hand;

        l.mode = ON_DRIFT_YIELD;
        assert_int_equal(step(&d, l, 0), 1);
        assert_int_equal(d.state, DRIFT_YIELDED);
        assert_true(drift_is_given_up(&d));
        assert_int_equal(d.next.now, 0);
        assert_true(drift_due(&d, at(0).now) == UINT64_MAX);
        assert_int_equal(step(&d, l, 100000), 0);
        l.current = "30"; /* said once */
        assert_int_equal(step(&d, l, 100001), 0);
        assert_string_equal(d.foreign, "30");
        assert_int_equal(d.since.real, at(100001).real);
        drift_forget_fights(&d); /* policies were read again, and still say so */
        assert_int_equal(step(&d, l, 100002), 0);
        assert_int_equal(d.state, DRIFT_YIELDED);
        l.current = "4"; /* they put it right: the next time is another time */
        assert_int_equal(step(&d, l, 100003), 0);
        assert_int_equal(d.state, DRIFT_NONE);
        l.current = "31";
        l.wanted = true;
        assert_int_equal(step(&d, l, 100004), 1);
        by_hand = l;
        by_hand.by_hand = true;
        assert_int_equal(step(&d, by_hand, 100005), 0);
        assert_int_equal(step(&d, by_hand, 100005), 0);
        assert_int_equal(d.state, DRIFT_NONE);
        assert_int_equal(d.n_fights, 1);
}

static void report_says_each_change(void **state)
{
        _cleanup_(drift_clear) Drift d = { 0 };
        DriftLook l = found("31");

        l.mode = ON_DRIFT_REPORT;
        assert_int_equal(step(&d, l, 0), 1);
        assert_int_equal(d.state, DRIFT_REPORTED);
        assert_true(drift_is_left(&d) && !drift_is_given_up(&d));
        assert_int_equal(step(&d, l, 1), 0);
        l.current = "30";
        assert_int_equal(step(&d, l, 2), 1);
        assert_int_equal(d.since.real, at(2).real);
        assert_int_equal(step(&d, l, 3), 0);
        l.current = "4";
        assert_int_equal(step(&d, l, 4), 0);
        assert_int_equal(d.state, DRIFT_NONE);
        assert_int_equal(d.since.now, 0);
}

static void another_policy_takes_over(void **state)
{
        for (int from = 0; from < _ON_DRIFT_MAX; from++)
                for (int to = 0; to < _ON_DRIFT_MAX; to++) {
                        _cleanup_(drift_clear) Drift d = { 0 };
                        DriftLook l = found("31");

                        if (from == to)
                                continue;
                        l.mode = (OnDrift)from;
                        if (from == ON_DRIFT_REAPPLY)
                                fight(&d, "31", 0);
                        else
                                step(&d, l, 0);
                        assert_true(drift_is_left(&d));
                        l.mode = (OnDrift)to;
                        step(&d, l, 100);
                        assert_false(drift_is_left(&d)); /* planned again, and looked at again: */
                        step(&d, l, 100);
                        assert_int_equal(d.state, to == ON_DRIFT_REAPPLY  ? DRIFT_NONE
                                                  : to == ON_DRIFT_REPORT ? DRIFT_REPORTED
                                                                          : DRIFT_YIELDED);
                }
}

/* With apply: ask nothing is put back by itself, so nobody fights and nothing waits for a time. */
static void asking_does_not_fight(void **state)
{
        _cleanup_(drift_clear) Drift d = { 0 };
        DriftLook l = found("31");
        DriftTime t;

        l.automatic = false;
        for (uint64_t s = 0; s < 50; s++) {
                t = at(s);
                assert_int_equal(drift_look(&d, &l, &t), 0);
                assert_int_equal(d.state, DRIFT_FOUND);
                assert_true(drift_due(&d, t.now) == UINT64_MAX);
        }
        assert_int_equal(d.since.real, at(0).real);
}

/* Without a writer nothing is put back, and that is no fight. */
static void only_writes_are_fights(void **state)
{
        _cleanup_(drift_clear) Drift d = { 0 };
        DriftLook l = found("31");

        for (uint64_t s = 0; s < 50; s++) {
                DriftTime t = at(s);

                assert_int_equal(drift_look(&d, &l, &t), 0);
                assert_int_equal(d.state, DRIFT_FOUND);
        }
        assert_int_equal(d.n_fights, 0);
        drift_written(&d, at(50).now);
        drift_written(&d, at(50).now); /* a write of the plan's own */
        assert_int_equal(d.n_fights, 1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(once_is_put_back_at_once),
                cmocka_unit_test(again_waits_longer_each_time),
                cmocka_unit_test(three_fights_are_enough),
                cmocka_unit_test(fights_grow_old),
                cmocka_unit_test(contest_ends_after_a_while),
                cmocka_unit_test(apply_and_reload_end_it),
                cmocka_unit_test(restored_is_forgotten),
                cmocka_unit_test(plan_is_no_drift),
                cmocka_unit_test(what_a_plan_accepts),
                cmocka_unit_test(masks_are_compared_as_sets),
                cmocka_unit_test(drivers_do_not_fight),
                cmocka_unit_test(late_event_takes_a_yield_back),
                cmocka_unit_test(other_times_explain_nothing),
                cmocka_unit_test(yield_leaves_it_to_them),
                cmocka_unit_test(report_says_each_change),
                cmocka_unit_test(another_policy_takes_over),
                cmocka_unit_test(asking_does_not_fight),
                cmocka_unit_test(only_writes_are_fights),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
