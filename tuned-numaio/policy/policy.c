/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/internal.h"

#include <errno.h>
#include <string.h>

#define VERIFY_DEFAULT 300

Policy *policy_new(void)
{
        Policy *p = calloc(1, sizeof(*p));

        if (p)
                p->defaults.verify = VERIFY_DEFAULT;
        return p;
}

static void rule_clear(Rule *rule)
{
        for (size_t i = 0; i < _MATCH_KEY_MAX; i++)
                strv_clear(&rule->match[i]);
        for (size_t i = 0; i < rule->n_settings; i++)
                setting_clear(&rule->settings[i]);
        free(rule->settings);
        free(rule->name);
}

Policy *policy_free(Policy *p)
{
        if (!p)
                return NULL;
        for (size_t i = 0; i < p->n_rules; i++)
                rule_clear(&p->rules[i]);
        free(p->rules);
        strv_clear(&p->files);
        free(p);
        return NULL;
}

const Defaults *policy_defaults(const Policy *p)
{
        return &p->defaults;
}

const Strv *policy_files(const Policy *p)
{
        return &p->files;
}

static const Setting *rule_setting(const Rule *rule, const char *section, const char *key)
{
        for (size_t i = 0; i < rule->n_settings; i++)
                if (strcmp(rule->settings[i].section, section) == 0 &&
                    strcmp(rule->settings[i].key->name, key) == 0)
                        return &rule->settings[i];
        return NULL;
}

const Setting *policy_get(const Policy *p, const Device *d, const char *section, const char *key)
{
        for (size_t i = p->n_rules; i-- > 0;) {
                const Setting *s = rule_setting(&p->rules[i], section, key);

                if (s && rule_matches(&p->rules[i], d))
                        return s;
        }
        return NULL;
}

int policy_parse(const char *file, const char *text, size_t size, Policy **ret, PolicyErrors *errors)
{
        _cleanup_(policy_freep) Policy *p = policy_new();
        int r;

        if (!p)
                return -ENOMEM;
        r = policy_read(p, file, text, size, errors);
        if (r < 0)
                return r;
        *ret = STEAL_PTR(p);
        return 0;
}
