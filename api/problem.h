/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/error.h"

#include <jansson.h>

/* The kinds of problems that the API answers with (RFC 9457): one table, which the documentation is held
 * against. */
typedef enum Problem {
        PROBLEM_BAD_REQUEST,
        PROBLEM_BAD_PARAMETER,
        PROBLEM_BAD_BODY,
        PROBLEM_FORBIDDEN,
        PROBLEM_READ_ONLY,
        PROBLEM_NOT_FOUND,
        PROBLEM_METHOD,
        PROBLEM_BUSY,
        PROBLEM_BODY_TOO_LARGE,
        PROBLEM_TARGET_TOO_LONG,
        PROBLEM_MEDIA_TYPE,
        PROBLEM_INTERNAL,
        PROBLEM_NOT_IMPLEMENTED,
        PROBLEM_NO_MEMORY,
        PROBLEM_NO_WRITER,
        PROBLEM_TIMEOUT,
        _PROBLEM_MAX,
} Problem;

typedef struct ProblemKind {
        int status;
        const char *slug;
        const char *title;
} ProblemKind;

/* The row of a kind; never NULL. */
const ProblemKind *problem_kind(Problem p);

/* The kind for a backend's negative errno. */
Problem problem_of_errno(int error);

/* {type, title, status, detail, where?}; NULL when memory is short. */
json_t *problem_json(Problem p, const Error *e);
