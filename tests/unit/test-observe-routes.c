/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/routes.h"
#include "tree.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

static Address address(const char *text)
{
        Address a;

        assert_int_equal(address_parse(text, &a), 0);
        return a;
}

static void check_route(Routes *r, const char *dst, const char *src, const char *want)
{
        _cleanup_(freep) char *got = NULL;
        Address d = address(dst), s;
        int k;

        if (src)
                s = address(src);
        k = r->ops->route_lookup(r, &d, src ? &s : NULL, &got);
        assert_int_equal(k, want ? 0 : -ENOENT);
        if (want)
                assert_string_equal(got, want);
        else
                assert_null(got);
}

static void check_owner(Routes *r, const char *text, const char *want)
{
        _cleanup_(freep) char *got = NULL;
        Address a = address(text);

        assert_int_equal(r->ops->address_owner(r, &a, &got), want ? 0 : -ENOENT);
        if (want)
                assert_string_equal(got, want);
}

static void check_socket(Routes *r, const char *local, const char *remote, const char *want)
{
        _cleanup_(freep) char *got = NULL;
        unsigned local_port, remote_port;
        Address l, p;

        assert_int_equal(endpoint_parse(local, &l, &local_port), 0);
        assert_int_equal(endpoint_parse(remote, &p, &remote_port), 0);
        assert_int_equal(r->ops->socket_device(r, &l, local_port, &p, remote_port, &got), want ? 0 : -ENOENT);
        if (want)
                assert_string_equal(got, want);
}

static void the_file_answers(void **state)
{
        _cleanup_(routes_freep) Routes *r = NULL;
        Machine m;

        tree_init(&m);
        machine_put(&m, "netlink.json",
                    "{\"addresses\": [{\"address\": \"10.9.0.1\", \"prefixlen\": 24, \"dev\": \"eth0\"},"
                    "                 {\"address\": \"2001:db8::1\", \"prefixlen\": 64, \"dev\": \"eth6\"}],"
                    " \"routes\": [{\"dst\": \"default\", \"dev\": \"eth9\", \"gateway\": \"10.0.0.1\"},"
                    "              {\"dst\": \"10.9.0.0/16\", \"dev\": \"eth1\"},"
                    "              {\"dst\": \"10.9.1.0/24\", \"dev\": \"eth2\", \"src\": \"10.9.1.1\"},"
                    "              {\"dst\": \"10.9.1.0/24\", \"dev\": \"eth3\", \"src\": \"10.9.1.9\"},"
                    "              {\"dst\": \"10.9.1.7\", \"dev\": \"eth4\"},"
                    "              {\"dst\": \"2001:db8::/32\", \"dev\": \"eth6\"},"
                    "              {\"dst\": \"rubbish\", \"dev\": \"eth5\"}, 7, {}],"
                    " \"sockets\": [{\"local\": \"10.9.0.1:40000\", \"remote\": \"10.9.0.2:3260\", \"dev\": "
                    "\"eth7\"},"
                    "               {\"local\": \"10.9.0.1:40001\", \"remote\": \"10.9.0.2:3260\"},"
                    "               {\"local\": \"[2001:db8::1]:5\", \"remote\": \"[2001:db8::2]:6\", "
                    "\"dev\": \"eth8\"}]}");
        assert_int_equal(routes_new(m.root, &r), 0);
        check_route(r, "10.9.2.2", NULL, "eth1");
        check_route(r, "10.9.1.2", NULL, "eth2");
        check_route(r, "10.9.1.2", "10.9.1.9", "eth3");
        check_route(r, "10.9.1.7", "10.9.1.9", "eth4");
        check_route(r, "192.0.2.1", NULL, "eth9");
        check_route(r, "2001:db8:5::1", NULL, "eth6");
        check_route(r, "fe80::1", NULL, NULL); /* the default route is IPv4's */
        check_owner(r, "10.9.0.1", "eth0");
        check_owner(r, "2001:db8:0::1", "eth6");
        check_owner(r, "10.9.0.2", NULL);
        check_socket(r, "10.9.0.1:40000", "10.9.0.2:3260", "eth7");
        check_socket(r, "10.9.0.1:40001", "10.9.0.2:3260", NULL);
        check_socket(r, "10.9.0.1:40000", "10.9.0.2:3261", NULL);
        check_socket(r, "[2001:db8::1]:5", "[2001:db8::2]:6", "eth8");
        machine_done(&m);
}

static void a_missing_or_broken_file_knows_nothing(void **state)
{
        _cleanup_(routes_freep) Routes *missing = NULL, *broken = NULL;
        Machine m;

        tree_init(&m);
        assert_int_equal(routes_new(m.root, &missing), 0);
        check_route(missing, "10.9.2.2", NULL, NULL);
        machine_put(&m, "netlink.json", "{\"routes\": [");
        assert_int_equal(routes_new(m.root, &broken), 0);
        check_route(broken, "10.9.2.2", NULL, NULL);
        check_owner(broken, "10.9.2.2", NULL);
        check_socket(broken, "10.9.0.1:40000", "10.9.0.2:3260", NULL);
        machine_done(&m);
}

/* A connection over loopback; its ends go to *ret_client and *ret_server. The listener is bound, and so are
 * the connections that it accepts. */
static void connect_loopback(const char *device, int *ret_client, int *ret_server, unsigned *ret_port,
                             unsigned *ret_own)
{
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        _cleanup_(closep) int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        socklen_t n = sizeof(a);

        assert_true(listener >= 0);
        assert_int_equal(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
        assert_int_equal(listen(listener, 1), 0);
        assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &n), 0);
        *ret_port = ntohs(a.sin_port);
        *ret_client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_true(*ret_client >= 0);
        if (device)
                assert_int_equal(setsockopt(*ret_client, SOL_SOCKET, SO_BINDTODEVICE, device,
                                            (socklen_t)strlen(device)),
                                 0);
        assert_int_equal(connect(*ret_client, (struct sockaddr *)&a, sizeof(a)), 0);
        *ret_server = accept(listener, NULL, NULL);
        assert_true(*ret_server >= 0);
        assert_int_equal(getsockname(*ret_client, (struct sockaddr *)&a, &n), 0);
        *ret_own = ntohs(a.sin_port);
}

/* Asks this kernel, over loopback alone. */
static void the_kernel_answers(void **state)
{
        _cleanup_(routes_freep) Routes *r = NULL;
        _cleanup_(root_freep) Root *live = NULL;

        assert_int_equal(root_open("/", &live), 0);
        assert_int_equal(routes_new(live, &r), 0);
        check_route(r, "127.0.0.1", NULL, "lo");
        check_route(r, "127.0.0.1", "127.0.0.1", "lo");
        check_route(r, "127.0.0.1", "192.0.2.99", "lo"); /* not an address of ours: asked again without */
        check_owner(r, "127.0.0.1", "lo");
        check_owner(r, "192.0.2.99", NULL);
}

static void the_kernel_knows_sockets(void **state)
{
        _cleanup_(closep) int client = -1, server = -1, bound = -1, bound_server = -1;
        _cleanup_(routes_freep) Routes *r = NULL;
        _cleanup_(root_freep) Root *live = NULL;
        unsigned port, own;
        char local[64], remote[64];

        if (is_emulated(__func__, "NETLINK_SOCK_DIAG"))
                skip();
        assert_int_equal(root_open("/", &live), 0);
        assert_int_equal(routes_new(live, &r), 0);
        connect_loopback(NULL, &client, &server, &port, &own);
        snprintf(local, sizeof(local), "127.0.0.1:%u", own);
        snprintf(remote, sizeof(remote), "127.0.0.1:%u", port);
        check_socket(r, local, remote, NULL);
        connect_loopback("lo", &bound, &bound_server, &port, &own);
        snprintf(local, sizeof(local), "127.0.0.1:%u", own);
        snprintf(remote, sizeof(remote), "127.0.0.1:%u", port);
        check_socket(r, local, remote, "lo");
        check_socket(r, remote, local, NULL); /* the other end is not bound */
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_file_answers),
                cmocka_unit_test(a_missing_or_broken_file_knows_nothing),
                cmocka_unit_test(the_kernel_answers),
                cmocka_unit_test(the_kernel_knows_sockets),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
