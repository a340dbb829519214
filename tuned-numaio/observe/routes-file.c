/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/parse.h"
#include "observe/routes.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

typedef struct RoutesFile {
        Routes routes; /* first */
        json_t *json;  /* NULL = the file knows nothing */
} RoutesFile;

static const json_t *section(const Routes *r, const char *name)
{
        return json_object_get(((const RoutesFile *)r)->json, name);
}

static const char *text_of(const json_t *item, const char *key)
{
        return json_string_value(json_object_get(item, key));
}

static int give(const char *name, char **ret)
{
        char *copy;

        if (!name || !*name)
                return -ENOENT;
        copy = strdup(name);
        if (!copy)
                return -ENOMEM;
        *ret = copy;
        return 0;
}

/* "10.9.0.0/24", an address alone, or "default" (of the gateway's family; without gateway of both). */
static bool parse_dst(const json_t *route, int family, Address *ret, unsigned *ret_bits)
{
        const char *dst = text_of(route, "dst"), *gateway = text_of(route, "gateway"), *slash;
        char plain[64];
        Address via;

        if (!dst)
                return false;
        if (strcmp(dst, "default") == 0) {
                if (gateway && address_parse(gateway, &via) >= 0 && via.family != family)
                        return false;
                *ret = (Address) { .family = family };
                *ret_bits = 0;
                return true;
        }
        slash = strchr(dst, '/');
        if ((slash ? (size_t)(slash - dst) : strlen(dst)) >= sizeof(plain))
                return false;
        snprintf(plain, sizeof(plain), "%.*s", slash ? (int)(slash - dst) : (int)strlen(dst), dst);
        if (address_parse(plain, ret) < 0)
                return false;
        *ret_bits = address_bits(ret);
        return !slash || parse_unsigned(slash + 1, ret_bits) >= 0;
}

/* The longest prefix wins; among equal ones a route whose src is ours, then the first. */
static int route_lookup(Routes *r, const Address *dst, const Address *src, char **ret)
{
        const json_t *routes = section(r, "routes"), *best = NULL;
        long best_rank = -1;

        for (size_t i = 0; i < json_array_size(routes); i++) {
                const json_t *route = json_array_get(routes, i);
                const char *text = text_of(route, "src");
                Address prefix, own;
                unsigned bits;
                long rank;

                if (!parse_dst(route, dst->family, &prefix, &bits) || !address_in_prefix(dst, &prefix, bits))
                        continue;
                rank = (long)bits * 2;
                if (src && text && address_parse(text, &own) >= 0 && address_equal(src, &own))
                        rank++;
                if (rank <= best_rank)
                        continue;
                best_rank = rank;
                best = route;
        }
        return give(text_of(best, "dev"), ret);
}

static int address_owner(Routes *r, const Address *address, char **ret)
{
        const json_t *addresses = section(r, "addresses");

        for (size_t i = 0; i < json_array_size(addresses); i++) {
                const json_t *item = json_array_get(addresses, i);
                const char *text = text_of(item, "address");
                Address own;

                if (text && address_parse(text, &own) >= 0 && address_equal(address, &own))
                        return give(text_of(item, "dev"), ret);
        }
        return -ENOENT;
}

static bool is_endpoint(const char *text, const Address *address, unsigned port)
{
        unsigned own_port;
        Address own;

        return text && endpoint_parse(text, &own, &own_port) >= 0 && own_port == port &&
               address_equal(address, &own);
}

static int socket_device(Routes *r, const Address *local, unsigned local_port, const Address *remote,
                         unsigned remote_port, char **ret)
{
        const json_t *sockets = section(r, "sockets");

        for (size_t i = 0; i < json_array_size(sockets); i++) {
                const json_t *item = json_array_get(sockets, i);

                if (is_endpoint(text_of(item, "local"), local, local_port) &&
                    is_endpoint(text_of(item, "remote"), remote, remote_port))
                        return give(text_of(item, "dev"), ret);
        }
        return -ENOENT;
}

static void file_free(Routes *r)
{
        json_decref(((RoutesFile *)r)->json);
        free(r);
}

static const RoutesOps file_ops = {
        .route_lookup = route_lookup,
        .address_owner = address_owner,
        .socket_device = socket_device,
        .free = file_free,
};

int routes_file_new(const Root *root, Routes **ret)
{
        RoutesFile *f = calloc(1, sizeof(*f));
        _cleanup_(freep) char *text = NULL;

        if (!f)
                return -ENOMEM;
        f->routes.ops = &file_ops;
        if (root_read(root, &text, "netlink.json") >= 0)
                f->json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        *ret = &f->routes;
        return 0;
}
