/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine.h"
#include "standin/standin.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define QUEUE "sys/devices/virtual/workqueue/iscsi_q_0/cpumask"

typedef struct Bench {
        Machine machine;
        Standin *standin;
        WriterSink sink;
} Bench;

static void start(Bench *b, const char *page)
{
        b->standin = standin_free(b->standin);
        machine_put(&b->machine, "standin.json", page);
        assert_int_equal(standin_new(b->machine.root, &b->standin), 0);
        b->sink = standin_sink(b->standin);
}

static int setup(void **state)
{
        Bench *b = calloc(1, sizeof(*b));

        assert_int_equal(machine_init(&b->machine), 0);
        start(b, "{\"managed_irqs\": \"40\"}");
        *state = b;
        return 0;
}

static int teardown(void **state)
{
        Bench *b = *state;

        standin_free(b->standin);
        machine_done(&b->machine);
        free(b);
        return 0;
}

static int write_irq(Bench *b, int irq, const char *value)
{
        _cleanup_(freep) char *path = strf("proc/irq/%d/smp_affinity_list", irq);

        return b->sink.write(b->sink.userdata, b->machine.root, WRITER_IRQ_AFFINITY, path, value);
}

static int write_queue(Bench *b, const char *value)
{
        return b->sink.write(b->sink.userdata, b->machine.root, WRITER_WORKQUEUE_CPUMASK, QUEUE, value);
}

static void expect_irq(const Bench *b, int irq, const char *list, const char *mask,
                       const char *effective_list, const char *effective)
{
        const char *const files[][2] = {
                { "smp_affinity_list", list },
                { "smp_affinity", mask },
                { "effective_affinity_list", effective_list },
                { "effective_affinity", effective },
        };

        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                _cleanup_(freep) char *path = strf("proc/irq/%d/%s", irq, files[i][0]);

                machine_expect(&b->machine, path, files[i][1]);
        }
}

/* A recorded machine may lack cpu/online and the masks: its CPU folders tell. */
static void machine_without_cpu_lists(void **state)
{
        static const char *const files[] = { "sys/devices/system/cpu/online",
                                             "sys/devices/system/cpu/possible", "proc/irq/30/smp_affinity",
                                             "proc/irq/30/effective_affinity" };
        Bench *b = *state;

        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                _cleanup_(freep) char *full = strf("%s/%s", b->machine.dir, files[i]);

                assert_int_equal(unlink(full), 0);
        }
        b->standin = standin_free(b->standin);
        assert_int_equal(standin_new(b->machine.root, &b->standin), -ENODATA);
        for (int cpu = 0; cpu < 6; cpu++) {
                _cleanup_(freep) char *path = strf("sys/devices/system/cpu/cpu%d/crash_notes", cpu);

                machine_put(&b->machine, path, "0\n");
        }
        machine_put(&b->machine, "sys/devices/system/cpu/offline", "4-5\n");
        start(b, "{}");
        assert_int_equal(write_irq(b, 30, "3"), 0);
        machine_expect(&b->machine, "proc/irq/30/effective_affinity_list", "3");
        machine_expect(&b->machine, "proc/irq/30/smp_affinity_list", "3");
        assert_false(root_exists(b->machine.root, "proc/irq/30/smp_affinity"));
        assert_int_equal(write_irq(b, 30, "4"), -ERANGE); /* as far as it knows, there never was one */
}

static void one_cpu(void **state)
{
        Bench *b = *state;

        assert_int_equal(write_irq(b, 30, "3"), 0);
        expect_irq(b, 30, "3", "08", "3", "08");
        assert_int_equal(write_irq(b, 30, "0,1,2,7\n"), 0);
        /* Offline CPUs stay in the mask but get nothing. */
        expect_irq(b, 30, "0-2,7", "87", "1", "02");
        expect_irq(b, 31, "0-7", "ff", "0", "01");
}

/* The file's bytes, not only what a trimming reader makes of them. */
static void files_are_exact(void **state)
{
        Bench *b = *state;
        _cleanup_(closep) int fd = -1;
        char text[64];

        assert_int_equal(write_irq(b, 30, "0,2,4"), 0);
        assert_int_equal(write_irq(b, 30, "5"), 0);
        fd = root_open_file(b->machine.root, O_RDONLY, "proc/irq/30/smp_affinity_list");
        assert_int_equal(read(fd, text, sizeof(text)), 2);
        assert_memory_equal(text, "5\n", 2);
}

/* Nothing moves while the CPU in use is allowed; else the emptiest one is taken, the lowest of several. */
static void choice_of_the_cpu(void **state)
{
        Bench *b = *state;

        assert_int_equal(write_irq(b, 30, "0-1"), 0);
        expect_irq(b, 30, "0-1", "03", "0", "01");
        /* IRQ 40 is on CPU 2, so 1 and 3 are emptier. */
        assert_int_equal(write_irq(b, 30, "1-3"), 0);
        expect_irq(b, 30, "1-3", "0e", "1", "02");
        assert_int_equal(write_irq(b, 31, "1-3"), 0);
        expect_irq(b, 31, "1-3", "0e", "3", "08");
        assert_int_equal(write_irq(b, 32, "1-3,6-7"), 0);
        expect_irq(b, 32, "1-3,6-7", "ce", "1", "02");
        /* What moved away makes room. */
        assert_int_equal(write_irq(b, 31, "4"), 0);
        assert_int_equal(write_irq(b, 33, "1-3"), 0);
        expect_irq(b, 33, "1-3", "0e", "3", "08");
}

static void errors_of_affinity(void **state)
{
        Bench *b = *state;

        assert_int_equal(write_irq(b, 40, "3"), -EIO);
        expect_irq(b, 40, "2", "ff", "2", "01");
        assert_int_equal(write_irq(b, 30, ""), -EINVAL);
        assert_int_equal(write_irq(b, 30, "x"), -EINVAL);
        assert_int_equal(write_irq(b, 30, "6-7"), -EINVAL);
        assert_int_equal(write_irq(b, 30, "8"), -ERANGE);
        assert_int_equal(write_irq(b, 30, "0,99999"), -ERANGE);
        assert_int_equal(write_irq(b, 99, "0"), -ENOENT);
        expect_irq(b, 30, "0-7", "ff", "0", "01");
}

static void read_only_attribute(void **state)
{
        Bench *b = *state;
        _cleanup_(freep) char *file = strf("%s/proc/irq/30/smp_affinity_list", b->machine.dir);

        assert_int_equal(chmod(file, 0444), 0);
        /* As another user the open fails already. */
        assert_int_equal(write_irq(b, 30, "3"), geteuid() == 0 ? -EPERM : -EACCES);
        expect_irq(b, 30, "0-7", "ff", "0", "01");
        start(b, "{\"managed_irqs\": \"31,40\", \"managed_errno\": \"EPERM\"}");
        assert_int_equal(write_irq(b, 31, "3"), -EPERM);
}

static void no_free_vector(void **state)
{
        Bench *b = *state;

        start(b, "{\"full_cpus\": \"0-2,5\"}");
        assert_int_equal(write_irq(b, 30, "1"), -ENOSPC);
        assert_int_equal(write_irq(b, 30, "1-2,5-7"), -ENOSPC);
        expect_irq(b, 30, "0-7", "ff", "0", "01");
        assert_int_equal(write_irq(b, 30, "0-1"), 0);
        expect_irq(b, 30, "0-1", "03", "0", "01");
        assert_int_equal(write_irq(b, 30, "1-3"), 0);
        expect_irq(b, 30, "1-3", "0e", "3", "08");
}

/* Without interrupt remapping the move waits for the next interrupt, and no error shows. */
static void pending_moves(void **state)
{
        Bench *b = *state;

        start(b, "{\"remapping\": false, \"full_cpus\": [3]}");
        assert_int_equal(write_irq(b, 30, "3"), 0);
        expect_irq(b, 30, "3", "08", "0", "01");
}

static void workqueues_take_masks(void **state)
{
        Bench *b = *state;

        assert_int_equal(write_queue(b, "30"), 0);
        machine_expect(&b->machine, QUEUE, "30");
        assert_int_equal(write_queue(b, "00000000,00000081"), 0);
        machine_expect(&b->machine, QUEUE, "81");
        assert_int_equal(write_queue(b, "0-1"), -EINVAL);
        assert_int_equal(write_queue(b, "zz"), -EINVAL);
        assert_int_equal(write_queue(b, "100"), -EOVERFLOW);
        assert_int_equal(write_queue(b, "1,00000000"), -EOVERFLOW);
        /* The kernel takes it; the writer does not. */
        assert_int_equal(write_queue(b, "0"), 0);
        machine_expect(&b->machine, QUEUE, "00");
}

static void refused_workqueues(void **state)
{
        Bench *b = *state;

        start(b, "{\"refused_workqueues\": [\"iscsi_q\", \"iscsi_q_00\"]}");
        assert_int_equal(write_queue(b, "30"), 0);
        start(b, "{\"refused_workqueues\": [\"other\", \"iscsi_q_0\"]}");
        assert_int_equal(write_queue(b, "3"), -EACCES);
        machine_expect(&b->machine, QUEUE, "30");
}

/* Masks have as many digits as the machine has CPUs. */
static void width_of_masks(void **state)
{
        static const struct {
                const char *possible, *want;
        } cases[] = {
                { "0-3", "2" },
                { "0-5", "02" },
                { "0-31", "00000002" },
                { "0-32", "0,00000002" },
                { "0-127", "00000000,00000000,00000000,00000002" },
        };
        Bench *b = *state;

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                machine_put(&b->machine, "sys/devices/system/cpu/possible", cases[i].possible);
                machine_put(&b->machine, "sys/devices/system/cpu/online", "0-3");
                start(b, "{}");
                assert_int_equal(write_queue(b, "2"), 0);
                machine_expect(&b->machine, QUEUE, cases[i].want);
                assert_int_equal(write_irq(b, 30, "1"), 0);
                expect_irq(b, 30, "1", cases[i].want, "1", i == 0 ? "2" : cases[i].want);
                machine_put_irq(&b->machine, 30, "0-3\n", "0\n");
        }
}

static void captures_may_lack_files(void **state)
{
        static const char *const files[] = { "effective_affinity", "effective_affinity_list",
                                             "smp_affinity" };
        Bench *b = *state;

        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                _cleanup_(freep) char *file = strf("%s/proc/irq/30/%s", b->machine.dir, files[i]);

                assert_int_equal(unlink(file), 0);
        }
        assert_int_equal(write_irq(b, 30, "3"), 0);
        machine_expect(&b->machine, "proc/irq/30/smp_affinity_list", "3");
        assert_false(root_exists(b->machine.root, "proc/irq/30/smp_affinity"));
}

static void bad_pages(void **state)
{
        static const char *const pages[] = {
                "",
                "[]",
                "{\"managed_irqs\": 40}",
                "{\"managed_irqs\": \"x\"}",
                "{\"full_cpus\": [-1]}",
                "{\"full_cpus\": [\"1\"]}",
                "{\"full_cpus\": [65536]}",
                "{\"managed_errno\": \"ENOENT\"}",
                "{\"managed_errno\": 5}",
                "{\"remapping\": 1}",
                "{\"read_only\": 1}",
                "{\"write_usec\": -1}",
                "{\"write_usec\": \"1\"}",
                "{\"refused_workqueues\": \"iscsi_q_0\"}",
                "{\"refused_workqueues\": [0]}",
                "{\"remapping\": true, \"remapping\": false}",
        };
        Bench *b = *state;
        Standin *s = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
                machine_put(&b->machine, "standin.json", pages[i]);
                assert_int_equal(standin_new(b->machine.root, &s), -EINVAL);
        }
        assert_null(s);
}

/* Where a log is there, each write is in it before it is done and after; a file system that is read-only
 * takes none. */
static void log_of_writes(void **state)
{
        Bench *b = *state;

        machine_put(&b->machine, "standin.log", "");
        start(b, "{\"write_usec\": 1}");
        assert_int_equal(write_irq(b, 30, "3"), 0);
        assert_int_equal(write_irq(b, 30, "9"), -ERANGE);
        start(b, "{\"read_only\": true}");
        assert_int_equal(write_queue(b, "30"), -EROFS);
        machine_expect(&b->machine, "standin.log",
                       "write proc/irq/30/smp_affinity_list 0-7 3\n"
                       "done proc/irq/30/smp_affinity_list 0\n"
                       "write proc/irq/30/smp_affinity_list 3 9\n"
                       "done proc/irq/30/smp_affinity_list 34\n"
                       "write " QUEUE " ff 30\n"
                       "done " QUEUE " 30");
        machine_expect(&b->machine, QUEUE, "ff");
}

static void never_on_the_live_machine(void **state)
{
        _cleanup_(root_freep) Root *live = NULL;
        Bench *b = *state;
        Standin *s = NULL;
        pid_t pid = 0;

        assert_int_equal(root_open("/", &live), 0);
        assert_int_equal(standin_new(live, &s), -EPERM);
        assert_int_equal(standin_start_writer("/", b->machine.dir, &pid), -EPERM);
        assert_int_equal(standin_start_writer("/proc/self/root", b->machine.dir, &pid), -EPERM);
        assert_int_equal(standin_start_writer("/no/such/folder", b->machine.dir, &pid), -ENOENT);
        assert_int_equal(pid, 0);
        /* Those that failed have been waited for. */
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Returns what standin_new() says where procfs is mounted in the copy; the mount is seen by this process
 * alone. */
static int try_mounted(const Bench *b)
{
        _cleanup_(freep) char *folder = strf("%s/proc", b->machine.dir);
        Standin *s = NULL;
        Root *root;

        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("proc", folder, "proc", MS_RDONLY, NULL) < 0 || root_open(b->machine.dir, &root) < 0)
                return -ENOTSUP;
        return standin_new(root, &s);
}

/* A container's view of its host is no copy. Needs root for the mount. */
static void never_on_mounted_kernel_files(void **state)
{
        Bench *b = *state;
        int status;
        pid_t pid = fork();

        if (pid == 0)
                _exit(-try_mounted(b));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == ENOTSUP)
                print_message("procfs cannot be mounted here\n");
        else
                assert_int_equal(WEXITSTATUS(status), EPERM);
}

static void one_writer_for_a_ledger(void **state)
{
        _cleanup_(freep) char *folder = NULL;
        Bench *b = *state;
        pid_t pid, other = 0;
        int fd, status;

        folder = strf("%s/ledger", b->machine.dir);
        fd = standin_start_writer(b->machine.dir, folder, &pid);
        assert_true(fd >= 0);
        assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
        assert_int_equal(standin_start_writer(b->machine.dir, folder, &other), -EBUSY);
        close(fd);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(machine_without_cpu_lists, setup, teardown),
                cmocka_unit_test_setup_teardown(one_cpu, setup, teardown),
                cmocka_unit_test_setup_teardown(files_are_exact, setup, teardown),
                cmocka_unit_test_setup_teardown(choice_of_the_cpu, setup, teardown),
                cmocka_unit_test_setup_teardown(errors_of_affinity, setup, teardown),
                cmocka_unit_test_setup_teardown(read_only_attribute, setup, teardown),
                cmocka_unit_test_setup_teardown(no_free_vector, setup, teardown),
                cmocka_unit_test_setup_teardown(pending_moves, setup, teardown),
                cmocka_unit_test_setup_teardown(workqueues_take_masks, setup, teardown),
                cmocka_unit_test_setup_teardown(refused_workqueues, setup, teardown),
                cmocka_unit_test_setup_teardown(width_of_masks, setup, teardown),
                cmocka_unit_test_setup_teardown(captures_may_lack_files, setup, teardown),
                cmocka_unit_test_setup_teardown(bad_pages, setup, teardown),
                cmocka_unit_test_setup_teardown(log_of_writes, setup, teardown),
                cmocka_unit_test_setup_teardown(never_on_the_live_machine, setup, teardown),
                cmocka_unit_test_setup_teardown(never_on_mounted_kernel_files, setup, teardown),
                cmocka_unit_test_setup_teardown(one_writer_for_a_ledger, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
