/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "plugins/keys.h"
#include "policy/internal.h"

#include <errno.h>
#include <string.h>

/* One file while its document becomes rules. */
typedef struct Reader {
        Problems problems;
        Policy *policy;
        const char *file; /* owned by the policy */
        size_t first;     /* the file's first rule */
} Reader;

/* Reads one entry of a mapping: `at` is the place of its key among the names. Returns 0 (problems are noted)
 * or -ENOMEM. */
typedef int (*EntryReader)(Reader *r, const DocNode *entry, size_t at, void *to);

/* "did you mean", or which keys there are. A CPU list in a flow mapping falls apart at its commas: {mode:
 * 0,2}. */
static void report_unknown_key(Reader *r, const DocNode *entry, const Names *names)
{
        char shown[SHOWN_MAX], all[256];
        const char *nearest = names_nearest(names, entry->key);

        text_shown(entry->key, shown);
        if (nearest)
                problem_add(&r->problems, entry->key_line, entry->key_column,
                            "unknown key %s, did you mean \"%s\"?", shown, nearest);
        else if (doc_is_null(entry) && strspn(entry->key, "0123456789-:/") == strlen(entry->key))
                problem_add(&r->problems, entry->key_line, entry->key_column,
                            "unknown key %s; a CPU list with commas needs quotes here", shown);
        else
                problem_add(&r->problems, entry->key_line, entry->key_column,
                            "unknown key %s, known here: %s", shown, names_join(names, all, sizeof(all)));
}

/* Reads a mapping whose keys are `names`; an empty value stands for an empty one. what names it in messages.
 */
static int read_map(Reader *r, const DocNode *map, const char *what, const Names *names, EntryReader read,
                    void *to)
{
        if (map->type == DOC_BAD || doc_is_null(map))
                return 0;
        if (map->type != DOC_MAP) {
                problem_add(&r->problems, map->line, map->column, "%s must be a mapping (key: value), not %s",
                            what, doc_type_name(map));
                return 0;
        }
        for (size_t i = 0; i < map->n; i++) {
                int at = names_find(names, map->items[i].key), rc;

                if (at < 0) {
                        report_unknown_key(r, &map->items[i], names);
                        continue;
                }
                rc = read(r, &map->items[i], (size_t)at, to);
                if (rc < 0)
                        return rc;
        }
        return 0;
}

static int read_default(Reader *r, const DocNode *entry, size_t at, void *to)
{
        _cleanup_(setting_clear) Setting s = { 0 };
        Defaults *d = to;
        int rc;

        rc = value_read(&r->problems, &policy_defaults_keys[at], entry, &s);
        if (rc <= 0)
                return rc;
        switch ((DefaultsKey)at) {
        case DEFAULTS_APPLY:
                d->apply = (ApplyMode)s.number;
                break;
        case DEFAULTS_ON_DRIFT:
                d->on_drift = (OnDrift)s.number;
                break;
        case DEFAULTS_ON_STOP:
                d->on_stop = (OnStop)s.number;
                break;
        case DEFAULTS_VERIFY:
                d->verify = (unsigned)s.number;
                break;
        case DEFAULTS_IRQBALANCE:
                d->irqbalance = (OnIrqbalance)s.number;
                break;
        case _DEFAULTS_KEY_MAX:
                break;
        }
        return 0;
}

/* Adds one pattern of a match; numbers in their one form, so that they compare as text. */
static int read_pattern(Reader *r, const PolicyKey *key, const DocNode *node, Strv *to)
{
        _cleanup_(setting_clear) Setting s = { 0 };
        char number[32];
        int rc;

        rc = value_read(&r->problems, key, node, &s);
        if (rc <= 0)
                return rc;
        snprintf(number, sizeof(number), "%ld", s.number);
        return strv_add(to, s.word ? s.word : number);
}

static int read_match_entry(Reader *r, const DocNode *entry, size_t at, void *to)
{
        const PolicyKey *key = &policy_match_keys[at];
        Rule *rule = to;

        if (entry->type != DOC_LIST)
                return read_pattern(r, key, entry, &rule->match[at]);
        if (entry->n == 0)
                problem_add(&r->problems, entry->line, entry->column,
                            "\"%s\" is an empty list; leave the key out to match every device", key->name);
        for (size_t i = 0; i < entry->n; i++) {
                int rc = read_pattern(r, key, &entry->items[i], &rule->match[at]);

                if (rc < 0)
                        return rc;
        }
        return 0;
}

static int read_setting(Reader *r, const DocNode *entry, const PolicySection *section, size_t at, Rule *rule)
{
        _cleanup_(setting_clear) Setting s = { 0 };
        Setting *slot;
        int rc;

        rc = value_read(&r->problems, &section->keys[at], entry, &s);
        if (rc <= 0)
                return rc;
        slot = ARRAY_APPEND(rule->settings, rule->n_settings);
        if (!slot)
                return -ENOMEM;
        s.section = section->name;
        s.file = r->file;
        s.line = entry->key_line;
        s.column = entry->key_column;
        *slot = s;
        s = (Setting) { 0 };
        return 0;
}

typedef struct SectionTarget {
        const PolicySection *section;
        Rule *rule;
} SectionTarget;

static int read_section_entry(Reader *r, const DocNode *entry, size_t at, void *to)
{
        const SectionTarget *t = to;

        return read_setting(r, entry, t->section, at, t->rule);
}

/* An entry of `set`: first come the keys of the section "", then the sections with a name. */
static int read_set_entry(Reader *r, const DocNode *entry, size_t at, void *to)
{
        size_t n;
        const PolicySection *sections = policy_sections(&n);
        SectionTarget target = { .rule = to };
        Names names = { 0 };
        char what[SHOWN_MAX];

        if (at < sections[0].n_keys)
                return read_setting(r, entry, &sections[0], at, to);
        target.section = &sections[at - sections[0].n_keys + 1];
        names_add_keys(&names, target.section->keys, target.section->n_keys);
        return read_map(r, entry, text_shown(target.section->name, what), &names, read_section_entry,
                        &target);
}

static int read_name(Reader *r, const DocNode *entry, Rule *rule)
{
        _cleanup_(setting_clear) Setting s = { 0 };
        char shown[SHOWN_MAX];
        int rc;

        rc = value_read(&r->problems, &policy_name_key, entry, &s);
        if (rc <= 0)
                return rc;
        for (size_t i = r->first; i < r->policy->n_rules; i++)
                if (r->policy->rules[i].name && strcmp(r->policy->rules[i].name, s.word) == 0)
                        problem_add(&r->problems, entry->line, entry->column,
                                    "an earlier rule of this file is named %s too",
                                    text_shown(s.word, shown));
        rule->name = STEAL_PTR(s.word);
        return 0;
}

static int read_rule_entry(Reader *r, const DocNode *entry, size_t at, void *to)
{
        size_t n;
        const PolicySection *sections = policy_sections(&n);
        Names names = { 0 };

        if (at == 0)
                return read_name(r, entry, to);
        if (at == 1) {
                names_add_keys(&names, policy_match_keys, _MATCH_KEY_MAX);
                return read_map(r, entry, "\"match\"", &names, read_match_entry, to);
        }
        names_add_keys(&names, sections[0].keys, sections[0].n_keys);
        for (size_t i = 1; i < n; i++)
                names_add(&names, sections[i].name);
        return read_map(r, entry, "\"set\"", &names, read_set_entry, to);
}

static int read_rule(Reader *r, const DocNode *node)
{
        static const Names names = { { "name", "match", "set" }, 3 };
        Rule *rule = ARRAY_APPEND(r->policy->rules, r->policy->n_rules);
        int rc;

        if (!rule)
                return -ENOMEM;
        rule->file = r->file;
        rc = read_map(r, node, "a rule", &names, read_rule_entry, rule);
        if (rc < 0)
                return rc;
        if ((node->type == DOC_MAP && !doc_find(node, "name")) || doc_is_null(node))
                problem_add(&r->problems, node->line, node->column,
                            "the rule has no name; it is shown as the reason of what the rule causes");
        for (size_t i = 0; i < rule->n_settings; i++)
                rule->settings[i].rule = rule->name;
        return 0;
}

static int read_rules(Reader *r, const DocNode *list)
{
        if (list->type == DOC_BAD || doc_is_null(list))
                return 0;
        if (list->type != DOC_LIST) {
                problem_add(&r->problems, list->line, list->column,
                            "\"rules\" must be a list (- name: ...), not %s", doc_type_name(list));
                return 0;
        }
        for (size_t i = 0; i < list->n; i++) {
                int rc = read_rule(r, &list->items[i]);

                if (rc < 0)
                        return rc;
        }
        return 0;
}

static int read_top_entry(Reader *r, const DocNode *entry, size_t at, void *to)
{
        Names names = { 0 };

        if (at == 0)
                return 0; /* the version was read before all else */
        if (at == 2)
                return read_rules(r, entry);
        names_add_keys(&names, policy_defaults_keys, _DEFAULTS_KEY_MAX);
        return read_map(r, entry, "\"defaults\"", &names, read_default, &r->policy->defaults);
}

/* Returns 1 when the rest is worth reading: in a later version it would mean something else. */
static int read_version(Reader *r, const DocNode *top)
{
        _cleanup_(setting_clear) Setting s = { 0 };
        const DocNode *version;

        if (top->type != DOC_MAP)
                return 1;
        version = doc_find(top, "version");
        if (version)
                return value_read(&r->problems, &policy_version_key, version, &s);
        problem_add(&r->problems, top->line, top->column, "\"version: 1\" is missing");
        return 1;
}

int policy_read(Policy *p, const char *file, const char *text, size_t size, PolicyErrors *errors)
{
        static const Names names = { { "version", "defaults", "rules" }, 3 };
        _cleanup_(doc_clear) DocNode top = { 0 };
        Reader r = { .policy = p, .first = p->n_rules };
        int rc;

        rc = strv_add(&p->files, file);
        if (rc < 0)
                return rc;
        r.file = p->files.items[p->files.n - 1];
        problems_init(&r.problems, r.file, errors);
        rc = doc_parse(&r.problems, text, size, &top);
        if (rc < 0)
                return rc;
        rc = read_version(&r, &top);
        if (rc > 0)
                rc = read_map(&r, &top, "a policy", &names, read_top_entry, NULL);
        if (rc < 0)
                return rc;
        return r.problems.any ? -EINVAL : 0;
}
