/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Recognises, in any bytes, what identifies a machine by its form alone. */

typedef enum TokenKind {
        TOKEN_MAC,  /* 00:11:22:33:44:55, also with "-", also longer ones; the digits of enx001122334455 */
        TOKEN_IPV4, /* kept apart: 0.0.0.0/8, 127.0.0.0/8 and 240.0.0.0/4 are none */
        TOKEN_IPV6, /* :: and ::1 are none */
        TOKEN_IQN,  /* iqn.*, nqn.*: one word without blank, slash, comma or quote */
        TOKEN_WWN,  /* eui.* and naa.* with 16 or 32 hexadecimal digits */
        TOKEN_UUID,
        _TOKEN_KIND_MAX,
} TokenKind;

typedef struct Token {
        TokenKind kind;
        size_t skip;   /* what stands before it and stays: "enx", "eui." */
        size_t length; /* of the token itself */
} Token;

/* Whether a word can begin at a place, and end before it: no letter or digit runs on there. */
bool word_begins(const char *text, size_t at);
bool word_ends(const char *text, size_t size, size_t at);

/* Whether a token begins at `at`. */
bool token_at(const char *text, size_t size, size_t at, Token *ret);

/* Copies the token's letters and digits in lower case, and of an IQN everything: equal tokens have equal
 * text, however they are written. Not for addresses. The caller frees; NULL = memory was short. */
char *token_text(const char *text, size_t at, const Token *token);
