/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/ban.h"

#include <errno.h>
#include <string.h>

#define COMMAND_BAN  "settings ban irqs "
#define COMMAND_NONE COMMAND_BAN "NONE"

/* --- the command --- */

typedef struct Command {
        char *text;
        size_t n;
        bool empty;
} Command;

/* Returns whether the number had room. */
static bool append(Command *c, unsigned irq)
{
        char number[16];
        int n = snprintf(number, sizeof(number), "%s%u", c->empty ? "" : " ", irq);

        if (c->n + (size_t)n > BAN_COMMAND_MAX)
                return false;
        memcpy(c->text + c->n, number, (size_t)n + 1);
        c->n += (size_t)n;
        c->empty = false;
        return true;
}

int ban_command(const IrqList *users, const IrqList *ours, char ret[BAN_COMMAND_MAX + 1], IrqList *ret_fit)
{
        Command c = { .text = ret, .n = strlen(COMMAND_BAN), .empty = true };
        IrqList fit = { 0 };
        int r = 0;

        memcpy(ret, COMMAND_BAN, c.n + 1);
        for (size_t i = 0; i < users->n && r >= 0; i++)
                r = append(&c, users->items[i]) ? irq_list_add(&fit, users->items[i]) : -E2BIG;
        for (size_t i = 0; i < ours->n && r >= 0; i++) {
                if (irq_list_contains(users, ours->items[i]))
                        continue;
                if (!append(&c, ours->items[i]))
                        break;
                r = irq_list_add(&fit, ours->items[i]);
        }
        if (r < 0) {
                irq_list_clear(&fit);
                return r;
        }
        if (c.empty)
                memcpy(ret, COMMAND_NONE, sizeof(COMMAND_NONE));
        irq_list_clear(ret_fit);
        *ret_fit = fit;
        return 0;
}

/* --- the answer --- */

/* The next word, NULL at the end; *text moves behind it. */
static const char *next_word(const char **text, size_t *ret_n)
{
        const char *word = *text + strspn(*text, " ");

        *ret_n = strcspn(word, " ");
        *text = word + *ret_n;
        return *ret_n > 0 ? word : NULL;
}

static bool is_word(const char *word, size_t n, const char *want)
{
        return word && n == strlen(want) && memcmp(word, want, n) == 0;
}

/* A number of IRQs or of anything else; a negative one is passed over. Returns 1, 0 = negative, or -EBADMSG.
 */
static int take_number(const char **text, unsigned *ret)
{
        size_t n, digits;
        const char *word = next_word(text, &n);
        bool negative = word && *word == '-';

        if (!word)
                return -EBADMSG;
        word += negative;
        n -= negative;
        digits = strspn(word, "0123456789");
        if (n == 0 || digits < n)
                return -EBADMSG;
        if (negative)
                return 0;
        *ret = n <= 9 ? (unsigned)strtoul(word, NULL, 10) : IRQ_NUMBER_MAX;
        return 1;
}

/* "NUMBER LOAD NUMBER DIFF NUMBER CLASS NUMBER", behind the word IRQ. */
static int take_irq(const char **text, IrqList *l)
{
        static const char *const facts[] = { "LOAD", "DIFF", "CLASS" };
        unsigned irq = 0, value;
        int r;

        r = take_number(text, &irq);
        if (r > 0)
                r = irq_list_add(l, irq);
        for (size_t i = 0; i < ARRAY_SIZE(facts) && r >= 0; i++) {
                size_t n;
                const char *word = next_word(text, &n);

                r = is_word(word, n, facts[i]) ? take_number(text, &value) : -EBADMSG;
        }
        return r < 0 ? r : 0;
}

int ban_parse_setup(const char *answer, IrqList *ret)
{
        IrqList l = { 0 };
        unsigned seconds;
        size_t n;
        const char *word = next_word(&answer, &n);
        int r;

        r = is_word(word, n, "SLEEP") ? take_number(&answer, &seconds) : -EBADMSG;
        while (r >= 0) {
                word = next_word(&answer, &n);
                if (!is_word(word, n, "IRQ"))
                        break;
                r = take_irq(&answer, &l);
        }
        if (r >= 0 && !is_word(word, n, "BANNED"))
                r = -EBADMSG;
        if (r < 0) {
                irq_list_clear(&l);
                return r;
        }
        irq_list_clear(ret);
        *ret = l;
        return 0;
}

/* --- whose they are --- */

int ban_of_users(const IrqList *known, const IrqList *sent, const IrqList *listed, IrqList *ret)
{
        IrqList users = { 0 };
        int r = 0;

        for (size_t i = 0; i < listed->n && r >= 0; i++)
                if (irq_list_contains(known, listed->items[i]) || !irq_list_contains(sent, listed->items[i]))
                        r = irq_list_add(&users, listed->items[i]);
        if (r < 0) {
                irq_list_clear(&users);
                return r;
        }
        irq_list_clear(ret);
        *ret = users;
        return 0;
}

/* --- the policy script --- */

static const char *script_of(const char *argument, const char *next)
{
        static const char option[] = "--policyscript";
        size_t n = strlen(option);

        if (strncmp(argument, option, n) == 0 && (argument[n] == '=' || !argument[n]))
                return argument[n] ? argument + n + 1 : next;
        if (strncmp(argument, "-l", 2) == 0)
                return argument[2] ? argument + 2 : next;
        return NULL;
}

bool ban_uses_script(const char *arguments, size_t size, const char *script)
{
        const char *end = arguments + size;
        bool uses = false;

        if (size == 0 || end[-1] != '\0')
                return false;
        for (const char *a = arguments; a < end; a += strlen(a) + 1) {
                const char *next = a + strlen(a) + 1, *found = script_of(a, next < end ? next : "");

                if (found)
                        uses = strcmp(found, script) == 0; /* the last one counts */
        }
        return uses;
}
