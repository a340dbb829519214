/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/cpuset.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define WORD_BITS   (8 * sizeof(unsigned long))
#define GROUP_BITS  32u
#define GROUP_CHARS 9u  /* eight digits and a comma */
#define RANGE_CHARS 12u /* two numbers below CPUSET_MAX, a dash and a comma */

static size_t words(unsigned bits)
{
        return (bits + WORD_BITS - 1) / WORD_BITS;
}

/* One piece of memory, the words behind the head: a machine of 4,000 vectors has twice as many sets. */
CpuSet *cpuset_new(unsigned n)
{
        size_t count = words(n ? n : 1);
        /* Not numa_bitmask_alloc(): it ends the process when memory is short. */
        CpuSet *s = calloc(1, sizeof(*s) + count * sizeof(unsigned long));

        if (!s)
                return NULL;
        s->size = count * WORD_BITS;
        s->maskp = (unsigned long *)(s + 1);
        return s;
}

void cpuset_free(CpuSet *s)
{
        free(s);
}

CpuSet *cpuset_dup(const CpuSet *s)
{
        CpuSet *copy = cpuset_new(s ? (unsigned)s->size : 1);

        if (copy && s)
                memcpy(copy->maskp, s->maskp, words((unsigned)s->size) * sizeof(unsigned long));
        return copy;
}

static int grow(CpuSet **s, unsigned bits)
{
        CpuSet *bigger;

        if (*s && (*s)->size >= bits)
                return 0;
        bigger = cpuset_new(bits);
        if (!bigger)
                return -ENOMEM;
        if (*s)
                memcpy(bigger->maskp, (*s)->maskp, words((unsigned)(*s)->size) * sizeof(unsigned long));
        cpuset_free(*s);
        *s = bigger;
        return 0;
}

int cpuset_add(CpuSet **s, unsigned cpu)
{
        int r;

        if (cpu >= CPUSET_MAX)
                return -ERANGE;
        r = grow(s, cpu + 1);
        if (r < 0)
                return r;
        numa_bitmask_setbit(*s, cpu);
        return 0;
}

/* Adds from..to, which there is room for: whole words at once, since a text may hold very many ranges. */
static void fill(CpuSet *s, unsigned from, unsigned to)
{
        size_t first = from / WORD_BITS, last = to / WORD_BITS;
        unsigned long head = ~0ul << (from % WORD_BITS), tail = ~0ul >> (WORD_BITS - 1 - to % WORD_BITS);

        if (first == last) {
                s->maskp[first] |= head & tail;
                return;
        }
        s->maskp[first] |= head;
        for (size_t i = first + 1; i < last; i++)
                s->maskp[i] = ~0ul;
        s->maskp[last] |= tail;
}

int cpuset_add_all(CpuSet **s, const CpuSet *other)
{
        int r;

        r = grow(s, other ? (unsigned)other->size : 1);
        if (r < 0)
                return r;
        for (size_t i = 0; other && i < words((unsigned)other->size); i++)
                (*s)->maskp[i] |= other->maskp[i];
        return 0;
}

void cpuset_remove(CpuSet *s, unsigned cpu)
{
        if (s && cpu < s->size)
                numa_bitmask_clearbit(s, cpu);
}

static unsigned long word_of(const CpuSet *s, size_t i)
{
        return s && i < words((unsigned)s->size) ? s->maskp[i] : 0;
}

void cpuset_remove_all(CpuSet *s, const CpuSet *other)
{
        for (size_t i = 0; s && i < words((unsigned)s->size); i++)
                s->maskp[i] &= ~word_of(other, i);
}

void cpuset_keep(CpuSet *s, const CpuSet *other)
{
        for (size_t i = 0; s && i < words((unsigned)s->size); i++)
                s->maskp[i] &= word_of(other, i);
}

bool cpuset_has(const CpuSet *s, unsigned cpu)
{
        return s && cpu < s->size && numa_bitmask_isbitset(s, cpu);
}

unsigned cpuset_count(const CpuSet *s)
{
        return s ? numa_bitmask_weight(s) : 0;
}

bool cpuset_is_empty(const CpuSet *s)
{
        return cpuset_next(s, -1) < 0;
}

bool cpuset_equal(const CpuSet *a, const CpuSet *b)
{
        return cpuset_is_subset(a, b) && cpuset_is_subset(b, a);
}

bool cpuset_is_subset(const CpuSet *a, const CpuSet *b)
{
        for (size_t i = 0; a && i < words((unsigned)a->size); i++)
                if (a->maskp[i] & ~word_of(b, i))
                        return false;
        return true;
}

bool cpuset_intersects(const CpuSet *a, const CpuSet *b)
{
        for (size_t i = 0; a && i < words((unsigned)a->size); i++)
                if (a->maskp[i] & word_of(b, i))
                        return true;
        return false;
}

int cpuset_next(const CpuSet *s, int after)
{
        unsigned bit = (unsigned)(after + 1);

        while (s && bit < s->size) {
                unsigned long w = s->maskp[bit / WORD_BITS] >> (bit % WORD_BITS);

                if (w)
                        return (int)bit + __builtin_ctzl(w);
                bit = (bit / WORD_BITS + 1) * WORD_BITS;
        }
        return -1;
}

static bool is_blank(char c)
{
        return isspace((unsigned char)c);
}

static int read_cpu(const char **p, unsigned *ret)
{
        unsigned long v = 0;

        if (!isdigit((unsigned char)**p))
                return -EINVAL;
        for (; isdigit((unsigned char)**p); (*p)++) {
                v = v * 10 + (unsigned long)(**p - '0');
                if (v >= CPUSET_MAX)
                        return -ERANGE;
        }
        *ret = (unsigned)v;
        return 0;
}

/* One item: N, N-M, or N-M:USED/GROUP. */
static int read_range(const char **p, CpuSet **s)
{
        unsigned from, to, used = CPUSET_MAX, group = CPUSET_MAX;
        int r;

        r = read_cpu(p, &from);
        if (r < 0)
                return r;
        to = from;
        if (**p == '-') {
                (*p)++;
                r = read_cpu(p, &to);
                if (r < 0)
                        return r;
        }
        if (**p == ':') {
                (*p)++;
                r = read_cpu(p, &used);
                if (r < 0 || *(*p)++ != '/')
                        return r < 0 ? r : -EINVAL;
                r = read_cpu(p, &group);
                if (r < 0)
                        return r;
        }
        if (to < from || group == 0 || used > group)
                return -EINVAL;
        r = grow(s, to + 1);
        if (r < 0)
                return r;
        for (unsigned cpu = from; used > 0 && cpu <= to; cpu += group)
                fill(*s, cpu, cpu + used - 1 < to ? cpu + used - 1 : to);
        return 0;
}

int cpuset_parse_list(const char *text, CpuSet **ret)
{
        _cleanup_(cpuset_freep) CpuSet *s = NULL;
        const char *p = text;
        int r;

        while (is_blank(*p))
                p++;
        if (strncmp(p, "(null)", 6) == 0)
                p += 6;
        while (*p && !is_blank(*p)) {
                r = read_range(&p, &s);
                if (r < 0)
                        return r;
                if (*p == ',' && p[1] && !is_blank(p[1]))
                        p++;
                else if (*p && !is_blank(*p))
                        return -EINVAL;
        }
        while (is_blank(*p))
                p++;
        if (*p)
                return -EINVAL;
        r = grow(&s, 1); /* an empty list is a set too */
        if (r < 0)
                return r;
        *ret = STEAL_PTR(s);
        return 0;
}

static int hex_digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c = (char)tolower((unsigned char)c);
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int set_digit(CpuSet **s, unsigned base, int digit)
{
        int r;

        for (unsigned i = 0; i < 4; i++) {
                if (!(digit & (1 << i)))
                        continue;
                r = cpuset_add(s, base + i);
                if (r < 0)
                        return r;
        }
        return 0;
}

int cpuset_parse_mask(const char *text, CpuSet **ret)
{
        _cleanup_(cpuset_freep) CpuSet *s = cpuset_new(1);
        size_t start = 0, end = strlen(text);
        unsigned group = 0, digits = 0;
        int r;

        if (!s)
                return -ENOMEM;
        while (is_blank(text[start]))
                start++;
        while (end > start && is_blank(text[end - 1]))
                end--;
        if (end - start > 2 && text[start] == '0' && (text[start + 1] == 'x' || text[start + 1] == 'X'))
                start += 2;
        for (size_t i = end; i-- > start;) {
                int digit = hex_digit(text[i]);

                if (text[i] == ',') {
                        /* Only the first group may be short, and none empty. */
                        if (digits == 0 || digits > 8 || i == start)
                                return -EINVAL;
                        group++;
                        digits = 0;
                        continue;
                }
                if (digit < 0 || group * GROUP_BITS + digits * 4 >= 16 * CPUSET_MAX)
                        return digit < 0 ? -EINVAL : -ERANGE;
                r = set_digit(&s, group * GROUP_BITS + digits * 4, digit);
                if (r < 0)
                        return r;
                digits++;
        }
        if (end > start && digits == 0)
                return -EINVAL;
        *ret = STEAL_PTR(s);
        return 0;
}

/* The last CPU of the range that begins at `from`. */
static int end_of_range(const CpuSet *s, int from)
{
        int to = from;

        while (cpuset_has(s, (unsigned)to + 1))
                to++;
        return to;
}

char *cpuset_format_list(const CpuSet *s)
{
        size_t ranges = 0, room;
        char *text, *p;

        for (int from = cpuset_next(s, -1); from >= 0; from = cpuset_next(s, end_of_range(s, from)))
                ranges++;
        room = ranges * RANGE_CHARS + 1;
        text = p = malloc(room);
        if (!text)
                return NULL;
        *p = '\0';
        for (int from = cpuset_next(s, -1); from >= 0;) {
                int to = end_of_range(s, from);
                size_t left = room - (size_t)(p - text);

                if (p > text) {
                        *p++ = ',';
                        left--;
                }
                p += to > from ? snprintf(p, left, "%d-%d", from, to) : snprintf(p, left, "%d", from);
                from = cpuset_next(s, to);
        }
        return text;
}

static unsigned long group_value(const CpuSet *s, unsigned group)
{
        unsigned long v = 0;

        for (unsigned i = 0; i < GROUP_BITS; i++)
                if (cpuset_has(s, group * GROUP_BITS + i))
                        v |= 1ul << i;
        return v;
}

char *cpuset_format_mask(const CpuSet *s, unsigned bits)
{
        unsigned groups = (bits ? bits + GROUP_BITS - 1 : GROUP_BITS) / GROUP_BITS;
        char *text, *p;

        FOREACH_CPU (cpu, s)
                if ((unsigned)cpu / GROUP_BITS >= groups)
                        groups = (unsigned)cpu / GROUP_BITS + 1;
        text = malloc(groups * GROUP_CHARS + 1);
        if (!text)
                return NULL;
        p = text;
        for (unsigned g = groups; g-- > 0; p += GROUP_CHARS)
                snprintf(p, GROUP_CHARS + 1, "%08lx,", group_value(s, g));
        p[-1] = '\0';
        return text;
}
