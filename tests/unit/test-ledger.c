/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/strv.h"
#include "test.h"
#include "writer/ledger.h"
#include "writer/record.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

typedef struct Place {
        char base[SCRATCH_MAX];
        char folder[SCRATCH_MAX + 8]; /* made by the ledger */
        char file[SCRATCH_MAX + 16];
        Ledger *ledger;
} Place;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
        return remove(path);
}

static void open_place(Place *p)
{
        p->ledger = ledger_free(p->ledger);
        assert_int_equal(ledger_open(p->folder, "boot-1", &p->ledger, NULL), 0);
}

static int setup(void **state)
{
        Place *p = calloc(1, sizeof(*p));

        scratch_make(p->base, "ledger");
        snprintf(p->folder, sizeof(p->folder), "%s/ledger", p->base);
        snprintf(p->file, sizeof(p->file), "%s/ledger", p->folder);
        open_place(p);
        *state = p;
        return 0;
}

static int teardown(void **state)
{
        Place *p = *state;

        ledger_free(p->ledger);
        assert_int_equal(nftw(p->base, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
        free(p);
        return 0;
}

/* Strings of the tests are not written to; the ledger's fields are char * because it owns them. */
#define TEXT(s) ((char *)(uintptr_t)(s))

static int put_first(Ledger *l, const char *path, const char *identity, const char *first)
{
        return ledger_put_first(l, &(LedgerEntry) {
                                           .path = TEXT(path),
                                           .device = TEXT("pci:x"),
                                           .id = TEXT("pci:x~irq.affinity~q0"),
                                           .identity = TEXT(identity),
                                           .kind = WRITER_IRQ_AFFINITY,
                                           .first = TEXT(first),
                                   });
}

static int put_refused(Ledger *l, const char *path, const char *identity, int error)
{
        return ledger_put_refused(l, &(LedgerEntry) {
                                             .path = TEXT(path),
                                             .device = TEXT("pci:x"),
                                             .id = TEXT(""),
                                             .identity = TEXT(identity),
                                             .kind = WRITER_IRQ_AFFINITY,
                                             .refused = error,
                                     });
}

/* One line for all that a ledger says. */
static char *tell(const Ledger *l)
{
        char *text = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&text, &size);

        for (size_t i = 0; i < ledger_count(l); i++) {
                const LedgerEntry *e = ledger_entry(l, i);

                if (e->held)
                        fprintf(f, "[held %s]", e->device);
                else
                        fprintf(f, "[%s %s %s %s %d]", e->path, e->identity, e->first ? e->first : "-",
                                e->set ? e->set : "-", e->refused);
        }
        fclose(f);
        return text;
}

static void expect(const Ledger *l, const char *want)
{
        _cleanup_(freep) char *got = tell(l);

        assert_string_equal(got, want);
}

/* Now, and after the next start. */
static void expect_kept(Place *p, const char *want)
{
        expect(p->ledger, want);
        open_place(p);
        expect(p->ledger, want);
}

static void fill(Ledger *l)
{
        assert_int_equal(put_first(l, "a", "i1", "0-7"), 0);
        assert_int_equal(ledger_put_set(l, "a", "3"), 0);
        assert_int_equal(put_refused(l, "b", "i2", -EIO), 0);
        assert_int_equal(ledger_hold(l, "pci:y"), 0);
        assert_int_equal(put_first(l, "c", "i3", "ff"), 0);
}

static const char filled[] = "[a i1 0-7 3 0][b i2 - - -5][held pci:y][c i3 ff - 0]";

static void keeps_what_was_put(void **state)
{
        Place *p = *state;
        const LedgerEntry *e;

        fill(p->ledger);
        expect_kept(p, filled);
        e = ledger_find(p->ledger, "a");
        assert_non_null(e);
        assert_string_equal(e->device, "pci:x");
        assert_string_equal(e->id, "pci:x~irq.affinity~q0");
        assert_int_equal(e->kind, WRITER_IRQ_AFFINITY);
        assert_null(ledger_find(p->ledger, "pci:y"));
        assert_true(ledger_is_held(p->ledger, "pci:y"));
        assert_false(ledger_is_held(p->ledger, "a"));
}

static void forgets_and_releases(void **state)
{
        Place *p = *state;

        fill(p->ledger);
        assert_int_equal(ledger_forget(p->ledger, "a"), 0);
        assert_int_equal(ledger_forget(p->ledger, "never there"), 0);
        assert_int_equal(ledger_release(p->ledger, "pci:y"), 0);
        assert_int_equal(ledger_release(p->ledger, "pci:y"), 0);
        expect_kept(p, "[b i2 - - -5][c i3 ff - 0]");
        assert_int_equal(ledger_put_set(p->ledger, "a", "1"), -ENOENT);
}

/* The first value of an object stays; another object at the same path starts anew. */
static void first_values_stay(void **state)
{
        Place *p = *state;

        fill(p->ledger);
        assert_int_equal(put_first(p->ledger, "a", "i1", "9"), 0);
        expect(p->ledger, filled);
        assert_int_equal(put_refused(p->ledger, "a", "i1", -EPERM), 0);
        assert_int_equal(put_first(p->ledger, "c", "other", "f0"), 0);
        expect_kept(p, "[a i1 0-7 3 -1][b i2 - - -5][held pci:y][c other f0 - 0]");
        assert_int_equal(put_first(p->ledger, "b", "i2", "1-2"), 0);
        assert_int_equal(put_refused(p->ledger, "a", "i9", -EIO), 0);
        expect_kept(p, "[b i2 1-2 - -5][held pci:y][c other f0 - 0][a i9 - - -5]");
}

static off_t size_of(const char *file)
{
        struct stat st;

        assert_int_equal(stat(file, &st), 0);
        return st.st_size;
}

/* The writer is killed in the middle of a record: what stood before is kept, and the next record stands
 * again. */
static void torn_tail_is_cut(void **state)
{
        Place *p = *state;
        off_t before, after;

        fill(p->ledger);
        before = size_of(p->file);
        assert_int_equal(ledger_put_set(p->ledger, "c", "f0"), 0);
        after = size_of(p->file);
        for (off_t cut = after - 1; cut >= before; cut--) {
                p->ledger = ledger_free(p->ledger);
                assert_int_equal(truncate(p->file, cut), 0);
                open_place(p);
                expect(p->ledger, filled);
                assert_int_equal(size_of(p->file), before);
                assert_int_equal(ledger_put_set(p->ledger, "c", "f0"), 0);
                expect_kept(p, "[a i1 0-7 3 0][b i2 - - -5][held pci:y][c i3 ff f0 0]");
        }
}

/* Each byte of the last record counts. */
static void damaged_record_is_cut(void **state)
{
        Place *p = *state;
        off_t before, after;

        fill(p->ledger);
        before = size_of(p->file);
        assert_int_equal(ledger_put_set(p->ledger, "c", "f0"), 0);
        after = size_of(p->file);
        for (off_t at = before; at < after; at++) {
                _cleanup_(closep) int fd = open(p->file, O_RDWR | O_CLOEXEC);
                unsigned char byte;

                assert_int_equal(pread(fd, &byte, 1, at), 1);
                byte ^= 0x10;
                assert_int_equal(pwrite(fd, &byte, 1, at), 1);
                open_place(p);
                expect(p->ledger, filled);
                assert_int_equal(ledger_put_set(p->ledger, "c", "f0"), 0);
        }
}

static void another_boot_drops_all(void **state)
{
        Place *p = *state;

        fill(p->ledger);
        p->ledger = ledger_free(p->ledger);
        assert_int_equal(ledger_open(p->folder, "boot-2", &p->ledger, NULL), 0);
        expect(p->ledger, "");
        open_place(p);
        expect(p->ledger, "");
}

static void second_writer_is_refused(void **state)
{
        Place *p = *state;
        Ledger *second = NULL;
        Error e = { 0 };

        assert_int_equal(ledger_open(p->folder, "boot-1", &second, &e), -EBUSY);
        assert_null(second);
        assert_string_equal(e.text, "another writer uses this ledger");
        assert_string_equal(e.where, p->folder);
}

static void only_its_user_may_read(void **state)
{
        Place *p = *state;
        struct stat st;

        assert_int_equal(stat(p->folder, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0700);
        assert_int_equal(stat(p->file, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
}

static void put_file(const char *file, const char *text)
{
        _cleanup_(closep) int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void foreign_files_are_left_alone(void **state)
{
        _cleanup_(freep) char *target = NULL;
        Place *p = *state;
        Ledger *l = NULL;
        Error e = { 0 };

        p->ledger = ledger_free(p->ledger);
        put_file(p->file, "# not a ledger\n");
        assert_int_equal(ledger_open(p->folder, "boot-1", &l, &e), -EBADMSG);
        assert_int_equal(size_of(p->file), 15);
        assert_non_null(strstr(e.text, "no ledger of this version"));

        target = strf("%s/target", p->base);
        put_file(target, "");
        assert_int_equal(unlink(p->file), 0);
        assert_int_equal(symlink(target, p->file), 0);
        assert_int_equal(ledger_open(p->folder, "boot-1", &l, &e), -ELOOP);
        assert_int_equal(size_of(target), 0);

        assert_int_equal(unlink(p->file), 0);
        assert_int_equal(mkfifo(p->file, 0600), 0);
        assert_true(ledger_open(p->folder, "boot-1", &l, &e) < 0);
        assert_null(l);
}

static void append_record(const Place *p, const Record *r)
{
        _cleanup_(closep) int fd = open(p->file, O_WRONLY | O_APPEND | O_CLOEXEC);
        _cleanup_(freep) char *bytes = NULL;
        size_t n;

        assert_int_equal(record_encode(r, &bytes, &n), 0);
        assert_int_equal(write(fd, bytes, n), (ssize_t)n);
}

/* Whole records that no writer writes: they change nothing, and those behind them count. */
static void strange_records_are_passed_over(void **state)
{
        char path[WRITER_PATH_MAX + 1] = "", device[WRITER_DEVICE_MAX + 1] = "";
        _cleanup_(freep) char *value = calloc(1, WRITER_VALUE_MAX + 1);
        const Record strange[] = {
                { .type = RECORD_FIRST, .value = "1" },
                { .type = RECORD_FIRST, .device = "pci:y", .value = "1" },
                { .type = RECORD_FIRST, .path = path, .value = "1" },
                { .type = RECORD_FIRST, .path = "d", .device = device, .value = "1" },
                { .type = RECORD_FIRST, .path = "d", .value = value },
                { .type = RECORD_SET, .device = "pci:y", .value = "1" },
                { .type = RECORD_FORGET, .device = "pci:y" },
                { .type = RECORD_HOLD },
                { .type = RECORD_HOLD, .path = "d" },
                { .type = RECORD_HOLD, .device = device },
                { .type = RECORD_RELEASE, .path = "a" },
                { .type = RECORD_REFUSED, .path = "d" },
                { .type = RECORD_REFUSED, .path = "d", .refused = 5 },
                { .type = RECORD_REFUSED, .path = "d", .refused = INT32_MIN },
        };
        Place *p = *state;

        memset(path, 'x', WRITER_PATH_MAX);
        memset(device, 'x', WRITER_DEVICE_MAX);
        memset(value, '1', WRITER_VALUE_MAX);
        fill(p->ledger);
        p->ledger = ledger_free(p->ledger);
        for (size_t i = 0; i < ARRAY_SIZE(strange); i++)
                append_record(p, &strange[i]);
        append_record(p, &(Record) { .type = RECORD_HOLD, .path = "a", .device = "pci:y" });
        append_record(p, &(Record) { .type = RECORD_HOLD, .path = "a", .device = "pci:z" });
        append_record(p, &(Record) { .type = RECORD_FIRST, .path = "d", .value = "2", .refused = 7 });
        open_place(p);
        expect_kept(p, "[a i1 0-7 3 0][b i2 - - -5][held pci:y][c i3 ff - 0][held pci:z][d  2 - 0]");
        assert_int_equal(ledger_release(p->ledger, "pci:y"), 0);
        assert_int_equal(ledger_forget(p->ledger, "a"), 0);
        expect_kept(p, "[b i2 - - -5][c i3 ff - 0][held pci:z][d  2 - 0]");
}

/* A record that would not be read again would take all behind it along. */
static void no_record_is_too_long(void **state)
{
        _cleanup_(freep) char *identity = calloc(1, (200 << 10) + 1);
        Place *p = *state;

        memset(identity, 'x', 200 << 10);
        fill(p->ledger);
        assert_int_equal(put_first(p->ledger, "d", identity, "1"), -E2BIG);
        expect_kept(p, filled);
}

/* As large as a ledger may be at the next start, and no larger, whoever asks for it. */
static void no_file_is_too_long(void **state)
{
        _cleanup_(freep) char *identity = calloc(1, (120 << 10) + 1);
        Place *p = *state;
        size_t n;
        int r = 0;

        memset(identity, 'x', 120 << 10);
        fill(p->ledger);
        for (int i = 0; r >= 0 && i < 1000; i++) {
                char path[16];

                snprintf(path, sizeof(path), "irq%d", i);
                r = put_first(p->ledger, path, identity, "1");
        }
        assert_int_equal(r, -ENOSPC);
        n = ledger_count(p->ledger);
        assert_true(n > 100);
        open_place(p);
        assert_int_equal(ledger_count(p->ledger), n);
        assert_int_equal(put_first(p->ledger, "more", identity, "1"), -ENOSPC);
        /* Room that is free again is used. */
        for (int i = 0; i < 4; i++) {
                char path[16];

                snprintf(path, sizeof(path), "irq%d", i);
                assert_int_equal(ledger_forget(p->ledger, path), 0);
        }
        assert_int_equal(put_first(p->ledger, "more", identity, "1"), 0);
}

/* Old records do not pile up, and a rewritten file is still locked. */
static void file_stays_small(void **state)
{
        Place *p = *state;
        _cleanup_(freep) char *want = NULL;
        Ledger *second = NULL;
        off_t largest = 0;

        fill(p->ledger);
        for (int i = 0; i < 20000; i++) {
                char value[16];

                snprintf(value, sizeof(value), "%d", i);
                assert_int_equal(ledger_put_set(p->ledger, "a", value), 0);
                if (i % 100 == 0 && size_of(p->file) > largest)
                        largest = size_of(p->file);
        }
        assert_true(largest > 100000 && largest < 600000);
        assert_int_equal(ledger_open(p->folder, "boot-1", &second, NULL), -EBUSY);
        expect_kept(p, "[a i1 0-7 19999 0][b i2 - - -5][held pci:y][c i3 ff - 0]");
}

/* Puts values until one does not fit, and expects that nothing of it is left. Returns the error. */
static int fill_up(Place *p)
{
        _cleanup_(freep) char *value = calloc(1, 8001), *before = NULL;
        int r = 0;

        memset(value, '1', 8000);
        for (int i = 0; r >= 0 && i < 1000; i++) {
                char path[16];

                free(before);
                before = tell(p->ledger);
                snprintf(path, sizeof(path), "irq%d", i);
                r = put_first(p->ledger, path, "i", value);
        }
        assert_true(r < 0);
        expect(p->ledger, before);
        /* A short record may still fit; whatever did is there at the next start, and nothing else. */
        if (ledger_put_set(p->ledger, "irq0", "7") == 0)
                assert_string_equal(ledger_find(p->ledger, "irq0")->set, "7");
        free(before);
        before = tell(p->ledger);
        open_place(p);
        expect(p->ledger, before);
        return r;
}

static void file_size_limit(void **state)
{
        Place *p = *state;
        rlim_t before;
        int r;

        signal(SIGXFSZ, SIG_IGN);
        before = limit_lower(RLIMIT_FSIZE, 100000);
        r = fill_up(p);
        limit_restore(RLIMIT_FSIZE, before);
        signal(SIGXFSZ, SIG_DFL);
        assert_int_equal(r, -EFBIG);
        assert_int_equal(put_first(p->ledger, "more", "i", "1"), 0);
}

/* The real thing: a file system as small as /run can become. Needs root; elsewhere the limit above stands for
 * it. */
static void full_disk(void **state)
{
        Place *p = *state;

        if (unshare(CLONE_NEWNS) < 0) {
                print_message("no mount namespace: %s\n", strerror(errno));
                return;
        }
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
                print_message("/ is not a mount, as in a chroot: %s\n", strerror(errno));
                return;
        }
        p->ledger = ledger_free(p->ledger);
        assert_int_equal(mount("tmpfs", p->folder, "tmpfs", 0, "size=96k"), 0);
        open_place(p);
        assert_int_equal(fill_up(p), -ENOSPC);
        p->ledger = ledger_free(p->ledger);
        assert_int_equal(umount(p->folder), 0);
}

static void write_until_killed(const Place *p)
{
        Ledger *l;

        if (ledger_open(p->folder, "boot-1", &l, NULL) < 0)
                _exit(1);
        for (int i = 0;; i++) {
                char path[32], value[32];

                snprintf(path, sizeof(path), "irq%d", i % 500);
                snprintf(value, sizeof(value), "%d", i);
                if (i % 7 == 6)
                        (void)ledger_forget(l, path);
                else if (put_first(l, path, "i", "0-7") < 0 || ledger_put_set(l, path, value) < 0)
                        _exit(2);
        }
}

/* Killed at any instant, also while the file is written anew: whole records are left, each with its first
 * value. */
static void survives_kills(void **state)
{
        Place *p = *state;

        for (int round = 0; round < 40; round++) {
                int status;
                pid_t pid;

                p->ledger = ledger_free(p->ledger);
                pid = fork();
                if (pid == 0)
                        write_until_killed(p);
                usleep(2000 + 1500 * (unsigned)round);
                assert_int_equal(kill(pid, SIGKILL), 0);
                assert_int_equal(waitpid(pid, &status, 0), pid);
                assert_true(WIFSIGNALED(status));
                open_place(p);
                for (size_t i = 0; i < ledger_count(p->ledger); i++)
                        assert_string_equal(ledger_entry(p->ledger, i)->first, "0-7");
        }
        assert_true(ledger_count(p->ledger) > 100);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(keeps_what_was_put, setup, teardown),
                cmocka_unit_test_setup_teardown(forgets_and_releases, setup, teardown),
                cmocka_unit_test_setup_teardown(first_values_stay, setup, teardown),
                cmocka_unit_test_setup_teardown(torn_tail_is_cut, setup, teardown),
                cmocka_unit_test_setup_teardown(damaged_record_is_cut, setup, teardown),
                cmocka_unit_test_setup_teardown(another_boot_drops_all, setup, teardown),
                cmocka_unit_test_setup_teardown(second_writer_is_refused, setup, teardown),
                cmocka_unit_test_setup_teardown(only_its_user_may_read, setup, teardown),
                cmocka_unit_test_setup_teardown(foreign_files_are_left_alone, setup, teardown),
                cmocka_unit_test_setup_teardown(strange_records_are_passed_over, setup, teardown),
                cmocka_unit_test_setup_teardown(no_record_is_too_long, setup, teardown),
                cmocka_unit_test_setup_teardown(no_file_is_too_long, setup, teardown),
                cmocka_unit_test_setup_teardown(file_stays_small, setup, teardown),
                cmocka_unit_test_setup_teardown(file_size_limit, setup, teardown),
                cmocka_unit_test_setup_teardown(survives_kills, setup, teardown),
                cmocka_unit_test_setup_teardown(full_disk, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
