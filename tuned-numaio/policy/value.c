/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/parse.h"
#include "policy/internal.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define EXPECTED_MAX 320

void setting_clear(Setting *s)
{
        free(s->word);
        cpuset_free(s->cpus);
        *s = (Setting) { 0 };
}

/* A number of seconds in the largest unit that fits, for messages. */
static void format_seconds(long seconds, char *buf, size_t size)
{
        static const struct {
                long seconds;
                const char *unit;
        } units[] = { { 24L * 60 * 60, "d" }, { 60L * 60, "h" }, { 60, "min" }, { 1, "s" } };
        size_t i = 0;

        while (i + 1 < ARRAY_SIZE(units) && (seconds < units[i].seconds || seconds % units[i].seconds))
                i++;
        snprintf(buf, size, "%ld%s", seconds / units[i].seconds, units[i].unit);
}

/* "spread, node, leave, or a CPU list such as ..." */
static const char *expected(const PolicyKey *key, char buf[static EXPECTED_MAX])
{
        char form[128] = "", min[32], max[32], words[EXPECTED_MAX - 160];
        Names names = { 0 };

        if (key->type == KEY_CPULIST) {
                snprintf(form, sizeof(form), "a CPU list such as \"0-3,8\"");
        } else if (key->type == KEY_NUMBER && key->min == key->max) {
                snprintf(form, sizeof(form), "%ld", key->min);
        } else if (key->type == KEY_NUMBER) {
                snprintf(form, sizeof(form), "a number from %ld to %ld", key->min, key->max);
        } else if (key->type == KEY_DURATION) {
                format_seconds(key->min, min, sizeof(min));
                format_seconds(key->max, max, sizeof(max));
                snprintf(form, sizeof(form), "a time from %s to %s, such as 30s or 5min", min, max);
        } else if (key->type == KEY_TEXT) {
                snprintf(form, sizeof(form), "text of %ld to %ld bytes", key->min, key->max);
        }
        names_add_words(&names, key->words);
        names_join(&names, words, sizeof(words));
        snprintf(buf, EXPECTED_MAX, "%s%s%s%s", names.n > 1 && !form[0] ? "one of " : "", words,
                 names.n && form[0] ? " or " : "", form);
        return buf;
}

/* Notes that a value is not what its key takes. */
static void report_value(Problems *p, const PolicyKey *key, const DocNode *node)
{
        char buf[EXPECTED_MAX], got[SHOWN_MAX];
        Names names = { 0 };
        const char *nearest = NULL;

        names_add_words(&names, key->words);
        if (node->type == DOC_SCALAR && !doc_is_null(node)) {
                text_shown(node->text, got);
                nearest = names_nearest(&names, node->text);
        } else {
                snprintf(got, sizeof(got), "%s", doc_type_name(node));
        }
        if (nearest)
                problem_add(p, node->line, node->column, "\"%s\" cannot be %s, did you mean \"%s\"?",
                            key->name, got, nearest);
        else
                problem_add(p, node->line, node->column, "\"%s\" must be %s, not %s", key->name,
                            expected(key, buf), got);
}

/* A decimal number as YAML 1.1 and 1.2 both read it: without a plus sign, leading zeros or blanks. */
static int read_number(const char *text, long *ret)
{
        const char *digits = text + (*text == '-');
        int r, v;

        if (!isdigit((unsigned char)digits[0]) || (digits[0] == '0' && digits[1]))
                return -EINVAL;
        r = parse_int(text, &v);
        if (r < 0)
                return r;
        if (!isdigit((unsigned char)text[strlen(text) - 1]))
                return -EINVAL;
        *ret = v;
        return 0;
}

static int value_number(Problems *p, const PolicyKey *key, const DocNode *node, Setting *s)
{
        char buf[EXPECTED_MAX];

        if (!node->plain && read_number(node->text, &s->number) == 0) {
                problem_add(p, node->line, node->column, "\"%s\" is a number and stands without quotes: %ld",
                            key->name, s->number);
                return 0;
        }
        if (read_number(node->text, &s->number) < 0) {
                report_value(p, key, node);
                return 0;
        }
        if (s->number < key->min || s->number > key->max) {
                problem_add(p, node->line, node->column, "\"%s\" is out of range: it must be %s", key->name,
                            expected(key, buf));
                return 0;
        }
        return 1;
}

static int value_duration(Problems *p, const PolicyKey *key, const DocNode *node, Setting *s)
{
        static const struct {
                const char *unit;
                long seconds;
        } units[] = { { "", 1 }, { "s", 1 }, { "min", 60 }, { "h", 60L * 60 }, { "d", 24L * 60 * 60 } };
        size_t n = strspn(node->text, "0123456789");
        char digits[16], buf[EXPECTED_MAX];
        const char *unit = node->text + n + strspn(node->text + n, " ");
        long count;

        snprintf(digits, sizeof(digits), "%.*s", (int)n, node->text);
        for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
                if (strcmp(unit, units[i].unit) != 0 || read_number(digits, &count) < 0 ||
                    n >= sizeof(digits))
                        continue;
                s->number = count * units[i].seconds;
                if (s->number >= key->min && s->number <= key->max)
                        return 1;
                problem_add(p, node->line, node->column, "\"%s\" is out of range: it must be %s", key->name,
                            expected(key, buf));
                return 0;
        }
        report_value(p, key, node);
        return 0;
}

/* Whether the file may have this list too. */
static bool has_room(Problems *p, const PolicyKey *key, const DocNode *node)
{
        p->n_ranges++;
        for (const char *c = node->text; *c; c++)
                p->n_ranges += *c == ',';
        if (p->n_ranges <= CPU_RANGES_MAX)
                return true;
        problem_add(p, node->line, node->column, "\"%s\": the CPU lists of the file have more than %u ranges",
                    key->name, CPU_RANGES_MAX);
        return false;
}

static int value_cpulist(Problems *p, const PolicyKey *key, const DocNode *node, Setting *s)
{
        int r;

        if (!has_room(p, key, node))
                return 0;
        r = cpuset_parse_list(node->text, &s->cpus);
        if (r == -ENOMEM)
                return r;
        if (r == -ERANGE) {
                problem_add(p, node->line, node->column, "\"%s\" has a CPU number over %u", key->name,
                            CPUSET_MAX - 1);
                return 0;
        }
        if (r < 0) {
                report_value(p, key, node);
                return 0;
        }
        if (cpuset_is_empty(s->cpus)) {
                problem_add(p, node->line, node->column, "\"%s\" is an empty CPU list", key->name);
                return 0;
        }
        return 1;
}

static int value_text(Problems *p, const PolicyKey *key, const DocNode *node, Setting *s)
{
        size_t n = strlen(node->text);

        if (n < (size_t)key->min || n > (size_t)key->max) {
                report_value(p, key, node);
                return 0;
        }
        s->word = strdup(node->text);
        return s->word ? 1 : -ENOMEM;
}

/* No word of it fitted. */
static int value_enum(Problems *p, const PolicyKey *key, const DocNode *node, Setting *s)
{
        report_value(p, key, node);
        return 0;
}

static int value_word(const Names *words, const DocNode *node, Setting *s)
{
        int at = names_find(words, node->text);

        if (at < 0)
                return 0;
        s->word = strdup(node->text);
        s->number = at;
        return s->word ? 1 : -ENOMEM;
}

int value_read(Problems *p, const PolicyKey *key, const DocNode *node, Setting *s)
{
        static int (*const readers[_KEY_TYPE_MAX])(Problems *, const PolicyKey *, const DocNode *,
                                                   Setting *) = {
                [KEY_ENUM] = value_enum,         [KEY_CPULIST] = value_cpulist, [KEY_NUMBER] = value_number,
                [KEY_DURATION] = value_duration, [KEY_TEXT] = value_text,
        };
        _cleanup_(setting_clear) Setting got = { .key = key };
        Names words = { 0 };
        int r;

        if (node->type == DOC_BAD)
                return 0;
        if (node->type != DOC_SCALAR || doc_is_null(node)) {
                report_value(p, key, node);
                return 0;
        }
        names_add_words(&words, key->words);
        r = value_word(&words, node, &got);
        if (r == 0)
                r = readers[key->type](p, key, node, &got);
        if (r <= 0)
                return r;
        *s = got;
        got = (Setting) { 0 };
        return 1;
}
