/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a program inside a copy of a machine, as if it were the running one, and tells what the program cost.
 *
 *   inside ROOT PROGRAM [ARG...]
 *
 * In a mount namespace of its own ROOT/sys lies over /sys, ROOT/proc over /proc with the program's own
 * /proc/self in it, and an empty folder over /run. One line goes to standard output: CPU microseconds, peak
 * kilobytes, exit status. What the program prints goes to standard error. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_NOT_INSIDE 125

static bool lay_over(const char *root, const char *name, const char *over)
{
        char from[PATH_MAX];

        snprintf(from, sizeof(from), "%s/%s", root, name);
        if (mount(from, over, NULL, MS_BIND | MS_REC, NULL) >= 0)
                return true;
        fprintf(stderr, "inside: %s over %s: %s\n", from, over, strerror(errno));
        return false;
}

/* A program's view of itself; nothing else of the real /proc is to be had. */
static bool keep_self(const char *root)
{
        char self[PATH_MAX];

        snprintf(self, sizeof(self), "%s/proc/self", root);
        return (mkdir(self, 0755) >= 0 || errno == EEXIST) &&
               mount("/proc/self", self, NULL, MS_BIND, NULL) >= 0;
}

/* Whether the folder is not the kernel's any more: a program that writes must not reach the real one. */
static bool is_copy(const char *folder, long kernel_type)
{
        struct statfs fs;

        return statfs(folder, &fs) >= 0 && fs.f_type != kernel_type;
}

static bool go_inside(const char *root)
{
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            !keep_self(root)) {
                fprintf(stderr, "inside: no mount namespace: %s\n", strerror(errno));
                return false;
        }
        if (!lay_over(root, "sys", "/sys") || !lay_over(root, "proc", "/proc"))
                return false;
        if (mount("none", "/run", "tmpfs", 0, NULL) < 0)
                return false;
        return is_copy("/sys", SYSFS_MAGIC) && is_copy("/proc", PROC_SUPER_MAGIC) &&
               is_copy("/proc/irq", PROC_SUPER_MAGIC);
}

int main(int argc, char **argv)
{
        struct rusage use;
        int status;
        pid_t pid;

        if (argc < 3) {
                fprintf(stderr, "usage: inside ROOT PROGRAM [ARG...]\n");
                return 2;
        }
        pid = fork();
        if (pid == 0) {
                if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || !go_inside(argv[1]))
                        _exit(EXIT_NOT_INSIDE);
                execv(argv[2], argv + 2);
                fprintf(stderr, "inside: %s: %s\n", argv[2], strerror(errno));
                _exit(EXIT_NOT_INSIDE);
        }
        if (pid < 0 || wait4(pid, &status, 0, &use) < 0) {
                perror("inside");
                return EXIT_NOT_INSIDE;
        }
        printf("%ld %ld %d\n",
               (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 + use.ru_utime.tv_usec +
                       use.ru_stime.tv_usec,
               use.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}
