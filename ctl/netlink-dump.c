/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/netlink-dump.h"

#include "observe/routes.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/route/addr.h>
#include <netlink/route/route.h>
#include <string.h>

#define ADDRESS_MAX 64

static inline void socket_cleanup(struct nl_sock **s)
{
        if (*s)
                nl_socket_free(*s);
}

static inline void cache_cleanup(struct nl_cache **c)
{
        if (*c)
                nl_cache_free(*c);
}

static inline void json_cleanup(json_t **j)
{
        json_decref(*j);
}

/* Takes the item in any case; NULL = memory was short. */
static int append(json_t *array, json_t *item)
{
        return item && json_array_append_new(array, item) == 0 ? 0 : -ENOMEM;
}

/* "10.9.0.1" of "10.9.0.1/24". */
static const char *address_only(struct nl_addr *a, char text[ADDRESS_MAX])
{
        char *slash;

        nl_addr2str(a, text, ADDRESS_MAX);
        slash = strchr(text, '/');
        if (slash)
                *slash = '\0';
        return text;
}

static int add_addresses(struct nl_cache *cache, json_t *addresses)
{
        int r = 0;

        for (struct nl_object *o = nl_cache_get_first(cache); r == 0 && o; o = nl_cache_get_next(o)) {
                struct rtnl_addr *a = (struct rtnl_addr *)o;
                struct nl_addr *local = rtnl_addr_get_local(a);
                char dev[IF_NAMESIZE], text[ADDRESS_MAX];

                if (local && if_indextoname((unsigned)rtnl_addr_get_ifindex(a), dev))
                        r = append(addresses,
                                   json_pack("{s:s, s:i, s:s}", "address", address_only(local, text),
                                             "prefixlen", rtnl_addr_get_prefixlen(a), "dev", dev));
        }
        return r;
}

static json_t *text_or_null(const char *text)
{
        return text ? json_string(text) : json_null();
}

/* "default", "10.9.0.0/24", or an address alone, as routes-file.c reads it. */
static const char *destination(struct rtnl_route *route, char text[ADDRESS_MAX])
{
        struct nl_addr *dst = rtnl_route_get_dst(route);

        return !dst || nl_addr_get_prefixlen(dst) == 0 ? "default" : nl_addr2str(dst, text, ADDRESS_MAX);
}

typedef struct Hop {
        struct rtnl_route *route;
        json_t *routes;
        int error;
} Hop;

static void add_hop(struct rtnl_nexthop *hop, void *context)
{
        char dst[ADDRESS_MAX], gateway[ADDRESS_MAX], src[ADDRESS_MAX], dev[IF_NAMESIZE];
        Hop *h = context;
        struct nl_addr *via = rtnl_route_nh_get_gateway(hop), *own = rtnl_route_get_pref_src(h->route);
        json_t *item;

        if (h->error < 0 || !if_indextoname((unsigned)rtnl_route_nh_get_ifindex(hop), dev))
                return;
        /* A default route without gateway would count for both families: it is written as its prefix. */
        if (!via && strcmp(destination(h->route, dst), "default") == 0)
                snprintf(dst, sizeof(dst), "%s",
                         rtnl_route_get_family(h->route) == AF_INET6 ? "::/0" : "0.0.0.0/0");
        else
                snprintf(dst, sizeof(dst), "%s", destination(h->route, gateway));
        item = json_pack("{s:s, s:s, s:o, s:o, s:I}", "dst", dst, "dev", dev, "src",
                         text_or_null(own ? address_only(own, src) : NULL), "gateway",
                         text_or_null(via ? address_only(via, gateway) : NULL), "metric",
                         (json_int_t)rtnl_route_get_priority(h->route));
        h->error = append(h->routes, item);
}

static int compare_metric(const void *a, const void *b)
{
        uint32_t x = rtnl_route_get_priority(*(struct rtnl_route *const *)a),
                 y = rtnl_route_get_priority(*(struct rtnl_route *const *)b);

        return (x > y) - (x < y);
}

/* The unicast routes of the main table, the lowest metric first: among equal prefixes the first one counts.
 */
static int add_routes(struct nl_cache *cache, json_t *routes)
{
        size_t n = 0, room = (size_t)nl_cache_nitems(cache);
        _cleanup_(freep) struct rtnl_route **sorted = calloc(room + 1, sizeof(struct rtnl_route *));
        Hop hop = { .routes = routes };

        if (!sorted)
                return -ENOMEM;
        for (struct nl_object *o = nl_cache_get_first(cache); o; o = nl_cache_get_next(o)) {
                struct rtnl_route *route = (struct rtnl_route *)o;

                if (rtnl_route_get_table(route) == RT_TABLE_MAIN && rtnl_route_get_type(route) == RTN_UNICAST)
                        sorted[n++] = route;
        }
        qsort(sorted, n, sizeof(*sorted), compare_metric);
        for (size_t i = 0; i < n && hop.error == 0 && json_array_size(routes) < NETLINK_ROUTES_MAX; i++) {
                hop.route = sorted[i];
                rtnl_route_foreach_nexthop(hop.route, add_hop, &hop);
        }
        return hop.error;
}

/* The address of "10.9.0.2:3260" or "[fe80::1]:3260" as text. */
static void endpoint_address(const char *end, char text[ADDRESS_MAX])
{
        const char *colon = strrchr(end, ':');

        snprintf(text, ADDRESS_MAX, "%.*s", (int)(colon ? colon - end : 0), end);
        if (text[0] == '[') {
                memmove(text, text + 1, strlen(text));
                text[strcspn(text, "]")] = '\0';
        }
}

static int add_route_answer(Routes *routes, const IscsiFacts *f, const Address *remote, const Address *local,
                            json_t *list)
{
        _cleanup_(freep) char *dev = NULL;
        char dst[ADDRESS_MAX], src[ADDRESS_MAX] = "";
        int r;

        r = routes->ops->route_lookup(routes, remote, local, &dev);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        endpoint_address(f->peer, dst);
        if (local)
                endpoint_address(f->local, src);
        return append(list, json_pack("{s:s, s:s, s:o, s:n}", "dst", dst, "dev", dev, "src",
                                      text_or_null(local ? src : NULL), "gateway"));
}

/* What the kernel says of one iSCSI connection, by the same questions as observe_iscsi() asks. */
static int add_answers(Routes *routes, const IscsiFacts *f, json_t *list, json_t *sockets)
{
        _cleanup_(freep) char *dev = NULL;
        unsigned local_port, remote_port;
        Address local, remote;
        bool has_local = f->local && endpoint_parse(f->local, &local, &local_port) >= 0;
        int r = 0;

        if (!f->peer || endpoint_parse(f->peer, &remote, &remote_port) < 0)
                return 0;
        if (has_local)
                r = routes->ops->socket_device(routes, &local, local_port, &remote, remote_port, &dev);
        if (r == 0 && dev)
                r = append(sockets,
                           json_pack("{s:s, s:s, s:s}", "local", f->local, "remote", f->peer, "dev", dev));
        return r == -ENOMEM ? r : add_route_answer(routes, f, &remote, has_local ? &local : NULL, list);
}

static int add_connections(const Snapshot *s, json_t *routes, json_t *sockets)
{
        _cleanup_(routes_freep) Routes *source = NULL;
        int r;

        r = routes_netlink_new(&source);
        for (size_t i = 0; r == 0 && i < s->n_devices; i++)
                if (s->devices[i].iscsi)
                        r = add_answers(source, s->devices[i].iscsi, routes, sockets);
        return r;
}

static int dump(struct nl_sock *socket, json_t *addresses, json_t *routes)
{
        _cleanup_(cache_cleanup) struct nl_cache *a = NULL, *r = NULL;

        if (rtnl_addr_alloc_cache(socket, &a) < 0 || rtnl_route_alloc_cache(socket, AF_UNSPEC, 0, &r) < 0)
                return -EIO;
        if (add_addresses(a, addresses) < 0)
                return -ENOMEM;
        return add_routes(r, routes);
}

int netlink_dump(const Snapshot *s, json_t **ret)
{
        _cleanup_(socket_cleanup) struct nl_sock *socket = nl_socket_alloc();
        _cleanup_(json_cleanup) json_t *addresses = json_array(), *routes = json_array(),
                                       *sockets = json_array();
        json_t *all;
        int r;

        if (!socket || !addresses || !routes || !sockets)
                return -ENOMEM;
        if (nl_connect(socket, NETLINK_ROUTE) < 0)
                return -EIO;
        r = add_connections(s, routes, sockets);
        if (r == 0)
                r = dump(socket, addresses, routes);
        if (r < 0)
                return r;
        all = json_pack("{s:O, s:O, s:O}", "addresses", addresses, "routes", routes, "sockets", sockets);
        if (!all)
                return -ENOMEM;
        *ret = all;
        return 0;
}
