/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "basic/cleanup.h"
#include "basic/irqbalance-socket.h"
#include "monitor/irqbalance.h"
#include "writer/ban.h"
#include "writer/irqbalance.h"

#include <errno.h>
#include <string.h>

/* What an irqbalance may say, or whoever took its place: the answer to "setup", the text of /proc/net/unix
 * with its socket, its command line. What is sent to it afterwards is never longer than it reads, and no IRQ
 * of a user is lost. */

static void check_list(const IrqList *l)
{
        _cleanup_(freep) char *text = irq_list_format(l);
        _cleanup_(irq_list_clear) IrqList again = { 0 };
        int r;

        for (size_t i = 0; i < l->n; i++)
                FUZZ_REQUIRE(l->items[i] <= IRQ_NUMBER_MAX && (i == 0 || l->items[i - 1] < l->items[i]));
        if (!text)
                return;
        r = irq_list_parse(text, &again);
        FUZZ_REQUIRE(r == (l->n > IRQ_LIST_MAX ? -E2BIG : 0));
        FUZZ_REQUIRE(r < 0 || irq_list_equal(l, &again));
}

/* The numbers that stand in a command are those that it is said to have, or none. */
static void check_command(const char *command, const IrqList *fit)
{
        static const char start[] = "settings ban irqs ";
        const char *p = command + strlen(start);
        size_t n = 0;

        FUZZ_REQUIRE(strlen(command) <= BAN_COMMAND_MAX && strncmp(command, start, strlen(start)) == 0);
        if (fit->n == 0)
                FUZZ_REQUIRE(strcmp(p, "NONE") == 0);
        for (; fit->n > 0 && *p; n++) {
                char *end;
                unsigned long irq = strtoul(p, &end, 10);

                FUZZ_REQUIRE(end != p && irq <= IRQ_NUMBER_MAX && irq_list_contains(fit, (unsigned)irq));
                p = end + (*end == ' ');
        }
        FUZZ_REQUIRE(n == fit->n);
}

static void check_answer(const char *text)
{
        _cleanup_(irq_list_clear) IrqList listed = { 0 }, ours = { 0 }, users = { 0 }, fit = { 0 },
                                          known = { 0 };
        char command[BAN_COMMAND_MAX + 1];
        int r;

        r = ban_parse_setup(text, &listed);
        FUZZ_REQUIRE(r == 0 || r == -EBADMSG || r == -ENOMEM);
        if (r < 0) {
                FUZZ_REQUIRE(listed.n == 0);
                return;
        }
        check_list(&listed);
        /* Every second one of those was ours. */
        for (size_t i = 0; i < listed.n; i += 2)
                if (irq_list_add(&ours, listed.items[i]) < 0)
                        return;
        if (irq_list_add(&ours, 77) < 0 || ban_of_users(&known, &ours, &listed, &users) < 0)
                return;
        for (size_t i = 0; i < listed.n; i++)
                FUZZ_REQUIRE(irq_list_contains(&users, listed.items[i]) !=
                             irq_list_contains(&ours, listed.items[i]));
        r = ban_command(&users, &ours, command, &fit);
        if (r < 0)
                return;
        check_command(command, &fit);
        for (size_t i = 0; i < users.n; i++)
                FUZZ_REQUIRE(irq_list_contains(&fit, users.items[i]));
}

static void check_socket(const char *text)
{
        IrqbalanceState state = { 0 };

        if (!irqbalance_find_socket(text, &state))
                return;
        FUZZ_REQUIRE(state.pid > 0 && memchr(state.socket, '\0', sizeof(state.socket)));
        FUZZ_REQUIRE(irqbalance_accepts_socket(state.socket));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(irq_list_clear) IrqList parsed = { 0 };
        _cleanup_(freep) char *text = malloc(size + 1);

        if (!text)
                return 0;
        if (size > 0)
                memcpy(text, data, size);
        text[size] = '\0';
        check_answer(text);
        check_socket(text);
        if (irq_list_parse(text, &parsed) == 0)
                check_list(&parsed);
        (void)irqbalance_accepts_socket(text);
        (void)irqbalance_path_pid(text);
        if (ban_uses_script((const char *)data, size, "/x/y"))
                FUZZ_REQUIRE(size > 4 && data[size - 1] == '\0');
        return 0;
}
