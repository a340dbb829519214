/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/keys.h"
#include "policy/internal.h"

#include <jansson.h>
#include <string.h>

/* Writes the JSON Schema of policies (draft 2020-12) to standard output, from the tables that the reader
 * itself uses. It serves editors and checks outside the daemon; what only the reader knows (names that are
 * used twice, times out of range in minutes) it leaves to it. */

#define CPULIST_PATTERN  "^ *[0-9]+(-[0-9]+(:[0-9]+/[0-9]+)?)?(,[0-9]+(-[0-9]+(:[0-9]+/[0-9]+)?)?)* *$"
#define DURATION_PATTERN "^[0-9]+ *(s|min|h|d)?$"

/* Loaders of YAML 1.1 turn these words into booleans before a schema sees them. */
static json_t *boolean_of(const char *word)
{
        if (strcmp(word, "on") == 0 || strcmp(word, "yes") == 0)
                return json_true();
        if (strcmp(word, "off") == 0 || strcmp(word, "no") == 0)
                return json_false();
        return NULL;
}

static json_t *words_schema(const char *const *words)
{
        json_t *list = json_array();

        for (; *words; words++) {
                json_array_append_new(list, json_string(*words));
                if (boolean_of(*words))
                        json_array_append_new(list, boolean_of(*words));
        }
        return json_pack("{s:o}", "enum", list);
}

static json_t *integer_schema(long min, long max)
{
        return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum", (json_int_t)min, "maximum",
                         (json_int_t)max);
}

static json_t *pattern_schema(const char *pattern)
{
        return json_pack("{s:s, s:s}", "type", "string", "pattern", pattern);
}

/* The forms that a value may have, besides words. */
static void append_forms(json_t *forms, const PolicyKey *key)
{
        switch (key->type) {
        case KEY_ENUM:
        case _KEY_TYPE_MAX:
                break;
        case KEY_CPULIST:
                json_array_append_new(forms, integer_schema(0, CPUSET_MAX - 1));
                json_array_append_new(forms, pattern_schema(CPULIST_PATTERN));
                break;
        case KEY_NUMBER:
                json_array_append_new(forms, integer_schema(key->min, key->max));
                break;
        case KEY_DURATION:
                json_array_append_new(forms, integer_schema(key->min, key->max));
                json_array_append_new(forms, pattern_schema(DURATION_PATTERN));
                break;
        case KEY_TEXT:
                json_array_append_new(forms,
                                      json_pack("{s:s, s:I, s:I}", "type", "string", "minLength",
                                                (json_int_t)key->min, "maxLength", (json_int_t)key->max));
                break;
        }
}

static json_t *any_of(json_t *forms)
{
        json_t *only = json_array_size(forms) == 1 ? json_incref(json_array_get(forms, 0)) : NULL;

        if (!only)
                return json_pack("{s:o}", "anyOf", forms);
        json_decref(forms);
        return only;
}

static json_t *value_schema(const PolicyKey *key)
{
        json_t *forms = json_array();

        if (key->words)
                json_array_append_new(forms, words_schema(key->words));
        append_forms(forms, key);
        return any_of(forms);
}

static json_t *described(json_t *schema, const char *help)
{
        json_object_set_new(schema, "description", json_string(help));
        return schema;
}

/* A mapping; like the reader, it takes an empty value for an empty mapping. */
static json_t *map_schema(json_t *properties, const char *help)
{
        return described(json_pack("{s:[s,s], s:b, s:o}", "type", "object", "null", "additionalProperties", 0,
                                   "properties", properties),
                         help);
}

static void add_keys(json_t *properties, const PolicyKey *keys, size_t n)
{
        for (size_t i = 0; i < n; i++)
                json_object_set_new(properties, keys[i].name,
                                    described(value_schema(&keys[i]), keys[i].help));
}

static json_t *list_schema(json_t *items, int min)
{
        return json_pack("{s:s, s:i, s:i, s:o}", "type", "array", "minItems", min, "maxItems",
                         (int)DOCUMENT_LIST_MAX, "items", items);
}

static json_t *match_schema(void)
{
        json_t *properties = json_object();

        for (size_t i = 0; i < _MATCH_KEY_MAX; i++) {
                const PolicyKey *key = &policy_match_keys[i];
                json_t *forms = json_pack("[o, o]", value_schema(key), list_schema(value_schema(key), 1));

                json_object_set_new(properties, key->name, described(any_of(forms), key->help));
        }
        return map_schema(properties, "which devices the rule is for; a device has to fit every key");
}

static json_t *set_schema(void)
{
        size_t n;
        const PolicySection *sections = policy_sections(&n);
        json_t *properties = json_object();

        add_keys(properties, sections[0].keys, sections[0].n_keys);
        for (size_t i = 1; i < n; i++) {
                json_t *keys = json_object();

                add_keys(keys, sections[i].keys, sections[i].n_keys);
                json_object_set_new(properties, sections[i].name, map_schema(keys, sections[i].help));
        }
        return map_schema(properties, "what the rule sets");
}

static json_t *rule_schema(void)
{
        json_t *properties = json_object();

        json_object_set_new(properties, policy_name_key.name,
                            described(value_schema(&policy_name_key), policy_name_key.help));
        json_object_set_new(properties, "match", match_schema());
        json_object_set_new(properties, "set", set_schema());
        return json_pack("{s:s, s:[s], s:b, s:o}", "type", "object", "required", policy_name_key.name,
                         "additionalProperties", 0, "properties", properties);
}

static json_t *rules_schema(void)
{
        json_t *forms = json_pack("[{s:s}, o]", "type", "null", list_schema(rule_schema(), 0));

        return described(any_of(forms), "in order; later rules win key by key");
}

static json_t *policy_schema(void)
{
        json_t *properties = json_object(), *defaults = json_object();

        add_keys(defaults, policy_defaults_keys, _DEFAULTS_KEY_MAX);
        json_object_set_new(properties, policy_version_key.name,
                            described(value_schema(&policy_version_key), policy_version_key.help));
        json_object_set_new(properties, "defaults", map_schema(defaults, "how the daemon goes about it"));
        json_object_set_new(properties, "rules", rules_schema());
        return json_pack("{s:s, s:s, s:s, s:[s], s:b, s:o}", "$schema",
                         "https://json-schema.org/draft/2020-12/schema", "title", "tuned-numaio policy",
                         "type", "object", "required", policy_version_key.name, "additionalProperties", 0,
                         "properties", properties);
}

int main(void)
{
        json_t *schema = policy_schema();
        int r = schema ? json_dumpf(schema, stdout, JSON_INDENT(2)) : -1;

        json_decref(schema);
        if (r < 0 || putchar('\n') == EOF || fflush(stdout) == EOF) {
                fputs("cannot write the schema\n", stderr);
                return EXIT_FAILURE;
        }
        return EXIT_SUCCESS;
}
