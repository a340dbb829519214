/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/error.h"

#include <jansson.h>

/* Asks the daemon, over one connection as long as the daemon keeps it. */
typedef struct Client Client;

/* socket = NULL: api.sock, or ro.sock for reading where the former is not for us; it has to outlive the
 * client. Connects to nothing yet. NULL when memory is short. */
Client *client_new(const char *socket);

/* Closes the connection. Accepts NULL, returns NULL. */
Client *client_free(Client *c);

/* One call of the daemon's API; body may be NULL. Returns 0 with the answer, which the caller releases, or a
 * negative errno; a problem that the API answers with reads "TITLE: DETAIL". */
int client_call(Client *c, const char *method, const char *path, const json_t *body, json_t **ret, Error *e);

/* Percent-encodes one part of a path; NULL when memory is short. The caller frees. */
char *client_escape(const char *s);
