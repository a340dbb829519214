/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tree.h"

#include "ctl/capture-internal.h"
#include "ctl/tarfile.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void put_machine(const Machine *m)
{
        tree_put_nodes(m);
        tree_put_pci(m, "0000:01:00.0", "0x020000\n", "1\n", "ixgbe");
        tree_put_vector(m, "0000:01:00.0", 40, "eth0-TxRx-0", "0\n", "0\n");
        tree_put(m, "1500\n", "sys/devices/pci0000:00/0000:01:00.0/net/eth0/mtu");
        tree_link(m, "sys/class/net/eth0", "sys/devices/pci0000:00/0000:01:00.0/net/eth0");
        tree_put(m, "isolcpus=3\n", "proc/cmdline");
}

static Collection *collected(const Machine *m)
{
        Collection *c = NULL;
        Error e = { 0 };

        if (capture_collect(m->dir, &c, &e) < 0)
                fail_msg("%s: %s", e.where, e.text);
        return c;
}

typedef struct Seen {
        Strv paths, texts;
} Seen;

static void see(void *userdata, const RootEvent *e)
{
        _cleanup_(freep) char *text = NULL;
        Seen *seen = userdata;

        if (e->use != ROOT_READ || e->error < 0)
                return;
        text = strndup(e->data, e->size);
        assert_non_null(text);
        assert_int_equal(strv_add(&seen->paths, e->path), 0);
        assert_int_equal(strv_add(&seen->texts, text), 0);
}

/* Whatever observe() opens, and not what a list says. */
static void has_all_that_observe_reads(void **state)
{
        Seen seen = { 0 };
        Snapshot *s = NULL;
        Collection *c;
        Machine m;

        tree_init(&m);
        put_machine(&m);
        c = collected(&m);
        root_watch(m.root, see, &seen);
        assert_int_equal(observe(m.root, NULL, 0, &s), 0);
        root_watch(m.root, NULL, NULL);
        assert_true(seen.paths.n > 12);
        for (size_t i = 0; i < seen.paths.n; i++) {
                _cleanup_(freep) char *path = NULL;
                const Entry *e;

                assert_int_equal(root_realpath(m.root, &path, "%s", seen.paths.items[i]), 0);
                e = collection_find(c, path);
                if (!e || !e->data)
                        fail_msg("%s is not in it", path);
                assert_string_equal(e->data, seen.texts.items[i]);
        }
        strv_clear(&seen.paths);
        strv_clear(&seen.texts);
        snapshot_free(s);
        collection_free(c);
        machine_done(&m);
}

static const Entry *expect(const Collection *c, const char *path, EntryType type, const char *data)
{
        const Entry *e = collection_find(c, path);

        if (!e)
                fail_msg("%s is not in it", path);
        assert_int_equal(e->type, type);
        if (data)
                assert_string_equal(e->data, data);
        return e;
}

/* Two names of 8 MB, without addresses; where nobody could read them there is no file. */
static void has_the_symbols_that_count(void **state)
{
        Collection *c;
        const Entry *e;
        Machine m;

        tree_init(&m);
        put_machine(&m);
        c = collected(&m);
        e = collection_find(c, "proc/kallsyms");
        assert_true(!e || !e->data);
        collection_free(c);

        tree_put(&m,
                 "ffffffff81000000 T _stext\nffffffff81234560 t iova_depot_work_func\nffffffff81300000 T "
                 "_etext\n",
                 "proc/kallsyms");
        c = collected(&m);
        e = collection_find(c, "proc/kallsyms");
        assert_non_null(e);
        assert_string_equal(e->data, "0000000000000000 t iova_depot_work_func\n");
        collection_free(c);
        machine_done(&m);
}

static void takes_what_it_is_told_of(void **state)
{
        _cleanup_(collection_freep) Collection *c = NULL;
        Entry **entries;
        Strv names = { 0 };
        char *text = NULL;
        Machine m;
        size_t n;
        int number;

        tree_init(&m);
        tree_put(&m, "a\n", "real/folder/a");
        tree_put(&m, "b\n", "real/folder/b");
        tree_folder(&m, "real/folder/c");
        tree_link(&m, "top/one", "real");
        tree_link(&m, "real/folder/d", "real/nothing");
        tree_link(&m, "top/loop", "top/loop");
        text = strf("%s/real/two", m.dir);
        assert_int_equal(symlink("../top/one/folder/../folder", text), 0);
        free(text);
        assert_int_equal(collection_new(m.dir, &c), 0);
        root_watch(m.root, collection_watch, c);

        assert_int_equal(root_read(m.root, &text, "real/two/a"), 0);
        free(text);
        expect(c, "top/one", ENTRY_LINK, "/real");
        expect(c, "real/two", ENTRY_LINK, "../top/one/folder/../folder");
        expect(c, "real/folder", ENTRY_FOLDER, NULL);
        expect(c, "real/folder/a", ENTRY_FILE, "a\n");
        assert_null(collection_find(c, "real/folder/b"));

        assert_int_equal(root_list(m.root, &names, "top/one/folder"), 0);
        strv_clear(&names);
        assert_null(expect(c, "real/folder/b", ENTRY_FILE, NULL)->data);
        expect(c, "real/folder/c", ENTRY_FOLDER, NULL);
        expect(c, "real/folder/d", ENTRY_LINK, "/real/nothing");
        assert_null(collection_find(c, "real/nothing"));

        assert_int_equal(root_read_int(m.root, &number, "top/one/folder/b"), -EINVAL);
        expect(c, "real/folder/b", ENTRY_FILE, "b\n");
        assert_true(root_read_int(m.root, &number, "top/loop/x") < 0);
        assert_true(root_read_int(m.root, &number, "../../../real/none") < 0);
        assert_int_equal(root_read_link_name(m.root, &text, "real/folder/d"), 0);
        free(text);

        assert_int_equal(collection_put(c, "new/file", strdup("x"), 1), 0);
        assert_int_equal(collection_put(c, "new/file", strdup("yy"), 2), 0);
        expect(c, "new", ENTRY_FOLDER, NULL);
        expect(c, "new/file", ENTRY_FILE, "yy");
        assert_int_equal(collection_error(c), 0);
        assert_int_equal(collection_entries(c, &entries, &n), 0);
        for (size_t i = 1; i < n; i++)
                assert_true(strcmp(entries[i - 1]->path, entries[i]->path) < 0);
        machine_done(&m);
}

/* What goes while it is looked at is no error: the watch hears of a file that is not there any more. */
static void what_vanishes_is_left_out(void **state)
{
        _cleanup_(collection_freep) Collection *c = NULL;
        Machine m;

        tree_init(&m);
        tree_put(&m, "a\n", "folder/a");
        assert_int_equal(collection_new(m.dir, &c), 0);
        collection_watch(c, &(RootEvent) { .use = ROOT_READ, .path = "folder/gone", .data = "x", .size = 1 });
        collection_watch(c, &(RootEvent) { .use = ROOT_LIST, .path = "gone" });
        collection_watch(c, &(RootEvent) { .use = ROOT_READ, .path = "folder/a", .error = -EIO });
        assert_null(collection_find(c, "folder/gone"));
        assert_int_equal(expect(c, "folder/a", ENTRY_FILE, NULL)->error, -EIO);
        /* Another try that went well counts. */
        collection_watch(c, &(RootEvent) { .use = ROOT_READ, .path = "folder/a", .data = "a\n", .size = 2 });
        assert_int_equal(expect(c, "folder/a", ENTRY_FILE, "a\n")->error, 0);
        assert_int_equal(collection_error(c), 0);
        machine_done(&m);
}

static void what_is_left_is_named(void **state)
{
        Entry good = { .path = (char *)"sys/a", .type = ENTRY_FILE, .data = (char *)"1\n", .size = 2 },
              bad = { .path = (char *)"sys/b",
                      .type = ENTRY_FILE,
                      .data = (char *)"x 10.9.0.1\n",
                      .size = 11 },
              named = { .path = (char *)"sys/10.9.0.1/c", .type = ENTRY_FOLDER },
              link = {
                      .path = (char *)"sys/d", .type = ENTRY_LINK, .data = (char *)"../10.9.0.1", .size = 11
              };
        Entry *const cases[][2] = { { &good, &bad }, { &good, &named }, { &good, &link } };
        _cleanup_(anonymiser_freep) Anonymiser *a = anonymiser_new();

        assert_int_equal(anonymiser_learn(a, "10.9.0.1", 8), 0);
        assert_int_equal(anonymiser_choose(a), 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                Error e = { 0 };

                assert_int_equal(capture_check(a, cases[i], 2, &e), -EBADMSG);
                assert_string_equal(e.where, cases[i][1]->path);
                assert_int_equal(capture_check(a, cases[i], 1, &e), 0);
        }
}

/* ---- the file ---- */

static void expect_file(const char *path, const char *text)
{
        _cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
        char buffer[64];
        struct stat st;

        assert_true(fd >= 0);
        assert_int_equal(fstat(fd, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        assert_int_equal(st.st_nlink, 1);
        assert_int_equal(read(fd, buffer, sizeof(buffer)), (ssize_t)strlen(text));
        assert_memory_equal(buffer, text, strlen(text));
}

/* Writes two files of one name below a folder; only the first may come to be, and nothing beside it. */
static void try_writing(const Machine *m)
{
        _cleanup_(freep) char *file = strf("%s/x.tar.zst", m->dir);
        Strv names = { 0 };
        Error e = { 0 };

        assert_int_equal(tarfile_write(file, "first", 5, &e), 0);
        assert_int_equal(tarfile_write(file, "second", 6, &e), -EEXIST);
        assert_string_equal(e.where, file);
        expect_file(file, "first");
        assert_int_equal(root_list(m->root, &names, "."), 0);
        assert_int_equal(names.n, 3); /* proc, sys */
        strv_clear(&names);
}

static void a_file_is_new(void **state)
{
        Machine m;

        tree_init(&m);
        try_writing(&m);
        machine_done(&m);
}

/* Has one argument bit of a system call answered with an error, as file systems do that lack it. */
static void forbid(unsigned nr, unsigned argument, unsigned bit, unsigned error)
{
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 3),
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                         (unsigned)offsetof(struct seccomp_data, args) + argument * 8),
                BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bit, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { .len = ARRAY_SIZE(code), .filter = code };

        assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void a_file_is_new_on_other_file_systems(void **state)
{
        if (is_emulated(__func__, "seccomp filters"))
                skip();
        for (int i = 0; i < 2; i++) {
                pid_t pid = fork();
                int status;

                if (pid == 0) {
                        Machine m;

                        tree_init(&m);
                        forbid(SYS_openat, 2, O_TMPFILE & ~O_DIRECTORY, EOPNOTSUPP);
                        if (i == 1)
                                forbid(SYS_renameat2, 4, RENAME_NOREPLACE, EINVAL);
                        try_writing(&m);
                        machine_done(&m);
                        _exit(0);
                }
                assert_int_equal(waitpid(pid, &status, 0), pid);
                assert_int_equal(status, 0);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(has_all_that_observe_reads),
                cmocka_unit_test(has_the_symbols_that_count),
                cmocka_unit_test(takes_what_it_is_told_of),
                cmocka_unit_test(what_vanishes_is_left_out),
                cmocka_unit_test(what_is_left_is_named),
                cmocka_unit_test(a_file_is_new),
                cmocka_unit_test(a_file_is_new_on_other_file_systems),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
