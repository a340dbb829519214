/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "api/routes.h"

#include "api/problem.h"
#include "basic/parse.h"
#include "model/snapshot.h"
#include "report/report.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int answer_problem(Answer *a, Problem p, const char *format, ...)
{
        Error e = { 0 };
        va_list ap;

        va_start(ap, format);
        vsnprintf(e.text, sizeof(e.text), format, ap);
        va_end(ap);
        *a = (Answer) { .status = problem_kind(p)->status, .body = problem_json(p, &e), .problem = true };
        return -EINVAL;
}

void answer_clear(Answer *a)
{
        json_decref(a->body);
        *a = (Answer) { 0 };
}

/* Takes the body's reference over; NULL = memory is short. */
static int answer_ok(Answer *a, json_t *body)
{
        if (body)
                *a = (Answer) { .status = 200, .body = body };
        else
                (void)answer_problem(a, PROBLEM_NO_MEMORY, "try again later");
        return 0;
}

void answer_result(Answer *a, int error, json_t *body, const Error *e)
{
        Problem p;

        if (error >= 0) {
                (void)answer_ok(a, body);
                return;
        }
        json_decref(body);
        p = problem_of_errno(error);
        *a = (Answer) { .status = problem_kind(p)->status, .body = problem_json(p, e), .problem = true };
}

/* Whether an item's member has the value: a string or number as written, null as "unknown". */
static bool matches(const json_t *item, const UrlParameter *p)
{
        const json_t *v = json_object_get(item, p->name);
        char number[32];

        if (json_is_string(v))
                return strcmp(json_string_value(v), p->value) == 0;
        if (!json_is_integer(v))
                return strcmp(p->value, "unknown") == 0;
        snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
        return strcmp(number, p->value) == 0;
}

static bool matches_all(const json_t *item, const Url *u)
{
        for (size_t i = 0; i < u->n_parameters; i++)
                if (!matches(item, &u->parameters[i]))
                        return false;
        return true;
}

/* {items, next}: those items of the array, whose reference is taken over, that the query asks for. */
static int answer_list(const Call *c, json_t *array, Answer *a)
{
        json_t *items = array ? json_array() : NULL, *item;
        size_t i;

        json_array_foreach(array, i, item)
        {
                if (items && matches_all(item, c->url) && json_array_append(items, item) < 0) {
                        json_decref(items);
                        items = NULL;
                }
        }
        json_decref(array);
        return answer_ok(a, json_pack("{s:o, s:n}", "items", items, "next"));
}

static int answer_one(const Call *c, const char *kind, json_t *item, Answer *a)
{
        if (!json_is_null(item))
                return answer_ok(a, item);
        (void)answer_problem(a, PROBLEM_NOT_FOUND, "no %s has the id %s", kind, c->id);
        return 0;
}

static int run_health(const Call *c, Answer *a)
{
        return answer_ok(a, json_pack("{s:s}", "status", "ok"));
}

static int run_status(const Call *c, Answer *a)
{
        return answer_ok(a, c->backend->status(c->userdata));
}

static int run_topology(const Call *c, Answer *a)
{
        return answer_ok(a, c->backend->topology(c->userdata));
}

static int run_devices(const Call *c, Answer *a)
{
        return answer_list(c, c->backend->devices(c->userdata), a);
}

static int run_device(const Call *c, Answer *a)
{
        return answer_one(c, "device", c->backend->device(c->userdata, c->id), a);
}

static int run_decisions(const Call *c, Answer *a)
{
        return answer_list(c, c->backend->decisions(c->userdata), a);
}

static int run_decision(const Call *c, Answer *a)
{
        return answer_one(c, "decision", c->backend->decision(c->userdata, c->id), a);
}

typedef int (*Answerer)(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e);

static int run_answerer(const Call *c, Answerer answerer, Answer *a)
{
        json_t *body = NULL;
        Error e = { 0 };
        int r;

        if (!answerer) {
                (void)answer_problem(a, PROBLEM_NOT_IMPLEMENTED, "this daemon cannot do that");
                return 0;
        }
        r = answerer(c->userdata, c->request, c->body, &body, &e);
        if (r == API_DEFERRED)
                return r;
        answer_result(a, r, body, &e);
        return 0;
}

static int run_rates(const Call *c, Answer *a)
{
        return run_answerer(c, c->backend->rates, a);
}

static int run_plan(const Call *c, Answer *a)
{
        return run_answerer(c, c->backend->plan, a);
}

static int run_apply(const Call *c, Answer *a)
{
        return run_answerer(c, c->backend->apply, a);
}

static int run_restore(const Call *c, Answer *a)
{
        return run_answerer(c, c->backend->restore, a);
}

static int run_measure(const Call *c, Answer *a)
{
        json_t *body = NULL;
        Error e = { 0 };
        int r;

        if (!c->backend->measure) {
                (void)answer_problem(a, PROBLEM_NOT_IMPLEMENTED, "this daemon cannot do that");
                return 0;
        }
        r = c->backend->measure(c->userdata, c->request, c->id, &body, &e);
        if (r == API_DEFERRED)
                return r;
        answer_result(a, r, body, &e);
        return 0;
}

static bool is_class(const char *s)
{
        return device_class_from_string(s) >= 0;
}

static bool is_node(const char *s)
{
        unsigned n;

        return strcmp(s, "unknown") == 0 || parse_unsigned(s, &n) == 0;
}

static bool is_state(const char *s)
{
        static const char *const states[] = { "right",   "planned", "applied",   "failed",
                                              "refused", "managed", "left",      "unknown-node",
                                              "held",    "waiting", "none",      "error",
                                              "drifted", "yielded", "contested", "absent" };

        for (size_t i = 0; i < ARRAY_SIZE(states); i++)
                if (strcmp(states[i], s) == 0)
                        return true;
        return false;
}

static const Filter device_filters[] = { { "class", is_class }, { "driver" }, { "node", is_node }, { 0 } };
static const Filter decision_filters[] = { { "device" }, { "state", is_state }, { 0 } };
static const char *const no_keys[] = { NULL };
static const char *const device_key[] = { "device", NULL };

static const Route routes[] = {
        { "GET", "/healthz", AUTH_READ, run_health },
        { "GET", "/v1/status", AUTH_READ, run_status },
        { "GET", "/v1/topology", AUTH_READ, run_topology },
        { "GET", "/v1/devices", AUTH_READ, run_devices, device_filters },
        { "GET", "/v1/devices/{id}", AUTH_READ, run_device },
        { "GET", "/v1/decisions", AUTH_READ, run_decisions, decision_filters },
        { "GET", "/v1/decisions/{id}", AUTH_READ, run_decision },
        { "GET", "/v1/rates", AUTH_READ, run_rates },
        { "POST", "/v1/plan", AUTH_READ, run_plan, NULL, no_keys },
        { "POST", "/v1/apply", AUTH_WRITE, run_apply, NULL, device_key },
        { "POST", "/v1/restore", AUTH_WRITE, run_restore, NULL, device_key },
        { "POST", "/v1/measure/{id}", AUTH_WRITE, run_measure, NULL, no_keys },
};

const Route *routes_all(size_t *ret_n)
{
        *ret_n = ARRAY_SIZE(routes);
        return routes;
}

static bool path_matches(const char *pattern, const char *path, const char **ret_id)
{
        size_t n = strcspn(pattern, "{");

        if (strncmp(pattern, path, n) != 0)
                return false;
        *ret_id = path + n;
        return pattern[n] ? path[n] && !strchr(path + n, '/') : !path[n];
}

/* HEAD is a GET without the answer's body (RFC 9110, 9.3.2). */
static bool method_matches(const Route *r, const char *method)
{
        return strcmp(r->method, method) == 0 ||
               (strcmp(method, "HEAD") == 0 && strcmp(r->method, "GET") == 0);
}

int route_find(const char *method, const Url *u, const Route **ret, const char **ret_id, Answer *a)
{
        char allow[sizeof(a->allow)] = "";
        const char *id;

        for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
                size_t n = strlen(allow);

                if (!path_matches(routes[i].path, u->path, &id))
                        continue;
                if (method_matches(&routes[i], method)) {
                        *ret = &routes[i];
                        *ret_id = id;
                        return 0;
                }
                snprintf(allow + n, sizeof(allow) - n, "%s%s", n ? ", " : "",
                         strcmp(routes[i].method, "GET") == 0 ? "GET, HEAD" : routes[i].method);
        }
        if (!*allow)
                return answer_problem(a, PROBLEM_NOT_FOUND, "there is no path %s", u->path);
        (void)answer_problem(a, PROBLEM_METHOD, "%s takes %s", u->path, allow);
        memcpy(a->allow, allow, sizeof(allow));
        return -EINVAL;
}

static const Filter *find_filter(const Route *r, const char *name)
{
        for (const Filter *f = r->filters; f && f->name; f++)
                if (strcmp(f->name, name) == 0)
                        return f;
        return NULL;
}

int route_check_query(const Route *r, const Url *u, Answer *a)
{
        for (size_t i = 0; i < u->n_parameters; i++) {
                const UrlParameter *p = &u->parameters[i];
                const Filter *f = find_filter(r, p->name);

                if (!f)
                        return answer_problem(a, PROBLEM_BAD_PARAMETER, "%s has no parameter \"%s\"", r->path,
                                              p->name);
                if (f->valid && !f->valid(p->value))
                        return answer_problem(a, PROBLEM_BAD_PARAMETER, "\"%s\" is no %s", p->value, p->name);
                for (size_t j = 0; j < i; j++)
                        if (strcmp(u->parameters[j].name, p->name) == 0)
                                return answer_problem(a, PROBLEM_BAD_PARAMETER, "\"%s\" is there twice",
                                                      p->name);
        }
        return 0;
}

/* A problem of the body with the place: a line and column, or a JSON pointer (RFC 6901). */
static int body_problem(Answer *a, json_t *place, const char *text)
{
        json_t *errors = json_array(), *detail = report_text(text);

        (void)answer_problem(a, PROBLEM_BAD_BODY, "%s", text);
        if (json_object_set_new(place, "detail", detail) < 0 || json_array_append_new(errors, place) < 0 ||
            json_object_set_new(a->body, "errors", errors) < 0) {
                json_decref(a->body);
                a->body = NULL;
        }
        return -EINVAL;
}

static json_t *pointer_to(const char *key)
{
        _cleanup_(freep) char *escaped = malloc(2 * strlen(key) + 2);
        size_t n = 0;

        if (!escaped)
                return NULL;
        escaped[n++] = '/';
        for (; *key; key++) {
                bool special = *key == '~' || *key == '/';

                escaped[n++] = special ? '~' : *key;
                if (special)
                        escaped[n++] = *key == '/' ? '1' : '0';
        }
        escaped[n] = '\0';
        return json_pack("{s:o}", "pointer", report_text(escaped));
}

static int check_key(const Route *r, const char *key, const json_t *value, Answer *a)
{
        const char *const *k = r->body_keys;

        while (*k && strcmp(*k, key) != 0)
                k++;
        if (!*k)
                return body_problem(a, pointer_to(key), "there is no such key");
        if (!json_is_string(value))
                return body_problem(a, pointer_to(key), "this has to be a string");
        return 0;
}

int route_parse_body(const Route *r, const char *data, size_t size, json_t **ret, Answer *a)
{
        json_error_t error;
        const char *key;
        json_t *body, *value;

        if (size == 0) {
                *ret = NULL;
                return 0;
        }
        if (!r->body_keys)
                return answer_problem(a, PROBLEM_BAD_REQUEST, "%s takes no body", r->path);
        body = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
        if (!body)
                return body_problem(a, json_pack("{s:i, s:i}", "line", error.line, "column", error.column),
                                    error.text);
        if (!json_is_object(body)) {
                json_decref(body);
                return body_problem(a, json_pack("{s:s}", "pointer", ""), "this has to be an object");
        }
        json_object_foreach(body, key, value)
        {
                if (check_key(r, key, value, a) < 0) {
                        json_decref(body);
                        return -EINVAL;
                }
        }
        *ret = body;
        return 0;
}

int route_run(const Call *call, Answer *a)
{
        return call->route->run(call, a);
}
