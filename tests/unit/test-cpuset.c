/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/cpuset.h"
#include "test.h"

#include <errno.h>
#include <string.h>

static void expect_list(const char *text, const char *want)
{
        _cleanup_(cpuset_freep) CpuSet *s = NULL;
        _cleanup_(freep) char *got = NULL;

        assert_int_equal(cpuset_parse_list(text, &s), 0);
        got = cpuset_format_list(s);
        assert_string_equal(got, want);
}

static void expect_mask(const char *text, const char *want)
{
        _cleanup_(cpuset_freep) CpuSet *s = NULL;
        _cleanup_(freep) char *got = NULL;

        assert_int_equal(cpuset_parse_mask(text, &s), 0);
        got = cpuset_format_list(s);
        assert_string_equal(got, want);
}

static void lists(void **state)
{
        expect_list("0-3,8", "0-3,8");
        expect_list("0,1,2,3\n", "0-3");
        expect_list(" 5 \n", "5");
        expect_list("", "");
        expect_list("\n", "");
        expect_list("  (null)\n", "");
        expect_list("0-31:2/8", "0-1,8-9,16-17,24-25");
        expect_list("10000-10001,20000-20001,40000,65534-65535", "10000-10001,20000-20001,40000,65534-65535");
        expect_list("0-130:3/64", "0-2,64-66,128-130");
        expect_list("63-64,126-193", "63-64,126-193");
        expect_list("0-63", "0-63");
        expect_list("1-3:0/2", "");
        expect_list("0-65535:65535/65535,65535", "0-65535");
        expect_list("8191", "8191");
        expect_list("3,1,2", "1-3");
}

static void bad_lists(void **state)
{
        static const char *const bad[] = { "a",  "1-",  "-1",  "3-1",     "1,,2",   "1,",
                                           ",1", "1 2", "0x3", "1-2:0/0", "1-4:3/2" };
        CpuSet *s = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
                assert_int_equal(cpuset_parse_list(bad[i], &s), -EINVAL);
        assert_int_equal(cpuset_parse_list("65536", &s), -ERANGE);
        assert_int_equal(cpuset_parse_list("99999999999999999999", &s), -ERANGE);
        assert_null(s);
}

static void masks(void **state)
{
        expect_mask("ff", "0-7");
        expect_mask("ff,ffffc000,000fffff,fc000000\n", "26-51,78-103");
        expect_mask("0", "");
        expect_mask("00000000,00000000", "");
        expect_mask("0xf", "0-3");
        expect_mask("1,00000000", "32");
}

static void bad_masks(void **state)
{
        static const char *const bad[] = { "zz", "ff,,0", ",ff", "ff,", "0-3", "1,2g" };
        CpuSet *s = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
                assert_int_equal(cpuset_parse_mask(bad[i], &s), -EINVAL);
        assert_null(s);
}

static void mask_has_all_groups(void **state)
{
        _cleanup_(cpuset_freep) CpuSet *s = NULL;
        _cleanup_(freep) char *wide = NULL, *narrow = NULL;

        assert_int_equal(cpuset_add(&s, 1), 0);
        wide = cpuset_format_mask(s, 70);
        assert_string_equal(wide, "00000000,00000000,00000002");
        assert_int_equal(cpuset_add(&s, 32), 0);
        narrow = cpuset_format_mask(s, 8);
        assert_string_equal(narrow, "00000001,00000002");
}

/* Every second of 8,192 CPUs: list and mask go through and come back. */
static void eight_thousand_cpus(void **state)
{
        _cleanup_(cpuset_freep) CpuSet *s = NULL, *from_list = NULL, *from_mask = NULL;
        _cleanup_(freep) char *list = NULL, *mask = NULL;

        for (unsigned cpu = 0; cpu < 8192; cpu += 2)
                assert_int_equal(cpuset_add(&s, cpu), 0);
        assert_int_equal(cpuset_count(s), 4096);
        list = cpuset_format_list(s);
        mask = cpuset_format_mask(s, 8192);
        assert_int_equal(strlen(list), 19925 - 1);
        assert_int_equal(strlen(mask), 8192 / 4 + 255);
        assert_int_equal(cpuset_parse_list(list, &from_list), 0);
        assert_int_equal(cpuset_parse_mask(mask, &from_mask), 0);
        assert_true(cpuset_equal(s, from_list));
        assert_true(cpuset_equal(s, from_mask));
}

static void sets_of_different_size(void **state)
{
        _cleanup_(cpuset_freep) CpuSet *small = NULL, *large = NULL;

        assert_int_equal(cpuset_parse_list("1-2", &small), 0);
        assert_int_equal(cpuset_parse_list("1-2,5000", &large), 0);
        assert_true(cpuset_is_subset(small, large));
        assert_false(cpuset_is_subset(large, small));
        assert_false(cpuset_equal(small, large));
        cpuset_keep(large, small);
        assert_true(cpuset_equal(small, large));
        cpuset_remove(large, 1);
        assert_int_equal(cpuset_next(large, -1), 2);
        assert_int_equal(cpuset_next(large, 2), -1);
        assert_true(cpuset_is_empty(NULL));
        assert_true(cpuset_is_subset(NULL, small));
        assert_false(cpuset_intersects(NULL, small));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(lists),
                cmocka_unit_test(bad_lists),
                cmocka_unit_test(masks),
                cmocka_unit_test(bad_masks),
                cmocka_unit_test(mask_has_all_groups),
                cmocka_unit_test(eight_thousand_cpus),
                cmocka_unit_test(sets_of_different_size),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
