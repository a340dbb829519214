/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/unit.h"

#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>

/* A bus with a system manager that knows one unit, in a process of its own: it does what a test tells it over
 * a pipe. "a" active, "d" deactivating, "i" inactive, "o" a signal of another unit, "x" ends. One whose
 * manager is not there yet has no state. */

#define UNIT_PATH "/org/freedesktop/systemd1/unit/irqbalance_2eservice"

typedef struct Bus {
        sd_bus *bus;
        const char *state;
} Bus;

static int on_call(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        const char *member = sd_bus_message_get_member(m);
        Bus *b = userdata;

        if (!sd_bus_message_is_method_call(m, NULL, NULL))
                return 0;
        if (strcmp(member, "Hello") == 0)
                return sd_bus_reply_method_return(m, "s", ":1.7");
        if (!b->state && (strcmp(member, "Get") == 0 || strcmp(member, "Subscribe") == 0))
                return sd_bus_reply_method_errorf(m, SD_BUS_ERROR_SERVICE_UNKNOWN, "not there yet");
        if (strcmp(member, "Get") == 0)
                return sd_bus_reply_method_return(m, "v", "s", b->state);
        if (strcmp(member, "AddMatch") == 0 || strcmp(member, "Subscribe") == 0)
                return sd_bus_reply_method_return(m, NULL);
        return 1;
}

/* As the manager sends it: among other properties, and from the unique name of its connection. */
static void send_change(const Bus *b, const char *path, const char *state)
{
        sd_bus_message *m = NULL;

        if (!b->bus)
                return;
        if (sd_bus_message_new_signal(b->bus, &m, path, "org.freedesktop.DBus.Properties",
                                      "PropertiesChanged") < 0 ||
            sd_bus_message_set_sender(m, ":1.1") < 0 ||
            sd_bus_message_append(m, "sa{sv}as", "org.freedesktop.systemd1.Unit", 3, "InvocationID", "ay", 2,
                                  1, 2, "ActiveState", "s", state, "StateChangeTimestamp", "t", UINT64_C(17),
                                  1, "Conditions") < 0 ||
            sd_bus_send(b->bus, m, NULL) < 0)
                _exit(3);
        sd_bus_message_unref(m);
        sd_bus_flush(b->bus);
}

static void obey(Bus *b, char what)
{
        switch (what) {
        case 'a':
                b->state = "active";
                break;
        case 'd':
                b->state = "deactivating";
                break;
        case 'i':
                b->state = "inactive";
                break;
        case 'o':
                send_change(b, "/org/freedesktop/systemd1/unit/other_2eservice", "active");
                return;
        default:
                _exit(0);
        }
        send_change(b, UNIT_PATH, b->state);
}

static void take_client(Bus *b, int listener)
{
        static const sd_id128_t id = SD_ID128_MAKE(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0 || sd_bus_new(&b->bus) < 0 || sd_bus_set_fd(b->bus, fd, fd) < 0 ||
            sd_bus_set_server(b->bus, 1, id) < 0 || sd_bus_start(b->bus) < 0 ||
            sd_bus_add_filter(b->bus, NULL, on_call, b) < 0)
                _exit(2);
}

/* One client at a time. */
static void serve(int listener, int commands, const char *state)
{
        Bus b = { .state = state };

        for (;;) {
                struct pollfd p[] = { { .fd = listener, .events = POLLIN },
                                      { .fd = commands, .events = POLLIN } };
                char what;
                int r = 0;

                while (b.bus && (r = sd_bus_process(b.bus, NULL)) > 0)
                        ;
                if (r < 0)
                        b.bus = sd_bus_close_unref(b.bus);
                if (b.bus)
                        p[0].fd = sd_bus_get_fd(b.bus);
                if (poll(p, 2, -1) > 0 && p[1].revents)
                        obey(&b, read(commands, &what, 1) == 1 ? what : 'x');
                else if (!b.bus)
                        take_client(&b, listener);
        }
}

typedef struct Fixture {
        char folder[SCRATCH_MAX];
        int commands;
        pid_t pid;
        sd_event *event;
        UnitWatch *watch;
        unsigned calls;
} Fixture;

static void on_change(void *userdata)
{
        Fixture *f = userdata;

        f->calls++;
}

static int set_up(void **state)
{
        Fixture *f = calloc(1, sizeof(*f));
        _cleanup_(freep) char *address = NULL;

        assert_non_null(f);
        scratch_make(f->folder, "bus");
        address = strf("unix:path=%s/bus", f->folder);
        assert_int_equal(setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1), 0);
        assert_true(sd_event_new(&f->event) >= 0);
        f->commands = -1;
        *state = f;
        return 0;
}

static void end_bus(Fixture *f)
{
        _cleanup_(freep) char *path = strf("%s/bus", f->folder);

        (void)unlink(path);
        if (f->commands >= 0)
                close(f->commands);
        f->commands = -1;
        if (f->pid > 0)
                assert_int_equal(waitpid(f->pid, NULL, 0), f->pid);
        f->pid = 0;
}

static int tear_down(void **state)
{
        Fixture *f = *state;

        unit_watch_free(f->watch);
        sd_event_unref(f->event);
        end_bus(f);
        remove_folder(f->folder);
        free(f);
        return 0;
}

static void start_bus(Fixture *f, const char *unit_state)
{
        struct sockaddr_un sa = { .sun_family = AF_UNIX };
        _cleanup_(freep) char *path = strf("%s/bus", f->folder);
        int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fds[2];

        assert_true(listener >= 0);
        snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/new", f->folder);
        assert_int_equal(bind(listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
        assert_int_equal(listen(listener, 1), 0);
        assert_int_equal(rename(sa.sun_path, path), 0);
        assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
        f->pid = fork();
        assert_true(f->pid >= 0);
        if (f->pid == 0) {
                close(fds[1]);
                serve(listener, fds[0], unit_state);
        }
        close(fds[0]);
        close(listener);
        f->commands = fds[1];
}

static int watch(Fixture *f)
{
        return unit_watch_new(f->event, "irqbalance.service", on_change, f, &f->watch);
}

static void tell(const Fixture *f, const char *what)
{
        assert_int_equal(write(f->commands, what, strlen(what)), strlen(what));
}

/* Runs the loop until the handler was called once more. */
static void wait_for_call(Fixture *f)
{
        for (unsigned before = f->calls; f->calls == before;)
                assert_true(sd_event_run(f->event, 10000000) > 0);
}

/* The same, until it is this error. */
static void wait_for_error(Fixture *f, int error)
{
        while (unit_watch_error(f->watch) != error)
                wait_for_call(f);
}

static void without_a_bus_it_says_so(void **state)
{
        assert_int_equal(watch(*state), -ENOENT);
}

static void the_state_is_known_from_the_start(void **state)
{
        Fixture *f = *state;

        start_bus(f, "active");
        assert_int_equal(watch(f), 0);
        assert_true(unit_watch_is_active(f->watch));
        assert_int_equal(unit_watch_error(f->watch), 0);
        assert_int_equal(f->calls, 0);
}

static void changes_are_told(void **state)
{
        Fixture *f = *state;

        start_bus(f, "inactive");
        assert_int_equal(watch(f), 0);
        assert_false(unit_watch_is_active(f->watch));
        tell(f, "a");
        wait_for_call(f);
        assert_true(unit_watch_is_active(f->watch));
        /* While it stops it may still write; other units are nobody's business. */
        tell(f, "doi");
        wait_for_call(f);
        assert_false(unit_watch_is_active(f->watch));
        assert_int_equal(f->calls, 2);
        tell(f, "oa");
        wait_for_call(f);
        assert_true(unit_watch_is_active(f->watch));
        assert_int_equal(f->calls, 3);
}

static void a_bus_that_goes_is_noticed(void **state)
{
        Fixture *f = *state;

        start_bus(f, "active");
        assert_int_equal(watch(f), 0);
        tell(f, "x");
        wait_for_call(f);
        assert_int_equal(unit_watch_error(f->watch), -ENOTCONN);
        assert_false(unit_watch_is_active(f->watch));
        /* Nothing keeps the loop awake meanwhile. */
        while (sd_event_run(f->event, 0) > 0)
                ;
        assert_int_equal(f->calls, 1);
}

/* The bus goes, and does not come back before it was looked for in vain. */
static void a_bus_that_comes_back_is_used(void **state)
{
        Fixture *f = *state;

        start_bus(f, "active");
        assert_int_equal(watch(f), 0);
        for (int i = 0; i < 2; i++) {
                f->calls = 0;
                end_bus(f);
                wait_for_error(f, -ENOTCONN);
                wait_for_error(f, -ENOENT);
                start_bus(f, "active");
                wait_for_error(f, 0);
                assert_true(unit_watch_is_active(f->watch));
                tell(f, "i");
                wait_for_call(f);
                assert_false(unit_watch_is_active(f->watch));
                assert_int_equal(f->calls, 4);
        }
}

/* The bus is there again before the manager is: the name is not known, which the bus answers itself. */
static void a_manager_that_is_late_is_asked_again(void **state)
{
        Fixture *f = *state;

        start_bus(f, "inactive");
        assert_int_equal(watch(f), 0);
        end_bus(f);
        wait_for_error(f, -ENOTCONN);
        start_bus(f, NULL);
        wait_for_error(f, -EHOSTUNREACH);
        /* Its signal alone is not believed: there may be others that were missed. */
        tell(f, "a");
        wait_for_error(f, 0);
        assert_true(unit_watch_is_active(f->watch));
}

static void without_a_manager_it_says_so(void **state)
{
        Fixture *f = *state;

        start_bus(f, NULL);
        assert_int_equal(watch(f), -EHOSTUNREACH);
        assert_int_equal(f->calls, 0);
}

/* Neither the watch nor its timer outlives it. */
static void it_can_be_freed_without_a_bus(void **state)
{
        Fixture *f = *state;

        start_bus(f, "active");
        assert_int_equal(watch(f), 0);
        end_bus(f);
        wait_for_call(f);
        f->watch = unit_watch_free(f->watch);
        while (sd_event_run(f->event, 1000000) > 0)
                ;
        assert_int_equal(f->calls, 1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(without_a_bus_it_says_so, set_up, tear_down),
                cmocka_unit_test_setup_teardown(the_state_is_known_from_the_start, set_up, tear_down),
                cmocka_unit_test_setup_teardown(changes_are_told, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_bus_that_goes_is_noticed, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_bus_that_comes_back_is_used, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_manager_that_is_late_is_asked_again, set_up, tear_down),
                cmocka_unit_test_setup_teardown(without_a_manager_it_says_so, set_up, tear_down),
                cmocka_unit_test_setup_teardown(it_can_be_freed_without_a_bus, set_up, tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
