/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "api/api.h"
#include "api/mhd.h"
#include "api/peer.h"
#include "api/routes.h"

/* Inside of the server: api.c owns the sockets and the loop, http.c the requests. */

typedef struct Listener Listener;
typedef struct Connection Connection;

struct Api {
        sd_event *event;
        const ApiBackend *backend;
        void *userdata;
        ApiLimits limits;
        bool loaded; /* mhd and group, when somebody connects for the first time */
        Mhd mhd;
        gid_t group; /* who may write besides root and us; (gid_t)-1 = no such group */
        Listener *listeners;
        ApiRequest *deferred; /* requests that the backend still holds */
};

/* One socket: until somebody connects it is itself in our loop, after that libmicrohttpd's epoll descriptor
 * is; a timer for what that holds unread, and one that ends a pause for want of descriptors. */
struct Listener {
        Api *api;
        int fd;                 /* -1 = libmicrohttpd has it */
        struct MHD_Daemon *mhd; /* NULL = nobody has connected yet */
        sd_event_source *io, *timer, *pause;
        bool short_of_fds; /* was told, and goes on */
        bool closed;       /* a connection was, since libmicrohttpd began to run last */
        bool busy;         /* libmicrohttpd called us, since its descriptor was ready last */
        bool read_only;
        Connection *connections;
        Listener *next;
};

struct Connection {
        Listener *listener;
        int fd; /* libmicrohttpd's */
        Peer peer;
        bool may_write;
        sd_event_source *deadline;
        ApiRequest *request; /* the one under way */
        Connection *next;
};

struct ApiRequest {
        Api *api;
        Connection *connection;     /* NULL = the client has gone */
        struct MHD_Connection *mhd; /* valid as long as connection is */
        Url url;
        const Route *route;
        const char *id;
        char *data; /* body so far */
        size_t size;
        json_t *body;
        bool too_large; /* the body, or the target when started is false */
        bool no_memory; /* for the body */
        bool bad_target;
        bool started;   /* the head was looked at */
        bool ran;       /* the backend was asked */
        bool deferred;  /* the backend holds this request, it is in Api.deferred */
        bool suspended; /* libmicrohttpd leaves the connection alone */
        bool answered;  /* answer is set */
        bool close;     /* no further request on this connection */
        Answer answer;
        ApiRequest *previous, *next;
};

/* Callbacks for MHD_start_daemon(); cls is the Listener. */
void http_connection(void *cls, struct MHD_Connection *c, void **context,
                     enum MHD_ConnectionNotificationCode code);
void *http_target(void *cls, const char *target, struct MHD_Connection *c);
enum MHD_Result http_request(void *cls, struct MHD_Connection *c, const char *url, const char *method,
                             const char *version, const char *data, size_t *size, void **context);
void http_completed(void *cls, struct MHD_Connection *c, void **context,
                    enum MHD_RequestTerminationCode code);

/* Gives a request its answer, unless it has one, and lets its connection go on. */
void http_answer(ApiRequest *req, int error, json_t *body, const Error *e);

/* Frees a request that neither the connection nor the backend holds any more. */
void http_request_free(ApiRequest *req);
