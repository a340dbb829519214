/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

/* A list of strings that owns them. Zero-initialised it is empty. */
typedef struct Strv {
        char **items;
        size_t n;
} Strv;

/* Frees the strings; the list is empty and reusable afterwards. */
void strv_clear(Strv *v);

/* Appends a copy of s. Returns 0 or -ENOMEM. */
int strv_add(Strv *v, const char *s);

/* The same, unless s is in the list already. */
int strv_add_unique(Strv *v, const char *s);

/* Whether s is in the list. */
bool strv_contains(const Strv *v, const char *s);

/* Sorts in natural order: runs of digits compare as numbers, so "eth2" < "eth10" and "99" < "100". */
void strv_sort(Strv *v);

/* The order that strv_sort() uses; <0, 0, >0. */
int natural_compare(const char *a, const char *b);

/* printf into a new string; NULL when memory is short. The caller frees. */
char *strf(const char *format, ...) _printf_(1, 2);
