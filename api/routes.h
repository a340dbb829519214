/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "api/api.h"
#include "api/problem.h"
#include "api/url.h"

/* The closed table of routes, and everything about a request besides the transport. */

typedef enum Auth { AUTH_READ, AUTH_WRITE } Auth;

/* One parameter of the query that a list is filtered by: exact match of an item's member of the same name. */
typedef struct Filter {
        const char *name;
        bool (*valid)(const char *value); /* NULL = any text */
} Filter;

/* What is sent back. */
typedef struct Answer {
        int status;
        json_t *body;   /* NULL when memory is short */
        bool problem;   /* body is an RFC 9457 problem */
        char allow[32]; /* the Allow header of a 405, "" otherwise */
} Answer;

typedef struct Call Call;

typedef struct Route {
        const char *method;
        const char *path; /* its last part may be {id} */
        Auth auth;
        int (*run)(const Call *call, Answer *a); /* 0, or API_DEFERRED */
        const Filter *filters;                   /* ended by a row without name; NULL = no parameters */
        const char *const *body_keys;            /* NULL-terminated, all strings; NULL = takes no body */
} Route;

/* A request whose head was accepted. */
struct Call {
        const ApiBackend *backend;
        void *userdata;
        ApiRequest *request;
        const Route *route;
        const Url *url;
        const char *id;     /* what {id} stands for; points into url */
        const json_t *body; /* NULL = none */
};

const Route *routes_all(size_t *ret_n);

/* Finds the route. Returns 0 with *ret and *ret_id, else -EINVAL with the answer (404, or 405 with Allow). */
int route_find(const char *method, const Url *u, const Route **ret, const char **ret_id, Answer *a);

/* Checks the query against the route's table. Returns 0, or -EINVAL with the answer (400). */
int route_check_query(const Route *r, const Url *u, Answer *a);

/* Parses a body; no bytes give NULL. Returns 0, or -EINVAL with the answer (400). The caller releases. */
int route_parse_body(const Route *r, const char *data, size_t size, json_t **ret, Answer *a);

/* Calls the backend. Returns 0 with the answer, or API_DEFERRED. */
int route_run(const Call *call, Answer *a);

/* The answer to a write: the problem for a negative errno, else body, whose reference is taken over. */
void answer_result(Answer *a, int error, json_t *body, const Error *e);

/* A problem with a sentence about it; returns -EINVAL. */
int answer_problem(Answer *a, Problem p, const char *format, ...) _printf_(3, 4);

void answer_clear(Answer *a);
