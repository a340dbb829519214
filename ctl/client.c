/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/client.h"

#include "basic/strv.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <string.h>

#define API_SOCKET "/run/tuned-numaio/api.sock"
#define RO_SOCKET  "/run/tuned-numaio/ro.sock"

#define ANSWER_MAX (256u << 20)
/* The daemon answers a write within 120 s. */
#define TIMEOUT_SECONDS 150L

struct Client {
        const char *socket;
        CURL *curl; /* keeps the connection */
};

typedef struct Buffer {
        char *data;
        size_t size;
} Buffer;

static inline void buffer_clear(Buffer *b)
{
        free(b->data);
}

static inline void slist_cleanup(struct curl_slist **l)
{
        curl_slist_free_all(*l);
}

char *client_escape(const char *s)
{
        static const char digits[] = "0123456789ABCDEF";
        char *out = malloc(3 * strlen(s) + 1);
        size_t n = 0;

        if (!out)
                return NULL;
        for (; *s; s++) {
                unsigned char c = (unsigned char)*s;

                if (isalnum(c) || strchr("-._~:", c)) {
                        out[n++] = *s;
                        continue;
                }
                out[n++] = '%';
                out[n++] = digits[c >> 4];
                out[n++] = digits[c & 15];
        }
        out[n] = '\0';
        return out;
}

static size_t take(char *data, size_t size, size_t n, void *userdata)
{
        Buffer *b = userdata;
        char *p = b->size + n <= ANSWER_MAX ? realloc(b->data, b->size + n) : NULL;

        if (!p)
                return 0;
        memcpy(p + b->size, data, n);
        b->data = p;
        b->size += n;
        return n;
}

static const char *choose_socket(const char *socket, const char *method)
{
        if (socket)
                return socket;
        /* connect(2) asks for write permission. */
        return strcmp(method, "GET") == 0 && access(API_SOCKET, W_OK) < 0 ? RO_SOCKET : API_SOCKET;
}

static int unreachable(CURL *curl, CURLcode code, const char *socket, Error *e)
{
        long os = 0;

        if (code == CURLE_OPERATION_TIMEDOUT)
                return error_set(e, -ETIMEDOUT, socket, "the daemon does not answer");
        if (code != CURLE_COULDNT_CONNECT)
                return error_set(e, -EIO, socket, "%s", curl_easy_strerror(code));
        (void)curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &os);
        if (os == EACCES || os == EPERM)
                return error_set(e, -EACCES, socket,
                                 "you may not use it, it is for root and the group tuned-numaio");
        return error_set(e, -ECONNREFUSED, socket,
                         "the daemon cannot be reached (%s); is tuned-numaio.service running?",
                         os ? strerrordesc_np((int)os) : curl_easy_strerror(code));
}

/* The sentence of a problem: "TITLE: DETAIL", and the place of the first error in the body. */
static int problem(long status, const json_t *answer, Error *e)
{
        const char *title = json_string_value(json_object_get(answer, "title")),
                   *detail = json_string_value(json_object_get(answer, "detail")),
                   *where = json_string_value(json_object_get(answer, "where"));

        if (!title)
                return error_set(e, -EPROTO, NULL, "the daemon answered with status %ld", status);
        return error_set(e, status == 404 ? -ENOENT : -EREMOTEIO, where, "%s%s%s", title, detail ? ": " : "",
                         detail ? detail : "");
}

static int parse_answer(CURL *curl, const Buffer *b, json_t **ret, Error *e)
{
        json_t *answer = json_loadb(b->data ? b->data : "", b->size, 0, NULL);
        long status = 0;
        int r;

        (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        if (status != 200) {
                r = problem(status, answer, e);
                json_decref(answer);
                return r;
        }
        if (!answer)
                return error_set(e, -EPROTO, NULL, "the daemon did not answer in JSON");
        *ret = answer;
        return 0;
}

Client *client_new(const char *socket)
{
        Client *c = malloc(sizeof(*c));

        if (!c)
                return NULL;
        *c = (Client) { socket, curl_easy_init() };
        return c->curl ? c : client_free(c);
}

Client *client_free(Client *c)
{
        if (!c)
                return NULL;
        curl_easy_cleanup(c->curl);
        free(c);
        return NULL;
}

int client_call(Client *c, const char *method, const char *path, const json_t *body, json_t **ret, Error *e)
{
        _cleanup_(slist_cleanup) struct curl_slist *headers =
                curl_slist_append(NULL, "Content-Type: application/json");
        _cleanup_(freep) char *url = strf("http://localhost%s", path),
                              *text = body ? json_dumps(body, JSON_COMPACT) : strdup("");
        _cleanup_(buffer_clear) Buffer b = { 0 };
        const char *socket = choose_socket(c->socket, method);
        CURL *curl = c->curl;
        CURLcode code;

        if (!headers || !url || !text)
                return error_set(e, -ENOMEM, NULL, "memory is short");
        curl_easy_reset(curl); /* keeps the connection */
        (void)curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, socket);
        (void)curl_easy_setopt(curl, CURLOPT_URL, url);
        (void)curl_easy_setopt(curl, CURLOPT_PROXY, "");
        (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
        (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT, TIMEOUT_SECONDS);
        (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
        (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, &b);
        if (strcmp(method, "POST") == 0) {
                (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, text);
                (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        }
        code = curl_easy_perform(curl);
        if (code != CURLE_OK)
                return unreachable(curl, code, socket, e);
        return parse_answer(curl, &b, ret, e);
}
