/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/irqbalance-socket.h"
#include "monitor/irqbalance.h"
#include "monitor/unit.h"

#include "tree.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

/* --- names and tables --- */

static void sockets_are_known_by_their_names(void **state)
{
        static const struct {
                const char *name;
                unsigned pid;
        } rows[] = {
                { "irqbalance1.sock", 1 },          { "irqbalance123456789.sock", 123456789 },
                { "irqbalance1234567890.sock", 0 }, { "irqbalance.sock", 0 },
                { "irqbalance0.sock", 0 },          { "irqbalance01.sock", 0 },
                { "irqbalance1.sock2", 0 },         { "irqbalance1", 0 },
                { "irqbalance-1.sock", 0 },         { "irqbalance 1.sock", 0 },
                { "xirqbalance1.sock", 0 },         { "", 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                assert_int_equal(irqbalance_socket_pid(rows[i].name), rows[i].pid);
}

#define HEAD "Num       RefCount Protocol Flags    Type St Inode Path\n"
#define LINE "0000000000000000: 00000002 00000000 00010000 0001 01 "

static void a_socket_that_somebody_has_open_is_found(void **state)
{
        static const struct {
                const char *text, *socket;
                unsigned pid;
        } rows[] = {
                { HEAD LINE "96196 /run/irqbalance/irqbalance812.sock\n", "run/irqbalance/irqbalance812.sock",
                  812 },
                { HEAD LINE "1 /run/dbus/x\n" LINE "2\n" LINE "3 /run/irqbalance/irqbalance7.sock",
                  "run/irqbalance/irqbalance7.sock", 7 },
                { HEAD LINE "1 @irqbalance44.sock\n", "@irqbalance44.sock", 44 },
                /* bound, and not listening yet */
                { HEAD
                  "0000000000000000: 00000002 00000000 00000000 0001 01 5 /run/irqbalance/irqbalance8.sock\n",
                  "run/irqbalance/irqbalance8.sock", 8 },
                { HEAD LINE "1 /tmp/run/irqbalance/irqbalance812.sock\n", NULL, 0 },
                { HEAD LINE "1 /run/irqbalance/irqbalance.sock\n", NULL, 0 },
                { HEAD LINE "1 /run/irqbalance/a/irqbalance8.sock\n", NULL, 0 },
                { HEAD LINE "1 @/run/irqbalance/irqbalance8.sock\n", NULL, 0 },
                { HEAD LINE
                  "1 @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n",
                  NULL, 0 },
                { HEAD, NULL, 0 },
                { "", NULL, 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                IrqbalanceState s = { 0 };

                assert_int_equal(irqbalance_find_socket(rows[i].text, &s), rows[i].socket != NULL);
                assert_string_equal(s.socket, rows[i].socket ? rows[i].socket : "");
                assert_int_equal(s.pid, rows[i].pid);
        }
}

static void a_unit_has_processes_from_start_to_end(void **state)
{
        static const char *const active[] = { "active", "activating", "deactivating", "reloading" };

        for (size_t i = 0; i < ARRAY_SIZE(active); i++)
                assert_true(unit_state_is_active(active[i]));
        assert_false(unit_state_is_active("inactive"));
        assert_false(unit_state_is_active("failed"));
        assert_false(unit_state_is_active(""));
}

/* --- a copy of a machine --- */

typedef struct Fixture {
        Machine m;
        sd_event *event;
        IrqbalanceWatch *watch;
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

        assert_non_null(f);
        tree_init(&f->m);
        assert_true(sd_event_new(&f->event) >= 0);
        *state = f;
        return 0;
}

static int tear_down(void **state)
{
        Fixture *f = *state;

        irqbalance_watch_free(f->watch);
        sd_event_unref(f->event);
        machine_done(&f->m);
        free(f);
        return 0;
}

static void start(Fixture *f)
{
        assert_int_equal(irqbalance_watch_new(f->event, f->m.root, on_change, f, &f->watch), 0);
        assert_int_equal(irqbalance_watch_unit_error(f->watch), 0);
}

/* Lets the loop do what is there, and tells whether the handler was called. */
static bool was_called(Fixture *f)
{
        unsigned before = f->calls;

        while (sd_event_run(f->event, 0) > 0)
                ;
        return f->calls > before;
}

static bool runs(Fixture *f)
{
        return irqbalance_watch_refresh(f->watch)->running;
}

static void take_away(const Fixture *f, const char *path)
{
        _cleanup_(freep) char *full = strf("%s/%s", f->m.dir, path);

        assert_int_equal(remove(full), 0);
}

/* A socket of a process that lives, at its place below the machine. */
static void bind_socket(const Fixture *f, const char *path)
{
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_un sa = { .sun_family = AF_UNIX };

        assert_true(fd >= 0);
        assert_in_range(snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/%s", f->m.dir, path), 1,
                        sizeof(sa.sun_path) - 1);
        assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
        close(fd);
}

static void the_folder_is_waited_for(void **state)
{
        Fixture *f = *state;

        tree_folder(&f->m, "run");
        start(f);
        assert_false(runs(f));
        tree_put(&f->m, "", "run/other");
        assert_false(was_called(f)); /* others' files are nobody's business */
        for (unsigned i = 0; i < 2; i++) {
                tree_folder(&f->m, "run/irqbalance");
                assert_true(was_called(f));
                assert_false(runs(f));
                tree_put(&f->m, "", "run/irqbalance/irqbalance5.sock");
                assert_true(was_called(f));
                assert_true(runs(f));
                assert_int_equal(irqbalance_watch_refresh(f->watch)->pid, 5);
                assert_string_equal(irqbalance_watch_refresh(f->watch)->socket,
                                    "run/irqbalance/irqbalance5.sock");
                take_away(f, "run/irqbalance/irqbalance5.sock");
                assert_true(was_called(f));
                assert_false(runs(f));
                take_away(f, "run/irqbalance");
                assert_true(was_called(f));
                assert_false(runs(f));
        }
}

static void a_folder_that_was_replaced_is_watched(void **state)
{
        Fixture *f = *state;

        tree_folder(&f->m, "run/irqbalance");
        start(f);
        take_away(f, "run/irqbalance");
        tree_put(&f->m, "", "run/irqbalance/irqbalance5.sock");
        assert_true(was_called(f));
        assert_true(runs(f));
        was_called(f);
        take_away(f, "run/irqbalance/irqbalance5.sock");
        assert_true(was_called(f));
        assert_false(runs(f));
}

static void without_its_folders_it_does_not_run(void **state)
{
        Fixture *f = *state;

        start(f);
        assert_false(runs(f));
        tree_put(&f->m, "", "run/irqbalance/irqbalance5.sock");
        assert_true(runs(f)); /* also when no event can tell */
}

static void a_socket_lives_as_long_as_its_process(void **state)
{
        _cleanup_(freep) char *path = NULL;
        Fixture *f = *state;
        pid_t pid = fork();

        assert_true(pid >= 0);
        if (pid == 0) {
                pause();
                _exit(0);
        }
        path = strf("run/irqbalance/irqbalance%d.sock", (int)pid);
        tree_folder(&f->m, "run/irqbalance");
        bind_socket(f, path);
        start(f);
        assert_true(runs(f));
        assert_false(was_called(f));
        /* Killed, it leaves its file behind. */
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_true(was_called(f));
        assert_false(runs(f));
        assert_false(was_called(f)); /* it ends once */
        assert_true(root_exists(f->m.root, "%s", path));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(sockets_are_known_by_their_names),
                cmocka_unit_test(a_socket_that_somebody_has_open_is_found),
                cmocka_unit_test(a_unit_has_processes_from_start_to_end),
                cmocka_unit_test_setup_teardown(the_folder_is_waited_for, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_folder_that_was_replaced_is_watched, set_up, tear_down),
                cmocka_unit_test_setup_teardown(without_its_folders_it_does_not_run, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_socket_lives_as_long_as_its_process, set_up, tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
