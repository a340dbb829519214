/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/root.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char dir[SCRATCH_MAX];

static void put(const char *name, const char *text, size_t size)
{
        _cleanup_(freep) char *path = strf("%s/%s", dir, name);
        _cleanup_(closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

        assert_true(fd >= 0);
        assert_int_equal(write(fd, text, size), (ssize_t)size);
}

static void link_to(const char *target, const char *name)
{
        _cleanup_(freep) char *path = strf("%s/%s", dir, name);

        assert_int_equal(symlink(target, path), 0);
}

static int setup(void **state)
{
        Root *root;

        scratch_make(dir, "root");
        put("list", "0-3\n\0", 5);
        put("number", "-1\n", 3);
        put("eth10", "", 0);
        put("eth9", "", 0);
        link_to("/list", "absolute");
        link_to("/etc/passwd", "escape");
        link_to("../../../../../../etc/passwd", "climb");
        assert_int_equal(root_open(dir, &root), 0);
        *state = root;
        return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
        return remove(path);
}

static int teardown(void **state)
{
        root_free(*state);
        return nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void reads(void **state)
{
        const Root *root = *state;
        _cleanup_(cpuset_freep) CpuSet *cpus = NULL;
        _cleanup_(freep) char *text = NULL;
        int number = 0;

        assert_int_equal(root_read(root, &text, "%s", "absolute"), 0);
        assert_string_equal(text, "0-3");
        assert_int_equal(root_read_cpulist(root, &cpus, "list"), 0);
        assert_int_equal(cpuset_count(cpus), 4);
        assert_int_equal(root_read_int(root, &number, "number"), 0);
        assert_int_equal(number, -1);
        assert_int_equal(root_read_int(root, &number, "list"), -EINVAL);
        assert_int_equal(root_read_int(root, &number, "missing"), -ENOENT);
}

static void links_stay_inside(void **state)
{
        const Root *root = *state;
        char *text = NULL;

        assert_int_equal(root_read(root, &text, "escape"), -ENOENT);
        assert_int_equal(root_read(root, &text, "climb"), -ENOENT);
        assert_null(text);
}

static void names_are_in_natural_order(void **state)
{
        Strv names = { 0 };
        size_t nine = 0, ten = 0;

        assert_int_equal(root_list(*state, &names, "."), 0);
        for (size_t i = 0; i < names.n; i++) {
                nine = strcmp(names.items[i], "eth9") == 0 ? i : nine;
                ten = strcmp(names.items[i], "eth10") == 0 ? i : ten;
        }
        assert_true(nine < ten);
        strv_clear(&names);
}

static void real_paths_lie_below_the_root(void **state)
{
        _cleanup_(freep) char *path = NULL, *name = NULL;

        assert_int_equal(root_realpath(*state, &path, "absolute"), 0);
        assert_string_equal(path, "list");
        assert_int_equal(root_read_link_name(*state, &name, "escape"), 0);
        assert_string_equal(name, "passwd");
        assert_int_equal(root_read_link_name(*state, &name, "list"), -EINVAL);
}

static void long_files_are_read_whole(void **state)
{
        _cleanup_(freep) char *big = calloc(1, 300001), *text = NULL;

        memset(big, 'x', 300000);
        put("big", big, 300000);
        assert_int_equal(root_read(*state, &text, "big"), 0);
        assert_int_equal(strlen(text), 300000);
}

/* The buffers that a value is read into are full, or nearly, at these sizes. */
static void values_of_any_length(void **state)
{
        static const size_t edges[] = { 1, 510, 511, 512, 4094, 4095, 4096, 8191, 8192, 300000 };

        for (size_t i = 0; i < ARRAY_SIZE(edges); i++) {
                _cleanup_(freep) char *big = calloc(1, edges[i] + 2), *text = NULL, *value = NULL;

                memset(big, 'x', edges[i]);
                big[edges[i]] = '\n';
                put("value", big, edges[i] + 1);
                assert_int_equal(root_read_value(*state, &value, "value"), 0);
                assert_int_equal(root_read(*state, &text, "value"), 0);
                assert_int_equal(strlen(value), edges[i]);
                assert_string_equal(value, text);
        }
        put("value", "", 0);
        {
                _cleanup_(freep) char *value = NULL;

                assert_int_equal(root_read_value(*state, &value, "value"), 0);
                assert_string_equal(value, "");
        }
}

/* A child that answers a reader in two pieces. */
static pid_t answer_in_pieces(const char *first, const char *second)
{
        _cleanup_(freep) char *path = strf("%s/pieces", dir);
        pid_t pid;
        int fd;

        pid = fork();
        if (pid != 0)
                return pid;
        fd = open(path, O_WRONLY);
        if (write(fd, first, strlen(first)) < 0)
                _exit(1);
        usleep(20000);
        _exit(write(fd, second, strlen(second)) < 0);
}

static void ignore(void *userdata, const RootEvent *e)
{
}

static int keep(void *userdata, char *line)
{
        int r = strv_add(userdata, line);

        *line = 'X'; /* a callback may change it */
        return r;
}

static int stop_at_third(void *userdata, char *line)
{
        unsigned *n = userdata;

        return ++*n == 3 ? -EXDEV : 0;
}

/* Lines that lie across the pieces in which the file is read; the last one has no newline. */
static void lines_of_any_length(void **state)
{
        _cleanup_(freep) char *text = calloc(1, 1 << 20);
        static const size_t lengths[] = { 3, 0, 4090, 4094, 4095, 4096, 1, 8191, 20000, 0, 511, 512, 12 };
        Strv plain = { 0 }, watched = { 0 };
        char *p = text;
        unsigned n = 0;

        for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
                memset(p, 'a' + (int)i, lengths[i]);
                p += lengths[i];
                *p++ = '\n';
        }
        put("lines", text, (size_t)(p - text) - 1);
        assert_int_equal(root_read_lines(*state, keep, &plain, "lines"), 0);
        assert_int_equal(plain.n, ARRAY_SIZE(lengths));
        for (size_t i = 0; i < plain.n; i++) {
                assert_int_equal(strlen(plain.items[i]), lengths[i]);
                assert_true(lengths[i] == 0 || plain.items[i][lengths[i] - 1] == 'a' + (int)i);
        }
        assert_int_equal(root_read_lines(*state, stop_at_third, &n, "lines"), -EXDEV);
        assert_int_equal(root_read_lines(*state, keep, &watched, "missing"), -ENOENT);
        root_watch(*state, ignore, NULL);
        assert_int_equal(root_read_lines(*state, keep, &watched, "lines"), 0);
        root_watch(*state, NULL, NULL);
        assert_int_equal(watched.n, plain.n);
        for (size_t i = 0; i < plain.n; i++)
                assert_string_equal(watched.items[i], plain.items[i]);
        strv_clear(&plain);
        strv_clear(&watched);
}

/* What comes in pieces is read to its end, and a whole file is more than its first line. */
static void short_reads_are_no_end(void **state)
{
        _cleanup_(freep) char *path = strf("%s/pieces", dir), *text = NULL;
        _cleanup_(cpuset_freep) CpuSet *cpus = NULL;
        mode_t mode;
        pid_t pid;

        assert_int_equal(mkfifo(path, 0444), 0);
        pid = answer_in_pieces("0-", "63\n");
        assert_int_equal(root_read_cpulist_and_mode(*state, &cpus, &mode, "pieces"), 0);
        assert_int_equal(cpuset_count(cpus), 64);
        assert_int_equal(mode & 0777, 0444);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        pid = answer_in_pieces("one\n", "two\n");
        assert_int_equal(root_read(*state, &text, "pieces"), 0);
        assert_string_equal(text, "one\ntwo");
        assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* What RestrictSUIDSGID= of a unit does. */
static int hide_openat2(void)
{
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { ARRAY_SIZE(code), code };

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -errno;
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

/* Bits: 1 = no filter, 2 = the live machine cannot be read, 4 = a copy can, without its walls. */
static int read_without_openat2(const Root *copy)
{
        _cleanup_(root_freep) Root *live = NULL;
        char *text = NULL;
        int bad = 0;

        if (hide_openat2() < 0)
                return 1;
        if (root_open("/", &live) < 0 || root_read(live, &text, "proc/sys/kernel/ostype") < 0)
                bad |= 2;
        free(STEAL_PTR(text));
        if (!live || root_read_plain(live, &text, "proc/sys/kernel/ostype") < 0)
                bad |= 2;
        if (root_read(copy, &text, "list") != -ENOSYS)
                bad |= 4;
        free(text);
        return bad;
}

static void live_root_needs_no_openat2(void **state)
{
        int status;
        pid_t pid;

        if (is_emulated(__func__, "seccomp filters"))
                skip();
        pid = fork();
        if (pid == 0)
                _exit(read_without_openat2(*state));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
}

static void remember(void *userdata, const RootEvent *e)
{
        static const char *const uses[] = { "read", "list", "link", "look" };
        _cleanup_(freep) char *line =
                strf("%s %s %d %.*s", uses[e->use], e->path, e->error, (int)e->size, e->data ? e->data : "");

        assert_non_null(line);
        assert_int_equal(strv_add(userdata, line), 0);
}

static void tells_what_it_is_asked_for(void **state)
{
        static const char *const want[] = { "read number 0 -1\n", "read none -2 ", "look list 0 ",
                                            "look absolute 0 ",   "look none -2 ", "link absolute 0 ",
                                            "list . 0 " };
        Strv told = { 0 }, names = { 0 };
        char *text = NULL;
        struct stat st;
        Root *root;
        int number;

        assert_int_equal(root_open(dir, &root), 0);
        root_watch(root, remember, &told);
        assert_int_equal(root_read_int(root, &number, "number"), 0);
        assert_int_equal(root_read(root, &text, "%s", "none"), -ENOENT);
        assert_int_equal(root_stat(root, &st, "list"), 0);
        assert_int_equal(root_realpath(root, &text, "absolute"), 0);
        free(text);
        assert_false(root_exists(root, "none"));
        assert_int_equal(root_read_link_name(root, &text, "absolute"), 0);
        free(text);
        assert_int_equal(root_list(root, &names, "."), 0);
        root_watch(root, NULL, NULL);
        assert_true(root_exists(root, "list"));
        assert_int_equal(told.n, ARRAY_SIZE(want));
        for (size_t i = 0; i < ARRAY_SIZE(want); i++)
                assert_string_equal(told.items[i], want[i]);
        strv_clear(&told);
        strv_clear(&names);
        root_free(root);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads),
                cmocka_unit_test(links_stay_inside),
                cmocka_unit_test(names_are_in_natural_order),
                cmocka_unit_test(real_paths_lie_below_the_root),
                cmocka_unit_test(long_files_are_read_whole),
                cmocka_unit_test(values_of_any_length),
                cmocka_unit_test(lines_of_any_length),
                cmocka_unit_test(short_reads_are_no_end),
                cmocka_unit_test(tells_what_it_is_asked_for),
                cmocka_unit_test(live_root_needs_no_openat2),
        };

        return cmocka_run_group_tests(tests, setup, teardown);
}
