/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A set of phrases that are looked for in text, whatever their case. */

typedef struct Phrase {
        char *text;        /* in lower case */
        char *replacement; /* NULL = none */
        bool *used;        /* set by whoever replaces it; NULL = nobody does */
        bool word;         /* only where no letter or digit runs on at either end */
} Phrase;

typedef struct Phrases {
        Phrase *items;
        size_t n;
} Phrases;

#define PHRASE_LEAST 3

/* Adds a copy, in lower case, of a phrase of PHRASE_LEAST characters or more; a shorter one is passed over.
 * Takes the replacement in any case. Returns 0 or -ENOMEM. */
int phrases_add(Phrases *p, const char *text, bool word, char *replacement, bool *used);
/* Has to be called after the last one was added. Of equal ones the first stays. */
void phrases_sort(Phrases *p);
void phrases_clear(Phrases *p);

/* The longest phrase that stands at a place; NULL = none. */
const Phrase *phrases_at(const Phrases *p, const char *text, size_t size, size_t at);
