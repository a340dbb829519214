/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sources on a real kernel, in network and mount namespaces of their own: what is changed here, and the
 * uevents that are made up, reach nobody else. The sources are opened without privilege, as in the service.
 */
#include "basic/cleanup.h"
#include "monitor/monitor.h"
#include "monitor/source.h"
#include "test.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <libudev.h>
#include <linux/ethtool_netlink.h>
#include <linux/netlink.h>
#include <netlink/addr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>
#include <netlink/route/route.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 65534

typedef struct Fixture {
        sd_event *event;
        Monitor *monitor;
        struct nl_sock *sk; /* for the changes */
        char *seen;         /* one line for each event */
        size_t n_overruns;
} Fixture;

static void on_event(void *userdata, const MonitorEvent *e)
{
        Fixture *f = userdata;

        if (e->overrun) {
                f->n_overruns++;
                assert_string_equal(e->object, "");
        }
        char *line = strf("%s%s %s %s %s%s\n", f->seen ? f->seen : "", e->source, e->subsystem, e->action,
                          e->object, e->overrun ? "overrun" : "");
        assert_non_null(line);
        free(f->seen);
        f->seen = line;
}

static void forget(Fixture *f)
{
        free(f->seen);
        f->seen = NULL;
        f->n_overruns = 0;
}

/* Runs the loop until nothing has come for a moment. */
static void settle(Fixture *f)
{
        int rounds = 0;

        while (sd_event_run(f->event, 50 * 1000) > 0)
                if (++rounds > 1000)
                        fail_msg("the loop spins");
}

static bool saw(const Fixture *f, const char *line)
{
        return f->seen && strstr(f->seen, line);
}

/* Runs the loop until the line has come, for five seconds at most; then the events begin anew. */
static void expect(Fixture *f, const char *line)
{
        for (int i = 0; i < 50 && !saw(f, line); i++)
                assert_true(sd_event_run(f->event, 100 * 1000) >= 0);
        if (!saw(f, line))
                fail_msg("no \"%s\" in:\n%s", line, f->seen ? f->seen : "");
        settle(f);
        forget(f);
}

static int setup(void **state)
{
        Fixture *f = calloc(1, sizeof(*f));

        assert_true(sd_event_new(&f->event) >= 0);
        assert_int_equal(seteuid(NOBODY), 0);
        int r = monitor_new(f->event, on_event, f, &f->monitor);
        assert_int_equal(seteuid(0), 0);
        assert_int_equal(r, 0);
        f->sk = nl_socket_alloc();
        assert_int_equal(nl_connect(f->sk, NETLINK_ROUTE), 0);
        *state = f;
        return 0;
}

static struct rtnl_link *find_link(Fixture *f, const char *name)
{
        struct rtnl_link *link = NULL;

        rtnl_link_get_kernel(f->sk, 0, name, &link);
        return link;
}

static int teardown(void **state)
{
        Fixture *f = *state;

        struct rtnl_link *link = find_link(f, "va");
        if (link)
                rtnl_link_delete(f->sk, link);
        rtnl_link_put(link);
        monitor_free(f->monitor);
        nl_socket_free(f->sk);
        sd_event_unref(f->event);
        free(f->seen);
        free(f);
        return 0;
}

static void add_veth(Fixture *f)
{
        struct rtnl_link *va = rtnl_link_veth_alloc(), *vb = rtnl_link_veth_get_peer(va);

        rtnl_link_set_name(va, "va");
        rtnl_link_set_name(vb, "vb");
        rtnl_link_set_num_tx_queues(va, 4);
        rtnl_link_set_num_rx_queues(va, 4);
        assert_int_equal(rtnl_link_add(f->sk, va, NLM_F_CREATE | NLM_F_EXCL), 0);
        rtnl_link_put(vb);
        rtnl_link_put(va);
}

static void change_link(Fixture *f, const char *name, void (*change)(struct rtnl_link *))
{
        struct rtnl_link *link = find_link(f, name), *with = rtnl_link_alloc();

        assert_non_null(link);
        change(with);
        assert_int_equal(rtnl_link_change(f->sk, link, with, 0), 0);
        rtnl_link_put(with);
        rtnl_link_put(link);
}

static void link_up(struct rtnl_link *l)
{
        rtnl_link_set_flags(l, IFF_UP);
}

static void link_down(struct rtnl_link *l)
{
        rtnl_link_unset_flags(l, IFF_UP);
}

static void link_mtu(struct rtnl_link *l)
{
        rtnl_link_set_mtu(l, 1400);
}

static void change_addr(Fixture *f, const char *text, bool add)
{
        struct rtnl_link *link = find_link(f, "va");
        struct rtnl_addr *addr = rtnl_addr_alloc();
        struct nl_addr *local;

        assert_int_equal(nl_addr_parse(text, AF_INET, &local), 0);
        assert_int_equal(rtnl_addr_set_local(addr, local), 0);
        rtnl_addr_set_ifindex(addr, rtnl_link_get_ifindex(link));
        assert_int_equal(add ? rtnl_addr_add(f->sk, addr, 0) : rtnl_addr_delete(f->sk, addr, 0), 0);
        nl_addr_put(local);
        rtnl_addr_put(addr);
        rtnl_link_put(link);
}

static void add_route(Fixture *f, const char *to)
{
        struct rtnl_link *link = find_link(f, "va");
        struct rtnl_route *route = rtnl_route_alloc();
        struct rtnl_nexthop *nh = rtnl_route_nh_alloc();
        struct nl_addr *dst;

        assert_int_equal(nl_addr_parse(to, AF_INET, &dst), 0);
        assert_int_equal(rtnl_route_set_dst(route, dst), 0);
        rtnl_route_nh_set_ifindex(nh, rtnl_link_get_ifindex(link));
        rtnl_route_add_nexthop(route, nh);
        assert_int_equal(rtnl_route_add(f->sk, route, 0), 0);
        nl_addr_put(dst);
        rtnl_route_put(route);
        rtnl_link_put(link);
}

static void test_opens_without_privilege(void **state)
{
        Fixture *f = *state;

        for (size_t i = 0; i < monitor_missing(f->monitor)->n; i++)
                print_message("missing: %s\n", monitor_missing(f->monitor)->items[i]);
        /* An old kernel may lack ethtool's netlink family; the others exist everywhere. */
        for (size_t i = 0; i < monitor_missing(f->monitor)->n; i++)
                assert_memory_equal(monitor_missing(f->monitor)->items[i], "ethtool", 7);
        assert_false(monitor_has_iscsi(f->monitor));
        assert_int_equal(monitor_counts(f->monitor).delivered, 0);
}

static void test_links_addresses_routes(void **state)
{
        Fixture *f = *state;

        add_veth(f);
        expect(f, "rtnetlink link add va\n");
        change_link(f, "vb", link_up);
        expect(f, "rtnetlink link up vb\n");
        change_link(f, "va", link_up);
        expect(f, "rtnetlink link up va\n");

        change_addr(f, "10.9.0.1/24", true);
        expect(f, "rtnetlink addr add va\n");
        add_route(f, "10.10.0.0/16");
        expect(f, "rtnetlink route add va\n");
        change_addr(f, "10.9.0.1/24", false);
        expect(f, "rtnetlink addr remove va\n");

        change_link(f, "va", link_down);
        expect(f, "rtnetlink link down va\n");
        struct rtnl_link *link = find_link(f, "va");
        assert_int_equal(rtnl_link_delete(f->sk, link), 0);
        rtnl_link_put(link);
        expect(f, "rtnetlink link remove va\n");
        assert_null(link_table_find(&f->monitor->links, 1000));
}

static void test_irrelevant_link_message_is_dropped(void **state)
{
        Fixture *f = *state;

        add_veth(f);
        expect(f, "rtnetlink link add va\n");
        MonitorCounts before = monitor_counts(f->monitor);
        change_link(f, "va", link_mtu);
        settle(f);
        assert_null(f->seen);
        assert_true(monitor_counts(f->monitor).netlink > before.netlink);
        assert_int_equal(monitor_counts(f->monitor).delivered, before.delivered);
}

static void test_known_links_are_learnt_at_start(void **state)
{
        Fixture *f = *state;
        Monitor *second;

        add_veth(f);
        settle(f);
        forget(f);
        assert_int_equal(monitor_new(f->event, on_event, f, &second), 0);
        monitor_free(f->monitor);
        f->monitor = second;
        change_link(f, "va", link_mtu);
        settle(f);
        assert_null(f->seen);
        change_link(f, "va", link_up);
        expect(f, "rtnetlink link up va\n");
}

static void test_channels(void **state)
{
        Fixture *f = *state;

        if (!f->monitor->ethtool && is_emulated(__func__, "generic netlink"))
                skip();
        if (!f->monitor->ethtool) {
                print_message("this kernel has no ethtool netlink\n");
                return;
        }
        add_veth(f);
        expect(f, "rtnetlink link add va\n");

        struct nl_sock *genl = nl_socket_alloc();
        assert_int_equal(genl_connect(genl), 0);
        int family = genl_ctrl_resolve(genl, ETHTOOL_GENL_NAME);
        struct nl_msg *msg = nlmsg_alloc();
        genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, 0, ETHTOOL_MSG_CHANNELS_SET,
                    ETHTOOL_GENL_VERSION);
        struct nlattr *header = nla_nest_start(msg, ETHTOOL_A_CHANNELS_HEADER);
        assert_int_equal(nla_put_string(msg, ETHTOOL_A_HEADER_DEV_NAME, "va"), 0);
        nla_nest_end(msg, header);
        assert_int_equal(nla_put_u32(msg, ETHTOOL_A_CHANNELS_RX_COUNT, 2), 0);
        assert_int_equal(nla_put_u32(msg, ETHTOOL_A_CHANNELS_TX_COUNT, 2), 0);
        int r = nl_send_sync(genl, msg);
        nl_socket_free(genl);
        if (r == -NLE_OPNOTSUPP) {
                print_message("this kernel's veth has no channels to set\n");
                return;
        }
        assert_int_equal(r, 0);
        expect(f, "ethtool channels change va\n");
}

static void test_netlink_overrun(void **state)
{
        Fixture *f = *state;
        int size = 1, fd = nl_socket_get_fd(f->monitor->rtnl);

        add_veth(f);
        settle(f);
        forget(f);
        /* The smallest that the kernel allows, a few messages. */
        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
        for (int i = 1; i < 200; i++) {
                _cleanup_(freep) char *addr = strf("10.9.0.%d/32", i);
                change_addr(f, addr, true);
        }
        /* Lost: nobody tells it again. */
        change_link(f, "va", link_up);
        settle(f);
        assert_int_equal(f->n_overruns, 1);
        assert_true(saw(f, "rtnetlink   overrun\n"));
        assert_false(saw(f, "link up va"));
        assert_int_equal(monitor_counts(f->monitor).overruns, 1);

        /* It goes on, and knows the links as they are. */
        forget(f);
        change_link(f, "va", link_mtu);
        settle(f);
        assert_null(f->seen);
        change_link(f, "va", link_down);
        expect(f, "rtnetlink link down va\n");
        change_addr(f, "10.9.0.1/32", false);
        expect(f, "rtnetlink addr remove va\n");
}

static void test_other_programs_are_not_believed(void **state)
{
        Fixture *f = *state;
        struct ifinfomsg info = { .ifi_index = 77 };
        struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, 0);

        assert_int_equal(nlmsg_append(msg, &info, sizeof(info), NLMSG_ALIGNTO), 0);
        assert_int_equal(nla_put_string(msg, IFLA_IFNAME, "forged"), 0);
        nl_socket_set_peer_port(f->sk, nl_socket_get_local_port(f->monitor->rtnl));
        assert_true(nl_send_auto(f->sk, msg) > 0);
        nl_socket_set_peer_port(f->sk, 0);
        nlmsg_free(msg);
        settle(f);
        assert_null(f->seen);
        assert_null(link_table_find(&f->monitor->links, 77));
}

/* The hash that libudev's messages carry for the filter in the kernel: MurmurHash2 with seed 0. */
static uint32_t subsystem_hash(const char *s)
{
        const uint32_t factor = 0x5bd1e995;
        size_t n = strlen(s);
        uint32_t hash = (uint32_t)n, k;

        for (; n >= 4; n -= 4, s += 4) {
                memcpy(&k, s, 4);
                k *= factor;
                k ^= k >> 24;
                hash = (hash * factor) ^ (k * factor);
        }
        if (n > 0) {
                for (size_t i = n; i-- > 0;)
                        hash ^= (uint32_t)(unsigned char)s[i] << (8 * i);
                hash *= factor;
        }
        hash ^= hash >> 13;
        hash *= factor;
        return hash ^ (hash >> 15);
}

/* A uevent as udevd sends it after its rules. */
static void send_uevent(int fd, const char *subsystem, const char *action, const char *devpath)
{
        struct {
                char prefix[8];
                uint32_t magic, header_size, properties_off, properties_len;
                uint32_t subsystem_hash, devtype_hash, tags_high, tags_low;
                char properties[512];
        } message = { .prefix = "libudev", .magic = htobe32(0xfeedcafe) };
        struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_groups = 2 };

        int n = snprintf(message.properties, sizeof(message.properties),
                         "ACTION=%s%cDEVPATH=%s%cSUBSYSTEM=%s%cSEQNUM=1%cUSEC_INITIALIZED=1", action, 0,
                         devpath, 0, subsystem, 0, 0);
        assert_true(n > 0 && (size_t)n < sizeof(message.properties));
        message.header_size = message.properties_off = offsetof(__typeof__(message), properties);
        message.properties_len = (uint32_t)n + 1;
        message.subsystem_hash = htobe32(subsystem_hash(subsystem));
        size_t size = message.header_size + message.properties_len;
        assert_int_equal(sendto(fd, &message, size, 0, (struct sockaddr *)&to, sizeof(to)), (ssize_t)size);
}

static int open_uevents(void)
{
        int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
        assert_true(fd >= 0);
        return fd;
}

static void test_udev(void **state)
{
        Fixture *f = *state;
        _cleanup_(closep) int fd = open_uevents();

        send_uevent(fd, "pci", "bind", "/devices/pci0000:20/0000:21:00.0");
        expect(f, "udev pci bind /sys/devices/pci0000:20/0000:21:00.0\n");
        send_uevent(fd, "cpu", "offline", "/devices/system/cpu/cpu3");
        expect(f, "udev cpu offline /sys/devices/system/cpu/cpu3\n");

        /* The kernel drops other subsystems, we drop what cannot matter. */
        uint64_t before = monitor_counts(f->monitor).udev;
        send_uevent(fd, "tty", "add", "/devices/virtual/tty/tty1");
        settle(f);
        assert_int_equal(monitor_counts(f->monitor).udev, before);
        send_uevent(fd, "block", "change", "/devices/pci0000:20/0000:21:00.0/host0/block/sda");
        settle(f);
        assert_int_equal(monitor_counts(f->monitor).udev, before + 1);
        assert_null(f->seen);
}

static void test_udev_overrun(void **state)
{
        Fixture *f = *state;
        _cleanup_(closep) int fd = open_uevents();
        int size = 1;

        assert_int_equal(setsockopt(udev_monitor_get_fd(f->monitor->udev_monitor), SOL_SOCKET, SO_RCVBUF,
                                    &size, sizeof(size)),
                         0);
        for (int i = 0; i < 200; i++)
                send_uevent(fd, "pci", "add", "/devices/pci0000:20/0000:21:00.0");
        settle(f);
        assert_int_equal(f->n_overruns, 1);
        assert_true(saw(f, "udev   overrun\n"));
        forget(f);
        send_uevent(fd, "pci", "remove", "/devices/pci0000:20/0000:21:00.0");
        expect(f, "udev pci remove /sys/devices/pci0000:20/0000:21:00.0\n");
}

/* Only root may set the clock, and it is everybody's: here the timer ends at once instead. That the kernel
 * cancels it is for a guest to show (tests/vm/scenario/7-drift.sh). */
static void test_clock(void **state)
{
        Fixture *f = *state;
        struct itimerspec timer = { .it_value.tv_nsec = 1 };

        for (int i = 0; i < 2; i++) {
                assert_int_equal(timerfd_settime(f->monitor->clock_fd, 0, &timer, NULL), 0);
                expect(f, "clock clock change \n");
        }
        /* It waits anew, and for nothing: a hundred years. */
        assert_int_equal(timerfd_gettime(f->monitor->clock_fd, &timer), 0);
        assert_true(timer.it_value.tv_sec > 100L * 365 * 24 * 60 * 60);
        settle(f);
        assert_null(f->seen);
}

static void send_iscsi(int fd, uint32_t type)
{
        struct {
                struct nlmsghdr h;
                uint32_t type, error;
                uint64_t transport;
                char pdu[1000];
        } message = { .type = type };

        message.h.nlmsg_len = sizeof(message);
        assert_int_equal(send(fd, &message, sizeof(message), 0), sizeof(message));
}

static void test_iscsi(void **state)
{
        Fixture *f = *state;
        int pair[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
        assert_int_equal(monitor_add_iscsi_fd(f->monitor, pair[0]), 0);
        send_iscsi(pair[1], 106);
        expect(f, "iscsi iscsi_session add \n");
        send_iscsi(pair[1], 101);
        settle(f);
        assert_null(f->seen);
        send_iscsi(pair[1], 102);
        expect(f, "iscsi iscsi_connection error \n");

        /* A second descriptor takes the place of the first, which is closed. */
        int other[2];
        char c;
        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, other), 0);
        assert_int_equal(monitor_add_iscsi_fd(f->monitor, other[0]), 0);
        assert_int_equal(recv(pair[1], &c, 1, MSG_DONTWAIT), 0);
        close(pair[1]);
        send_iscsi(other[1], 104);
        expect(f, "iscsi iscsi_session remove \n");

        /* One that ends is closed, once, and the loop goes on. */
        assert_true(monitor_has_iscsi(f->monitor));
        close(other[1]);
        settle(f);
        assert_false(monitor_has_iscsi(f->monitor));
        assert_int_equal(f->n_overruns, 1);
}

static bool enter_namespaces(void)
{
        if (geteuid() != 0 || unshare(CLONE_NEWNET | CLONE_NEWNS) < 0)
                return false;
        /* udevd is there for whoever looks for its control socket. */
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0 ||
            mkdir("/run/udev", 0755) < 0)
                return false;
        int fd = open("/run/udev/control", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        if (fd < 0)
                return false;
        close(fd);
        return true;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        const struct CMUnitTest tests[] = {
                TEST(test_opens_without_privilege),
                TEST(test_links_addresses_routes),
                TEST(test_irrelevant_link_message_is_dropped),
                TEST(test_known_links_are_learnt_at_start),
                TEST(test_channels),
                TEST(test_netlink_overrun),
                TEST(test_other_programs_are_not_believed),
                TEST(test_udev),
                TEST(test_udev_overrun),
                TEST(test_clock),
                TEST(test_iscsi),
        };

        if (!enter_namespaces()) {
                fprintf(stderr, "skipped: network and mount namespaces cannot be made here\n");
                return 77;
        }
        return cmocka_run_group_tests(tests, NULL, NULL);
}
