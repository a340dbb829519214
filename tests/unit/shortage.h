/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shortage of memory on order: the linker's --wrap leads the allocations of the project's own objects here.
 * Those inside libyaml, libnl, libmicrohttpd, libsystemd, libudev and the C library are not touched (but for
 * the functions below, which fail as a whole), nor are those of jansson, which ends the process
 * (basic/memory.h). */

#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <jansson.h>
#include <search.h>
#include <string.h>

static struct {
        bool armed;
        bool for_good;             /* every one from `at` on, and not that one alone */
        unsigned long at, n, step; /* step: every so many are tried; 0 = every one */
        void *trace[24];           /* where the first one failed */
        int depth;
} shortage;

static inline bool shortage_now(void)
{
        if (!shortage.armed)
                return false;
        shortage.n++;
        if (shortage.n == shortage.at)
                shortage.depth = backtrace(shortage.trace, 24);
        if (shortage.for_good ? shortage.n < shortage.at : shortage.n != shortage.at)
                return false;
        errno = ENOMEM;
        return true;
}

#define WRAP(type, name, parameters, ...)          \
        type __real_##name parameters;             \
        type __wrap_##name parameters;             \
        type __wrap_##name parameters              \
        {                                          \
                if (shortage_now())                \
                        return (type)0;            \
                return __real_##name(__VA_ARGS__); \
        }

WRAP(void *, malloc, (size_t size), size)
WRAP(void *, calloc, (size_t n, size_t size), n, size)
WRAP(void *, realloc, (void *p, size_t size), p, size)
WRAP(void *, reallocarray, (void *p, size_t n, size_t size), p, n, size)
WRAP(char *, strdup, (const char *s), s)
WRAP(char *, strndup, (const char *s, size_t n), s, n)
WRAP(FILE *, open_memstream, (char **text, size_t *size), text, size)
WRAP(DIR *, fdopendir, (int fd), fd)
WRAP(char *, realpath, (const char *path, char *to), path, to)
WRAP(void *, tsearch, (const void *key, void **root, int (*compare)(const void *, const void *)), key, root,
     compare)

int __real_vasprintf(char **s, const char *format, va_list ap);
int __wrap_vasprintf(char **s, const char *format, va_list ap);
int __wrap_vasprintf(char **s, const char *format, va_list ap)
{
        return shortage_now() ? -1 : __real_vasprintf(s, format, ap);
}

int __wrap_asprintf(char **s, const char *format, ...);
int __wrap_asprintf(char **s, const char *format, ...)
{
        va_list ap;
        int r;

        va_start(ap, format);
        r = __wrap_vasprintf(s, format, ap);
        va_end(ap);
        return r;
}

/* With _FORTIFY_SOURCE they have other names. */
int __wrap___vasprintf_chk(char **s, int flag, const char *format, va_list ap);
int __wrap___vasprintf_chk(char **s, int flag, const char *format, va_list ap)
{
        return __wrap_vasprintf(s, format, ap);
}

int __wrap___asprintf_chk(char **s, int flag, const char *format, ...);
int __wrap___asprintf_chk(char **s, int flag, const char *format, ...)
{
        va_list ap;
        int r;

        va_start(ap, format);
        r = __wrap_vasprintf(s, format, ap);
        va_end(ap);
        return r;
}

/* For what a piece of work does that is not to be disturbed. */
static inline void shortage_over(void)
{
        shortage.armed = false;
}

/* To be called first in main(). */
static inline void shortage_init(void)
{
        void *warm[1];

        (void)backtrace(warm, 1); /* it allocates the first time */
}

/* Work that may run short: 0 with a text of what it has made, which the caller frees, or a negative errno.
 * What it takes over from `data` is whole afterwards. */
typedef int (*ShortageWork)(void *data, char **ret);
/* After each run: whether all is as it has to be. It fails the test itself. */
typedef void (*ShortageCheck)(void *data, int result);

/* At most so many of the allocations that went wrong are told for one piece of work. */
#define SHORTAGE_TOLD 8u

static inline void shortage_tell(int r, const char *text, const char *want)
{
        size_t at = 0;

        print_message("allocation %lu of %lu%s: ", shortage.at, shortage.n,
                      shortage.for_good ? " and all later ones" : "");
        if (r < 0) {
                print_message("%s", strerrorname_np(-r));
        } else {
                while (text[at] && text[at] == want[at])
                        at++;
                at = at > 40 ? at - 40 : 0;
                print_message("\"%.120s\" instead of \"%.120s\"", text + at, want + at);
        }
        print_message("; it was asked for at\n");
        backtrace_symbols_fd(shortage.trace, shortage.depth, 2);
}

/* One run with the allocation `at` failing. Returns whether there was one. */
static inline bool shortage_run(ShortageWork work, ShortageCheck check, void *data, const char *want,
                                unsigned long at, unsigned *n_wrong)
{
        char *text = NULL;
        int r;

        shortage.at = at;
        shortage.n = 0;
        shortage.armed = true;
        r = work(data, &text);
        shortage.armed = false;
        if (r != -ENOMEM && (r < 0 || strcmp(text, want) != 0) && (*n_wrong)++ < SHORTAGE_TOLD)
                shortage_tell(r, text, want);
        assert_true(r == 0 || !text);
        free(text);
        if (check)
                check(data, r);
        return shortage.n >= at;
}

/* Fails every allocation of the work in its turn, once that one alone and once all from there on, until a run
 * has no such one. A run ends with -ENOMEM, or with the same text as an undisturbed one. */
static inline void shortage_everywhere(ShortageWork work, ShortageCheck check, void *data)
{
        char *want = NULL;
        unsigned long step = shortage.step ? shortage.step : 1, at = 1 + (unsigned long)getpid() % step,
                      first = at;
        unsigned n_wrong = 0;

        assert_int_equal(work(data, &want), 0);
        if (check)
                check(data, 0);
        shortage.for_good = false;
        while (shortage_run(work, check, data, want, at, &n_wrong))
                at += step;
        shortage.for_good = true;
        for (unsigned long i = first; i < at; i += step * (1 + at / step / 100))
                (void)shortage_run(work, check, data, want, i, &n_wrong);
        print_message("%lu allocations failed, each in its turn; %u runs did not end as they have to\n",
                      (at - first) / step, n_wrong);
        assert_int_equal(n_wrong, 0);
        free(want);
}
