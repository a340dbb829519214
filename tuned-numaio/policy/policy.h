/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/error.h"
#include "model/snapshot.h"

/* Policies: which rule sets what for which device. Read from YAML files (policy(5)); later files win key by
 * key, and inside a file later rules win. A file of the same name higher up replaces the lower one. */

typedef enum ApplyMode { APPLY_AUTO, APPLY_ASK, APPLY_NEVER, _APPLY_MODE_MAX } ApplyMode;
typedef enum OnDrift { ON_DRIFT_REAPPLY, ON_DRIFT_YIELD, ON_DRIFT_REPORT, _ON_DRIFT_MAX } OnDrift;
typedef enum OnIrqbalance {
        IRQBALANCE_WAIT,
        IRQBALANCE_BAN,
        IRQBALANCE_IGNORE,
        _ON_IRQBALANCE_MAX,
} OnIrqbalance;
typedef enum OnStop { ON_STOP_KEEP, ON_STOP_RESTORE, _ON_STOP_MAX } OnStop;

typedef struct Defaults {
        ApplyMode apply;
        OnDrift on_drift;
        OnStop on_stop;
        OnIrqbalance irqbalance;
        unsigned verify; /* seconds between looks for drift without events; 300 */
} Defaults;

/* One key of a plug-in (or one of the two keys of every rule, `node` and `cpus`): from these tables come
 * validation, the JSON Schema, the man page and numaioctl's help. */
typedef enum KeyType {
        KEY_ENUM,     /* one of `words` */
        KEY_CPULIST,  /* a CPU list that is not empty, or one of `words` */
        KEY_NUMBER,   /* min..max, or one of `words` */
        KEY_DURATION, /* seconds, or a number with s, min, h or d; min..max seconds */
        KEY_TEXT,     /* text of min..max bytes, in matches a glob(7) pattern */
        _KEY_TYPE_MAX,
} KeyType;

typedef struct PolicyKey {
        const char *name;
        KeyType type;
        const char *const *words; /* NULL-terminated; NULL = none */
        long min, max;
        const char *help; /* one line, without full stop */
} PolicyKey;

/* A value with the place that it came from. */
typedef struct Setting {
        const char *section; /* plug-in name, or "" for `node` and `cpus` */
        const PolicyKey *key;
        char *word;              /* the word or text as written, NULL when it is a number or CPU list */
        long number;             /* a number, seconds, or the place of an enumeration's word in `words` */
        CpuSet *cpus;            /* NULL = none */
        const char *rule, *file; /* name of the rule and its file, owned by the policy */
        unsigned line, column;   /* of the key, from 1 */
} Setting;

typedef struct Policy Policy;

/* All problems of a load, at most POLICY_ERRORS_MAX of them; zero-initialise before use. Everywhere below it
 * may be NULL. */
#define POLICY_ERRORS_MAX 20
typedef struct PolicyErrors {
        Error items[POLICY_ERRORS_MAX];
        size_t n;
} PolicyErrors;

/* The compiled-in default policy (policies/default.yaml). Returns 0 or -ENOMEM. */
int policy_new_default(Policy **ret);

/* Reads one file (numaioctl plan --policy). On -EINVAL the errors say where and what; on other errors
 * (-ENOENT ...) errors holds one. */
int policy_load_file(const char *path, Policy **ret, PolicyErrors *errors);

/* Reads the *.yaml of the folders, lowest first, each folder's files in the order of their bytes; a folder
 * that is not there is skipped. A file of the same name in a later folder replaces the earlier one, a
 * symbolic link to /dev/null only takes it away. Without any file the compiled-in default applies. Nothing is
 * half-applied: with any error there is no policy. Returns 0, -EINVAL, -ENOMEM, or what kept a file from
 * being read. */
int policy_load_dirs(const char *const *dirs, size_t n_dirs, Policy **ret, PolicyErrors *errors);

/* Parses text as if it stood in `file`. Returns 0, -EINVAL or -ENOMEM. */
int policy_parse(const char *file, const char *text, size_t size, Policy **ret, PolicyErrors *errors);

Policy *policy_free(Policy *p);
DEFINE_CLEANUP(Policy, policy_free)

const Defaults *policy_defaults(const Policy *p);
/* Files that were read, in order; owned by the policy. */
const Strv *policy_files(const Policy *p);

/* The setting in force for a device, or NULL = no rule sets it. section is a plug-in's name or "" for node
 * and cpus. The result belongs to the policy. */
const Setting *policy_get(const Policy *p, const Device *d, const char *section, const char *key);

const char *apply_mode_to_string(ApplyMode m);
const char *on_drift_to_string(OnDrift d);
const char *on_stop_to_string(OnStop s);
const char *on_irqbalance_to_string(OnIrqbalance i);
