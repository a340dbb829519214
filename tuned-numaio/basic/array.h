/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

/* Makes room for one more element of `size` bytes in the array *items that holds `n` elements; the array
 * grows by powers of two, so its room follows from n. The new element is zeroed. Returns 0 or -ENOMEM
 * (nothing changed then). The array is freed with free(). */
int array_grow(void *items, size_t n, size_t size);

/* Appends a zeroed element to array/count pair (a, n): evaluates to its address, or NULL when memory is
 * short. */
#define ARRAY_APPEND(a, n) (array_grow(&(a), (n), sizeof(*(a))) < 0 ? NULL : &(a)[(n)++])
