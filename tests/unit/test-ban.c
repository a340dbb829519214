/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "apply/protocol.h"
#include "basic/strv.h"
#include "machine.h"
#include "writer/ban-files.h"
#include "writer/ban.h"
#include "writer/irqbalance.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static IrqList list(const char *text)
{
        IrqList l = { 0 };

        assert_int_equal(irq_list_parse(text, &l), 0);
        return l;
}

static void assert_list(const IrqList *l, const char *want)
{
        _cleanup_(freep) char *text = irq_list_format(l);

        assert_string_equal(text, want);
}

/* --- lists --- */

static void lists_are_read_and_written(void **state)
{
        static const struct {
                const char *text, *want; /* NULL = it is none */
                int error;
        } rows[] = {
                { "", "", 0 },
                { "0", "0", 0 },
                { "24", "24", 0 },
                { "24-31", "24-31", 0 },
                { "24,25,26,28", "24-26,28", 0 },
                { "31,24-26,25", "24-26,31", 0 },
                { "999999999", "999999999", 0 },
                { "0-65535", "0-65535", 0 },
                { "0-65536", NULL, -E2BIG },
                { "0-65535,70000", NULL, -E2BIG },
                { "0-40000,0-40000", NULL, -E2BIG },
                { "1-999999999", NULL, -E2BIG },
                { "1000000000", NULL, -EINVAL },
                { "3-2", NULL, -EINVAL },
                { "01", NULL, -EINVAL },
                { "1,", NULL, -EINVAL },
                { ",1", NULL, -EINVAL },
                { "1,,2", NULL, -EINVAL },
                { "1-", NULL, -EINVAL },
                { "-1", NULL, -EINVAL },
                { "1-2-3", NULL, -EINVAL },
                { " 1", NULL, -EINVAL },
                { "1 2", NULL, -EINVAL },
                { "1\n", NULL, -EINVAL },
                { "x", NULL, -EINVAL },
                { "0x10", NULL, -EINVAL },
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                IrqList l = list("7");

                assert_int_equal(irq_list_parse(rows[i].text, &l), rows[i].error);
                assert_list(&l, rows[i].want ? rows[i].want : "7");
                irq_list_clear(&l);
        }
}

static void lists_are_sets(void **state)
{
        IrqList a = list("1-9"), b = list("4-6"), c = { 0 };

        assert_true(irq_list_contains(&a, 9));
        assert_false(irq_list_contains(&a, 0));
        assert_false(irq_list_contains(&c, 0));
        assert_int_equal(irq_list_copy(&a, &c), 0);
        assert_true(irq_list_equal(&a, &c));
        irq_list_remove_all(&a, &b);
        assert_list(&a, "1-3,7-9");
        assert_false(irq_list_equal(&a, &c));
        irq_list_keep_all(&c, &b);
        assert_list(&c, "4-6");
        assert_int_equal(irq_list_add_all(&c, &a), 0);
        assert_list(&c, "1-9");
        irq_list_clear(&a);
        irq_list_clear(&b);
        irq_list_clear(&c);
}

/* --- the command --- */

static void users_bans_come_first(void **state)
{
        IrqList users = list("5,900"), ours = list("3-5,24"), none = { 0 }, fit = { 0 };
        char command[BAN_COMMAND_MAX + 1];

        assert_int_equal(ban_command(&users, &ours, command, &fit), 0);
        assert_string_equal(command, "settings ban irqs 5 900 3 4 24");
        assert_list(&fit, "3-5,24,900");
        assert_int_equal(ban_command(&users, &none, command, &fit), 0);
        assert_string_equal(command, "settings ban irqs 5 900");
        assert_list(&fit, "5,900");
        assert_int_equal(ban_command(&none, &none, command, &fit), 0);
        assert_string_equal(command, "settings ban irqs NONE");
        assert_list(&fit, "");
        irq_list_clear(&users);
        irq_list_clear(&ours);
        irq_list_clear(&fit);
}

/* What irqbalance would make of a cut number is another IRQ. */
static void a_number_is_in_it_whole_or_not_at_all(void **state)
{
        IrqList none = { 0 }, fit = { 0 };
        char command[BAN_COMMAND_MAX + 1];

        for (unsigned first = 1; first < 2000; first += 7) {
                _cleanup_(freep) char *text = strf("%u-%u", first, first + 300), *last = NULL;
                IrqList ours = list(text);

                assert_int_equal(ban_command(&none, &ours, command, &fit), 0);
                assert_in_range(strlen(command), BAN_COMMAND_MAX - 5, BAN_COMMAND_MAX);
                last = strf(" %u", first + (unsigned)fit.n - 1);
                assert_string_equal(command + strlen(command) - strlen(last), last);
                assert_in_range(fit.n, 90, 299);
                assert_int_equal(fit.items[0], first);
                irq_list_clear(&ours);
        }
        irq_list_clear(&fit);
}

static void exactly_500_bytes_fit(void **state)
{
        IrqList ours = list("1000-1095,99999"), users = { 0 }, fit = { 0 }; /* 18 + 96 * 5 - 1 + 6 = 503 */
        char command[BAN_COMMAND_MAX + 1];

        assert_int_equal(ban_command(&users, &ours, command, &fit), 0);
        assert_int_equal(fit.n, 96);
        assert_int_equal(irq_list_add(&users, 17), 0); /* 500 */
        assert_int_equal(ban_command(&users, &ours, command, &fit), 0);
        assert_int_equal(fit.n, 97);
        assert_int_equal(strlen(command), 500);
        irq_list_clear(&users);
        assert_int_equal(irq_list_add(&users, 170), 0); /* 501 */
        assert_int_equal(ban_command(&users, &ours, command, &fit), 0);
        assert_int_equal(fit.n, 96);
        irq_list_clear(&users);
        irq_list_clear(&ours);
        irq_list_clear(&fit);
}

static void nothing_is_sent_that_would_lose_users_bans(void **state)
{
        IrqList ours = list("3"), users = list("1000-1200"), fit = list("9");
        char command[BAN_COMMAND_MAX + 1];

        assert_int_equal(ban_command(&users, &ours, command, &fit), -E2BIG);
        assert_list(&fit, "9");
        irq_list_clear(&users);
        irq_list_clear(&ours);
        irq_list_clear(&fit);
}

/* --- the answer --- */

#define FACTS " LOAD 17 DIFF 0 CLASS 0 "

static void answers_are_read(void **state)
{
        static const struct {
                const char *text, *want; /* NULL = it is none */
        } rows[] = {
                { "SLEEP 10 BANNED 00000000", "" },
                { "SLEEP 2 IRQ 41" FACTS "BANNED 00000000", "41" },
                { "SLEEP 2 IRQ 43" FACTS "IRQ 41" FACTS "IRQ 41" FACTS "BANNED ffffffff,00000000", "41,43" },
                { "SLEEP 2 IRQ 0" FACTS "IRQ -52" FACTS "IRQ 60" FACTS "BANNED 0", "0,60" },
                { "SLEEP 2 IRQ 5 LOAD 18446744073709551615 DIFF 18446744073709551615 CLASS -1 BANNED 0",
                  "5" },
                { "SLEEP 10 BANNED ", "" },
                { "", NULL },
                { "SLEEP", NULL },
                { "SLEEP 10", NULL },
                { "SLEEP ten BANNED 0", NULL },
                { "SLEEP 10 IRQ 41", NULL },
                { "SLEEP 10 IRQ 41 LOAD 1 DIFF 1 CLASS 1", NULL },
                { "SLEEP 10 IRQ LOAD 1 DIFF 1 CLASS 1 BANNED 0", NULL },
                { "SLEEP 10 IRQ 4x LOAD 1 DIFF 1 CLASS 1 BANNED 0", NULL },
                { "SLEEP 10 IRQ 41 DIFF 1 LOAD 1 CLASS 1 BANNED 0", NULL },
                { "SLEEP 10 IRQ - LOAD 1 DIFF 1 CLASS 1 BANNED 0", NULL },
                { "TYPE 0 NUMBER 0 LOAD 0 SAVE_MODE 0", NULL },
                { "BANNED 00000000", NULL },
                { "IRQ IRQ IRQ IRQ", NULL },
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                IrqList l = list("7");

                assert_int_equal(ban_parse_setup(rows[i].text, &l), rows[i].want ? 0 : -EBADMSG);
                assert_list(&l, rows[i].want ? rows[i].want : "7");
                irq_list_clear(&l);
        }
}

static void users_bans_are_told_from_ours(void **state)
{
        static const struct {
                const char *known, *sent, *listed, *want, *why;
        } rows[] = {
                { "", "", "5,7", "5,7", "nothing was sent yet" },
                { "5", "5,24-31", "5,24-31", "5", "all is as it was sent" },
                { "5", "5,24-31", "24-31", "", "a user took one back" },
                { "5", "5,24-31", "5,9,24-31", "5,9", "a user added one" },
                { "5,24", "5,24-31", "5,24-31", "5,24", "one is a user's and ours" },
                { "5", "5,24-31", "", "", "a user took all back" },
                { "5", "5,24-31", "9", "9", "a user replaced all" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                IrqList known = list(rows[i].known), sent = list(rows[i].sent), listed = list(rows[i].listed);

                assert_int_equal(ban_of_users(&known, &sent, &listed, &known), 0);
                assert_list(&known, rows[i].want);
                irq_list_clear(&known);
                irq_list_clear(&sent);
                irq_list_clear(&listed);
        }
}

/* --- the policy script --- */

#define SCRIPT "/x/irqbalance-policy"

static void the_script_is_known_by_its_option(void **state)
{
        static const char *const uses[] = {
                "irqbalance\0--policyscript=" SCRIPT "\0",
                "irqbalance\0--foreground\0--policyscript\0" SCRIPT "\0--debug\0",
                "irqbalance\0-l\0" SCRIPT "\0",
                "irqbalance\0-l" SCRIPT "\0",
                "irqbalance\0--policyscript=/other\0-l\0" SCRIPT "\0",
        };
        static const char *const others[] = {
                "irqbalance\0",
                "irqbalance\0--policyscript=/x\0",
                "irqbalance\0--policyscript=" SCRIPT "2\0",
                "irqbalance\0--policyscript\0",
                "irqbalance\0-l\0",
                "irqbalance\0" SCRIPT "\0",
                "irqbalance\0--policyscript=" SCRIPT "\0-l\0/other\0",
        };

        for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
                size_t n = 0;

                while (uses[i][n] || uses[i][n + 1])
                        n++;
                assert_true(ban_uses_script(uses[i], n + 1, SCRIPT));
                assert_false(ban_uses_script(uses[i], n, SCRIPT)); /* cut off */
        }
        for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
                size_t n = 0;

                while (others[i][n] || others[i][n + 1])
                        n++;
                assert_false(ban_uses_script(others[i], n + 1, SCRIPT));
        }
        assert_false(ban_uses_script("", 0, SCRIPT));
}

static void sockets_are_irqbalances_alone(void **state)
{
        static const char *const good[] = { "run/irqbalance/irqbalance1.sock", "@irqbalance12345.sock" };
        static const char *const bad[] = {
                "",
                "@",
                "run/irqbalance/irqbalance.sock",
                "run/irqbalance/irqbalance0.sock",
                "run/irqbalance/irqbalance1.sock/",
                "run/irqbalance/irqbalance1.sock.x",
                "/run/irqbalance/irqbalance1.sock",
                "run/irqbalance/../irqbalance/irqbalance1.sock",
                "run/irqbalance/irqbalance1234567890.sock",
                "run/dbus/system_bus_socket",
                "@/run/irqbalance/irqbalance1.sock",
                "irqbalance1.sock",
        };

        for (size_t i = 0; i < ARRAY_SIZE(good); i++)
                assert_true(irqbalance_accepts_socket(good[i]));
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
                assert_false(irqbalance_accepts_socket(bad[i]));
}

/* --- files --- */

typedef struct Folder {
        char path[SCRATCH_MAX];
        int fd;
} Folder;

static int set_up(void **state)
{
        Folder *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        scratch_make(f->path, "ban");
        f->fd = open(f->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        assert_true(f->fd >= 0);
        *state = f;
        return 0;
}

static int tear_down(void **state)
{
        Folder *f = *state;

        close(f->fd);
        remove_folder(f->path);
        free(f);
        return 0;
}

static char *read_text(const Folder *f, const char *name)
{
        static char text[256];
        int fd = openat(f->fd, name, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

        if (fd >= 0)
                close(fd);
        if (n < 0)
                return NULL;
        text[n] = '\0';
        return text;
}

static void write_raw(const Folder *f, const char *name, const char *text)
{
        int fd = openat(f->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        assert_true(fd >= 0);
        assert_int_equal(write(fd, text, strlen(text)), strlen(text));
        close(fd);
}

static void the_scripts_list_is_kept(void **state)
{
        IrqList ours = list("24-26"), none = { 0 };
        Folder *f = *state;
        bool changed;

        assert_int_equal(ban_put_list(f->fd, &ours, &changed), 0);
        assert_true(changed);
        assert_string_equal(read_text(f, "irqs"), "24\n25\n26\n");
        assert_int_equal(ban_put_list(f->fd, &ours, &changed), 0);
        assert_false(changed);
        assert_int_equal(ban_put_list(f->fd, &none, &changed), 0);
        assert_true(changed);
        assert_null(read_text(f, "irqs"));
        assert_int_equal(ban_put_list(f->fd, &none, &changed), 0);
        assert_false(changed);
        irq_list_clear(&ours);
}

static void a_memo_comes_back(void **state)
{
        _cleanup_(ban_memo_clear) BanMemo m = { .instance = strdup("run/irqbalance/irqbalance7.sock 12"),
                                                .users = list("5"),
                                                .sent = list("5,24-26") };
        _cleanup_(ban_memo_clear) BanMemo back = { 0 };
        Folder *f = *state;

        assert_int_equal(ban_memo_read(f->fd, &back), 0);
        assert_null(back.instance);
        assert_int_equal(ban_memo_put(f->fd, &m), 0);
        assert_int_equal(ban_memo_read(f->fd, &back), 0);
        assert_string_equal(back.instance, m.instance);
        assert_list(&back.users, "5");
        assert_list(&back.sent, "5,24-26");
}

static void a_broken_memo_is_none(void **state)
{
        static const char *const texts[] = {
                "",
                "\n",
                "instance a 1\nusers 5\n",
                "instance a 1\nusers 5\nsent 5",
                "instance a 1\nusers x\nsent 5\n",
                "users 5\nsent 5\n",
                "instance a 1\nusers 5\nsent 5-\n",
        };
        Folder *f = *state;

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                _cleanup_(ban_memo_clear) BanMemo m = { 0 };

                write_raw(f, "irqbalance", texts[i]);
                assert_int_equal(ban_memo_read(f->fd, &m), 0);
                assert_null(m.instance);
                assert_int_equal(m.users.n + m.sent.n, 0);
        }
}

/* One that is there and cannot be read now is not taken for none: what was sent would then count as the
 * users'. */
static void a_memo_out_of_reach_is_an_error(void **state)
{
        _cleanup_(ban_memo_clear)
                BanMemo m = { .instance = strdup("@irqbalance7.sock 0"), .sent = list("24") };
        _cleanup_(ban_memo_clear) BanMemo back = { 0 };
        Folder *f = *state;
        rlim_t before;
        int r;

        assert_int_equal(ban_memo_put(f->fd, &m), 0);
        before = limit_lower(RLIMIT_NOFILE, next_descriptor());
        r = ban_memo_read(f->fd, &back);
        limit_restore(RLIMIT_NOFILE, before);
        assert_int_equal(r, -EMFILE);
        assert_null(back.instance);
        assert_int_equal(ban_memo_read(f->fd, &back), 0);
        assert_list(&back.sent, "24");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(lists_are_read_and_written),
                cmocka_unit_test(lists_are_sets),
                cmocka_unit_test(users_bans_come_first),
                cmocka_unit_test(a_number_is_in_it_whole_or_not_at_all),
                cmocka_unit_test(exactly_500_bytes_fit),
                cmocka_unit_test(nothing_is_sent_that_would_lose_users_bans),
                cmocka_unit_test(answers_are_read),
                cmocka_unit_test(users_bans_are_told_from_ours),
                cmocka_unit_test(the_script_is_known_by_its_option),
                cmocka_unit_test(sockets_are_irqbalances_alone),
                cmocka_unit_test_setup_teardown(the_scripts_list_is_kept, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_memo_comes_back, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_broken_memo_is_none, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_memo_out_of_reach_is_an_error, set_up, tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
