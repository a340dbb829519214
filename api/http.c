/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "api/http.h"

#include "basic/log.h"
#include "basic/strv.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* ---- connections ---- */

/* Time is up: a deferred request is answered so, anybody else is cut off. libmicrohttpd's own timeout knows
 * inactivity alone, and one byte a second keeps that busy for ever. */
static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
        Connection *c = userdata;
        Error e = { 0 };

        if (c->request && c->request->suspended) {
                (void)error_set(&e, -ETIMEDOUT, NULL,
                                "it is still being carried out, /v1/decisions says what was done");
                http_answer(c->request, -ETIMEDOUT, NULL, &e);
        } else {
                (void)shutdown(c->fd, SHUT_RDWR);
        }
        return 0;
}

static void arm(Connection *c, uint64_t usec)
{
        if (sd_event_source_set_time_relative(c->deadline, usec) < 0 ||
            sd_event_source_set_enabled(c->deadline, SD_EVENT_ONESHOT) < 0)
                (void)shutdown(c->fd, SHUT_RDWR);
}

/* A user with too many connections is told so at once: one who only holds them open must not get in anybody's
 * way. */
static void refuse_connection(int fd)
{
        static const char answer[] = "HTTP/1.1 503 Service Unavailable\r\n"
                                     "Content-Type: application/problem+json\r\n"
                                     "Connection: close\r\n"
                                     "Retry-After: 1\r\n\r\n"
                                     "{\"type\":\"/problems/too-many-connections\","
                                     "\"title\":\"You have too many connections\",\"status\":503}\n";

        (void)send(fd, answer, sizeof(answer) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        (void)shutdown(fd, SHUT_RDWR);
}

static unsigned connections_of(const Listener *l, uid_t uid)
{
        unsigned n = 0;

        for (const Connection *c = l->connections; c; c = c->next)
                n += c->peer.uid == uid;
        return n;
}

static bool may_write(const Api *api, int fd, const Peer *p)
{
        return p->uid == 0 || p->uid == geteuid() ||
               (api->group != (gid_t)-1 && peer_in_group(fd, p, api->group));
}

static Connection *connection_new(Listener *l, int fd)
{
        Connection *c = calloc(1, sizeof(*c));

        if (!c || peer_get(fd, &c->peer) < 0 ||
            sd_event_add_time_relative(l->api->event, &c->deadline, CLOCK_MONOTONIC,
                                       l->api->limits.request_usec, 0, on_deadline, c) < 0) {
                free(c);
                (void)shutdown(fd, SHUT_RDWR);
                return NULL;
        }
        c->listener = l;
        c->fd = fd;
        c->may_write = !l->read_only && may_write(l->api, fd, &c->peer);
        if (c->peer.uid != 0 && connections_of(l, c->peer.uid) >= l->api->limits.connections_user)
                refuse_connection(fd);
        c->next = l->connections;
        l->connections = c;
        return c;
}

static void connection_free(Connection *c)
{
        Connection **p = &c->listener->connections;

        while (*p != c)
                p = &(*p)->next;
        *p = c->next;
        sd_event_source_disable_unref(c->deadline);
        free(c);
}

void http_connection(void *cls, struct MHD_Connection *mhd, void **context,
                     enum MHD_ConnectionNotificationCode code)
{
        ((Listener *)cls)->busy = true;
        if (code == MHD_CONNECTION_NOTIFY_STARTED) {
                const Mhd *m = &((Listener *)cls)->api->mhd;
                const union MHD_ConnectionInfo *i =
                        m->get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);

                *context = i ? connection_new(cls, i->connect_fd) : NULL;
        } else if (*context) {
                ((Listener *)cls)->closed = true;
                connection_free(*context);
                *context = NULL;
        }
}

/* ---- one request ---- */

/* The request line was read: the first sign of a request, before its headers. */
void *http_target(void *cls, const char *target, struct MHD_Connection *mhd)
{
        const Mhd *m = &((Listener *)cls)->api->mhd;
        const union MHD_ConnectionInfo *i = m->get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        Connection *c = i ? i->socket_context : NULL;
        ApiRequest *req = c ? calloc(1, sizeof(*req)) : NULL;
        int r;

        if (!req)
                return NULL;
        req->api = c->listener->api;
        req->connection = c;
        req->mhd = mhd;
        req->too_large = strlen(target) > req->api->limits.url;
        r = req->too_large ? 0 : url_parse(target, &req->url);
        if (r == -ENOMEM) {
                http_request_free(req);
                return NULL;
        }
        req->bad_target = r < 0;
        c->request = req;
        arm(c, req->api->limits.request_usec);
        return req;
}

typedef struct HeaderCount {
        const char *name;
        unsigned n;
} HeaderCount;

static enum MHD_Result count_one(void *cls, enum MHD_ValueKind kind, const char *key, const char *value)
{
        HeaderCount *h = cls;

        h->n += strcasecmp(key, h->name) == 0;
        return MHD_YES;
}

/* The getter returns the first of several, so they have to be counted. */
static unsigned count_header(const ApiRequest *req, const char *name)
{
        HeaderCount h = { name, 0 };

        (void)req->api->mhd.get_connection_values(req->mhd, MHD_HEADER_KIND, count_one, &h);
        return h.n;
}

static const char *header(const ApiRequest *req, const char *name)
{
        return req->api->mhd.lookup_connection_value(req->mhd, MHD_HEADER_KIND, name);
}

static bool is_json(const char *type)
{
        size_t n = type ? strcspn(type, "; \t") : 0;

        return n == strlen("application/json") && strncasecmp(type, "application/json", n) == 0;
}

/* How the body is delimited: one length, or chunks, and never both (request smuggling, RFC 9112, 6.3). */
static int check_framing(ApiRequest *req)
{
        const char *encoding = header(req, "Transfer-Encoding"), *length = header(req, "Content-Length");
        unsigned long long bytes = length ? strtoull(length, NULL, 10) : 0;

        unsigned n = count_header(req, "Content-Length") + count_header(req, "Transfer-Encoding");

        req->close = encoding || bytes > 0 || n > 1;
        if (n > 1 || (encoding && strcasecmp(encoding, "chunked") != 0))
                return answer_problem(&req->answer, PROBLEM_BAD_REQUEST,
                                      "the body needs one Content-Length, or Transfer-Encoding: chunked");
        if (bytes > req->api->limits.body)
                return answer_problem(&req->answer, PROBLEM_BODY_TOO_LARGE, "at most %zu bytes are taken",
                                      req->api->limits.body);
        if ((bytes > 0 || encoding) && !is_json(header(req, "Content-Type")))
                return answer_problem(&req->answer, PROBLEM_MEDIA_TYPE,
                                      "send Content-Type: application/json with it");
        return 0;
}

static int check_access(ApiRequest *req)
{
        const Connection *c = req->connection;

        if (c->listener->read_only && strcmp(req->route->method, "GET") != 0)
                return answer_problem(&req->answer, PROBLEM_READ_ONLY,
                                      "use api.sock, which is for root and the group tuned-numaio");
        if (req->route->auth == AUTH_WRITE && !c->may_write)
                return answer_problem(&req->answer, PROBLEM_FORBIDDEN,
                                      "this is for root and the group tuned-numaio");
        return 0;
}

/* Everything that can be refused before the body is there: later than this, libmicrohttpd takes no answer
 * until it has read all of it. */
static int check_head(ApiRequest *req, const char *method)
{
        int r = check_framing(req);

        if (req->too_large)
                r = answer_problem(&req->answer, PROBLEM_TARGET_TOO_LONG, "at most %zu bytes are taken",
                                   req->api->limits.url);
        else if (req->bad_target)
                r = answer_problem(&req->answer, PROBLEM_BAD_REQUEST,
                                   "the path or query is not well-formed, or hides a slash or NUL");
        if (r < 0)
                return r;
        r = route_find(method, &req->url, &req->route, &req->id, &req->answer);
        if (r == 0)
                r = check_access(req);
        if (r == 0)
                r = route_check_query(req->route, &req->url, &req->answer);
        return r;
}

/* With a newline, for people. NULL when memory is short. */
static char *answer_text(const json_t *body)
{
        _cleanup_(freep) char *dump = json_is_string(body) ? NULL : json_dumps(body, JSON_COMPACT);
        const char *text = dump ? dump : json_string_value(body);

        return text ? strf("%s\n", text) : NULL;
}

static enum MHD_Result send_answer(ApiRequest *req)
{
        const Mhd *m = &req->api->mhd;
        const Answer *a = &req->answer;
        _cleanup_(freep) char *text = answer_text(a->body);
        struct MHD_Response *response;
        enum MHD_Result r;

        if (!text)
                return MHD_NO; /* closes the connection */
        response = m->create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_COPY);
        if (!response)
                return MHD_NO;
        (void)m->add_response_header(response, "Content-Type",
                                     a->problem ? "application/problem+json" : "application/json");
        (void)m->add_response_header(response, "Cache-Control", "no-store");
        (void)m->add_response_header(response, "X-Content-Type-Options", "nosniff");
        if (*a->allow)
                (void)m->add_response_header(response, "Allow", a->allow);
        if (req->close)
                (void)m->add_response_header(response, "Connection", "close");
        r = m->queue_response(req->mhd, (unsigned)a->status, response);
        m->destroy_response(response);
        return r;
}

static void take_data(ApiRequest *req, const char *data, size_t size)
{
        char *p;

        req->too_large = req->too_large || req->size + size > req->api->limits.body;
        if (req->too_large || req->no_memory)
                return;
        p = realloc(req->data, req->size + size);
        if (!p) {
                req->no_memory = true;
                return;
        }
        memcpy(p + req->size, data, size);
        req->data = p;
        req->size += size;
}

static void defer(ApiRequest *req)
{
        Api *api = req->api;

        req->deferred = true;
        req->next = api->deferred;
        if (req->next)
                req->next->previous = req;
        api->deferred = req;
}

static void undefer(ApiRequest *req)
{
        if (req->previous)
                req->previous->next = req->next;
        else
                req->api->deferred = req->next;
        if (req->next)
                req->next->previous = req->previous;
        req->previous = req->next = NULL;
        req->deferred = false;
}

/* The whole request is there. */
static void run(ApiRequest *req)
{
        const Peer *p = &req->connection->peer;
        Call call = { req->api->backend, req->api->userdata, req, req->route, &req->url, req->id, NULL };

        req->ran = true;
        if (req->too_large)
                (void)answer_problem(&req->answer, PROBLEM_BODY_TOO_LARGE, "at most %zu bytes are taken",
                                     req->api->limits.body);
        else if (req->no_memory)
                (void)answer_problem(&req->answer, PROBLEM_NO_MEMORY, "there is no room for the body");
        if (req->too_large || req->no_memory ||
            route_parse_body(req->route, req->data, req->size, &req->body, &req->answer) < 0) {
                req->answered = true;
                return;
        }
        if (req->route->auth == AUTH_WRITE)
                log_info("%s %s for user %u, process %d", req->route->method, req->route->path,
                         (unsigned)p->uid, (int)p->pid);
        call.body = req->body;
        /* It may be done before this returns. */
        defer(req);
        if (route_run(&call, &req->answer) != API_DEFERRED) {
                undefer(req);
                req->answered = true;
        }
}

enum MHD_Result http_request(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
                             const char *version, const char *data, size_t *size, void **context)
{
        ApiRequest *req = *context;

        ((Listener *)cls)->busy = true;
        if (!req)
                return MHD_NO;
        if (!req->started) {
                req->started = true;
                if (check_head(req, method) == 0)
                        req->close = false;
                else if (req->close)
                        return send_answer(req);
                else
                        /* An answer at this point always ends the connection. */
                        req->ran = req->answered = true;
                return MHD_YES;
        }
        if (*size > 0) {
                take_data(req, data, *size);
                *size = 0;
                return MHD_YES;
        }
        if (!req->ran)
                run(req);
        if (req->answered)
                return send_answer(req);
        arm(req->connection, req->api->limits.deferred_usec);
        req->suspended = true;
        req->api->mhd.suspend_connection(mhd);
        return MHD_YES;
}

void http_answer(ApiRequest *req, int error, json_t *body, const Error *e)
{
        if (!req->connection || req->answered) {
                json_decref(body);
                return;
        }
        answer_result(&req->answer, error, body, e);
        req->answered = true;
        arm(req->connection, req->api->limits.request_usec);
        if (req->suspended) {
                req->suspended = false;
                req->api->mhd.resume_connection(req->mhd);
                /* That alone wakes nobody. */
                (void)sd_event_source_set_time_relative(req->connection->listener->timer, 0);
                (void)sd_event_source_set_enabled(req->connection->listener->timer, SD_EVENT_ONESHOT);
        }
}

void http_request_free(ApiRequest *req)
{
        answer_clear(&req->answer);
        url_clear(&req->url);
        json_decref(req->body);
        free(req->data);
        free(req);
}

void http_completed(void *cls, struct MHD_Connection *mhd, void **context,
                    enum MHD_RequestTerminationCode code)
{
        ApiRequest *req = *context;

        if (!req)
                return;
        *context = NULL;
        req->connection->request = NULL;
        arm(req->connection, req->api->limits.idle_usec);
        req->connection = NULL;
        if (!req->deferred)
                http_request_free(req);
}

void api_request_done(ApiRequest *req, int error, json_t *body, const Error *e)
{
        undefer(req);
        http_answer(req, error, body, e);
        if (!req->connection)
                http_request_free(req);
}
