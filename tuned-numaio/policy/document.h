/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "policy/problems.h"

/* A YAML document as plain data with the place of everything in it. Only what a policy needs: mappings, lists
 * and scalars in one document; anchors, aliases and tags are problems. */

#define DOCUMENT_SIZE_MAX  (1024ul * 1024ul)
#define DOCUMENT_DEPTH_MAX 16u
#define DOCUMENT_LIST_MAX  1024u
#define DOCUMENT_MAP_MAX   64u

typedef enum DocType {
        DOC_SCALAR,
        DOC_LIST,
        DOC_MAP,
        DOC_BAD, /* its problem is noted already */
} DocType;

typedef struct DocNode DocNode;
struct DocNode {
        DocType type;
        unsigned line, column; /* from 1; columns count characters */
        char *text;            /* a scalar's; clean by text_is_clean() */
        bool plain;            /* a scalar without quotes */
        char *key;             /* in a mapping: the key and its place */
        unsigned key_line, key_column;
        DocNode *items; /* of a list or mapping */
        size_t n;
};

void doc_clear(DocNode *node);

/* Reads text. Returns 0 (with problems noted, perhaps), -EINVAL when reading had to stop at a problem, or
 * -ENOMEM. The caller clears *ret, which is whole only on 0. */
int doc_parse(Problems *p, const char *text, size_t size, DocNode *ret);

/* Whether it is a value that was not written: "key:", "~" or "null". */
bool doc_is_null(const DocNode *node);
/* The value of a key; NULL = not there, or not a mapping. */
const DocNode *doc_find(const DocNode *map, const char *key);
/* "a list", "a mapping", "text", for messages. */
const char *doc_type_name(const DocNode *node);
