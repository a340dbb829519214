/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What cmocka.h wants to be included before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define SCRATCH_MAX 96 /* leaves room for the name of a socket */

/* Makes a folder below TMPDIR, or /tmp, and puts its path into `ret`; whoever asked for it removes it. */
static inline void scratch_make(char ret[SCRATCH_MAX], const char *name)
{
        const char *top = getenv("TMPDIR");

        assert_in_range(snprintf(ret, SCRATCH_MAX, "%s/numaio-%s-XXXXXX", top && *top ? top : "/tmp", name),
                        0, SCRATCH_MAX - 1);
        assert_non_null(mkdtemp(ret));
}

/* Whether an emulator runs this program, as TEST_EMULATED tells with its name; says then that a test is
 * skipped since it lacks something. */
static inline bool is_emulated(const char *test, const char *lacks)
{
        const char *emulator = getenv("TEST_EMULATED");

        if (emulator)
                print_message("skipped: %s: %s lacks %s\n", test, emulator, lacks);
        return emulator;
}
