/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "desk.h"
#include "land.h"

#include "basic/cleanup.h"
#include "writer/record.h"

#include <errno.h>
#include <fcntl.h>

/* A ledger's file of any content: records with any fields, some of them damaged, and bytes around them. It is
 * refused and stays as it is, or loads and says the same at the next start and after it was written anew; and
 * no record makes the writer touch what is not in its table. */

#define RECORDS_MAX 64
/* The first byte says what the rest is, and whether the costly part is done too. */
#define RAW_BELOW    0x20
#define REWRITE_FROM 0xe0

static const char *const devices[] = { "pci:0000:21:00.0", "iscsi:tcp:iqn.2003-01.org", "wq:nvme-wq", "" };
static const char *const values[] = { "3",  "0-7", "4-5", "0",       "00000000", "00000001,ffffffff",
                                      "ff", "",    "1\n", "nonsense" };

typedef struct Texts {
        char path[2 * WRITER_PATH_MAX], device[2 * WRITER_DEVICE_MAX], id[2 * WRITER_ID_MAX];
        char identity[2 * WRITER_VALUE_MAX], value[2 * WRITER_VALUE_MAX];
} Texts;

/* Mostly that of the object which is at the path now. */
static void make_identity(Code *c, const Desk *d, unsigned path, char *room, size_t size)
{
        _cleanup_(freep) char *identity = path < DESK_OBJECTS ? desk_identity(d, path) : NULL;

        if (code_byte(c) < 0xc0)
                snprintf(room, size, "%s", identity ? identity : "");
        else
                code_text(c, room, size);
}

static int make_record(Code *c, const Desk *d, Texts *t, char **ret, size_t *ret_size)
{
        static const int errors[] = { 0, -EIO, -EPERM, 5, -4096, INT32_MIN, -1, -22 };
        Record r = { .type = code_byte(c), .kind = code_byte(c) };
        const unsigned path = c->left > 0 ? *c->at : 0;

        r.refused = errors[code_below(c, ARRAY_SIZE(errors))];
        code_word(c, land_paths, land_n_paths, t->path, sizeof(t->path));
        code_word(c, devices, ARRAY_SIZE(devices), t->device, sizeof(t->device));
        code_word(c, devices, ARRAY_SIZE(devices), t->id, sizeof(t->id));
        make_identity(c, d, path, t->identity, sizeof(t->identity));
        code_word(c, values, ARRAY_SIZE(values), t->value, sizeof(t->value));
        r.path = t->path;
        r.device = t->device;
        r.id = t->id;
        r.identity = t->identity;
        r.value = t->value;
        return record_encode(&r, ret, ret_size);
}

typedef struct File {
        char *bytes;
        size_t size;
} File;

static void append(File *f, const char *bytes, size_t n)
{
        char *longer = realloc(f->bytes, f->size + n + 1);

        FUZZ_REQUIRE(longer);
        f->bytes = longer;
        memcpy(f->bytes + f->size, bytes, n);
        f->size += n;
}

static void append_boot(File *f)
{
        _cleanup_(freep) char *bytes = NULL;
        size_t n;

        FUZZ_REQUIRE(record_encode(&(Record) { .type = RECORD_BOOT, .value = "" }, &bytes, &n) == 0);
        append(f, bytes, n);
}

static void damage(Code *c, File *f)
{
        const size_t at = (size_t)code_byte(c) * 256 + code_byte(c);

        if (at < f->size)
                f->bytes[f->size - 1 - at] ^= (char)(1 + code_byte(c) % 255);
}

static void make_file(Code *c, const Desk *d, Texts *t, File *f)
{
        for (int i = 0; c->left > 0 && i < RECORDS_MAX; i++) {
                const uint8_t what = code_byte(c);
                _cleanup_(freep) char *bytes = NULL;
                size_t n;

                if (what < 0xf0) {
                        if (make_record(c, d, t, &bytes, &n) == 0)
                                append(f, bytes, n);
                } else if (what < 0xf8) {
                        code_text(c, t->value, sizeof(t->value));
                        append(f, t->value, strlen(t->value));
                } else
                        damage(c, f);
        }
}

static void write_file(const char *path, const File *f)
{
        _cleanup_(closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        FUZZ_REQUIRE(fd >= 0 && write(fd, f->bytes, f->size) == (ssize_t)f->size);
}

static void check_unchanged(const char *path, const File *f)
{
        _cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
        _cleanup_(freep) char *bytes = malloc(f->size + 1);

        FUZZ_REQUIRE(fd >= 0 && bytes);
        FUZZ_REQUIRE(read(fd, bytes, f->size + 1) == (ssize_t)f->size);
        FUZZ_REQUIRE(memcmp(bytes, f->bytes, f->size) == 0);
}

static void check_refused(const Desk *d, int r, const Error *e, const File *f)
{
        FUZZ_REQUIRE(r == -EBADMSG && e->code == r && e->text[0] && !record_is_ours(f->bytes, f->size));
        check_unchanged(desk_ledger_file(d), f);
}

static void use(Desk *d, bool rewrite)
{
        desk_check_reload(d);
        if (rewrite)
                desk_check_rewrite(d);
        (void)desk_ask(d, WRITER_LIST, "", "", "");
        for (unsigned i = 0; i < DESK_OBJECTS; i++)
                (void)desk_ask(d, WRITER_SET, devices[i % 2], land_paths[i], "1");
        desk_check_reload(d);
        desk_check_restore(d);
        desk_check_reload(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static Texts texts;
        Code c = { data, size };
        const uint8_t how = code_byte(&c);
        Desk *d = desk_get();
        File f = { 0 };
        Error e = { 0 };
        int r;

        if (how < RAW_BELOW)
                append(&f, (const char *)c.at, c.left);
        else {
                append_boot(&f);
                make_file(&c, d, &texts, &f);
        }
        write_file(desk_ledger_file(d), &f);
        r = desk_open(d, &e);
        if (r < 0)
                check_refused(d, r, &e, &f);
        else
                use(d, how >= REWRITE_FROM);
        free(f.bytes);
        return 0;
}
