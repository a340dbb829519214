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
#include <sys/resource.h>
#include <unistd.h>

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

/* Makes a limit of this process (RLIMIT_FSIZE ...) smaller. Returns the one before, for limit_restore(). */
static inline rlim_t limit_lower(int what, rlim_t to)
{
        struct rlimit limit;
        rlim_t before;

        assert_int_equal(getrlimit(what, &limit), 0);
        before = limit.rlim_cur;
        limit.rlim_cur = to;
        assert_int_equal(setrlimit(what, &limit), 0);
        return before;
}

static inline void limit_restore(int what, rlim_t to)
{
        struct rlimit limit;

        assert_int_equal(getrlimit(what, &limit), 0);
        limit.rlim_cur = to;
        assert_int_equal(setrlimit(what, &limit), 0);
}

/* The descriptor that the next open(2) would give: as RLIMIT_NOFILE it leaves none. */
static inline rlim_t next_descriptor(void)
{
        int fd = dup(STDIN_FILENO);

        assert_true(fd >= 0);
        close(fd);
        return (rlim_t)fd;
}
