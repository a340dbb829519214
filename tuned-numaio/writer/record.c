/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/record.h"

#include "apply/protocol.h"
#include "basic/error.h"

#include <errno.h>
#include <string.h>

#define RECORD_MAGIC    0x314c4e54u /* "TNL1"; another form gets another number */
#define RECORD_SIZE_MAX (128u << 10)
#define N_STRINGS       5

typedef struct Head {
        uint32_t magic, checksum, type, length; /* the checksum covers all that follows it */
        uint32_t kind;
        int32_t refused;
} Head;

/* CRC-32 (IEEE 802.3), four bits at a time: a small table does for a few records. */
static uint32_t checksum(const char *bytes, size_t n)
{
        static const uint32_t table[16] = {
                0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
                0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
                0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu,
        };
        uint32_t crc = ~0u;

        for (size_t i = 0; i < n; i++) {
                crc ^= (unsigned char)bytes[i];
                crc = crc >> 4 ^ table[crc & 15];
                crc = crc >> 4 ^ table[crc & 15];
        }
        return ~crc;
}

static uint32_t checksum_of(const char *record, size_t size)
{
        size_t skip = offsetof(Head, type);

        return checksum(record + skip, size - skip);
}

int record_encode(const Record *r, char **ret, size_t *ret_size)
{
        const char *const strings[N_STRINGS] = { r->path, r->device, r->id, r->identity, r->value };
        Head head = { .magic = RECORD_MAGIC, .type = r->type, .kind = r->kind, .refused = r->refused };
        size_t size = sizeof(head), at = sizeof(head);
        char *bytes;

        for (size_t i = 0; i < N_STRINGS; i++)
                size += (strings[i] ? strlen(strings[i]) : 0) + 1;
        if (size - sizeof(head) > RECORD_SIZE_MAX)
                return -E2BIG;
        bytes = calloc(1, size);
        if (!bytes)
                return -ENOMEM;
        for (size_t i = 0; i < N_STRINGS; i++) {
                size_t n = strings[i] ? strlen(strings[i]) : 0;

                if (n > 0)
                        memcpy(bytes + at, strings[i], n);
                at += n + 1;
        }
        head.length = (uint32_t)(size - sizeof(head));
        memcpy(bytes, &head, sizeof(head));
        head.checksum = checksum_of(bytes, size);
        memcpy(bytes, &head, sizeof(head));
        *ret = bytes;
        *ret_size = size;
        return 0;
}

static size_t decode_strings(const char *text, size_t length, const char **strings)
{
        size_t at = 0;

        for (size_t i = 0; i < N_STRINGS; i++) {
                const char *end = memchr(text + at, '\0', length - at);

                if (!end)
                        return 0;
                strings[i] = text + at;
                at = (size_t)(end - text) + 1;
        }
        return at;
}

size_t record_decode(const char *bytes, size_t size, Record *ret)
{
        const char *strings[N_STRINGS];
        size_t whole;
        Head head;

        if (size < sizeof(head))
                return 0;
        memcpy(&head, bytes, sizeof(head));
        if (head.magic != RECORD_MAGIC || head.length > RECORD_SIZE_MAX || head.length > size - sizeof(head))
                return 0;
        whole = sizeof(head) + head.length;
        if (head.checksum != checksum_of(bytes, whole) || head.type == 0 || head.type >= _RECORD_TYPE_MAX)
                return 0;
        if (decode_strings(bytes + sizeof(head), head.length, strings) != head.length)
                return 0;
        *ret = (Record) {
                .type = head.type,
                .kind = head.kind,
                .refused = head.refused,
                .path = strings[0],
                .device = strings[1],
                .id = strings[2],
                .identity = strings[3],
                .value = strings[4],
        };
        return whole;
}

bool record_is_sound(const Record *r)
{
        const size_t path = strlen(r->path), device = strlen(r->device);

        if (path >= WRITER_PATH_MAX || device >= WRITER_DEVICE_MAX || strlen(r->id) >= WRITER_ID_MAX ||
            strlen(r->value) >= WRITER_VALUE_MAX)
                return false;
        switch (r->type) {
        case RECORD_BOOT:
                return true;
        case RECORD_FIRST:
        case RECORD_SET:
        case RECORD_FORGET:
                return path > 0;
        case RECORD_REFUSED:
                return path > 0 && r->refused < 0 && r->refused >= -ERRNO_MAX;
        case RECORD_HOLD:
        case RECORD_RELEASE:
                return device > 0;
        case _RECORD_TYPE_MAX:
                break;
        }
        return false;
}

bool record_is_ours(const char *bytes, size_t size)
{
        const uint32_t magic = RECORD_MAGIC;

        return memcmp(bytes, &magic, size < sizeof(magic) ? size : sizeof(magic)) == 0;
}
