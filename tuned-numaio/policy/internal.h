/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "policy/document.h"

/* What the files of the policy reader share. */

/* The keys of a rule's `match`; a device has to fit each one that is written, by any of its patterns. */
typedef enum MatchKey {
        MATCH_CLASS,
        MATCH_DRIVER,
        MATCH_PCI,
        MATCH_NETDEV,
        MATCH_NODE,
        MATCH_TRANSPORT,
        _MATCH_KEY_MAX,
} MatchKey;

typedef struct Rule {
        char *name;
        const char *file;           /* owned by Policy.files */
        Strv match[_MATCH_KEY_MAX]; /* empty = the key is not written */
        Setting *settings;
        size_t n_settings;
} Rule;

struct Policy {
        Defaults defaults;
        Strv files;
        Rule *rules; /* in the order in which they were read: later ones win */
        size_t n_rules;
};

/* The keys of `defaults`, in the order of DefaultsKey, and of `match`. */
typedef enum DefaultsKey {
        DEFAULTS_APPLY,
        DEFAULTS_ON_DRIFT,
        DEFAULTS_ON_STOP,
        DEFAULTS_VERIFY,
        DEFAULTS_IRQBALANCE,
        _DEFAULTS_KEY_MAX,
} DefaultsKey;

extern const PolicyKey policy_defaults_keys[_DEFAULTS_KEY_MAX];
extern const PolicyKey policy_match_keys[_MATCH_KEY_MAX];
extern const PolicyKey policy_version_key;
extern const PolicyKey policy_name_key;

/* A policy without rules and with the built-in defaults; NULL when memory is short. */
Policy *policy_new(void);
/* Reads one file's text into a policy; the file's name becomes its last one. On failure the policy is not
 * whole any more and only fit to be freed. Errors as policy_parse(). */
int policy_read(Policy *p, const char *file, const char *text, size_t size, PolicyErrors *errors);

void setting_clear(Setting *s);
/* Reads a value as its key says. Returns 1, 0 when it is none (noted as a problem), or -ENOMEM. *s is set
 * only on 1: key, word, number and cpus, which the caller clears. */
int value_read(Problems *p, const PolicyKey *key, const DocNode *node, Setting *s);

/* Whether a device fits the match of a rule. */
bool rule_matches(const Rule *rule, const Device *d);

/* policies/default.yaml, made by policies/embed.py. */
extern const char policy_default_text[];
extern const size_t policy_default_size;
