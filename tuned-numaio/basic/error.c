/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/error.h"

#include <errno.h>
#include <stdarg.h>

int error_set(Error *e, int code, const char *where, const char *format, ...)
{
        va_list ap;

        if (!e)
                return code;
        e->code = code;
        snprintf(e->where, sizeof(e->where), "%s", where ? where : "");
        va_start(ap, format);
        vsnprintf(e->text, sizeof(e->text), format, ap);
        va_end(ap);
        return code;
}

bool error_is_refusal(int error)
{
        return error == -EIO || error == -EPERM || error == -EACCES || error == -EOPNOTSUPP;
}

bool error_is_shortage(int error)
{
        return error == -ENOMEM || error == -EMFILE || error == -ENFILE || error == -ENOBUFS;
}
