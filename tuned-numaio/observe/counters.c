/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/counters.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* IRQ numbers beyond this are nonsense: the kernel has at most IRQ_BITMAP_BITS of them. */
#define IRQS_MAX (1u << 20)

void counters_clear(Counters *c)
{
        free(c->by_irq);
        *c = (Counters) { 0 };
}

static const char *find_line(const char *text, const char *label)
{
        size_t n = strlen(label);

        for (const char *s = text; s; s = strchr(s, '\n')) {
                s += *s == '\n';
                if (strncmp(s, label, n) == 0)
                        return s + n;
        }
        return NULL;
}

/* Words of the line, the total not among them. */
static size_t count_numbers(const char *s)
{
        size_t n = 0;

        for (; *s && *s != '\n'; s++)
                n += *s == ' ' && isdigit((unsigned char)s[1]);
        return n > 0 ? n - 1 : 0;
}

/* Of what the kernel counts in 32 bits: what is above is cut off. There are hundreds of them on each line,
 * and strtoull() costs as much for each as the rest of an answer. */
static uint32_t number(const char *s, const char **ret_end)
{
        uint32_t n = 0;

        for (; isdigit((unsigned char)*s); s++)
                n = n * 10 + (uint32_t)(*s - '0');
        *ret_end = s;
        return n;
}

int counters_parse(const char *text, Counters *ret)
{
        const char *s = find_line(text, "intr");
        Counters c = { 0 };
        size_t n;

        if (!s || *s != ' ' || !isdigit((unsigned char)s[1]))
                return -EINVAL;
        n = count_numbers(s);
        if (n > IRQS_MAX)
                return -EINVAL;
        c.by_irq = calloc(n ? n : 1, sizeof(*c.by_irq));
        if (!c.by_irq)
                return -ENOMEM;
        (void)number(s + 1, &s); /* the total counts NMIs and the like, too */
        while (c.n < n && *s == ' ' && isdigit((unsigned char)s[1]))
                c.by_irq[c.n++] = number(s + 1, &s);
        *ret = c;
        return 0;
}

int counters_read(const Root *root, Counters *ret)
{
        _cleanup_(freep) char *text = NULL;
        int r;

        r = root_read(root, &text, "proc/stat");
        return r < 0 ? r : counters_parse(text, ret);
}

static uint32_t counter(const Counters *c, unsigned irq)
{
        return irq < c->n ? c->by_irq[irq] : 0;
}

uint32_t counters_between(const Counters *before, const Counters *now, unsigned irq)
{
        uint32_t a = counter(before, irq), b = counter(now, irq), step = b - a;

        return b >= a || step < UINT32_MAX / 2 ? step : b;
}
