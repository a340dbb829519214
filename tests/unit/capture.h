/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "tree.h"

#include <spawn.h>
#include <sys/wait.h>

/* Recorded machines. They lie packed in a folder beside the checkout and are unpacked one at a time. */

static const char *captures;

/* What no reader looks at; these are most of the files. */
static const char *const unread[] = {
        "--exclude=*/power",
        "--exclude=*/cpuidle",
        "--exclude=*/cpufreq",
        "--exclude=*/memory[0-9]*",
        "--exclude=*/infiniband",
        "--exclude=*/hugepages",
        "--exclude=*/device-tree",
        "--exclude=*/firmware",
        "--exclude=*/core_*",
        "--exclude=*/package_*",
        "--exclude=*/cluster_*",
        "--exclude=*/die_*",
        "--exclude=*/cache/index*/[a-ktu-z]*",
        "--exclude=*/cache/index*/size",
        "--exclude=*/cache/index*/number*",
        "--exclude=*/queues",
        "--exclude=*/statistics",
        "--exclude=*/modalias",
        "--exclude=*/vpd",
        "--exclude=*/hotplug",
        "--exclude=*/mc",
        "--exclude=*/firmware_node",
        "--exclude=*/thermal_throttle",
};

static inline void capture_unpack(const char *archive, const char *dir)
{
        _cleanup_(freep) char *path = strf("%s/%s", captures, archive);
        char *argv[ARRAY_SIZE(unread) + 6] = { (char *)"tar", (char *)"-C", (char *)dir, (char *)"-xf",
                                               path };
        extern char **environ;
        int status = -1;
        pid_t pid;

        for (size_t i = 0; i < ARRAY_SIZE(unread); i++)
                argv[5 + i] = (char *)unread[i];
        assert_int_equal(posix_spawnp(&pid, "tar", NULL, NULL, argv, environ), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Unpacks a capture, into memory where the machine has a folder for that (twenty times as fast), and opens
 * it: the folder that holds sys is the archive's top or the one folder in it. */
static inline void capture_open(Machine *m, const char *archive)
{
        _cleanup_(root_freep) Root *top = NULL;
        Strv names = { 0 };

        *m = (Machine) { .dir = "" };
        if (access("/dev/shm", W_OK | X_OK) == 0)
                setenv("TMPDIR", "/dev/shm", false);
        scratch_make(m->dir, "capture");
        capture_unpack(archive, m->dir);
        assert_int_equal(root_open(m->dir, &top), 0);
        assert_int_equal(root_list(top, &names, "."), 0);
        for (size_t i = 0; !m->root && i < names.n; i++) {
                _cleanup_(freep) char *inner = strf("%s/%s", m->dir, names.items[i]);

                if (root_exists(top, "%s/sys", names.items[i]))
                        assert_int_equal(root_open(inner, &m->root), 0);
        }
        strv_clear(&names);
        if (!m->root)
                m->root = STEAL_PTR(top);
}

/* Whether the captures are there, and says so when not; the program's only argument is their folder. */
static inline bool captures_there(int argc, char **argv)
{
        captures = argc > 1 ? argv[1] : "";
        if (access(captures, R_OK | X_OK) == 0)
                return true;
        fprintf(stderr, "skipped: no recorded machines in \"%s\"\n", captures);
        return false;
}
