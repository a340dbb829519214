/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/cleanup.h"
#include "ctl/tokens.h"

/* Replaces what identifies a machine, the same thing by the same replacement wherever it stands. First
 * everything is learned, then all replacements are chosen at once, then texts are replaced and checked. Texts
 * are bytes of any value.
 *
 * Replacements are numbers given in the natural order of what they replace, so that names that are sorted
 * stay in their order, behind a random mark of this one run. Nothing of the original is in them but its kind.
 */
typedef struct Anonymiser Anonymiser;

typedef enum SecretKind {
        SECRET_MAC = TOKEN_MAC,
        SECRET_IPV4 = TOKEN_IPV4,
        SECRET_IPV6 = TOKEN_IPV6,
        SECRET_IQN = TOKEN_IQN,
        SECRET_WWN = TOKEN_WWN,
        SECRET_UUID = TOKEN_UUID,
        SECRET_SERIAL,
        SECRET_HOST,
        SECRET_DOMAIN,
        _SECRET_KIND_MAX,
} SecretKind;

const char *secret_kind_to_string(SecretKind kind);

Anonymiser *anonymiser_new(void); /* NULL = memory was short */
Anonymiser *anonymiser_free(Anonymiser *a);
DEFINE_CLEANUP(Anonymiser, anonymiser_free)

/* All return 0 or -ENOMEM. */

/* Learns what has a form of its own: addresses, IQNs, WWNs, UUIDs. */
int anonymiser_learn(Anonymiser *a, const char *text, size_t size);
/* Learns a host name, and the domain of a full one. */
int anonymiser_learn_name(Anonymiser *a, const char *name);
/* Learns a serial number or WWN: the last word of the text. Short ones and fillers ("Default string") are
 * none. */
int anonymiser_learn_serial(Anonymiser *a, const char *text);
/* Words that the kernel uses: a host name among them says nothing, and replacing it would spoil the rest. */
int anonymiser_keep_words(Anonymiser *a, const char *text);

/* Chooses the replacements. Nothing is learned afterwards. Also the errno of getrandom(2). */
int anonymiser_choose(Anonymiser *a);

/* Replaces what was learned. The caller frees *ret, which has a NUL behind its *ret_size bytes. */
int anonymiser_replace(Anonymiser *a, const char *text, size_t size, char **ret, size_t *ret_size);

/* Looks for what was learned, by its plain text and not by its form. NULL = nothing of it is there; else what
 * was found, owned by the anonymiser. */
const char *anonymiser_find(const Anonymiser *a, const char *text, size_t size);

/* How many things of a kind were replaced so far. */
size_t anonymiser_count(const Anonymiser *a, SecretKind kind);
