/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture.h"
#include "observe/interrupts.h"
#include "observe/names.h"
#include "observe/role.h"

#include <ctype.h>

/* Holds the reading of action names against irqname-cases.tsv of the captures: real names, each with its
 * queue and role. usage: test-observe-irqnames CAPTURES */

enum { ID, ARCH, CHIP, HWIRQ, ACTION, CLASS, DRIVER, BDF, DEVICE, QUEUE, ROLE, COLUMNS };

static bool begins(const char *s, const char *prefix)
{
        return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* The columns are separated by single tabs and may be empty. */
static bool split(char *line, char *fields[COLUMNS])
{
        for (int i = 0; i < COLUMNS; i++) {
                fields[i] = strsep(&line, "\t");
                if (!fields[i])
                        return false;
        }
        return true;
}

static bool has_number(const char *text)
{
        return isdigit((unsigned char)text[0]) && text[strspn(text, "0123456789")] == '\0';
}

static VectorRole role_of(const char *text)
{
        if (begins(text, "rx") && !begins(text, "rxtx"))
                return VECTOR_RX;
        return begins(text, "tx") ? VECTOR_TX : VECTOR_QUEUE;
}

static void check_row(char *fields[COLUMNS], const Strv *netdevs)
{
        static const char *const slow[] = { "config", "async", "mgmt", "misc", "timestamp" };
        const char *action = strcmp(fields[ACTION], "(empty)") == 0 ? "" : fields[ACTION];
        VectorName name;
        char driver[64];

        snprintf(driver, sizeof(driver), "%.*s", (int)strcspn(fields[DRIVER], " ("), fields[DRIVER]);
        vector_name_parse(driver, action, netdevs, &name);
        if (has_number(fields[QUEUE])) {
                if (name.queue != (int)strtol(fields[QUEUE], NULL, 10) || name.role != role_of(fields[ROLE]))
                        fail_msg("row %s, %s: queue %d, role %d", fields[ID], action, name.queue, name.role);
                return;
        }
        if (name.queue != -1)
                fail_msg("row %s, %s: queue %d, none expected", fields[ID], action, name.queue);
        for (size_t i = 0; i < ARRAY_SIZE(slow); i++)
                if (begins(fields[ROLE], slow[i]) && name.role != VECTOR_SLOW)
                        fail_msg("row %s, %s: role %d, slow path expected", fields[ID], action, name.role);
        if (begins(fields[ROLE], "managed") && (name.role != VECTOR_QUEUE || name.bare))
                fail_msg("row %s, %s: role %d, a queue expected", fields[ID], action, name.role);
}

/* Whose line it is, by its chip and hwirq. Only where these two tell: Hyper-V, XIVE and the GIC number in
 * ways of their own, 3.x and Xen print no number. */
static void check_function(char *fields[COLUMNS])
{
        static const char *const silent[] = { "Hyper-V", "XIVE", "GIC", "Altera", "xen", "/proc" };
        const char *action = strcmp(fields[ACTION], "(empty)") == 0 ? "" : fields[ACTION];
        bool tells = isdigit((unsigned char)fields[HWIRQ][0]) && fields[BDF][0] != '-';
        char *text = strf("      CPU0       CPU1\n 30:     1208          0  %s %s      %s\n", fields[CHIP],
                          fields[HWIRQ], action);
        const InterruptLine *line;
        Interrupts i = { 0 };
        uint64_t want = 0;

        for (size_t k = 0; k < ARRAY_SIZE(silent); k++)
                tells = tells && !begins(fields[CHIP], silent[k]);
        assert_int_equal(interrupts_parse(text, &i), 0);
        line = interrupts_find(&i, 30);
        assert_non_null(line);
        if (isdigit((unsigned char)fields[HWIRQ][0])) {
                assert_string_equal(line->chip, fields[CHIP]);
                assert_string_equal(line->action, action);
        }
        if (line->has_function != tells)
                fail_msg("row %s: the line %s a function", fields[ID], tells ? "has" : "has not");
        if (tells) {
                assert_int_not_equal(pci_address(fields[BDF], &want), 0);
                if (line->function != want)
                        fail_msg("row %s: function %#jx", fields[ID], (uintmax_t)line->function);
        }
        interrupts_clear(&i);
}

static void every_row(void **state)
{
        _cleanup_(root_freep) Root *root = NULL;
        _cleanup_(freep) char *text = NULL;
        char *rest, *line;
        unsigned rows = 0;

        assert_int_equal(root_open(captures, &root), 0);
        assert_int_equal(root_read(root, &text, "irqname-cases.tsv"), 0);
        rest = text;
        assert_non_null(strsep(&rest, "\n"));
        while ((line = strsep(&rest, "\n")) && *line) {
                char *fields[COLUMNS];
                Strv netdevs = { 0 };

                assert_true(split(line, fields));
                check_function(fields);
                check_row(fields, NULL);
                if (strcmp(fields[CLASS], "net") == 0) {
                        netdevs = (Strv) { .items = &fields[DEVICE], .n = 1 };
                        check_row(fields, &netdevs);
                }
                rows++;
        }
        assert_int_equal(rows, 39);
}

int main(int argc, char **argv)
{
        const struct CMUnitTest tests[] = { cmocka_unit_test(every_row) };

        if (!captures_there(argc, argv))
                return 77;
        return cmocka_run_group_tests(tests, NULL, NULL);
}
