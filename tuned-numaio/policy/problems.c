/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/problems.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

/* How much of a long path a message keeps: its end, which is what tells files apart. */
#define PATH_SHOWN 400

void problems_init(Problems *p, const char *file, PolicyErrors *errors)
{
        *p = (Problems) { .file = file, .errors = errors, .first = errors ? errors->n : 0 };
}

/* Length of the valid UTF-8 sequence at s, 0 = none: RFC 3629, section 4. */
static size_t utf8_length(const unsigned char *s)
{
        static const struct {
                unsigned char from, to;         /* the first byte */
                unsigned char low, high, bytes; /* the second byte, the whole length */
        } forms[] = {
                { 0x01, 0x7f, 0x00, 0xff, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
                { 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
                { 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
                if (s[0] < forms[i].from || s[0] > forms[i].to)
                        continue;
                if (forms[i].bytes > 1 && (s[1] < forms[i].low || s[1] > forms[i].high))
                        return 0;
                for (size_t k = 2; k < forms[i].bytes; k++)
                        if ((s[k] & 0xc0) != 0x80)
                                return 0;
                return forms[i].bytes;
        }
        return 0;
}

bool text_is_clean(const char *text)
{
        const unsigned char *s = (const unsigned char *)text;

        while (*s) {
                size_t n = utf8_length(s);

                /* C0, DEL and C1: U+0080 to U+009F are c2 80 to c2 9f. */
                if (n == 0 || *s < 0x20 || *s == 0x7f || (*s == 0xc2 && s[1] < 0xa0))
                        return false;
                s += n;
        }
        return true;
}

/* Takes a sequence that was cut in the middle off the end. */
static void trim_cut_sequence(char *s)
{
        size_t at = 0, n;

        while (s[at] && (n = utf8_length((unsigned char *)s + at)) > 0)
                at += n;
        s[at] = '\0';
}

const char *text_shown(const char *text, char buf[static SHOWN_MAX])
{
        char cut[SHOWN_MAX - sizeof("\"...\"")];
        size_t n = strlen(text);

        snprintf(cut, sizeof(cut), "%s", text);
        trim_cut_sequence(cut);
        snprintf(buf, SHOWN_MAX, "\"%s%s\"", cut, strlen(cut) < n ? "..." : "");
        return buf;
}

/* Makes room for an error at its place in the order of the file; NULL when it would stand behind a full list.
 */
static Error *insert(Problems *p, unsigned line, unsigned column)
{
        size_t n = p->errors->n, at = n - p->first, last;
        Error *items = p->errors->items + p->first;

        while (at > 0 &&
               (line < p->lines[at - 1] || (line == p->lines[at - 1] && column < p->columns[at - 1])))
                at--;
        if (p->first + at >= POLICY_ERRORS_MAX)
                return NULL;
        if (n < POLICY_ERRORS_MAX)
                p->errors->n = ++n;
        last = n - p->first - 1;
        memmove(items + at + 1, items + at, (last - at) * sizeof(*items));
        memmove(p->lines + at + 1, p->lines + at, (last - at) * sizeof(*p->lines));
        memmove(p->columns + at + 1, p->columns + at, (last - at) * sizeof(*p->columns));
        p->lines[at] = line;
        p->columns[at] = column;
        return items + at;
}

static const char *path_tail(const char *path)
{
        size_t n = strlen(path);

        return n > PATH_SHOWN ? path + n - PATH_SHOWN : path;
}

void problem_add(Problems *p, unsigned line, unsigned column, const char *format, ...)
{
        Error *e;
        va_list ap;

        p->any = true;
        if (!p->errors)
                return;
        e = insert(p, line, column);
        if (!e)
                return;
        e->code = -EINVAL;
        snprintf(e->where, sizeof(e->where), "%s:%u:%u", path_tail(p->file), line, column);
        va_start(ap, format);
        vsnprintf(e->text, sizeof(e->text), format, ap);
        va_end(ap);
        trim_cut_sequence(e->text);
}

int problem_of_file(PolicyErrors *errors, int code, const char *path, const char *format, ...)
{
        Error *e;
        va_list ap;

        if (!errors || errors->n >= POLICY_ERRORS_MAX)
                return code;
        e = &errors->items[errors->n++];
        e->code = code;
        snprintf(e->where, sizeof(e->where), "%s", path_tail(path));
        va_start(ap, format);
        vsnprintf(e->text, sizeof(e->text), format, ap);
        va_end(ap);
        trim_cut_sequence(e->text);
        return code;
}

void names_add(Names *names, const char *name)
{
        if (names->n < NAMES_MAX)
                names->items[names->n++] = name;
}

void names_add_words(Names *names, const char *const *words)
{
        for (; words && *words; words++)
                names_add(names, *words);
}

void names_add_keys(Names *names, const PolicyKey *keys, size_t n)
{
        for (size_t i = 0; i < n; i++)
                names_add(names, keys[i].name);
}

int names_find(const Names *names, const char *name)
{
        for (size_t i = 0; i < names->n; i++)
                if (strcmp(names->items[i], name) == 0)
                        return (int)i;
        return -1;
}

/* Names longer than this are never taken for a mistyped key. */
#define DISTANCE_MAX 32

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
        unsigned m = a < b ? a : b;

        return m < c ? m : c;
}

/* Edits (insert, delete, replace, swap of neighbours) that turn a into b. */
static unsigned edit_distance(const char *a, const char *b)
{
        unsigned d[DISTANCE_MAX + 1][DISTANCE_MAX + 1];
        size_t na = strlen(a), nb = strlen(b);

        if (na > DISTANCE_MAX || nb > DISTANCE_MAX)
                return UINT32_MAX;
        for (size_t i = 0; i <= na; i++) {
                for (size_t k = 0; k <= nb; k++) {
                        if (i == 0 || k == 0) {
                                d[i][k] = (unsigned)(i + k);
                                continue;
                        }
                        d[i][k] = min3(d[i - 1][k] + 1, d[i][k - 1] + 1,
                                       d[i - 1][k - 1] + (a[i - 1] != b[k - 1]));
                        if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                                d[i][k] = min3(d[i][k], d[i - 2][k - 2] + 1, d[i][k]);
                }
        }
        return d[na][nb];
}

const char *names_nearest(const Names *names, const char *name)
{
        /* A third of the letters may be wrong; in short names one. */
        unsigned best = (unsigned)strlen(name) / 3 + 1;
        const char *nearest = NULL;

        if (best < 2)
                best = 2;
        for (size_t i = 0; i < names->n; i++) {
                unsigned d = edit_distance(name, names->items[i]);

                if (d < best && d < strlen(names->items[i])) {
                        best = d;
                        nearest = names->items[i];
                }
        }
        return nearest;
}

const char *names_join(const Names *names, char *buf, size_t size)
{
        size_t at = 0;

        buf[0] = '\0';
        for (size_t i = 0; i < names->n && at < size; i++)
                at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", names->items[i]);
        return buf;
}
