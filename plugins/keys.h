/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "policy/policy.h"

/* Every key that a policy's `set` may hold, plug-in by plug-in. Validation, the JSON Schema, the manual page
 * and the client's help come from here: a new plug-in adds its array and one row. */

typedef struct PolicySection {
        const char *name; /* the plug-in's name; "" = the keys that stand directly in `set` */
        const char *help; /* one line, without full stop */
        const PolicyKey *keys;
        size_t n_keys;
} PolicySection;

extern const PolicyKey plugin_iova_keys[4];
extern const PolicyKey plugin_irq_keys[1];
extern const PolicyKey plugin_iscsi_keys[2];
extern const PolicyKey plugin_workqueue_keys[1];

/* All sections; the first is "". Static data. */
const PolicySection *policy_sections(size_t *ret_n);
/* By name; NULL = no such section. */
const PolicySection *policy_section_find(const char *name);
