/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* An input as a small program: each step takes the bytes that it needs from the front. Behind the end there
 * are zeros only. */
typedef struct Code {
        const uint8_t *at;
        size_t left;
} Code;

static inline uint8_t code_byte(Code *c)
{
        if (c->left == 0)
                return 0;
        c->left--;
        return *c->at++;
}

static inline unsigned code_below(Code *c, size_t n)
{
        return code_byte(c) % (unsigned)n;
}

#define CODE_FILL 0xf8 /* lengths from here on fill eighths of the room, to get to its end */

/* A text that fits into `size` bytes: its length, and so many bytes; NULs end it. */
static inline void code_text(Code *c, char *room, size_t size)
{
        size_t length = code_byte(c), n;

        if (length >= CODE_FILL) {
                n = (size - 1) * (length - CODE_FILL + 1) / 8;
                memset(room, code_byte(c), n);
        } else {
                n = length < size - 1 ? length : size - 1;
                n = n < c->left ? n : c->left;
                memcpy(room, c->at, n);
                c->at += n;
                c->left -= n;
        }
        room[n] = '\0';
}

/* One of the words, or, for the numbers behind them, a text of its own. */
static inline void code_word(Code *c, const char *const *words, size_t n_words, char *room, size_t size)
{
        unsigned i = code_byte(c);

        if (i >= n_words) {
                code_text(c, room, size);
                return;
        }
        room[0] = '\0';
        strncat(room, words[i], size - 1);
}
