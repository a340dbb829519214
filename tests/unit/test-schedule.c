/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schedule.h"
#include "test.h"

#define MS 1000u

static void first_event_acts_at_once(void **state)
{
        Schedule s = { .pass = 1000 * MS };

        assert_true(schedule_next(&s, 5000 * MS) == UINT64_MAX);
        schedule_event(&s, 5000 * MS);
        assert_int_equal(schedule_next(&s, 5000 * MS), 0);
}

static void later_events_wait_for_a_gap(void **state)
{
        Schedule s = { 0 };

        schedule_event(&s, 1000 * MS);
        schedule_passed(&s, 1000 * MS, 1010 * MS);
        schedule_event(&s, 1012 * MS);
        assert_int_equal(schedule_next(&s, 1012 * MS), 1032 * MS);
        schedule_event(&s, 1020 * MS);
        assert_int_equal(schedule_next(&s, 1020 * MS), 1040 * MS);
        assert_int_equal(schedule_next(&s, 1040 * MS), 0);
}

static void a_storm_waits_no_longer_than_the_limit(void **state)
{
        Schedule s = { 0 };
        uint64_t now;

        schedule_event(&s, 1000 * MS);
        schedule_passed(&s, 1000 * MS, 1001 * MS);
        for (now = 1002 * MS; now < 1300 * MS; now += MS) {
                schedule_event(&s, now);
                if (schedule_next(&s, now) == 0)
                        break;
        }
        assert_int_equal(now, 1252 * MS);
}

static void a_settling_look_follows_once(void **state)
{
        Schedule s = { 0 };

        schedule_event(&s, 1000 * MS);
        schedule_passed(&s, 1000 * MS, 1001 * MS);
        assert_int_equal(schedule_next(&s, 1001 * MS), 2000 * MS);
        schedule_passed(&s, 2000 * MS, 2001 * MS);
        assert_true(schedule_next(&s, 2000 * MS) == UINT64_MAX);
}

/* A round of several passes, or a look for another reason, comes too early to see what settles later. */
static void early_passes_do_not_replace_the_settling_look(void **state)
{
        Schedule s = { 0 };

        schedule_event(&s, 1000 * MS);
        schedule_passed(&s, 1000 * MS, 1100 * MS);
        schedule_passed(&s, 1101 * MS, 1200 * MS);
        schedule_passed(&s, 1900 * MS, 1950 * MS);
        assert_int_equal(schedule_next(&s, 1950 * MS), 2000 * MS);
        schedule_passed(&s, 2000 * MS, 2050 * MS);
        assert_true(schedule_next(&s, 2050 * MS) == UINT64_MAX);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(first_event_acts_at_once),
                cmocka_unit_test(later_events_wait_for_a_gap),
                cmocka_unit_test(a_storm_waits_no_longer_than_the_limit),
                cmocka_unit_test(a_settling_look_follows_once),
                cmocka_unit_test(early_passes_do_not_replace_the_settling_look),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
