/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int array_grow(void *items, size_t n, size_t size)
{
        char **base = items;

        if (n == 0 || (n & (n - 1)) == 0) {
                char *p = reallocarray(*base, n ? n * 2 : 1, size);

                if (!p)
                        return -ENOMEM;
                *base = p;
        }
        memset(*base + n * size, 0, size);
        return 0;
}
