/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/cleanup.h"

#include <stdbool.h>

#define ERRNO_MAX 4095 /* no error of the kernel is larger; include/linux/err.h: MAX_ERRNO */

/* A failure that a person will read. The same words travel to the command line, the journal and the API.
 * Plain data of fixed size: nothing to free, and it can be filled when memory is short. */
typedef struct Error {
        int code;        /* negative errno; 0 = no error */
        char where[512]; /* "FILE:LINE:COLUMN", or the object's name; "" = nothing more exact than the text */
        char text[512];  /* a sentence without a full stop: what is wrong and what to do */
} Error;

/* Fills *e (which may be NULL) and returns code, so that a caller can write "return error_set(...)".
 * code is a negative errno. where may be NULL. */
int error_set(Error *e, int code, const char *where, const char *format, ...) _printf_(4, 5);

/* Whether a negative errno says that the process or the system is short of memory or descriptors (ENOMEM,
 * EMFILE, ENFILE, ENOBUFS), and nothing about what was asked for. */
bool error_is_shortage(int error);

/* Whether the negative errno of a write says that this file cannot be written at all (EIO, EPERM, EACCES), or
 * never has what would be written (EOPNOTSUPP); others (ENOSPC, EINVAL) depend on the value. */
bool error_is_refusal(int error);
