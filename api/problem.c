/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "api/problem.h"

#include "report/report.h"

#include <errno.h>

static const ProblemKind kinds[_PROBLEM_MAX] = {
        [PROBLEM_BAD_REQUEST] = { 400, "bad-request", "The request cannot be understood" },
        [PROBLEM_BAD_PARAMETER] = { 400, "bad-parameter", "A parameter of the query is wrong" },
        [PROBLEM_BAD_BODY] = { 400, "bad-body", "The body is wrong" },
        [PROBLEM_FORBIDDEN] = { 403, "forbidden", "You may not change anything" },
        [PROBLEM_READ_ONLY] = { 403, "read-only-socket", "Nothing can be changed over this socket" },
        [PROBLEM_NOT_FOUND] = { 404, "not-found", "There is no such thing" },
        [PROBLEM_METHOD] = { 405, "method-not-allowed", "This method is not for this path" },
        [PROBLEM_BUSY] = { 409, "busy", "Something else has to end first" },
        [PROBLEM_BODY_TOO_LARGE] = { 413, "body-too-large", "The body is too large" },
        [PROBLEM_TARGET_TOO_LONG] = { 414, "target-too-long", "The path and query are too long" },
        [PROBLEM_MEDIA_TYPE] = { 415, "media-type", "The body has to be application/json" },
        [PROBLEM_INTERNAL] = { 500, "internal", "The daemon failed" },
        [PROBLEM_NOT_IMPLEMENTED] = { 501, "not-implemented", "This is not possible here" },
        [PROBLEM_NO_MEMORY] = { 503, "no-memory", "The daemon is short of memory" },
        [PROBLEM_NO_WRITER] = { 503, "no-writer", "The writer cannot be reached" },
        [PROBLEM_TIMEOUT] = { 504, "timeout", "The answer takes too long" },
};

const ProblemKind *problem_kind(Problem p)
{
        return &kinds[p];
}

Problem problem_of_errno(int error)
{
        static const struct {
                int error;
                Problem problem;
        } rows[] = {
                { -EINVAL, PROBLEM_BAD_REQUEST },
                { -ENOENT, PROBLEM_NOT_FOUND },
                { -EPERM, PROBLEM_FORBIDDEN },
                { -EACCES, PROBLEM_FORBIDDEN },
                { -EBUSY, PROBLEM_BUSY },
                { -EALREADY, PROBLEM_BUSY },
                { -EOPNOTSUPP, PROBLEM_NOT_IMPLEMENTED },
                { -ENOSYS, PROBLEM_NOT_IMPLEMENTED },
                { -ENOMEM, PROBLEM_NO_MEMORY },
                { -ENOTCONN, PROBLEM_NO_WRITER },
                { -ECONNREFUSED, PROBLEM_NO_WRITER },
                { -ECONNRESET, PROBLEM_NO_WRITER },
                { -EPIPE, PROBLEM_NO_WRITER },
                { -ETIMEDOUT, PROBLEM_TIMEOUT },
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                if (rows[i].error == error)
                        return rows[i].problem;
        return PROBLEM_INTERNAL;
}

json_t *problem_json(Problem p, const Error *e)
{
        return report_problem(kinds[p].status, kinds[p].slug, kinds[p].title, e);
}
