/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ctl/address-map.h"
#include "ctl/anonymise.h"
#include "ctl/phrases.h"

/* What the parts of the anonymiser share. */

#define MARK_LENGTH 6

typedef struct Secret {
        SecretKind kind;
        char *text; /* as token_text() makes it; of an address as it was found first */
        Address address;
        char *replacement; /* of addresses none: they depend on the prefix */
        bool used;
} Secret;

struct Anonymiser {
        void *tree; /* of Secret */
        Secret **secrets;
        size_t n;
        void *words;    /* that the kernel uses */
        Phrases known;  /* what is replaced by its plain text */
        Phrases hidden; /* what must not be left, in each form that it was seen in */
        void *images;   /* addresses that others were replaced by, as text */
        AddressMap *map;
        char mark[MARK_LENGTH + 1], digits[MARK_LENGTH + 1];
};

static inline bool is_address(SecretKind kind)
{
        return kind == SECRET_IPV4 || kind == SECRET_IPV6;
}

/* The secret of the same kind and text or address; NULL = none. */
Secret *anonymiser_lookup(const Anonymiser *a, const Secret *key);
