/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "api/url.h"

#include <errno.h>
#include <string.h>

static int hex(char c)
{
        static const char digits[] = "0123456789abcdef";
        const char *p = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

        return p ? (int)(p - digits) : -1;
}

/* Percent-decodes in place. */
static int decode(char *s)
{
        char *out = s;

        for (; *s; s++) {
                if (*s == '%') {
                        int high = hex(s[1]), low = high < 0 ? -1 : hex(s[2]), c = high * 16 + low;

                        if (low < 0 || c == 0 || c == '/')
                                return -EINVAL;
                        *out++ = (char)c;
                        s += 2;
                } else {
                        *out++ = *s;
                }
        }
        *out = '\0';
        return 0;
}

static int add_parameter(Url *u, char *pair)
{
        UrlParameter *p = &u->parameters[u->n_parameters];
        char *value = strchr(pair, '=');
        int r;

        if (u->n_parameters == URL_PARAMETERS_MAX)
                return -EINVAL;
        if (value)
                *value++ = '\0';
        r = decode(pair);
        if (r == 0 && value)
                r = decode(value);
        if (r < 0)
                return r;
        *p = (UrlParameter) { pair, value ? value : "" };
        u->n_parameters++;
        return 0;
}

int url_parse(const char *target, Url *ret)
{
        const char *question = strchrnul(target, '?');
        char *rest;

        *ret = (Url) { 0 };
        if (target[0] != '/' || strchr(target, '#'))
                return -EINVAL;
        ret->path = strndup(target, (size_t)(question - target));
        ret->query = strdup(*question ? question + 1 : "");
        if (!ret->path || !ret->query)
                return -ENOMEM;
        rest = ret->query;
        for (char *pair; (pair = strsep(&rest, "&"));)
                if (*pair && add_parameter(ret, pair) < 0)
                        return -EINVAL;
        return decode(ret->path);
}

void url_clear(Url *u)
{
        free(u->path);
        free(u->query);
        *u = (Url) { 0 };
}
