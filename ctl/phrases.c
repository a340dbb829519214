/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/phrases.h"

#include "basic/array.h"
#include "ctl/tokens.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int phrases_add(Phrases *p, const char *text, bool word, char *replacement, bool *used)
{
        Phrase *slot = strlen(text) >= PHRASE_LEAST ? ARRAY_APPEND(p->items, p->n) : NULL;

        if (!slot) {
                free(replacement);
                return strlen(text) >= PHRASE_LEAST ? -ENOMEM : 0;
        }
        *slot = (Phrase) { .text = strdup(text), .replacement = replacement, .used = used, .word = word };
        if (!slot->text)
                return -ENOMEM;
        for (char *c = slot->text; *c; c++)
                *c = (char)tolower((unsigned char)*c);
        return 0;
}

static int compare(const void *a, const void *b)
{
        const Phrase *x = a, *y = b;
        int r = strcmp(x->text, y->text);

        /* Of equal ones the more demanding comes last, and is dropped. */
        return r ? r : (int)x->word - (int)y->word;
}

static void phrase_clear(Phrase *p)
{
        free(p->text);
        free(p->replacement);
}

void phrases_sort(Phrases *p)
{
        size_t n = 0;

        if (p->n > 1)
                qsort(p->items, p->n, sizeof(*p->items), compare);
        for (size_t i = 0; i < p->n; i++) {
                if (n > 0 && strcmp(p->items[n - 1].text, p->items[i].text) == 0)
                        phrase_clear(&p->items[i]);
                else
                        p->items[n++] = p->items[i];
        }
        p->n = n;
}

void phrases_clear(Phrases *p)
{
        for (size_t i = 0; i < p->n; i++)
                phrase_clear(&p->items[i]);
        free(p->items);
        *p = (Phrases) { 0 };
}

/* Compares the first `most` characters at most of a phrase with the text; <0, 0, >0. */
static int compare_start(const Phrase *phrase, const char *text, size_t size, size_t most)
{
        for (size_t i = 0; i < most && phrase->text[i]; i++) {
                int a = (unsigned char)phrase->text[i], b = i < size ? tolower((unsigned char)text[i]) : -1;

                if (a != b)
                        return a - b;
        }
        return 0;
}

/* The first phrase whose beginning is not before that of the text. */
static size_t lower_bound(const Phrases *p, const char *text, size_t size)
{
        size_t low = 0, high = p->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (compare_start(&p->items[middle], text, size, PHRASE_LEAST) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

const Phrase *phrases_at(const Phrases *p, const char *text, size_t size, size_t at)
{
        bool begins = word_begins(text, at);
        const char *here = text + at;
        const Phrase *longest = NULL;
        size_t n = size - at;

        for (size_t i = lower_bound(p, here, n);
             i < p->n && compare_start(&p->items[i], here, n, PHRASE_LEAST) == 0; i++) {
                const Phrase *phrase = &p->items[i];
                size_t length = strlen(phrase->text);

                if (compare_start(phrase, here, n, length) != 0 ||
                    (phrase->word && !(begins && word_ends(here, n, length))))
                        continue;
                longest = phrase; /* of those that begin alike, the longer one comes later */
        }
        return longest;
}
