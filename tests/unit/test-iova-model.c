/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The model of the IOVA cache in bench/: nothing is held twice, nothing is lost, and a depot shrinks by
 * magazines. */
#include "iova-flush.h"
#include "iova-load.h"
#include "iova-rule.h"
#include "test.h"

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static bool no_memory;

void *__wrap_calloc(size_t n, size_t size)
{
        return no_memory ? NULL : __real_calloc(n, size);
}

typedef struct Census {
        unsigned held;
        uint32_t room;
        uint8_t *seen;
} Census;

static void count(uint32_t iova, void *userdata)
{
        Census *c = userdata;

        assert_true(iova < c->room);
        assert_int_equal(c->seen[iova], 0);
        c->seen[iova] = 1;
        c->held++;
}

/* Everybody who holds an IOVA is asked: no one has what another has, and together they have what is in the
 * tree. */
static void take_census(Load *l)
{
        Census c = { .room = 1 << 21, .seen = calloc(1, 1 << 21) };
        IovaStats s = iova_cache_stats(load_cache(l));

        assert_non_null(c.seen);
        iova_cache_each(load_cache(l), count, &c);
        load_each(l, count, &c);
        assert_int_equal(c.held, s.tree_inserts - s.tree_erases);
        assert_int_equal(s.tree_inserts, s.alloc_miss);
        assert_int_equal(s.tree_erases, s.free_drop * IOVA_MAG_SIZE + s.free_tree);
        free(c.seen);
}

static const LoadParameters loads[] = {
        { .cpus = 1, .freeing = 1, .jobs = 1, .iodepth = 1, .queue_depth = 1, .burst = 1, .iops = 100 },
        { .cpus = 16,
          .freeing = 1,
          .jobs = 12,
          .iodepth = 256,
          .queue_depth = 256,
          .burst = 1,
          .iops = 2000,
          .moves = 10,
          .lazy = true,
          .timer = TIMER_ANY },
        { .cpus = 64,
          .freeing = 5,
          .jobs = 64,
          .iodepth = 32,
          .queue_depth = 5000,
          .burst = 2048,
          .iops = 1000000,
          .moves = 1000,
          .lazy = true },
        { .cpus = 64,
          .freeing = 64,
          .jobs = 7,
          .iodepth = 100,
          .queue_depth = 700,
          .burst = 50,
          .iops = 1000000,
          .moves = 1000 },
        { .cpus = 32,
          .freeing = 32,
          .jobs = 32,
          .iodepth = 64,
          .queue_depth = 2048,
          .burst = 1,
          .iops = 500000,
          .lazy = true },
};

static void test_nothing_is_held_twice(void **state)
{
        static const unsigned limits[] = { 0, 1, 4, 64 };

        for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++)
                for (size_t k = 0; k < sizeof(limits) / sizeof(*limits); k++) {
                        Load *l;

                        assert_null(load_check(&loads[i]));
                        assert_int_equal(load_new(&l, &loads[i], limits[k]), 0);
                        for (unsigned part = 0; part < 20; part++) {
                                load_run(l, 5000 + part);
                                take_census(l);
                        }
                        load_free(l);
                }
}

/* Each I/O allocates once and frees once; the depot keeps to its limit. */
static void test_counts_conserve(void **state)
{
        for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
                unsigned least, most, queued;
                uint64_t gets, puts;
                IovaStats s;
                Load *l;

                assert_int_equal(load_new(&l, &loads[i], 4), 0);
                load_run(l, 100000);
                s = iova_cache_stats(load_cache(l));
                gets = s.alloc_cpu + s.alloc_depot + s.alloc_miss;
                puts = s.free_cpu + s.free_depot + s.free_drop + s.free_tree;
                queued = load_queued(l);
                assert_true(loads[i].lazy || !queued);
                assert_int_equal(puts + queued, 100000);
                assert_int_equal(gets, puts + queued + load_in_flight(l));
                assert_int_equal(s.free_depot, s.alloc_depot + iova_cache_depot_size(load_cache(l)));
                load_depot_range(l, &least, &most);
                assert_true(most <= 4);
                load_free(l);
        }
}

static void test_equal_seeds(void **state)
{
        LoadParameters p = loads[1];
        IovaStats s[3];

        for (unsigned i = 0; i < 3; i++) {
                Load *l;

                p.seed = i / 2;
                assert_int_equal(load_new(&l, &p, 1), 0);
                load_run(l, 50000);
                s[i] = iova_cache_stats(load_cache(l));
                load_free(l);
        }
        assert_memory_equal(&s[0], &s[1], sizeof(s[0]));
        assert_memory_not_equal(&s[0], &s[2], sizeof(s[0]));
}

/* Takes `n` IOVAs from the tree and frees them all on one CPU. */
static IovaCache *filled(unsigned limit, unsigned n)
{
        uint32_t *iovas = calloc(n, sizeof(*iovas));
        IovaCache *c;

        assert_non_null(iovas);
        assert_int_equal(iova_cache_new(&c, 2, limit, n), 0);
        for (unsigned i = 0; i < n; i++)
                iovas[i] = iova_cache_get(c, 0);
        assert_int_equal(iova_cache_get(c, 0), IOVA_NONE);
        for (unsigned i = 0; i < n; i++)
                iova_cache_put(c, 1, iovas[i]);
        free(iovas);
        return c;
}

static void test_full_depot_drops_a_magazine(void **state)
{
        IovaCache *c = filled(3, IOVA_MAG_SIZE * 5);
        IovaStats s = iova_cache_stats(c);

        assert_int_equal(iova_cache_depot_size(c), 3);
        assert_int_equal(s.free_drop, 0);
        iova_cache_free(c);

        c = filled(3, IOVA_MAG_SIZE * 5 + 1);
        s = iova_cache_stats(c);
        assert_int_equal(iova_cache_depot_size(c), 3);
        assert_int_equal(s.free_drop, 1);
        assert_int_equal(s.tree_erases, IOVA_MAG_SIZE);
        iova_cache_free(c);
}

static void test_shrink_drops_one_magazine_at_a_time(void **state)
{
        IovaCache *c = filled(100, IOVA_MAG_SIZE * 12);
        IovaStats before = iova_cache_stats(c), after;

        assert_int_equal(iova_cache_depot_size(c), 10);
        iova_cache_set_limit(c, 2);
        assert_int_equal(iova_cache_depot_size(c), 10);
        for (unsigned left = 10; left > 2; left--) {
                assert_true(iova_cache_shrink(c));
                assert_int_equal(iova_cache_depot_size(c), left - 1);
                after = iova_cache_stats(c);
                assert_int_equal(after.tree_erases - before.tree_erases, IOVA_MAG_SIZE);
                before = after;
        }
        assert_false(iova_cache_shrink(c));
        after = iova_cache_stats(c);
        assert_memory_equal(&before, &after, sizeof(before));
        iova_cache_free(c);
}

static void test_no_memory_for_a_magazine(void **state)
{
        IovaCache *c = filled(3, IOVA_MAG_SIZE * 2);
        uint32_t iova = iova_cache_get(c, 0);
        IovaStats s;

        assert_int_equal(iova, IOVA_NONE); /* CPU 1 has them all, and no magazine is in the depot */
        iova_cache_free(c);

        c = filled(3, IOVA_MAG_SIZE * 3);
        iova = iova_cache_get(c, 0);
        assert_true(iova != IOVA_NONE);
        no_memory = true;
        iova_cache_put(c, 1, iova);
        no_memory = false;
        s = iova_cache_stats(c);
        assert_int_equal(s.free_tree, 1);
        assert_int_equal(s.tree_erases, 1);
        iova_cache_free(c);
}

static void test_full_ring_flushes(void **state)
{
        IovaCache *c;
        IovaFlush *f;

        assert_int_equal(iova_cache_new(&c, 3, 4, 1000), 0);
        assert_int_equal(iova_flush_new(&f, c, 3), 0);
        for (unsigned i = 0; i < IOVA_FQ_SIZE - 1; i++)
                iova_flush_queue(f, 1, iova_cache_get(c, 0), 5);
        iova_flush_queue(f, 2, iova_cache_get(c, 0), 6);
        assert_int_equal(iova_flush_count(f), IOVA_FQ_SIZE);
        assert_int_equal(iova_cache_stats(c).free_cpu, 0);

        /* One more than the ring takes; the other CPU frees what that flushed when it comes by. */
        iova_flush_queue(f, 1, iova_cache_get(c, 0), 7);
        assert_int_equal(iova_flush_count(f), 2);
        iova_flush_queue(f, 2, iova_cache_get(c, 0), 8);
        assert_int_equal(iova_flush_count(f), 2);
        iova_flush_free(f);
        iova_cache_free(c);
}

/* It is armed by the first CPU that queues, and frees all rings into the magazines of the CPU it runs on. */
static void test_flush_timer(void **state)
{
        IovaStats s;
        IovaCache *c;
        IovaFlush *f;

        assert_int_equal(iova_cache_new(&c, 3, 4, 2), 0);
        assert_int_equal(iova_flush_new(&f, c, 3), 0);
        assert_int_equal(iova_flush_due(f, 1e9), -1);
        iova_flush_queue(f, 1, iova_cache_get(c, 2), 5);
        iova_flush_queue(f, 2, iova_cache_get(c, 2), 6);
        assert_int_equal(iova_flush_due(f, 5 + IOVA_FQ_TIMEOUT_US - 1), -1);
        assert_int_equal(iova_flush_due(f, 5 + IOVA_FQ_TIMEOUT_US), 1);
        assert_int_equal(iova_flush_count(f), 2);
        iova_flush_timeout(f, 0);
        assert_int_equal(iova_flush_count(f), 0);
        assert_int_equal(iova_flush_due(f, 1e9), -1);
        iova_cache_get(c, 0);
        iova_cache_get(c, 0);
        s = iova_cache_stats(c);
        assert_int_equal(s.alloc_cpu, 2);
        assert_int_equal(s.alloc_miss, 2);
        iova_flush_free(f);
        iova_cache_free(c);
}

static void test_rule(void **state)
{
        static const double half = 0.5;

        assert_int_equal(rule_step(NULL, 0.4, true, 32, 64), RULE_DOUBLE);
        assert_int_equal(rule_step(NULL, 0.4, true, 33, 64), RULE_KEEP);
        assert_int_equal(rule_step(NULL, 0.4, false, 32, 64), RULE_KEEP);
        assert_int_equal(rule_step(NULL, RULE_MISS_SHARE, true, 32, 64), RULE_KEEP);
        assert_int_equal(rule_step(&half, 0.4, true, 32, 64), RULE_DOUBLE);
        assert_int_equal(rule_step(&half, 0.5, true, 32, 64), RULE_BACK);
        assert_int_equal(rule_step(&half, 0, false, 32, 64), RULE_KEEP);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_nothing_is_held_twice),
                cmocka_unit_test(test_counts_conserve),
                cmocka_unit_test(test_equal_seeds),
                cmocka_unit_test(test_full_depot_drops_a_magazine),
                cmocka_unit_test(test_shrink_drops_one_magazine_at_a_time),
                cmocka_unit_test(test_no_memory_for_a_magazine),
                cmocka_unit_test(test_full_ring_flushes),
                cmocka_unit_test(test_flush_timer),
                cmocka_unit_test(test_rule),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
