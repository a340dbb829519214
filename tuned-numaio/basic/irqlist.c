/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/irqlist.h"

#include "basic/array.h"

#include <errno.h>
#include <string.h>

#define DIGITS     "0123456789"
#define DIGITS_MAX 9

void irq_list_clear(IrqList *l)
{
        free(l->items);
        *l = (IrqList) { 0 };
}

/* The place of a number, or where it would be. */
static size_t locate(const IrqList *l, unsigned irq)
{
        size_t low = 0, high = l->n;

        while (low < high) {
                size_t mid = (low + high) / 2;

                if (l->items[mid] < irq)
                        low = mid + 1;
                else
                        high = mid;
        }
        return low;
}

bool irq_list_contains(const IrqList *l, unsigned irq)
{
        size_t i = locate(l, irq);

        return i < l->n && l->items[i] == irq;
}

bool irq_list_equal(const IrqList *a, const IrqList *b)
{
        return a->n == b->n && (a->n == 0 || memcmp(a->items, b->items, a->n * sizeof(*a->items)) == 0);
}

int irq_list_add(IrqList *l, unsigned irq)
{
        size_t i = locate(l, irq);

        if (i < l->n && l->items[i] == irq)
                return 0;
        if (array_grow(&l->items, l->n, sizeof(*l->items)) < 0)
                return -ENOMEM;
        memmove(&l->items[i + 1], &l->items[i], (l->n - i) * sizeof(*l->items));
        l->items[i] = irq;
        l->n++;
        return 0;
}

int irq_list_add_all(IrqList *to, const IrqList *from)
{
        int r = 0;

        for (size_t i = 0; i < from->n && r >= 0; i++)
                r = irq_list_add(to, from->items[i]);
        return r;
}

int irq_list_copy(const IrqList *l, IrqList *ret)
{
        IrqList copy = { 0 };

        if (irq_list_add_all(&copy, l) < 0) {
                irq_list_clear(&copy);
                return -ENOMEM;
        }
        irq_list_clear(ret);
        *ret = copy;
        return 0;
}

static void filter(IrqList *l, const IrqList *what, bool keep)
{
        size_t kept = 0;

        for (size_t i = 0; i < l->n; i++)
                if (irq_list_contains(what, l->items[i]) == keep)
                        l->items[kept++] = l->items[i];
        l->n = kept;
}

void irq_list_remove_all(IrqList *l, const IrqList *what)
{
        filter(l, what, false);
}

void irq_list_keep_all(IrqList *l, const IrqList *what)
{
        filter(l, what, true);
}

static int take_number(const char **text, unsigned *ret)
{
        size_t n = strspn(*text, DIGITS);

        if (n == 0 || n > DIGITS_MAX || (n > 1 && **text == '0'))
                return -EINVAL;
        *ret = (unsigned)strtoul(*text, NULL, 10);
        *text += n;
        return 0;
}

/* room: for so many numbers, each time that they come. */
static int take_range(const char **text, size_t *room, IrqList *l)
{
        unsigned first, last;
        int r;

        r = take_number(text, &first);
        if (r < 0)
                return r;
        last = first;
        if (**text == '-') {
                (*text)++;
                r = take_number(text, &last);
        }
        if (r < 0 || last < first)
                return -EINVAL;
        if (last - first >= *room)
                return -E2BIG;
        *room -= last - first + 1;
        for (unsigned irq = first; irq <= last && r >= 0; irq++)
                r = irq_list_add(l, irq);
        return r;
}

int irq_list_parse(const char *text, IrqList *ret)
{
        size_t room = IRQ_LIST_MAX;
        IrqList l = { 0 };
        int r = 0;

        while (*text && r >= 0) {
                r = take_range(&text, &room, &l);
                if (r >= 0 && *text && (*text++ != ',' || !*text))
                        r = -EINVAL;
        }
        if (r < 0) {
                irq_list_clear(&l);
                return r;
        }
        irq_list_clear(ret);
        *ret = l;
        return 0;
}

char *irq_list_format(const IrqList *l)
{
        _cleanup_(freep) char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return NULL;
        for (size_t i = 0, last; i < l->n; i = last + 1) {
                last = i;
                while (last + 1 < l->n && l->items[last + 1] == l->items[last] + 1)
                        last++;
                fprintf(f, "%s%u", i > 0 ? "," : "", l->items[i]);
                if (last > i)
                        fprintf(f, "-%u", l->items[last]);
        }
        if (fclose(f) != 0)
                return NULL;
        return STEAL_PTR(text);
}
