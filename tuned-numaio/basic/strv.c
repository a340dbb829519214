/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/strv.h"

#include "basic/array.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

void strv_clear(Strv *v)
{
        for (size_t i = 0; i < v->n; i++)
                free(v->items[i]);
        free(v->items);
        *v = (Strv) { 0 };
}

int strv_add(Strv *v, const char *s)
{
        char *copy = strdup(s);
        char **slot;

        if (!copy)
                return -ENOMEM;
        slot = ARRAY_APPEND(v->items, v->n);
        if (!slot) {
                free(copy);
                return -ENOMEM;
        }
        *slot = copy;
        return 0;
}

bool strv_contains(const Strv *v, const char *s)
{
        for (size_t i = 0; i < v->n; i++)
                if (strcmp(v->items[i], s) == 0)
                        return true;
        return false;
}

int strv_add_unique(Strv *v, const char *s)
{
        return strv_contains(v, s) ? 0 : strv_add(v, s);
}

int natural_compare(const char *a, const char *b)
{
        return strverscmp(a, b);
}

static int compare(const void *a, const void *b)
{
        return natural_compare(*(char *const *)a, *(char *const *)b);
}

void strv_sort(Strv *v)
{
        if (v->n > 1)
                qsort(v->items, v->n, sizeof(*v->items), compare);
}

char *strf(const char *format, ...)
{
        va_list ap;
        char *s;
        int r;

        va_start(ap, format);
        r = vasprintf(&s, format, ap);
        va_end(ap);
        return r < 0 ? NULL : s;
}
