/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "api/routes.h"

#include <string.h>

/* A request as the server takes it in: "METHOD TARGET" in the first line, the body after it. Whatever it is,
 * there is one answer of a documented status, a refusal is a whole problem, and no writer is called with a
 * body that its route does not take. */

static json_t *object(void *userdata)
{
        return json_object();
}

static json_t *array(void *userdata)
{
        return json_pack("[{s:s, s:n, s:s}]", "class", "hba", "node", "state", "right");
}

static json_t *by_id(void *userdata, const char *id)
{
        FUZZ_REQUIRE(*id && !strchr(id, '/'));
        return strlen(id) % 2 ? json_object() : json_null();
}

static int change(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)body, key, value)
                FUZZ_REQUIRE(strcmp(key, "device") == 0 && json_is_string(value));
        *ret = json_object();
        return 0;
}

static int plan(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e)
{
        FUZZ_REQUIRE(json_object_size(body) == 0);
        *ret = json_object();
        return 0;
}

static const ApiBackend backend = { .status = object,
                                    .topology = object,
                                    .devices = array,
                                    .device = by_id,
                                    .decisions = array,
                                    .decision = by_id,
                                    .rates = plan,
                                    .plan = plan,
                                    .apply = change,
                                    .restore = change };

static void check_answer(const Answer *a, bool refused)
{
        static const int known[] = { 200, 400, 404, 405 };
        bool found = false;
        char *text;

        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
                found = found || known[i] == a->status;
        FUZZ_REQUIRE(found && a->body && a->problem == (a->status != 200));
        FUZZ_REQUIRE(!refused || a->problem);
        FUZZ_REQUIRE((a->status == 405) == (a->allow[0] != '\0'));
        if (a->problem)
                FUZZ_REQUIRE(json_integer_value(json_object_get(a->body, "status")) == a->status &&
                             json_is_string(json_object_get(a->body, "detail")));
        text = json_dumps(a->body, JSON_COMPACT);
        FUZZ_REQUIRE(text);
        free(text);
}

static void answer(const char *method, const Url *url, const char *body, size_t size)
{
        Call call = { .backend = &backend, .url = url };
        json_t *parsed = NULL;
        Answer a = { 0 };
        int r;

        r = route_find(method, url, &call.route, &call.id, &a);
        if (r == 0)
                r = route_check_query(call.route, url, &a);
        if (r == 0)
                r = route_parse_body(call.route, body, size, &parsed, &a);
        call.body = parsed;
        if (r == 0)
                FUZZ_REQUIRE(route_run(&call, &a) == 0);
        check_answer(&a, r < 0);
        json_decref(parsed);
        answer_clear(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const uint8_t *end = memchr(data, '\n', size);
        size_t n = end ? (size_t)(end - data) : size;
        char *line = strndup((const char *)data, n), *target = strchr(line, ' ');
        Url url = { 0 };

        if (target) {
                *target++ = '\0';
                if (url_parse(target, &url) == 0)
                        answer(line, &url, end ? (const char *)end + 1 : "", end ? size - n - 1 : 0);
                url_clear(&url);
        }
        free(line);
        return 0;
}
