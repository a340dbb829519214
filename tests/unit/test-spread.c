/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/build.h"
#include "test.h"

#include <errno.h>
#include <string.h>

/* A machine of `n` CPUs in nodes of `per_node`; with smt, CPU i and i + n/2 are siblings; caches of
 * `per_cache` CPUs. */
static Snapshot *machine(unsigned n, unsigned per_node, bool smt, unsigned per_cache)
{
        Snapshot *s = snapshot_new();
        unsigned cores = smt ? n / 2 : n;

        s->numa = true;
        s->cpu_bits = n;
        s->n_nodes = n / per_node;
        s->nodes = calloc(s->n_nodes, sizeof(Node));
        s->n_cpus = n;
        s->cpus = calloc(n, sizeof(Cpu));
        for (unsigned i = 0; i < n; i++) {
                unsigned core = i % cores, node = core / (smt ? per_node / 2 : per_node);

                s->cpus[i] = (Cpu) { .id = i,
                                     .node = (int)node,
                                     .core = (int)core,
                                     .thread = i >= cores,
                                     .cache = (int)(core / per_cache * per_cache) };
                assert_int_equal(cpuset_add(&s->online, i), 0);
                s->nodes[node].id = (int)node;
                assert_int_equal(cpuset_add(&s->nodes[node].cpus, i), 0);
        }
        for (size_t i = 0; i < s->n_nodes; i++) {
                s->nodes[i].distance = calloc(s->n_nodes, sizeof(int));
                for (size_t j = 0; j < s->n_nodes; j++)
                        s->nodes[i].distance[j] = i == j ? 10 : 20 + (int)(i > j ? i - j : j - i);
        }
        return s;
}

static Loads loads_of(const Snapshot *s)
{
        return (Loads) { .cpu = calloc(s->cpu_bits, sizeof(unsigned)), .n = s->cpu_bits };
}

static void new_units(SpreadUnit *units, size_t n)
{
        for (size_t i = 0; i < n; i++)
                units[i] = (SpreadUnit) { .queue = (int)i, .cpu = -1, .movable = true };
}

static void cores_before_siblings(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(16, 16, true, 8);
        Loads l = loads_of(s);
        unsigned threads[2] = { 0 };
        SpreadUnit units[10];

        new_units(units, 10);
        assert_int_equal(spread(s, s->online, NULL, &l, units, 10), 0);
        for (size_t i = 0; i < 10; i++) {
                assert_int_equal(l.cpu[units[i].cpu], 1);
                if (i < 8)
                        assert_true(units[i].cpu < 8);
                threads[units[i].cpu >= 8]++;
        }
        assert_int_equal(threads[0], 8);
        assert_int_equal(threads[1], 2);
        free(l.cpu);
}

static void even_over_caches(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(16, 16, false, 4);
        unsigned caches[4] = { 0 };
        Loads l = loads_of(s);
        SpreadUnit units[4];

        new_units(units, 4);
        assert_int_equal(spread(s, s->online, NULL, &l, units, 4), 0);
        for (size_t i = 0; i < 4; i++)
                caches[units[i].cpu / 4]++;
        for (size_t i = 0; i < 4; i++)
                assert_int_equal(caches[i], 1);
        free(l.cpu);
}

static void second_device_avoids_the_first(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(16, 16, false, 8);
        Loads l = loads_of(s);
        SpreadUnit first[8], second[8], third[16];

        new_units(first, 8);
        new_units(second, 8);
        new_units(third, 16);
        assert_int_equal(spread(s, s->online, NULL, &l, first, 8), 0);
        assert_int_equal(spread(s, s->online, NULL, &l, second, 8), 0);
        for (unsigned cpu = 0; cpu < 16; cpu++)
                assert_int_equal(l.cpu[cpu], 1);
        assert_int_equal(spread(s, s->online, NULL, &l, third, 16), 0);
        for (unsigned cpu = 0; cpu < 16; cpu++)
                assert_int_equal(l.cpu[cpu], 2);
        free(l.cpu);
}

static void what_is_right_stays(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(8, 4, false, 4);
        Loads l = loads_of(s);
        SpreadUnit units[4];

        new_units(units, 4);
        units[0].cpu = 2;
        units[1].cpu = 2; /* one more than any other: stays */
        l.cpu[2] = 2;
        assert_int_equal(spread(s, s->nodes[0].cpus, NULL, &l, units, 4), 0);
        assert_int_equal(units[0].cpu, 2);
        assert_false(units[0].evened);
        assert_true(
                units[1].evened); /* two on CPU 2, none on one of CPU 0, 1, 3 after the others were placed */
        assert_int_not_equal(units[1].cpu, 2);
        free(l.cpu);
}

static void a_difference_of_one_moves_nothing(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(8, 4, false, 4);
        Loads l = loads_of(s);
        SpreadUnit units[5];
        const int at[] = { 0, 1, 2, 3, 0 };

        new_units(units, 5);
        for (size_t i = 0; i < 5; i++) {
                units[i].cpu = at[i];
                l.cpu[at[i]]++;
        }
        assert_int_equal(spread(s, s->nodes[0].cpus, NULL, &l, units, 5), 0);
        for (size_t i = 0; i < 5; i++) {
                assert_int_equal(units[i].cpu, at[i]);
                assert_false(units[i].evened);
        }
        free(l.cpu);
}

static void full_cpus_are_no_targets(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(4, 4, false, 4);
        _cleanup_(cpuset_freep) CpuSet *full = NULL, *all = NULL;
        Loads l = loads_of(s);
        SpreadUnit units[6];

        assert_int_equal(cpuset_parse_list("1,3", &full), 0);
        new_units(units, 6);
        units[0].cpu = 1; /* is there already, and stays */
        l.cpu[1]++;
        assert_int_equal(spread(s, s->online, full, &l, units, 6), 0);
        assert_int_equal(units[0].cpu, 1);
        for (size_t i = 1; i < 6; i++)
                assert_true(units[i].cpu == 0 || units[i].cpu == 2);
        assert_int_equal(cpuset_parse_list("0-3", &all), 0);
        new_units(units, 4);
        assert_int_equal(spread(s, s->online, all, &l, units, 4),
                         0); /* nowhere else to go: tried all the same */
        for (size_t i = 0; i < 4; i++)
                assert_true(units[i].cpu >= 0);
        free(l.cpu);
}

static void unmovable_units_stay(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(4, 4, false, 4);
        Loads l = loads_of(s);
        SpreadUnit units[3];

        new_units(units, 3);
        for (size_t i = 0; i < 3; i++) {
                units[i].cpu = 1;
                units[i].movable = false;
        }
        l.cpu[1] = 3;
        assert_int_equal(spread(s, s->online, NULL, &l, units, 3), 0);
        for (size_t i = 0; i < 3; i++)
                assert_int_equal(units[i].cpu, 1);
        assert_int_equal(spread(s, NULL, NULL, &l, units, 3), -EINVAL);
        free(l.cpu);
}

static void home_is_the_node(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(16, 4, false, 4);
        _cleanup_(cpuset_freep) CpuSet *home = NULL, *again = NULL, *allowed = NULL;
        int node;

        assert_int_equal(cpuset_add(&s->isolated, 5), 0);
        assert_int_equal(cpuset_add(&s->nohz_full, 6), 0);
        assert_int_equal(plan_home_cpus(s, 1, NULL, &home, &node), 0);
        assert_int_equal(node, 1);
        assert_int_equal(cpuset_count(home), 2);
        assert_true(cpuset_has(home, 4) && cpuset_has(home, 7));
        assert_int_equal(cpuset_parse_list("0-4", &allowed), 0);
        assert_int_equal(plan_home_cpus(s, 1, allowed, &again, &node), 0);
        assert_int_equal(cpuset_count(again), 1);
}

/* A memory-only node takes the nearest node by distance, not by number. */
static void home_of_an_empty_node(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(16, 4, false, 4);
        _cleanup_(cpuset_freep) CpuSet *home = NULL, *none = NULL;
        int node;

        for (int cpu = 8; cpu < 12; cpu++)
                cpuset_remove(s->nodes[2].cpus, (unsigned)cpu);
        s->nodes[2].distance[3] = 15;
        s->nodes[2].distance[1] = 30;
        s->nodes[2].distance[0] = 16;
        assert_int_equal(plan_home_cpus(s, 2, NULL, &home, &node), 0);
        assert_int_equal(node, 3);
        assert_true(cpuset_equal(home, s->nodes[3].cpus));
        assert_int_equal(cpuset_add_all(&s->isolated, s->online), 0);
        assert_int_equal(plan_home_cpus(s, 2, NULL, &none, &node), 0);
        assert_true(cpuset_is_empty(none));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(cores_before_siblings),
                cmocka_unit_test(even_over_caches),
                cmocka_unit_test(second_device_avoids_the_first),
                cmocka_unit_test(what_is_right_stays),
                cmocka_unit_test(a_difference_of_one_moves_nothing),
                cmocka_unit_test(full_cpus_are_no_targets),
                cmocka_unit_test(unmovable_units_stay),
                cmocka_unit_test(home_is_the_node),
                cmocka_unit_test(home_of_an_empty_node),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
