/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"
#include "observe/observe.h"
#include "observe/symbols.h"
#include "plan/build.h"
#include "plan/plan.h"

/* One kind of knob. One const instance at the end of each plug-in's file, listed in plugins.c. */
typedef struct Plugin {
        const char *name;         /* stable: a section of the policy's `set`, and in the API */
        const char *const *knobs; /* "irq.affinity": one verdict for each, for each device; NULL-terminated */
        const char *help;         /* one line, without full stop */
        const PolicyKey *keys;
        size_t n_keys;
        /* Completes a snapshot by what is dear to find out, as far as the policy makes it matter; NULL =
         * nothing is. Returns 0 or -ENOMEM. */
        int (*complete)(const Root *root, const Policy *policy, SymbolMemo *memo, Snapshot *s);
        /* Adds the changes for one device and gives its verdict. Pure. Called for each device in order;
         * devices share the builder's loads. Returns 0 or -ENOMEM. */
        int (*plan)(PlanBuilder *b, const Device *d);
} Plugin;

extern const Plugin plugin_iova;
extern const Plugin plugin_irq;
extern const Plugin plugin_iscsi;
extern const Plugin plugin_workqueue;

/* The static array of all plug-ins, in the order in which they plan. */
const Plugin *const *plugins_all(size_t *ret_n);
/* Completes a snapshot for all of them, between observe() and plan(). The memo lasts as long as the process.
 * Returns 0 or -ENOMEM. */
int plugins_complete(const Root *root, const Policy *policy, SymbolMemo *memo, Snapshot *s);
/* By name; NULL = no such plug-in. */
const Plugin *plugin_find(const char *name);
