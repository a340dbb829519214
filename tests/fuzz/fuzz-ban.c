/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "writer/ban.h"

#include <errno.h>
#include <string.h>

/* What irqbalance answers, as the writer reads it, and the command that follows from it: the answer's IRQs
 * and some of ours, each whole, in at most 500 bytes. A list in the daemon's own form, which comes from a
 * process that may have fallen. */

static void check_list(const IrqList *l)
{
        _cleanup_(irq_list_clear) IrqList again = { 0 };
        _cleanup_(freep) char *text = irq_list_format(l);

        for (size_t i = 0; i < l->n; i++)
                FUZZ_REQUIRE(l->items[i] <= IRQ_NUMBER_MAX && (i == 0 || l->items[i - 1] < l->items[i]));
        if (text)
                FUZZ_REQUIRE(irq_list_parse(text, &again) == 0 && irq_list_equal(l, &again));
}

/* Reads the command as irqbalance does. */
static void check_command(const char *command, const IrqList *fit)
{
        static const char head[] = "settings ban irqs ";
        _cleanup_(irq_list_clear) IrqList said = { 0 };
        const char *text = command + strlen(head);

        FUZZ_REQUIRE(strlen(command) <= BAN_COMMAND_MAX && strncmp(command, head, strlen(head)) == 0);
        if (fit->n == 0) {
                FUZZ_REQUIRE(strcmp(text, "NONE") == 0);
                return;
        }
        do {
                char *end;

                FUZZ_REQUIRE(irq_list_add(&said, (unsigned)strtoul(text, &end, 10)) == 0);
                text = end;
        } while (strtoul(text, NULL, 10) != 0);
        FUZZ_REQUIRE(irq_list_equal(&said, fit));
}

static void check_answer(const char *text)
{
        _cleanup_(irq_list_clear) IrqList users = { 0 }, ours = { 0 }, fit = { 0 };
        char command[BAN_COMMAND_MAX + 1];
        int r = ban_parse_setup(text, &users);

        FUZZ_REQUIRE(r == 0 || r == -EBADMSG || r == -ENOMEM);
        FUZZ_REQUIRE(r == 0 || users.n == 0);
        check_list(&users);
        if (r < 0 || irq_list_parse("24-300", &ours) < 0)
                return;
        r = ban_command(&users, &ours, command, &fit);
        FUZZ_REQUIRE(r == 0 || r == -E2BIG || r == -ENOMEM);
        if (r == 0)
                check_command(command, &fit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(irq_list_clear) IrqList list = { 0 };
        _cleanup_(freep) char *text = strndup((const char *)data, size);
        int r;

        if (!text)
                return 0;
        check_answer(text);
        r = irq_list_parse(text, &list);
        FUZZ_REQUIRE(r == 0 || r == -EINVAL || r == -E2BIG || r == -ENOMEM);
        FUZZ_REQUIRE(list.n <= IRQ_LIST_MAX && (r == 0 || list.n == 0));
        check_list(&list);
        (void)ban_uses_script((const char *)data, size, "/x");
        return 0;
}
