/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/parse.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

static int parse_number(const char *s, long min, long max, long *ret)
{
        char *end;
        long v;

        errno = 0;
        v = strtol(s, &end, 10);
        if (end == s)
                return -EINVAL;
        while (isspace((unsigned char)*end))
                end++;
        if (*end != '\0')
                return -EINVAL;
        if (errno == ERANGE || v < min || v > max)
                return -ERANGE;
        *ret = v;
        return 0;
}

int parse_unsigned(const char *s, unsigned *ret)
{
        long v;
        int r;

        r = parse_number(s, 0, UINT_MAX, &v);
        if (r < 0)
                return r;
        *ret = (unsigned)v;
        return 0;
}

int parse_int(const char *s, int *ret)
{
        long v;
        int r;

        r = parse_number(s, INT_MIN, INT_MAX, &v);
        if (r < 0)
                return r;
        *ret = (int)v;
        return 0;
}
