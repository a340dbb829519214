/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

/* The HTTP API on unix sockets; api/openapi.yaml is its contract. One thread: everything happens inside the
 * event loop, and nothing blocks. */
typedef struct Api Api;

/* One request that is being answered. */
typedef struct ApiRequest ApiRequest;

/* Returned by a callback that will answer later, by api_request_done(). */
#define API_DEFERRED 1

/* What the API asks of whoever runs it. Readers return a new reference; NULL = memory is short. A
 * single device or decision is null when there is none of this id. devices and decisions give arrays, which
 * the API filters and wraps.
 *
 * An answer that is a string is JSON text already, and sent as it is.
 *
 * rates and the writers return 0 with *ret set, API_DEFERRED, or a negative errno with the text in *e
 * (-ENOENT: no such device; -EBUSY: another one is running; -ENOTCONN: no writer; -EOPNOTSUPP: not possible
 * here). A writer that is NULL is answered with 501. body is an object whose keys were checked ("device", a
 * string, or none), or NULL when there was none; it is valid during the call. */
typedef struct ApiBackend {
        json_t *(*status)(void *userdata);
        json_t *(*topology)(void *userdata);
        json_t *(*devices)(void *userdata);
        json_t *(*device)(void *userdata, const char *id);
        json_t *(*decisions)(void *userdata);
        json_t *(*decision)(void *userdata, const char *id);
        int (*rates)(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e);
        int (*plan)(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e);
        int (*apply)(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e);
        int (*measure)(void *userdata, ApiRequest *req, const char *id, json_t **ret, Error *e);
        int (*restore)(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e);
} ApiBackend;

/* What one client may take. api_new() starts with the values in brackets. */
typedef struct ApiLimits {
        size_t body;               /* bytes of a request's body [256 KiB] */
        size_t url;                /* bytes of a request's target [2 KiB] */
        unsigned connections;      /* for each socket [32] */
        unsigned connections_user; /* for each socket and user besides root [8] */
        uint64_t request_usec;     /* to send a request, and again to take the answer [10 s] */
        uint64_t idle_usec;        /* between two requests [60 s] */
        uint64_t deferred_usec;    /* until a deferred write is answered with 504 [120 s] */
} ApiLimits;

/* backend and userdata must outlive the Api. Returns 0 or -ENOMEM. */
int api_new(sd_event *event, const ApiBackend *backend, void *userdata, Api **ret);

/* Closes the sockets and all connections. Deferred requests end here: api_request_done() must not be called
 * for them afterwards. */
Api *api_free(Api *api);
DEFINE_CLEANUP(Api, api_free)

/* Before the first socket. */
void api_set_limits(Api *api, const ApiLimits *limits);

/* Serves a listening unix socket, which belongs to the Api from here on, also on failure. A read-only one
 * takes GET alone. On the other kind root, the daemon's own user and members of the group "tuned-numaio" may
 * write (SO_PEERCRED, SO_PEERGROUPS), everybody else may read. Returns 0 or a negative errno. */
int api_add_socket(Api *api, int fd, bool read_only);

/* Answers a deferred request: body (a reference that is taken over) when error is 0, else e says what went
 * wrong. The client may have gone, or may have been answered with 504: that is no error. req is gone
 * afterwards. */
void api_request_done(ApiRequest *req, int error, json_t *body, const Error *e);
