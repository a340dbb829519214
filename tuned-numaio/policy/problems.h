/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "policy/policy.h"

/* All CPU lists of a file together may have so many ranges: a range of a few bytes can name 65,536 CPUs. */
#define CPU_RANGES_MAX 4096u

/* The problems of one file while it is read, kept in the order of their place in it. When there are more than
 * fit, the first ones stay. */
typedef struct Problems {
        const char *file;
        PolicyErrors *errors; /* NULL = nobody reads them */
        size_t first;         /* this file's errors start here in errors->items */
        unsigned lines[POLICY_ERRORS_MAX], columns[POLICY_ERRORS_MAX]; /* of errors->items[first...] */
        bool any;                                                      /* there was at least one */
        size_t n_ranges; /* of the file's CPU lists so far, against CPU_RANGES_MAX */
} Problems;

void problems_init(Problems *p, const char *file, PolicyErrors *errors);

/* Adds one at a line and column, both from 1. The text is a sentence without a full stop. */
void problem_add(Problems *p, unsigned line, unsigned column, const char *format, ...) _printf_(4, 5);

/* Adds one that concerns a file or folder as a whole, with the code to return; returns code. */
int problem_of_file(PolicyErrors *errors, int code, const char *path, const char *format, ...) _printf_(4, 5);

/* Whether text is UTF-8 without control characters, and so fit for messages, the journal and JSON. */
bool text_is_clean(const char *text);

/* A user's text for a message: in double quotes, shortened to what fits. Returns buf. */
#define SHOWN_MAX 80
const char *text_shown(const char *text, char buf[static SHOWN_MAX]);

/* Names that would be right in some place, for look-up and for messages about wrong ones. Borrowed. */
#define NAMES_MAX 64
typedef struct Names {
        const char *items[NAMES_MAX];
        size_t n;
} Names;

/* Adds a name; those that do not fit are left out. */
void names_add(Names *names, const char *name);
/* Adds a NULL-terminated list of words; NULL = none. */
void names_add_words(Names *names, const char *const *words);
/* Adds the names of a table of keys. */
void names_add_keys(Names *names, const PolicyKey *keys, size_t n);
/* Place of a name, -1 = not there. */
int names_find(const Names *names, const char *name);
/* The name that differs least from a mistyped one (a swap of neighbours counts as one edit), NULL when none
 * is near. */
const char *names_nearest(const Names *names, const char *name);
/* "a, b, c" into buf, shortened to what fits. Returns buf. */
const char *names_join(const Names *names, char *buf, size_t size);
