/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon in this process while memory is short: what its API answers, and what it does to a machine.
 * Arguments: mkmachine, the page of a machine, how many allocations a whole run goes on by, and the name of
 * one test. */
#include "api/routes.h"
#include "apply/apply.h"
#include "machine.h"
#include "manager-internal.h"
#include "monitor/ethtool.h"
#include "monitor/iscsi.h"
#include "monitor/rtnl.h"
#include "monitor/uevent.h"
#include "shortage.h"
#include "standin/standin.h"

#include <linux/ethtool_netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <pthread.h>

#define NIC                  "pci:0000:01:00.0"
#define ISCSI_CREATE_SESSION 106 /* include/scsi/iscsi_if.h */

static const char *arg_mkmachine, *arg_spec;
static unsigned long arg_step;

typedef struct Bench {
        char dir[SCRATCH_MAX];
        char machine[SCRATCH_MAX + 16];
        Manager *manager;
        const char *method, *target;
        struct nl_msg *messages[8]; /* what the kernel tells */
        size_t n_messages;
        const char *nic_path;
        Strv before; /* "PATH VALUE" of each file that can be set */
        unsigned n_placed, n_failed;
} Bench;

static int setup(void **state)
{
        Bench *b = calloc(1, sizeof(*b));
        _cleanup_(freep) char *command = NULL;

        scratch_make(b->dir, "shortage");
        snprintf(b->machine, sizeof(b->machine), "%s/machine", b->dir);
        command = strf("%s %s %s", arg_mkmachine, arg_spec, b->machine);
        assert_int_equal(system(command), 0);
        *state = b;
        return 0;
}

static int teardown(void **state)
{
        Bench *b = *state;

        manager_free(b->manager);
        strv_clear(&b->before);
        remove_folder(b->dir);
        free(b);
        return 0;
}

/* --- the API --- */

static int ask(void *data, char **ret)
{
        Bench *b = data;
        Call call = { .backend = &manager_api_backend, .userdata = b->manager };
        _cleanup_(freep) char *text = NULL;
        Answer a = { 0 };
        Url url = { 0 };
        int r;

        r = url_parse(b->target, &url);
        if (r >= 0)
                r = route_find(b->method, &url, &call.route, &call.id, &a);
        call.url = &url;
        if (r >= 0)
                r = route_run(&call, &a);
        shortage_over();
        json_object_del(a.body, "uptime_seconds");
        text = a.body ? json_dumps(a.body, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
        /* Without a body the connection is closed. */
        r = r == -ENOMEM || a.status == 503 || !a.body ? -ENOMEM : 0;
        if (r >= 0)
                *ret = strf("%d %s", a.status, text);
        answer_clear(&a);
        url_clear(&url);
        return r;
}

static void answers(void **state)
{
        static const char *const targets[][2] = {
                { "GET", "/v1/status" },
                { "GET", "/v1/topology" },
                { "GET", "/v1/devices" },
                { "GET", "/v1/devices?class=nic" },
                { "GET", "/v1/devices/pci:0000:01:00.0" },
                { "GET", "/v1/devices/pci:0000:99:00.0" },
                { "GET", "/v1/decisions?state=planned" },
                { "GET", "/v1/decisions/pci:0000:01:00.0~irq.affinity" },
                { "GET", "/v1/decisions/none" },
                { "GET", "/v1/none" },
                { "PUT", "/v1/status" },
                { "POST", "/v1/apply" },
                { "POST", "/v1/plan" },
        };
        Bench *b = *state;
        ManagerOptions options = { .root = b->machine, .observe = true };
        Error e = { 0 };

        assert_int_equal(manager_new(&options, &b->manager, &e), 0);
        manager_start_round(b->manager, false);
        shortage.step = 1; /* these are few */
        for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
                b->method = targets[i][0];
                b->target = targets[i][1];
                print_message("%s %s: ", b->method, b->target);
                shortage_everywhere(ask, NULL, b);
        }
}

/* --- events --- */

#define FAMILY 0x400 /* of ethtool; no type of rtnetlink */

static struct nl_msg *link_message(int type, int index, unsigned flags, const char *name)
{
        struct ifinfomsg info = { .ifi_index = index, .ifi_flags = flags };
        struct nl_msg *msg = nlmsg_alloc_simple(type, 0);

        assert_int_equal(nlmsg_append(msg, &info, sizeof(info), NLMSG_ALIGNTO), 0);
        assert_int_equal(nla_put_string(msg, IFLA_IFNAME, name), 0);
        return msg;
}

static struct nl_msg *channels_message(const char *name)
{
        struct nl_msg *msg = nlmsg_alloc();
        struct nlattr *header;

        assert_non_null(genlmsg_put(msg, 0, 0, FAMILY, 0, 0, ETHTOOL_MSG_CHANNELS_NTF, 1));
        header = nla_nest_start(msg, ETHTOOL_A_CHANNELS_HEADER);
        assert_int_equal(nla_put_string(msg, ETHTOOL_A_HEADER_DEV_NAME, name), 0);
        nla_nest_end(msg, header);
        return msg;
}

static struct nl_msg *route_message(void)
{
        struct rtmsg route = { .rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_type = RTN_UNICAST };
        struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWROUTE, 0);

        assert_int_equal(nlmsg_append(msg, &route, sizeof(route), NLMSG_ALIGNTO), 0);
        assert_int_equal(nla_put_u32(msg, RTA_OIF, 2), 0);
        return msg;
}

/* Each of these is news of eth0, or of all. */
static size_t make_messages(Bench *b)
{
        struct nl_msg *all[] = {
                link_message(RTM_NEWLINK, 2, 0, "eth0"),
                link_message(RTM_NEWLINK, 2, IFF_UP, "eth0"),
                link_message(RTM_NEWLINK, 2, IFF_UP | IFF_RUNNING, "eth0"),
                channels_message("eth0"),
                route_message(),
                link_message(RTM_DELLINK, 2, 0, "eth0"),
        };

        assert_in_range(ARRAY_SIZE(all), 1, ARRAY_SIZE(b->messages));
        memcpy(b->messages, all, sizeof(all));
        return ARRAY_SIZE(all);
}

/* Whether the manager will look again because of the event, and takes no device for another's work that the
 * event may have changed. */
static bool is_taken(Bench *b, const MonitorEvent *e, const char *device)
{
        Manager *m = b->manager;

        m->schedule = (Schedule) { .pass = m->schedule.pass };
        drift_events_clear(&m->drift_events);
        manager_on_event(m, e);
        return schedule_next(&m->schedule, manager_now(m)) != UINT64_MAX &&
               (!device || drift_events_last(&m->drift_events, device) > 0);
}

static int take_events(void *data, char **ret)
{
        static const char devpath[] = "/devices/pci0000:00/0000:00:00.0/0000:01:00.0";
        MonitorEvent e = { .source = "udev", .subsystem = "pci", .action = "bind", .object = devpath };
        LinkTable links = { 0 };
        unsigned n = 0, lost = 0;
        Bench *b = data;

        for (size_t i = 0; i < b->n_messages; i++) {
                struct nlmsghdr *h = nlmsg_hdr(b->messages[i]);
                MonitorEvent news = { 0 };
                int r = rtnl_parse(&links, h, &news);

                if (r == 0)
                        r = ethtool_parse(FAMILY, h, &news);
                n++;
                lost += r <= 0 || !is_taken(b, &news, strcmp(news.subsystem, "route") == 0 ? NULL : NIC);
        }
        n++;
        e.object = b->nic_path;
        lost += !uevent_is_relevant(e.subsystem, e.action, devpath) || !is_taken(b, &e, NIC);
        n++;
        lost += iscsi_parse(ISCSI_CREATE_SESSION, &e) <= 0 || !is_taken(b, &e, NULL);
        shortage_over();
        link_table_clear(&links);
        *ret = strf("%u events, %u lost", n, lost);
        return 0;
}

static void no_event_is_lost(void **state)
{
        Bench *b = *state;
        ManagerOptions options = { .root = b->machine, .observe = true };
        _cleanup_(freep) char *text = NULL;
        Error e = { 0 };

        assert_int_equal(manager_new(&options, &b->manager, &e), 0);
        manager_start_round(b->manager, false);
        b->nic_path = snapshot_device(b->manager->snapshot, NIC)->path;
        b->n_messages = make_messages(b);
        shortage.step = 1;
        assert_int_equal(take_events(b, &text), 0);
        assert_string_equal(text, "8 events, 0 lost");
        shortage_everywhere(take_events, NULL, b);
        for (size_t i = 0; i < b->n_messages; i++)
                nlmsg_free(b->messages[i]);
}

/* --- a whole run --- */

/* The error is -ENOMEM whatever became of it: a child that could not start has another. */
static int run_once(void *data, char **ret)
{
        Bench *b = data;
        ManagerOptions options = { .root = b->machine, .once = true };
        _cleanup_(manager_freep) Manager *m = NULL;
        Error e = { 0 };
        int r;

        r = manager_new(&options, &m, &e);
        if (r >= 0)
                r = manager_run(m);
        shortage_over();
        if (r < 0)
                return -ENOMEM;
        *ret = strdup("it came to its end");
        return 0;
}

static int visit_files(Bench *b, int (*visit)(Bench *b, const char *path, const char *value))
{
        _cleanup_(root_freep) Root *root = NULL;
        Strv names = { 0 };
        int n = 0;

        assert_int_equal(root_open(b->machine, &root), 0);
        assert_int_equal(root_list(root, &names, "proc/irq"), 0);
        for (size_t i = 0; i < names.n; i++) {
                _cleanup_(freep) char *path = strf("proc/irq/%s/smp_affinity_list", names.items[i]),
                                      *value = NULL;

                if (root_read(root, &value, "%s", path) >= 0)
                        n += visit(b, path, value);
        }
        assert_int_equal(root_list(root, &names, "sys/devices/virtual/workqueue"), 0);
        for (size_t i = 0; i < names.n; i++) {
                _cleanup_(freep) char *path = strf("sys/devices/virtual/workqueue/%s/cpumask",
                                                   names.items[i]),
                                      *value = NULL;

                if (root_read(root, &value, "%s", path) >= 0)
                        n += visit(b, path, value);
        }
        strv_clear(&names);
        return n;
}

static int remember(Bench *b, const char *path, const char *value)
{
        _cleanup_(freep) char *line = strf("%s %s", path, value);

        assert_int_equal(strv_add(&b->before, line), 0);
        return 1;
}

static int differs(Bench *b, const char *path, const char *value)
{
        _cleanup_(freep) char *line = strf("%s %s", path, value);

        return !strv_contains(&b->before, line);
}

static void restore_entry(void *userdata, const WriterReply *e)
{
        if (e && *e->path)
                assert_int_equal(applier_restore(userdata, e->device, e->path), 0);
}

/* A later process puts every file back. */
static void check_machine(void *data, int result)
{
        _cleanup_(freep) char *folder = NULL;
        Bench *b = data;
        Applier *a = NULL;
        pid_t child = 0;
        int fd;

        if (result < 0)
                b->n_failed++;
        else if (visit_files(b, differs) > 0)
                b->n_placed++;
        assert_int_equal(standin_make_folder(b->machine, &folder, NULL), 0);
        fd = standin_start_writer(b->machine, folder, &child);
        assert_true(fd >= 0);
        assert_int_equal(applier_new(fd, NULL, NULL, &a), 0);
        assert_int_equal(applier_list(a, restore_entry, a), 0);
        assert_int_equal(apply_run(a), 0);
        applier_free(a);
        close(fd);
        standin_end_writer(child);
        assert_int_equal(visit_files(b, differs), 0);
}

static void whole_runs(void **state)
{
        Bench *b = *state;

        shortage.step = arg_step;
        assert_true(visit_files(b, remember) > 10);
        shortage_everywhere(run_once, check_machine, b);
        print_message("%u runs placed something, %u ended with an error\n", b->n_placed, b->n_failed);
        assert_true(b->n_placed > 0 && b->n_failed > 0);
}

int main(int argc, char **argv)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(answers, setup, teardown),
                cmocka_unit_test_setup_teardown(no_event_is_lost, setup, teardown),
                cmocka_unit_test_setup_teardown(whole_runs, setup, teardown),
        };

        if (argc < 4)
                return 2;
        arg_mkmachine = argv[1];
        arg_spec = argv[2];
        arg_step = strtoul(argv[3], NULL, 10);
        if (argc > 4)
                cmocka_set_test_filter(argv[4]);
        assert_int_equal(setenv("NUMAIO_LOG_LEVEL", "emerg", 1), 0);
        /* The child that stands in for the writer is not short: test-shortage-writer.c is about that. */
        assert_int_equal(pthread_atfork(NULL, NULL, shortage_over), 0);
        shortage_init();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
