/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Scope cleanup with ownership transfer: a variable marked _cleanup_(f) is released when its scope ends,
 * unless it was handed on by STEAL_PTR() or STEAL_FD(). */
#define _cleanup_(f) __attribute__((cleanup(f)))

/* Defines NAMEp(), the form that _cleanup_() takes, for a destructor that accepts NULL. */
#define DEFINE_CLEANUP(type, func)           \
        static inline void func##p(type **p) \
        {                                    \
                if (*p)                      \
                        func(*p);            \
        }

#define STEAL_PTR(p)                       \
        ({                                 \
                __typeof__(p) *_pp = &(p); \
                __typeof__(p) _v = *_pp;   \
                *_pp = NULL;               \
                _v;                        \
        })

#define STEAL_FD(fd)              \
        ({                        \
                int *_pf = &(fd); \
                int _f = *_pf;    \
                *_pf = -1;        \
                _f;               \
        })

#define ARRAY_SIZE(a)  (sizeof(a) / sizeof((a)[0]))
#define _printf_(f, a) __attribute__((format(printf, f, a)))

static inline void freep(void *p)
{
        free(*(void **)p);
}

static inline void closep(const int *fd)
{
        if (*fd >= 0)
                close(*fd);
}

static inline void fclosep(FILE **f)
{
        if (*f)
                fclose(*f);
}
