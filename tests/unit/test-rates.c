/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "report/rates.h"
#include "tree.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

static Counters parsed(const char *text)
{
        Counters c;

        assert_int_equal(counters_parse(text, &c), 0);
        return c;
}

static void the_line_is_found_and_read(void **state)
{
        Counters c = parsed("cpu  1 2 3\ncpu0 1 2 3\nintr 4294967999 9 0 7 4294967295 0\nctxt 5\n");

        assert_int_equal(c.n, 5);
        assert_int_equal(c.by_irq[0], 9);
        assert_int_equal(c.by_irq[2], 7);
        assert_int_equal(c.by_irq[3], UINT32_MAX);
        assert_int_equal(counters_between(&c, &c, 2), 0);
        assert_int_equal(counters_between(&c, &c, 5000), 0);
        counters_clear(&c);
}

static void odd_lines(void **state)
{
        static const char *const wrong[] = { "",         "intr",           "intr\n",
                                             "intr x",   "interrupts 1 2", "cpu 1\nctxt 1 2",
                                             "xintr 1 2" };
        Counters c = { 0 };

        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
                assert_int_equal(counters_parse(wrong[i], &c), -EINVAL);
        c = parsed("intr 7");
        assert_int_equal(c.n, 0);
        counters_clear(&c);
        /* What follows a word that is no number is not guessed. */
        c = parsed("intr 7 1 x 3 4\n");
        assert_int_equal(c.n, 1);
        counters_clear(&c);
}

static void a_smaller_number(void **state)
{
        Counters before = parsed("intr 1 4294967290 900000 5"), now = parsed("intr 1 10 30 5 8");

        assert_int_equal(counters_between(&before, &now, 0), 16); /* went over 32 bits */
        assert_int_equal(counters_between(&before, &now, 1), 30); /* another device's now */
        assert_int_equal(counters_between(&before, &now, 2), 0);
        assert_int_equal(counters_between(&before, &now, 3), 8); /* was not there */
        counters_clear(&before);
        counters_clear(&now);
}

static void no_file(void **state)
{
        Counters c = { 0 };
        Machine m;

        tree_init(&m);
        assert_int_equal(counters_read(m.root, &c), -ENOENT);
        tree_put(&m, "cpu 1\n", "proc/stat");
        assert_int_equal(counters_read(m.root, &c), -EINVAL);
        tree_put(&m, "cpu 1\nintr 3 1 2\n", "proc/stat");
        assert_int_equal(counters_read(m.root, &c), 0);
        assert_int_equal(c.n, 2);
        counters_clear(&c);
        machine_done(&m);
}

static CpuSet *cpus(const char *list)
{
        CpuSet *s;

        assert_int_equal(cpuset_parse_list(list, &s), 0);
        return s;
}

static void add_device(Snapshot *s, const char *id, int node)
{
        Device *d = ARRAY_APPEND(s->devices, s->n_devices);

        *d = (Device) { .id = strdup(id), .driver = strdup("x"), .node = node };
}

static void add_vector(Snapshot *s, unsigned irq, const char *effective)
{
        Device *d = &s->devices[s->n_devices - 1];
        Vector *v = ARRAY_APPEND(d->vectors, d->n_vectors);

        *v = (Vector) { .irq = irq, .affinity = cpus("0-7"), .effective = cpus(effective) };
}

static double at(const json_t *o, const char *list, size_t i, const char *key)
{
        const json_t *item = list ? json_array_get(json_object_get(o, list), i) : o;

        assert_true(json_is_real(json_object_get(item, key)));
        return json_real_value(json_object_get(item, key));
}

static json_t *rates_of(const Snapshot *s, const Counters *before, const Counters *now, uint64_t usec)
{
        _cleanup_(freep) char *text = report_rates(s, NULL, before, now, usec);
        json_t *rates;

        assert_non_null(text);
        rates = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(rates);
        return rates;
}

static void local_and_remote(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = snapshot_new();
        Counters before = parsed("intr 0 0 100 100 100 7"), now = parsed("intr 0 0 140 110 120 8");
        json_t *rates;

        for (int i = 0; i < 2; i++) {
                Node *n = ARRAY_APPEND(s->nodes, s->n_nodes);

                *n = (Node) { .id = i * 4, .cpus = cpus(i ? "4-7" : "0-3") };
        }
        add_device(s, "pci:0000:21:00.0", 4);
        add_vector(s, 1, "5");
        add_vector(s, 2, "0");
        add_device(s, "pci:0000:22:00.0", NODE_UNKNOWN);
        add_vector(s, 3, "2-5");
        add_vector(s, 4, "3");
        rates = rates_of(s, &before, &now, 2000000);
        assert_true(at(rates, NULL, 0, "window_seconds") == 2.0);
        assert_true(at(rates, NULL, 0, "per_second") == 35.5);
        assert_true(at(rates, "devices", 0, "per_second") == 25.0);
        assert_true(at(rates, "devices", 0, "local_per_second") == 20.0);
        assert_true(at(rates, "devices", 0, "remote_per_second") == 5.0);
        assert_true(at(rates, "devices", 1, "per_second") == 10.5);
        assert_true(at(rates, "devices", 1, "local_per_second") == 0.0);
        assert_true(at(rates, "devices", 1, "remote_per_second") == 0.0);
        assert_true(at(rates, "nodes", 0, "per_second") == 5.5); /* the one over both nodes is in none */
        assert_true(at(rates, "nodes", 1, "per_second") == 20.0);
        json_decref(rates);
        counters_clear(&before);
        counters_clear(&now);
}

/* Whatever a device is called and however much it does. */
static void odd_names_and_numbers(void **state)
{
        static const struct {
                const char *id, *shown;
        } names[] = { { "iscsi:a\"\\b:c", "iscsi:a\"\\b:c" },
                      { "iscsi:\xc3\xa4:\t", "iscsi:\xc3\xa4:\t" },
                      { "wq:\xff", "wq:?" } };
        _cleanup_(snapshot_freep) Snapshot *s = snapshot_new();
        Counters before = parsed("intr 0 0 0 0"), now = parsed("intr 0 2 12345678 1");
        const json_t *device;
        json_t *rates;

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                add_device(s, names[i].id, NODE_UNKNOWN);
                add_vector(s, (unsigned)i, "0");
        }
        rates = rates_of(s, &before, &now, 3000001);
        assert_true(at(rates, NULL, 0, "window_seconds") == 3.000001);
        assert_int_equal(json_array_size(json_object_get(rates, "nodes")), 0);
        assert_true(at(rates, "devices", 0, "per_second") == 0.667);
        assert_true(at(rates, "devices", 1, "per_second") == 4115224.628);
        assert_true(at(rates, "devices", 2, "per_second") == 0.333);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                device = json_array_get(json_object_get(rates, "devices"), i);
                assert_string_equal(json_string_value(json_object_get(device, "id")), names[i].shown);
                assert_true(json_is_null(json_object_get(device, "node")));
        }
        json_decref(rates);
        counters_clear(&before);
        counters_clear(&now);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_line_is_found_and_read), cmocka_unit_test(odd_lines),
                cmocka_unit_test(a_smaller_number),           cmocka_unit_test(no_file),
                cmocka_unit_test(local_and_remote),           cmocka_unit_test(odd_names_and_numbers),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
