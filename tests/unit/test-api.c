/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "api/api.h"
#include "basic/strv.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#define USEC_PER_MSEC 1000u
#define NOBODY        65534

/* A server with both kinds of socket, in one loop with its clients. */
typedef struct Env {
        char dir[SCRATCH_MAX];
        sd_event *event;
        Api *api;
        unsigned restored;
        ApiRequest *deferred;
        Error error; /* what restore answers when code is set */
} Env;

static json_t *status(void *userdata)
{
        return json_pack("{s:s}", "state", "ready");
}

static json_t *topology(void *userdata)
{
        return NULL; /* memory is short */
}

static json_t *devices(void *userdata)
{
        return json_pack("[{s:s, s:s, s:i}, {s:s, s:s, s:n}]", "id", "pci:0000:21:00.0", "class", "hba",
                         "node", 1, "id", "pci:0000:22:00.0", "class", "nic", "node");
}

static json_t *device(void *userdata, const char *id)
{
        return strcmp(id, "pci:0000:21:00.0") == 0 ? json_pack("{s:s}", "id", id) : json_null();
}

static json_t *decisions(void *userdata)
{
        return json_array();
}

static int plan(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e)
{
        *ret = json_pack("{s:[]}", "changes");
        return 0;
}

static int apply(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e)
{
        ((Env *)userdata)->deferred = req;
        return API_DEFERRED;
}

static int restore(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e)
{
        Env *env = userdata;

        if (env->error.code < 0) {
                *e = env->error;
                return e->code;
        }
        env->restored++;
        *ret = json_pack("{s:O}", "device", body ? json_object_get(body, "device") : json_null());
        return 0;
}

static const ApiBackend backend = {
        .status = status,
        .topology = topology,
        .devices = devices,
        .device = device,
        .decisions = decisions,
        .decision = device,
        .plan = plan,
        .apply = apply,
        .restore = restore,
};

static int listen_on(const Env *env, const char *name)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", env->dir, name);
        assert_true(fd >= 0);
        assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
        assert_int_equal(chmod(a.sun_path, 0666), 0);
        assert_int_equal(listen(fd, 64), 0);
        return fd;
}

static const ApiLimits limits = {
        .body = 1000,
        .url = 200,
        .connections = 16,
        .connections_user = 3,
        .request_usec = 300 * USEC_PER_MSEC,
        .idle_usec = 600 * USEC_PER_MSEC,
        .deferred_usec = 400 * USEC_PER_MSEC,
};

static int setup(void **state)
{
        Env *env = calloc(1, sizeof(*env));

        scratch_make(env->dir, "api");
        assert_int_equal(chmod(env->dir, 0755), 0);
        assert_int_equal(sd_event_new(&env->event), 0);
        assert_int_equal(api_new(env->event, &backend, env, &env->api), 0);
        api_set_limits(env->api, &limits);
        assert_int_equal(api_add_socket(env->api, listen_on(env, "api.sock"), false), 0);
        assert_int_equal(api_add_socket(env->api, listen_on(env, "ro.sock"), true), 0);
        *state = env;
        return 0;
}

static int teardown(void **state)
{
        Env *env = *state;
        static const char *const names[] = { "api.sock", "ro.sock" };

        api_free(env->api);
        sd_event_unref(env->event);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                _cleanup_(freep) char *path = strf("%s/%s", env->dir, names[i]);

                unlink(path);
        }
        rmdir(env->dir);
        free(env);
        return 0;
}

static int dial(const Env *env, const char *name)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", env->dir, name);
        assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
        return fd;
}

static uint64_t now_msec(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void turn(const Env *env, unsigned msec)
{
        for (uint64_t end = now_msec() + msec; now_msec() < end;)
                assert_true(sd_event_run(env->event, 5 * USEC_PER_MSEC) >= 0);
}

typedef struct Reply {
        int status; /* 0 = the connection was closed or nothing came */
        bool closed;
        char text[4096];
        size_t size;
        json_t *body;
} Reply;

static bool reply_is_whole(Reply *r)
{
        const char *head = strstr(r->text, "\r\n\r\n"), *length = strcasestr(r->text, "\r\nContent-Length: ");

        return head && length && strlen(head + 4) >= strtoul(length + 18, NULL, 10);
}

/* Runs the loop until a whole reply is there, the peer closes, or time is up. */
static void receive(const Env *env, int fd, unsigned msec, Reply *r)
{
        *r = (Reply) { 0 };
        for (uint64_t end = now_msec() + msec; now_msec() < end && !reply_is_whole(r);) {
                ssize_t n;

                assert_true(sd_event_run(env->event, 2 * USEC_PER_MSEC) >= 0);
                n = recv(fd, r->text + r->size, sizeof(r->text) - 1 - r->size, 0);
                if (n == 0 || (n < 0 && errno != EAGAIN)) {
                        r->closed = true;
                        break;
                }
                r->size += n > 0 ? (size_t)n : 0;
        }
        if (strncmp(r->text, "HTTP/1.1 ", 9) == 0)
                r->status = (int)strtol(r->text + 9, NULL, 10);
        if (strstr(r->text, "\r\n\r\n"))
                r->body = json_loads(strstr(r->text, "\r\n\r\n") + 4, JSON_DISABLE_EOF_CHECK, NULL);
}

static void put(int fd, const char *text)
{
        assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static const char *text_of(const Reply *r, const char *key)
{
        const char *s = json_string_value(json_object_get(r->body, key));

        return s ? s : "";
}

/* One request on its own connection. */
static void ask(const Env *env, const char *name, const char *request, Reply *r)
{
        _cleanup_(closep) int fd = dial(env, name);

        put(fd, request);
        receive(env, fd, 2000, r);
}

static void get(const Env *env, const char *target, Reply *r)
{
        _cleanup_(freep) char *request = strf("GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target);

        ask(env, "api.sock", request, r);
}

static void post(const Env *env, const char *name, const char *path, const char *body, Reply *r)
{
        _cleanup_(freep) char *request =
                strf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     path, strlen(body), body);

        ask(env, name, request, r);
}

/* Asserts the status, and that every refusal is a whole problem. */
static void expect(Reply *r, int code)
{
        assert_int_equal(r->status, code);
        assert_non_null(strcasestr(r->text, "\r\nCache-Control: no-store\r\n"));
        assert_non_null(r->body);
        if (code >= 400) {
                assert_non_null(strcasestr(r->text, "\r\nContent-Type: application/problem+json\r\n"));
                assert_int_equal(json_integer_value(json_object_get(r->body, "status")), code);
                assert_true(strncmp(text_of(r, "type"), "/problems/", 10) == 0);
                assert_true(strlen(text_of(r, "title")) > 0 && strlen(text_of(r, "detail")) > 0);
        }
        json_decref(r->body);
}

static void resources_are_read(void **state)
{
        Reply r;

        get(*state, "/healthz", &r);
        expect(&r, 200);
        get(*state, "/v1/status", &r);
        assert_string_equal(text_of(&r, "state"), "ready");
        expect(&r, 200);
        get(*state, "/v1/devices/pci%3A0000:21:00.0", &r);
        assert_string_equal(text_of(&r, "id"), "pci:0000:21:00.0");
        expect(&r, 200);
        ask(*state, "ro.sock", "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n", &r);
        expect(&r, 200);
        get(*state, "/v1/topology", &r);
        expect(&r, 503);
}

static size_t items(const Env *env, const char *target)
{
        Reply r;
        size_t n;

        get(env, target, &r);
        n = json_array_size(json_object_get(r.body, "items"));
        assert_true(json_is_null(json_object_get(r.body, "next")));
        expect(&r, 200);
        return n;
}

static void lists_are_filtered(void **state)
{
        Reply r;

        assert_int_equal(items(*state, "/v1/devices"), 2);
        assert_int_equal(items(*state, "/v1/devices?class=hba"), 1);
        assert_int_equal(items(*state, "/v1/devices?class=hba&node=1"), 1);
        assert_int_equal(items(*state, "/v1/devices?class=nic&node=1"), 0);
        assert_int_equal(items(*state, "/v1/devices?node=unknown"), 1);
        assert_int_equal(items(*state, "/v1/decisions?state=applied"), 0);
        get(*state, "/v1/devices?colour=red", &r);
        expect(&r, 400);
        get(*state, "/v1/devices?class=car", &r);
        expect(&r, 400);
        get(*state, "/v1/devices?node=1&node=2", &r);
        expect(&r, 400);
        get(*state, "/v1/decisions?state=happy", &r);
        expect(&r, 400);
        get(*state, "/v1/status?x", &r);
        expect(&r, 400);
}

static void unknown_paths_and_methods_are_refused(void **state)
{
        static const char *const missing[] = { "/",
                                               "/v1",
                                               "/v1/",
                                               "/v1/statuses",
                                               "/v1/status/",
                                               "/v1/devices/",
                                               "/v1/devices/none",
                                               "/v1/devices/a/b",
                                               "/v1/devices/%2e%2e",
                                               "/v1/../v1/status" };
        Reply r;

        for (size_t i = 0; i < ARRAY_SIZE(missing); i++) {
                get(*state, missing[i], &r);
                expect(&r, 404);
        }
        post(*state, "api.sock", "/v1/status", "", &r);
        assert_non_null(strstr(r.text, "\r\nAllow: GET, HEAD\r\n"));
        expect(&r, 405);
        get(*state, "/v1/apply", &r);
        assert_non_null(strstr(r.text, "\r\nAllow: POST\r\n"));
        expect(&r, 405);
        ask(*state, "api.sock", "FOO /v1/devices HTTP/1.1\r\nHost: x\r\n\r\n", &r);
        expect(&r, 405);
}

static void bad_targets_are_refused(void **state)
{
        static const char *const bad[] = { "/v1/devices/a%2Fb",  "/v1/devices/a%00", "/v1/devices/a%2",
                                           "/v1/devices/a%zz",   "/v1/devices?%00",  "/v1/devices?node=%",
                                           "http://x/v1/status", "/v1/status#part" };
        char deep[300];
        Reply r;

        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                get(*state, bad[i], &r);
                expect(&r, 400);
        }
        memset(deep, 'a', sizeof(deep) - 1);
        deep[0] = '/';
        deep[sizeof(deep) - 1] = '\0';
        get(*state, deep, &r);
        expect(&r, 414);
}

static void head_has_no_body(void **state)
{
        Reply r;
        _cleanup_(closep) int fd = dial(*state, "ro.sock");

        put(fd, "HEAD /v1/status HTTP/1.1\r\nHost: x\r\n\r\n");
        receive(*state, fd, 200, &r);
        assert_int_equal(r.status, 200);
        assert_null(r.body);
}

static void writes_take_one_kind_of_body(void **state)
{
        Env *env = *state;
        Reply r;

        post(env, "api.sock", "/v1/restore", "{\"device\": \"pci:1\"}", &r);
        assert_string_equal(text_of(&r, "device"), "pci:1");
        expect(&r, 200);
        post(env, "api.sock", "/v1/restore", "", &r);
        expect(&r, 200);
        post(env, "api.sock", "/v1/plan", "{}", &r);
        expect(&r, 200);
        assert_int_equal(env->restored, 2);

        post(env, "api.sock", "/v1/plan", "{\"device\": \"x\"}", &r);
        expect(&r, 400);
        post(env, "api.sock", "/v1/restore", "{\"a/b~c\": 1}", &r);
        assert_string_equal(json_string_value(json_object_get(
                                    json_array_get(json_object_get(r.body, "errors"), 0), "pointer")),
                            "/a~1b~0c");
        expect(&r, 400);
        post(env, "api.sock", "/v1/restore", "{\"device\": 1}", &r);
        expect(&r, 400);
        post(env, "api.sock", "/v1/restore", "[]", &r);
        expect(&r, 400);
        post(env, "api.sock", "/v1/restore", "{\"device\":\n}", &r);
        assert_int_equal(json_integer_value(json_object_get(
                                 json_array_get(json_object_get(r.body, "errors"), 0), "line")),
                         2);
        expect(&r, 400);
        post(env, "api.sock", "/v1/restore", "{\"device\": \"a\", \"device\": \"b\"}", &r);
        expect(&r, 400);
        ask(env, "api.sock",
            "POST /v1/restore HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
            &r);
        expect(&r, 415);
        ask(env, "api.sock", "POST /v1/restore HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", &r);
        expect(&r, 415);
        ask(env, "api.sock",
            "GET /v1/status HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
            "2\r\n\r\n{}",
            &r);
        expect(&r, 400);
        assert_int_equal(env->restored, 2);
}

static void large_bodies_are_refused_at_once(void **state)
{
        Env *env = *state;
        Reply r;

        /* Nothing of the body is sent, and the answer comes all the same. */
        ask(env, "api.sock",
            "POST /v1/restore HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            "Content-Length: 1001\r\n\r\n",
            &r);
        assert_non_null(strstr(r.text, "\r\nConnection: close\r\n"));
        expect(&r, 413);
        assert_int_equal(env->restored, 0);
}

static void chunked_bodies_are_counted(void **state)
{
        static const char head[] =
                "POST /v1/restore HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                "Transfer-Encoding: chunked\r\n\r\n";
        char large[2000], spaces[1101];
        Reply r;

        snprintf(large, sizeof(large), "%s12\r\n{\"device\": \"disk\"}\r\n0\r\n\r\n", head);
        ask(*state, "api.sock", large, &r);
        assert_string_equal(text_of(&r, "device"), "disk");
        expect(&r, 200);
        memset(spaces, ' ', sizeof(spaces) - 1);
        spaces[sizeof(spaces) - 1] = '\0';
        snprintf(large, sizeof(large), "%s44c\r\n%s\r\n0\r\n\r\n", head, spaces);
        ask(*state, "api.sock", large, &r);
        expect(&r, 413);
}

static void ambiguous_framing_is_refused(void **state)
{
        static const char *const headers[] = { "Content-Length: 2\r\nTransfer-Encoding: chunked",
                                               "Transfer-Encoding: gzip",
                                               "Content-Length: 2\r\nContent-Length: 3" };
        Env *env = *state;

        for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
                _cleanup_(freep) char *request = strf(
                        "POST /v1/restore HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\n\r\n"
                        "{}GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n",
                        headers[i]);
                Reply r;

                ask(env, "api.sock", request, &r);
                assert_int_equal(r.status, 400);
                json_decref(r.body);
        }
        assert_int_equal(env->restored, 0);
}

static void the_read_only_socket_takes_get_alone(void **state)
{
        Env *env = *state;
        Reply r;

        post(env, "ro.sock", "/v1/restore", "", &r);
        assert_string_equal(text_of(&r, "type"), "/problems/read-only-socket");
        expect(&r, 403);
        post(env, "ro.sock", "/v1/plan", "", &r);
        expect(&r, 403);
        assert_int_equal(env->restored, 0);
}

/* A connection as another user: the kernel notes who we are at connect(2). */
static int dial_as(const Env *env, const char *name, uid_t uid)
{
        int fd;

        assert_int_equal(setegid(uid), 0);
        assert_int_equal(seteuid(uid), 0);
        fd = dial(env, name);
        assert_int_equal(seteuid(0), 0);
        assert_int_equal(setegid(0), 0);
        return fd;
}

static void other_users_may_not_write(void **state)
{
        Env *env = *state;
        gid_t groups[64];
        int n = getgroups(ARRAY_SIZE(groups), groups);
        Reply r;

        if (geteuid() != 0)
                return; /* cannot be anybody else */
        assert_true(n >= 0);
        assert_int_equal(setgroups(0, NULL), 0);
        for (int i = 0; i < 2; i++) {
                _cleanup_(closep) int fd = dial_as(env, "api.sock", NOBODY);

                put(fd, i == 0 ? "POST /v1/restore HTTP/1.1\r\nHost: x\r\n\r\n"
                               : "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n");
                receive(env, fd, 2000, &r);
                expect(&r, i == 0 ? 403 : 200);
        }
        assert_int_equal(env->restored, 0);
        assert_int_equal(setgroups((size_t)n, groups), 0);
}

static void one_user_cannot_take_all_connections(void **state)
{
        Env *env = *state;
        int fds[4];
        Reply r;

        if (geteuid() != 0)
                return;
        for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
                fds[i] = dial_as(env, "ro.sock", NOBODY);
        receive(env, fds[3], 1000, &r);
        assert_int_equal(r.status, 503);
        json_decref(r.body);
        put(fds[0], "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n");
        receive(env, fds[0], 1000, &r);
        expect(&r, 200);
        for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
                close(fds[i]);
}

static void what_the_backend_says_becomes_a_problem(void **state)
{
        static const struct {
                int error, status;
        } rows[] = { { -ENOENT, 404 },     { -EBUSY, 409 },  { -ENOTCONN, 503 },
                     { -EOPNOTSUPP, 501 }, { -EINVAL, 400 }, { -EIO, 500 } };
        Env *env = *state;

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                Reply r;

                (void)error_set(&env->error, rows[i].error, "pci:1", "it did not work");
                post(env, "api.sock", "/v1/restore", "", &r);
                assert_string_equal(text_of(&r, "detail"), "it did not work");
                assert_string_equal(text_of(&r, "where"), "pci:1");
                expect(&r, rows[i].status);
        }
}

static void a_daemon_without_writer_says_501(void **state)
{
        static const ApiBackend reader = { status, topology, devices, device, decisions, device };
        Env *env = *state;
        Reply r;

        api_free(env->api);
        assert_int_equal(api_new(env->event, &reader, env, &env->api), 0);
        assert_int_equal(api_add_socket(env->api, listen_on(env, "other.sock"), false), 0);
        post(env, "other.sock", "/v1/apply", "", &r);
        expect(&r, 501);
        ask(env, "other.sock", "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n", &r);
        expect(&r, 200);
        {
                _cleanup_(freep) char *path = strf("%s/other.sock", env->dir);

                unlink(path);
        }
}

static void deferred_answers_come_later(void **state)
{
        Env *env = *state;
        _cleanup_(closep) int fd = dial(env, "api.sock");
        Reply r;

        put(fd, "POST /v1/apply HTTP/1.1\r\nHost: x\r\n\r\n");
        turn(env, 50);
        assert_non_null(env->deferred);
        post(env, "api.sock", "/v1/restore", "", &r); /* others are served meanwhile */
        expect(&r, 200);
        api_request_done(env->deferred, 0, json_pack("{s:i}", "applied", 3), NULL);
        receive(env, fd, 1000, &r);
        assert_int_equal(json_integer_value(json_object_get(r.body, "applied")), 3);
        expect(&r, 200);
        put(fd, "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n"); /* the connection goes on */
        receive(env, fd, 1000, &r);
        expect(&r, 200);
}

static void deferred_answers_have_a_time_limit(void **state)
{
        Env *env = *state;
        Reply r;

        post(env, "api.sock", "/v1/apply", "", &r);
        expect(&r, 504);
        api_request_done(env->deferred, 0, json_object(), NULL);
        turn(env, 20);
}

static void a_client_may_leave_while_it_waits(void **state)
{
        Env *env = *state;
        int fd = dial(env, "api.sock");
        Error e = { 0 };

        put(fd, "POST /v1/apply HTTP/1.1\r\nHost: x\r\n\r\n");
        turn(env, 50);
        close(fd);
        turn(env, 50);
        api_request_done(env->deferred, error_set(&e, -EIO, NULL, "no"), NULL, &e);
        turn(env, 50);

        /* And one that waits when the server ends. */
        fd = dial(env, "api.sock");
        put(fd, "POST /v1/apply HTTP/1.1\r\nHost: x\r\n\r\n");
        turn(env, 50);
        env->api = api_free(env->api);
        close(fd);
}

static void connections_are_kept_alive(void **state)
{
        _cleanup_(closep) int fd = dial(*state, "api.sock");
        Reply r;

        for (int i = 0; i < 20; i++) {
                put(fd, i % 3 == 2 ? "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n"
                                   : "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n");
                receive(*state, fd, 1000, &r);
                expect(&r, i % 3 == 2 ? 404 : 200);
        }
        receive(*state, fd, 2000, &r); /* idle */
        assert_true(r.closed);
}

static void slow_clients_are_cut_off(void **state)
{
        static const char request[] = "GET /v1/status HTTP/1.1\r\nHost: x\r\nX-Slow: yes, and it never ends";
        Env *env = *state;
        _cleanup_(closep) int fd = dial(env, "api.sock");
        uint64_t start = now_msec();
        size_t i = 0;

        /* A byte every 20 ms is activity, and no excuse. */
        while (i < sizeof(request) - 1 && send(fd, request + i, 1, MSG_NOSIGNAL) == 1) {
                turn(env, 20);
                i++;
        }
        assert_true(i < sizeof(request) - 1);
        assert_in_range(now_msec() - start, 290, 1000);
}

static void garbage_is_survived(void **state)
{
        static const char *const garbage[] = {
                "\x16\x03\x01\x02",
                "GET\r\n\r\n",
                "\r\n\r\n\r\n\r\n",
                "GET /v1/status HTTP/9.9\r\n\r\n",
                "GET /v1/status HTTP/1.1\r\n\r\n",
                "POST /v1/restore HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
                "POST /v1/restore HTTP/1.1\r\nHost: x\r\nContent-Type: "
                "application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
        };
        Env *env = *state;
        Reply r;

        for (size_t i = 0; i < ARRAY_SIZE(garbage); i++) {
                ask(env, "api.sock", garbage[i], &r);
                assert_true(r.status == 0 || r.status >= 400);
                json_decref(r.body);
        }
        get(env, "/healthz", &r);
        expect(&r, 200);
        assert_int_equal(env->restored, 0);
}

static void large_heads_are_refused(void **state)
{
        Env *env = *state;
        _cleanup_(closep) int fd = dial(env, "api.sock");
        _cleanup_(freep) char *line = strf("X-Filler: %01000d\r\n", 0);
        Reply r;

        put(fd, "GET /v1/status HTTP/1.1\r\nHost: x\r\n");
        for (int i = 0; i < 60 && send(fd, line, strlen(line), MSG_NOSIGNAL) > 0; i++)
                turn(env, 1);
        receive(env, fd, 1000, &r);
        assert_true(r.closed || r.status >= 400);
        json_decref(r.body);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(resources_are_read),
                TEST(lists_are_filtered),
                TEST(unknown_paths_and_methods_are_refused),
                TEST(bad_targets_are_refused),
                TEST(head_has_no_body),
                TEST(writes_take_one_kind_of_body),
                TEST(large_bodies_are_refused_at_once),
                TEST(chunked_bodies_are_counted),
                TEST(ambiguous_framing_is_refused),
                TEST(the_read_only_socket_takes_get_alone),
                TEST(other_users_may_not_write),
                TEST(one_user_cannot_take_all_connections),
                TEST(what_the_backend_says_becomes_a_problem),
                TEST(a_daemon_without_writer_says_501),
                TEST(deferred_answers_come_later),
                TEST(deferred_answers_have_a_time_limit),
                TEST(a_client_may_leave_while_it_waits),
                TEST(connections_are_kept_alive),
                TEST(slow_clients_are_cut_off),
                TEST(garbage_is_survived),
                TEST(large_heads_are_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
