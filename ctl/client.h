/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/error.h"

#include <jansson.h>

/* One call of the daemon's API. socket = NULL: api.sock, or ro.sock for reading where the former is not for
 * us. body may be NULL. Returns 0 with the answer, which the caller releases, or a negative errno; a problem
 * that the API answers with reads "TITLE: DETAIL". */
int client_call(const char *socket, const char *method, const char *path, const json_t *body, json_t **ret,
                Error *e);

/* Percent-encodes one part of a path; NULL when memory is short. The caller frees. */
char *client_escape(const char *s);
