/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the manager makes of a storm of events, handed to it as the monitor does. Time is the test's own:
 * linked with
 * --wrap for the clock, the manager's timers and the journal. */
#include "basic/log.h"
#include "manager-internal.h"
#include "tree.h"

#include <malloc.h>
#include <time.h>

#define MS  UINT64_C(1000)
#define SEC (1000 * MS)
#define HBA "0000:00:02.0"
#define NIC "0000:00:03.0"

typedef struct Storm {
        Machine machine;
        Manager *manager;
        uint64_t now, due; /* due: when the manager's timer is set to, UINT64_MAX = it is off */
        unsigned overruns_told;
} Storm;

static Storm *storm; /* for the linker's wrappers */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_sd_event_now(sd_event *e, clockid_t clock, uint64_t *ret);
int __wrap_sd_event_source_set_time(sd_event_source *s, uint64_t usec);
int __wrap_sd_event_source_set_enabled(sd_event_source *s, int enabled);
void __wrap_log_knob(int level, const LogKnob *k, const char *format, ...);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
        *ts = (struct timespec) { .tv_sec = (time_t)(storm->now / SEC),
                                  .tv_nsec = (long)(storm->now % SEC) * 1000 };
        return 0;
}

int __wrap_sd_event_now(sd_event *e, clockid_t clock, uint64_t *ret)
{
        *ret = storm->now;
        return 0;
}

int __wrap_sd_event_source_set_time(sd_event_source *s, uint64_t usec)
{
        if (storm->manager && s == storm->manager->timer)
                storm->due = usec;
        return 0;
}

int __wrap_sd_event_source_set_enabled(sd_event_source *s, int enabled)
{
        if (storm->manager && s == storm->manager->timer && enabled == SD_EVENT_OFF)
                storm->due = UINT64_MAX;
        return 0;
}

void __wrap_log_knob(int level, const LogKnob *k, const char *format, ...)
{
        if (strcmp(k->message_id, MESSAGE_ID_OVERRUN) == 0)
                storm->overruns_told++;
}

static int setup(void **state)
{
        Storm *s = calloc(1, sizeof(*s));
        ManagerOptions options = { .observe = true };

        storm = s;
        s->now = 1000 * SEC;
        s->due = UINT64_MAX;
        tree_init(&s->machine);
        tree_put_nodes(&s->machine);
        tree_put_pci(&s->machine, HBA, "0x010700\n", "1\n", "mpt3sas");
        tree_put_vector(&s->machine, HBA, 30, "mpt3sas0-msix0", "0-7\n", "0\n");
        options.root = s->machine.dir;
        assert_int_equal(manager_new(&options, &s->manager, NULL), 0);
        manager_start_round(s->manager, false);
        assert_int_equal(s->manager->passes, 1);
        *state = s;
        return 0;
}

static int teardown(void **state)
{
        Storm *s = *state;

        manager_free(s->manager);
        machine_done(&s->machine);
        free(s);
        return 0;
}

/* Lets time pass, and the timer act when it is due. */
static void pass_time(Storm *s, uint64_t usec)
{
        for (uint64_t end = s->now + usec; s->now < end; s->now += MS) {
                if (s->due > s->now)
                        continue;
                s->due = UINT64_MAX;
                manager_start_round(s->manager, false);
                manager_continue(s->manager);
        }
}

static void event(Storm *s, bool overrun)
{
        MonitorEvent e = { .source = "udev", .subsystem = "pci", .action = "add", .object = "/sys/x" };

        if (overrun)
                e = (MonitorEvent) {
                        .source = "udev", .subsystem = "", .action = "", .object = "", .overrun = true
                };
        manager_on_event(s->manager, &e);
}

static void a_thousand_in_a_second(void **state)
{
        Storm *s = *state;

        pass_time(s, 10 * SEC);
        assert_int_equal(s->manager->passes, 1);
        for (int i = 0; i < 1000; i++) {
                event(s, false);
                pass_time(s, MS);
        }
        /* The first at once, then one for each 250 ms. */
        assert_in_range(s->manager->passes, 1 + 4, 1 + 5);
        pass_time(s, 20 * SEC);
        /* One for what came last, and the settling look. */
        assert_in_range(s->manager->passes, 1 + 6, 1 + 7);
        assert_true(s->due == UINT64_MAX);
}

/* Slower than the gap: one for each event, and no more. */
static void events_one_by_one(void **state)
{
        Storm *s = *state;

        for (int i = 0; i < 100; i++) {
                event(s, false);
                pass_time(s, 50 * MS);
        }
        assert_in_range(s->manager->passes, 100, 1 + 100);
        pass_time(s, 10 * SEC);
        assert_in_range(s->manager->passes, 101, 1 + 101);
}

static void nothing_is_kept_of_an_event(void **state)
{
        size_t before = 0, after;
        Storm *s = *state;

        pass_time(s, 10 * SEC);
        event(s, false);
        before = mallinfo2().uordblks;
        for (int i = 0; i < 100000; i++)
                event(s, i % 2);
        after = mallinfo2().uordblks;
        assert_int_equal(after, before);
        assert_int_equal(s->manager->passes, 1);
        pass_time(s, 10 * SEC);
        assert_int_equal(s->manager->passes, 1 + 2);
}

/* Lost events: said once for each look, and everything is read. */
static void an_overrun_reads_everything(void **state)
{
        Storm *s = *state;

        pass_time(s, 10 * SEC);
        tree_put_pci(&s->machine, NIC, "0x020000\n", "0\n", "ixgbe");
        tree_put_vector(&s->machine, NIC, 40, "eth0-TxRx-0", "0-7\n", "5\n");
        assert_null(snapshot_device(s->manager->snapshot, "pci:" NIC));
        for (int i = 0; i < 200; i++)
                event(s, true);
        assert_int_equal(s->overruns_told, 1);
        pass_time(s, MS);
        assert_non_null(snapshot_device(s->manager->snapshot, "pci:" NIC));
        for (int i = 0; i < 200; i++)
                event(s, true);
        assert_int_equal(s->overruns_told, 2);
        pass_time(s, 10 * SEC);
        assert_int_equal(s->manager->passes, 1 + 3);
}

/* What moved while the machine slept is seen when it wakes, and not only by the next verify. The clock alone
 * does not tell a sleep from somebody who set it, so it excuses nobody's writes. */
static void a_clock_that_was_set_makes_it_look(void **state)
{
        const MonitorEvent set = {
                .source = "clock", .subsystem = "clock", .action = "change", .object = ""
        };
        Storm *s = *state;

        pass_time(s, 10 * SEC);
        assert_true(cpuset_has(s->manager->snapshot->devices[0].vectors[0].effective, 0));
        tree_put_vector(&s->machine, HBA, 30, "mpt3sas0-msix0", "0-7\n", "5\n");
        pass_time(s, 10 * SEC);
        assert_int_equal(s->manager->passes, 1);
        manager_on_event(s->manager, &set);
        pass_time(s, MS);
        assert_int_equal(s->manager->passes, 1 + 1);
        assert_true(cpuset_has(s->manager->snapshot->devices[0].vectors[0].effective, 5));
        assert_int_equal(drift_events_last(&s->manager->drift_events, "pci:" HBA), 0);
        /* The settling look, and no other. */
        pass_time(s, 20 * SEC);
        assert_int_equal(s->manager->passes, 1 + 2);
        assert_true(s->due == UINT64_MAX);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        const struct CMUnitTest tests[] = {
                TEST(a_thousand_in_a_second),
                TEST(events_one_by_one),
                TEST(nothing_is_kept_of_an_event),
                TEST(an_overrun_reads_everything),
                TEST(a_clock_that_was_set_makes_it_look),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
