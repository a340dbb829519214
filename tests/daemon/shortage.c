/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For LD_PRELOAD: of N allocations of the process, libraries and all, one at random fails; N is
 * NUMAIO_SHORTAGE, and NUMAIO_SHORTAGE_SEED begins the random numbers. The dynamic linker's own before main()
 * do not count. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static uint64_t state, one_in;

__attribute__((constructor)) static void begin(void)
{
        const char *n = getenv("NUMAIO_SHORTAGE"), *seed = getenv("NUMAIO_SHORTAGE_SEED");

        state = seed ? strtoull(seed, NULL, 10) * 2654435761u + 88172645463325252u : 1;
        one_in = n ? strtoull(n, NULL, 10) : 0;
}

/* xorshift64 */
static bool fails(void)
{
        if (one_in == 0)
                return false;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if (state % one_in != 0)
                return false;
        errno = ENOMEM;
        return true;
}

void *malloc(size_t size)
{
        return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
        return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
        return fails() ? NULL : __libc_realloc(p, size);
}
