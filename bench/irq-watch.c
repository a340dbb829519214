/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes a PCI function away and finds it again, and tells how long it takes from the kernel's uevent until
 * all its interrupts are requested, and until all are on the CPUs where they belong.
 *
 * usage: irq-watch ADDRESS CPULIST ROUNDS LIMIT_MS
 *
 * Prints "ROUND REQUESTED_US PLACED_US" for each round, -1 for what did not happen within the limit. All
 * interrupts of the function have to be such that they can be set. Placed is the moment from which on they
 * stayed right for half a second. Looks every millisecond. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STAY_US  500000
#define QUIET_US 2500000 /* the settling look of the round before is over */

typedef struct Watch {
        const char *address;
        char driver[PATH_MAX - 16]; /* its folder */
        uint64_t home;              /* mask of CPUs */
        int expected;               /* interrupts of the function when it is complete */
        int uevents;                /* socket */
        int64_t limit;
} Watch;

typedef struct Look {
        int requested, placed;
} Look;

static int64_t now_us(void)
{
        struct timespec ts;

        clock_gettime(CLOCK_MONOTONIC, &ts);
        return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static void sleep_us(long usec)
{
        const struct timespec ts = { .tv_sec = usec / 1000000, .tv_nsec = usec % 1000000 * 1000 };

        (void)nanosleep(&ts, NULL);
}

static uint64_t parse_list(const char *s)
{
        uint64_t mask = 0;
        char *end;

        while (*s >= '0' && *s <= '9') {
                unsigned long from = strtoul(s, &end, 10), to = from;

                if (*end == '-')
                        to = strtoul(end + 1, &end, 10);
                for (unsigned long cpu = from; cpu <= to && cpu < 64; cpu++)
                        mask |= UINT64_C(1) << cpu;
                s = *end == ',' ? end + 1 : end;
        }
        return mask;
}

static bool read_list(const char *irq, uint64_t *ret)
{
        char path[320], text[256];
        ssize_t n;
        int fd;

        snprintf(path, sizeof(path), "/proc/irq/%s/effective_affinity_list", irq);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return false;
        n = read(fd, text, sizeof(text) - 1);
        close(fd);
        if (n <= 0)
                return false;
        text[n] = '\0';
        *ret = parse_list(text);
        return true;
}

/* An interrupt that somebody requested has a folder for its action. */
static bool is_requested(const char *irq)
{
        struct dirent *e;
        char path[320];
        bool found = false;
        DIR *d;

        snprintf(path, sizeof(path), "/proc/irq/%s", irq);
        d = opendir(path);
        while (d && !found && (e = readdir(d)))
                found = e->d_type == DT_DIR && e->d_name[0] != '.';
        if (d)
                closedir(d);
        return found;
}

static Look look(const Watch *w)
{
        struct dirent *e;
        char path[320];
        Look l = { 0 };
        DIR *d;

        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/msi_irqs", w->address);
        d = opendir(path);
        while (d && (e = readdir(d))) {
                uint64_t cpus;

                if (e->d_name[0] == '.' || !is_requested(e->d_name))
                        continue;
                l.requested++;
                l.placed += read_list(e->d_name, &cpus) && cpus && !(cpus & ~w->home);
        }
        if (d)
                closedir(d);
        return l;
}

static void put(const char *path, const char *text)
{
        ssize_t n = (ssize_t)strlen(text);
        int fd = open(path, O_WRONLY | O_CLOEXEC);

        if (fd < 0 || write(fd, text, (size_t)n) != n) {
                perror(path);
                exit(1);
        }
        close(fd);
}

/* Whether an "add" or "bind" of the function, or of what is in it, is among the uevents that came. */
static bool has_come(const Watch *w)
{
        char message[8192];
        bool found = false;
        ssize_t n;

        while ((n = recv(w->uevents, message, sizeof(message) - 1, MSG_DONTWAIT)) > 0) {
                message[n] = '\0';
                if ((strncmp(message, "add@", 4) == 0 || strncmp(message, "bind@", 5) == 0) &&
                    strstr(message, w->address))
                        found = true;
        }
        return found;
}

static pid_t give_back(const Watch *w)
{
        char path[PATH_MAX];
        pid_t pid = fork();

        if (pid == 0) {
                snprintf(path, sizeof(path), "%s/bind", w->driver);
                put(path, w->address); /* returns when the driver has probed */
                _exit(0);
        }
        return pid;
}

static void one_round(const Watch *w, int number)
{
        int64_t begin, came = -1, requested = -1, right = -1;
        char path[PATH_MAX];
        pid_t pid;

        snprintf(path, sizeof(path), "%s/unbind", w->driver);
        put(path, w->address);
        sleep_us(QUIET_US);
        (void)has_come(w);
        begin = now_us();
        pid = give_back(w);
        for (int64_t now = begin; now < begin + w->limit; now = now_us()) {
                Look l;

                if (came < 0 && has_come(w))
                        came = now;
                l = look(w);
                if (requested < 0 && l.requested >= w->expected)
                        requested = now;
                if (l.placed < w->expected)
                        right = -1;
                else if (right < 0)
                        right = now;
                if (right >= 0 && now - right >= STAY_US)
                        break;
                sleep_us(1000);
        }
        waitpid(pid, NULL, 0);
        printf("%d %lld %lld\n", number, requested < 0 || came < 0 ? -1 : (long long)(requested - came),
               right < 0 || came < 0 ? -1 : (long long)(right - came));
        fflush(stdout);
}

static bool find_driver(Watch *w)
{
        char path[320], *real;

        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", w->address);
        real = realpath(path, NULL);
        if (real)
                snprintf(w->driver, sizeof(w->driver), "%s", real);
        free(real);
        return w->driver[0];
}

int main(int argc, char **argv)
{
        struct sockaddr_nl group = { .nl_family = AF_NETLINK, .nl_groups = 1 };
        Watch w = { 0 };
        long rounds = argc == 5 ? strtol(argv[3], NULL, 10) : 0;

        if (rounds < 1) {
                fprintf(stderr, "usage: irq-watch ADDRESS CPULIST ROUNDS LIMIT_MS\n");
                return 2;
        }
        w.address = argv[1];
        w.home = parse_list(argv[2]);
        w.limit = strtoll(argv[4], NULL, 10) * 1000;
        w.uevents = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
        if (w.uevents < 0 || bind(w.uevents, (struct sockaddr *)&group, sizeof(group)) < 0) {
                perror("uevents");
                return 1;
        }
        w.expected = look(&w).requested;
        if (w.expected == 0 || !find_driver(&w)) {
                fprintf(stderr, "%s has no driver, or no interrupts\n", w.address);
                return 1;
        }
        for (int i = 1; i <= rounds; i++)
                one_round(&w, i);
        return 0;
}
