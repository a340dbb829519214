/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decisions.h"
#include "test.h"

#include <string.h>

/* A CPU that comes back in the middle of a round makes another value right: that one is tried too. */
static void a_round_tries_each_value_once(void **state)
{
        Decision d = { 0 };

        assert_true(decision_try(&d, 1, "6"));
        assert_false(decision_try(&d, 1, "6"));
        assert_true(decision_try(&d, 1, "7"));
        assert_false(decision_try(&d, 1, "7"));
        assert_true(decision_try(&d, 2, "7"));
        free(d.tried);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_round_tries_each_value_once),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
