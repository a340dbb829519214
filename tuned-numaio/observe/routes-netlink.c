/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/routes.h"

#include "basic/error.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <string.h>

/* Every question has a socket of its own, so that an answer that was not read to its end cannot be taken for
 * the next one's. The kernel puts the answer, or the next part of a dump, into the socket during the system
 * call, so the sockets do not block; a dump ends after this many parts at the latest. */
#define PARTS_MAX 4096

#define TCP_ESTABLISHED_BIT (1u << 1)

typedef struct Query {
        const Address *local, *remote; /* what a message must name; remote may be NULL */
        unsigned local_port, remote_port;
        unsigned ifindex; /* the answer; 0 = none */
        bool done;
        int error;
} Query;

static int on_done(struct nl_msg *msg, void *arg)
{
        ((Query *)arg)->done = true;
        return NL_STOP;
}

static int on_error(struct sockaddr_nl *who, struct nlmsgerr *e, void *arg)
{
        Query *q = arg;

        q->done = true;
        q->error = e->error;
        return NL_STOP;
}

/* Sends the message and reads its answer. Returns 0 or a negative errno. */
static int ask(int protocol, struct nl_msg *msg, nl_recvmsg_msg_cb_t on_message, Query *q)
{
        struct nl_sock *socket = nl_socket_alloc();
        struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
        int r = socket && cb ? 0 : -NLE_NOMEM, shortage = socket && cb ? 0 : -ENOMEM;

        errno = 0;
        if (r >= 0)
                r = nl_connect(socket, protocol);
        if (r < 0 && error_is_shortage(-errno))
                shortage = -errno; /* libnl has no word for it */
        if (r >= 0)
                r = nl_socket_set_nonblocking(socket);
        if (r >= 0) {
                nl_socket_disable_auto_ack(socket);
                nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_message, q);
                nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_done, q);
                nl_cb_err(cb, NL_CB_CUSTOM, on_error, q);
                r = nl_send_auto(socket, msg);
        }
        for (unsigned i = 0; r >= 0 && !q->done && i < PARTS_MAX; i++)
                r = nl_recvmsgs(socket, cb);
        if (cb)
                nl_cb_put(cb);
        if (socket)
                nl_socket_free(socket);
        if (q->error < 0)
                return q->error;
        if (shortage < 0)
                return shortage;
        return r < 0 && !q->done && q->ifindex == 0 ? -EIO : 0;
}

static int give(const Query *q, char **ret)
{
        char name[IF_NAMESIZE], *copy;

        if (q->ifindex == 0 || !if_indextoname(q->ifindex, name))
                return -ENOENT;
        copy = strdup(name);
        if (!copy)
                return -ENOMEM;
        *ret = copy;
        return 0;
}

static int on_route(struct nl_msg *msg, void *arg)
{
        struct nlattr *oif = nlmsg_find_attr(nlmsg_hdr(msg), sizeof(struct rtmsg), RTA_OIF);
        Query *q = arg;

        if (oif && nla_len(oif) == 4)
                q->ifindex = nla_get_u32(oif);
        q->done = true;
        return NL_STOP;
}

static int ask_route(const Address *dst, const Address *src, char **ret)
{
        struct rtmsg header = { .rtm_family = (unsigned char)dst->family,
                                .rtm_dst_len = (unsigned char)address_bits(dst) };
        struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETROUTE, NLM_F_REQUEST);
        Query q = { 0 };
        int r;

        if (!msg)
                return -ENOMEM;
        if (src)
                header.rtm_src_len = (unsigned char)address_bits(src);
        r = nlmsg_append(msg, &header, sizeof(header), NLMSG_ALIGNTO);
        if (r >= 0)
                r = nla_put(msg, RTA_DST, (int)address_size(dst), dst->bytes);
        if (r >= 0 && src)
                r = nla_put(msg, RTA_SRC, (int)address_size(src), src->bytes);
        r = r < 0 ? -ENOMEM : ask(NETLINK_ROUTE, msg, on_route, &q);
        nlmsg_free(msg);
        return r < 0 ? r : give(&q, ret);
}

static int route_lookup(Routes *routes, const Address *dst, const Address *src, char **ret)
{
        int r = ask_route(dst, src && src->family == dst->family ? src : NULL, ret);

        /* A source address that is no longer ours is refused; the route to the peer still says something. */
        return r < 0 && !error_is_shortage(r) && src ? ask_route(dst, NULL, ret) : r;
}

static int on_address(struct nl_msg *msg, void *arg)
{
        struct nlmsghdr *h = nlmsg_hdr(msg);
        const struct ifaddrmsg *header = nlmsg_data(h);
        struct nlattr *a;
        Query *q = arg;

        if (!nlmsg_valid_hdr(h, sizeof(*header)) || header->ifa_family != q->local->family || q->ifindex)
                return NL_OK;
        a = nlmsg_find_attr(h, sizeof(*header), IFA_LOCAL);
        if (!a)
                a = nlmsg_find_attr(h, sizeof(*header), IFA_ADDRESS);
        if (a && (unsigned)nla_len(a) == address_size(q->local) &&
            memcmp(nla_data(a), q->local->bytes, address_size(q->local)) == 0)
                q->ifindex = header->ifa_index;
        return NL_OK;
}

static int address_owner(Routes *routes, const Address *address, char **ret)
{
        struct ifaddrmsg header = { .ifa_family = (unsigned char)address->family };
        struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP);
        Query q = { .local = address };
        int r;

        if (!msg)
                return -ENOMEM;
        r = nlmsg_append(msg, &header, sizeof(header), NLMSG_ALIGNTO);
        r = r < 0 ? -ENOMEM : ask(NETLINK_ROUTE, msg, on_address, &q);
        nlmsg_free(msg);
        return r < 0 ? r : give(&q, ret);
}

static bool is_endpoint(const __be32 *bytes, __be16 port, const Address *address, unsigned expected)
{
        return ntohs(port) == expected && memcmp(bytes, address->bytes, address_size(address)) == 0;
}

static int on_socket(struct nl_msg *msg, void *arg)
{
        struct nlmsghdr *h = nlmsg_hdr(msg);
        const struct inet_diag_msg *m = nlmsg_data(h);
        Query *q = arg;

        if (!nlmsg_valid_hdr(h, sizeof(*m)) || m->idiag_family != q->local->family ||
            !is_endpoint(m->id.idiag_src, m->id.idiag_sport, q->local, q->local_port) ||
            !is_endpoint(m->id.idiag_dst, m->id.idiag_dport, q->remote, q->remote_port))
                return NL_OK;
        q->ifindex = m->id.idiag_if;
        q->done = true;
        return NL_STOP;
}

/* A look-up of one socket does not find sockets that are bound to a netdev unless it is named, so this is a
 * dump that the kernel narrows by the ports. */
static int socket_device(Routes *routes, const Address *local, unsigned local_port, const Address *remote,
                         unsigned remote_port, char **ret)
{
        struct inet_diag_req_v2 request = { .sdiag_family = (unsigned char)local->family,
                                            .sdiag_protocol = IPPROTO_TCP,
                                            .idiag_states = TCP_ESTABLISHED_BIT };
        struct nl_msg *msg = nlmsg_alloc_simple(SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP);
        Query q = { .local = local, .remote = remote, .local_port = local_port, .remote_port = remote_port };
        int r;

        if (!msg)
                return -ENOMEM;
        request.id.idiag_sport = htons((uint16_t)local_port);
        request.id.idiag_dport = htons((uint16_t)remote_port);
        request.id.idiag_cookie[0] = request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
        r = nlmsg_append(msg, &request, sizeof(request), NLMSG_ALIGNTO);
        r = r < 0 ? -ENOMEM : ask(NETLINK_SOCK_DIAG, msg, on_socket, &q);
        nlmsg_free(msg);
        return r < 0 ? r : give(&q, ret);
}

static void netlink_free(Routes *r)
{
        free(r);
}

static const RoutesOps netlink_ops = {
        .route_lookup = route_lookup,
        .address_owner = address_owner,
        .socket_device = socket_device,
        .free = netlink_free,
};

int routes_netlink_new(Routes **ret)
{
        Routes *r = calloc(1, sizeof(*r));

        if (!r)
                return -ENOMEM;
        r->ops = &netlink_ops;
        *ret = r;
        return 0;
}
