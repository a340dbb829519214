/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/container.h"
#include "tree.h"

static void expect(const char *path, const char *text, const char *want)
{
        _cleanup_(freep) char *manager = NULL;
        Machine m;

        tree_init(&m);
        if (path)
                machine_put(&m, path, text);
        assert_int_equal(container_detect(m.root, &manager), want ? 1 : 0);
        if (want)
                assert_string_equal(manager, want);
        else
                assert_null(manager);
        machine_done(&m);
}

static void each_mark_is_known(void **state)
{
        expect("run/systemd/container", "systemd-nspawn\n", "systemd-nspawn");
        expect("run/systemd/container", "", "container manager unknown");
        expect("run/host/container-manager", "lxc", "lxc");
        expect("run/.containerenv", "engine=\"podman-4.3.1\"\n", "podman");
        expect(".dockerenv", "", "docker");
        expect("proc/vz/version", "", "openvz");
}

static void a_plain_machine_is_none(void **state)
{
        expect(NULL, NULL, NULL);
        expect("run/systemd/notify", "", NULL);
}

/* The host of OpenVZ containers shows both folders. */
static void the_host_of_containers_is_none(void **state)
{
        char *manager = NULL;
        Machine m;

        tree_init(&m);
        machine_put(&m, "proc/vz/version", "");
        machine_put(&m, "proc/bc/0/resources", "");
        machine_put(&m, "sys/kernel/notes", "");
        assert_int_equal(container_detect(m.root, &manager), 0);
        assert_null(manager);
        machine_done(&m);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_mark_is_known),
                cmocka_unit_test(a_plain_machine_is_none),
                cmocka_unit_test(the_host_of_containers_is_none),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
