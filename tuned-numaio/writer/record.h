/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The form of the ledger's file: one record after another, each with a head that tells a whole record from a
 * torn one. Numbers are in the machine's byte order, since a file never leaves the boot that made it. */

/* What a record says. New types go at the end. */
typedef enum RecordType {
        RECORD_BOOT = 1, /* always the first one: value = the boot id */
        RECORD_FIRST,    /* value = the value of path before the first write */
        RECORD_SET,      /* value = the value that is set now */
        RECORD_REFUSED,  /* refused = what the kernel answered */
        RECORD_FORGET,   /* path has no entry any more */
        RECORD_HOLD,     /* device is held */
        RECORD_RELEASE,
        _RECORD_TYPE_MAX,
} RecordType;

/* Fields that a type does not use are NULL when it is encoded, and "" when it was decoded. */
typedef struct Record {
        RecordType type;
        uint32_t kind;
        int32_t refused;
        const char *path, *device, *id, *identity, *value;
} Record;

/* The record's bytes and their number; the caller frees. Returns 0, -ENOMEM, or -E2BIG for one that would not
 * be read again. */
int record_encode(const Record *r, char **ret, size_t *ret_size);

/* Decodes the record at the start of `size` bytes; its strings point into them. Returns the number of bytes
 * that it takes, or 0 when no whole record stands there. */
size_t record_decode(const char *bytes, size_t size, Record *ret);

/* Whether a whole record says what a writer could have said: it has the field that it goes by, and all that
 * goes into a reply fits there. */
bool record_is_sound(const Record *r);

/* Whether the bytes begin like a ledger of this version; a file that does not is none of ours. */
bool record_is_ours(const char *bytes, size_t size);
