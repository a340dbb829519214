/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/ledger.h"

#include "writer/entries.h"
#include "writer/record.h"
#include "writer/state-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define FILE_NAME     "ledger"
#define FILE_SIZE_MAX (64 << 20) /* ten times what a machine of 8,192 CPUs needs */
/* Old records may take this much room, and as much again as those that count, before the file is written
 * anew. */
#define SLACK (256 << 10)

struct Ledger {
        int dir, fd;
        off_t size, base; /* of the file: now, and after it was written anew */
        char *boot_id;
        Entries entries;
};

static int print_record(FILE *f, const Record *r)
{
        _cleanup_(freep) char *bytes = NULL;
        size_t n;
        int r1;

        r1 = record_encode(r, &bytes, &n);
        if (r1 < 0)
                return r1;
        return fwrite(bytes, 1, n, f) == n ? 0 : -ENOMEM;
}

static int print_entry(FILE *f, const LedgerEntry *e)
{
        Record r = { .kind = e->kind, .path = e->path, .device = e->device, .id = e->id };
        int r1 = 0;

        r.identity = e->identity;
        if (e->held) {
                r.type = RECORD_HOLD;
                return print_record(f, &r);
        }
        if (e->first) {
                r.type = RECORD_FIRST;
                r.value = e->first;
                r1 = print_record(f, &r);
        }
        r.value = NULL;
        if (r1 >= 0 && e->refused) {
                r.type = RECORD_REFUSED;
                r.refused = e->refused;
                r1 = print_record(f, &r);
        }
        if (r1 >= 0 && e->set)
                r1 = print_record(f, &(Record) { .type = RECORD_SET, .path = e->path, .value = e->set });
        return r1;
}

/* The shortest file that says the same. */
static int format_ledger(const Ledger *l, char **ret, size_t *ret_size)
{
        _cleanup_(freep) char *text = NULL;
        size_t n = 0;
        FILE *f = open_memstream(&text, &n);
        int r;

        if (!f)
                return -ENOMEM;
        r = print_record(f, &(Record) { .type = RECORD_BOOT, .value = l->boot_id });
        for (size_t i = 0; r >= 0 && i < l->entries.n; i++)
                r = print_entry(f, l->entries.items[i]);
        if (fclose(f) != 0 && r >= 0)
                r = -ENOMEM;
        if (r < 0)
                return r;
        *ret = STEAL_PTR(text);
        *ret_size = n;
        return 0;
}

/* Writes the file anew; the old one stays in force when that fails. */
static int compact(Ledger *l)
{
        _cleanup_(freep) char *text = NULL;
        int fd = -1, r;
        size_t n;

        r = format_ledger(l, &text, &n);
        if (r < 0)
                return r;
        r = state_file_replace(l->dir, FILE_NAME, text, n, &fd);
        if (r < 0)
                return r;
        close(l->fd);
        l->fd = fd;
        l->size = l->base = (off_t)n;
        return 0;
}

/* A file that grew too large would not be read at the next start. */
static int make_room(Ledger *l, size_t n)
{
        if (l->size + (off_t)n > FILE_SIZE_MAX && l->size > l->base)
                (void)compact(l);
        return l->size + (off_t)n > FILE_SIZE_MAX ? -ENOSPC : 0;
}

static int append(Ledger *l, const Record *record)
{
        _cleanup_(freep) char *bytes = NULL;
        size_t n;
        int r;

        r = record_encode(record, &bytes, &n);
        if (r < 0)
                return r;
        r = make_room(l, n);
        if (r < 0)
                return r;
        r = state_file_write(l->fd, bytes, n, l->size);
        if (r >= 0)
                r = entries_apply(&l->entries, record);
        if (r < 0) {
                /* Even if this fails, the next record overwrites what is left of this one. */
                (void)!ftruncate(l->fd, l->size);
                return r;
        }
        l->size += (off_t)n;
        if (l->size > 2 * l->base + SLACK)
                (void)compact(l);
        return 0;
}

/* Goes through the records up to the first one that is not whole. *ret_good: how many bytes they take; 0 when
 * the file belongs to another boot. */
static int load_records(Ledger *l, const char *bytes, size_t size, size_t *ret_good)
{
        size_t at, n;
        Record record;
        int r;

        *ret_good = 0;
        at = record_decode(bytes, size, &record);
        if (at == 0 || record.type != RECORD_BOOT || strcmp(record.value, l->boot_id) != 0)
                return 0;
        while ((n = record_decode(bytes + at, size - at, &record)) > 0) {
                r = record_is_sound(&record) ? entries_apply(&l->entries, &record) : 0;
                if (r < 0 && r != -ENOENT)
                        return r;
                at += n;
        }
        *ret_good = at;
        return 0;
}

static int load(Ledger *l, const char *folder, Error *e)
{
        _cleanup_(freep) char *bytes = NULL;
        size_t size = 0, good;
        int r;

        r = state_file_read(l->fd, FILE_SIZE_MAX, &bytes, &size);
        if (r < 0)
                return error_set(e, r, folder, "cannot read the ledger: %s", strerror(-r));
        if (size > 0 && !record_is_ours(bytes, size))
                return error_set(e, -EBADMSG, folder,
                                 "the file \"" FILE_NAME
                                 "\" is no ledger of this version; remove it to give up "
                                 "the values in it");
        r = load_records(l, bytes, size, &good);
        if (r < 0)
                return error_set(e, r, folder, "cannot load the ledger: %s", strerror(-r));
        if (good == 0)
                r = compact(l);
        else if (good < size && ftruncate(l->fd, (off_t)good) < 0)
                r = -errno;
        if (r < 0)
                return error_set(e, r, folder, "cannot write the ledger: %s", strerror(-r));
        if (good > 0)
                l->size = (off_t)good;
        return 0;
}

/* Opens the file and locks it. The file may be replaced by its owner between the two, hence the loop. */
static int open_file(Ledger *l, const char *folder, Error *e)
{
        for (;;) {
                _cleanup_(closep) int fd = -1;
                struct stat st, named;

                fd = openat(l->dir, FILE_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
                if (fd < 0 || fstat(fd, &st) < 0)
                        return error_set(e, -errno, folder, "cannot open the ledger: %m");
                if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
                        return error_set(e, -EPERM, folder,
                                         "the file \"" FILE_NAME "\" is not this user's own regular file");
                if (flock(fd, LOCK_EX | LOCK_NB) < 0)
                        return errno == EWOULDBLOCK
                                       ? error_set(e, -EBUSY, folder, "another writer uses this ledger")
                                       : error_set(e, -errno, folder, "cannot lock the ledger: %m");
                if (fstatat(l->dir, FILE_NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                    named.st_ino == st.st_ino && named.st_dev == st.st_dev) {
                        l->fd = STEAL_FD(fd);
                        return 0;
                }
        }
}

int ledger_open(const char *folder, const char *boot_id, Ledger **ret, Error *e)
{
        _cleanup_(ledger_freep) Ledger *l = calloc(1, sizeof(*l));
        int r;

        if (!l)
                return error_set(e, -ENOMEM, folder, "out of memory");
        l->dir = l->fd = -1;
        l->boot_id = strdup(boot_id);
        if (!l->boot_id)
                return error_set(e, -ENOMEM, folder, "out of memory");
        if (mkdir(folder, 0700) < 0 && errno != EEXIST)
                return error_set(e, -errno, folder, "cannot make the ledger's folder: %m");
        l->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (l->dir < 0)
                return error_set(e, -errno, folder, "cannot open the ledger's folder: %m");
        r = open_file(l, folder, e);
        if (r < 0)
                return r;
        r = load(l, folder, e);
        if (r < 0)
                return r;
        *ret = STEAL_PTR(l);
        return 0;
}

Ledger *ledger_free(Ledger *l)
{
        if (!l)
                return NULL;
        entries_clear(&l->entries);
        free(l->boot_id);
        if (l->fd >= 0)
                close(l->fd);
        if (l->dir >= 0)
                close(l->dir);
        free(l);
        return NULL;
}

static Record record_of_entry(RecordType type, const LedgerEntry *e)
{
        return (Record) {
                .type = type,
                .kind = e->kind,
                .path = e->path,
                .device = e->device,
                .id = e->id,
                .identity = e->identity ? e->identity : "",
        };
}

int ledger_put_first(Ledger *l, const LedgerEntry *entry)
{
        Record r = record_of_entry(RECORD_FIRST, entry);

        r.value = entry->first;
        return append(l, &r);
}

int ledger_put_set(Ledger *l, const char *path, const char *value)
{
        const LedgerEntry *e = ledger_find(l, path);

        if (!e)
                return -ENOENT;
        if (e->set && strcmp(e->set, value) == 0)
                return 0;
        return append(l, &(Record) { .type = RECORD_SET, .path = path, .value = value });
}

int ledger_put_refused(Ledger *l, const LedgerEntry *entry)
{
        Record r = record_of_entry(RECORD_REFUSED, entry);

        r.refused = entry->refused;
        return append(l, &r);
}

int ledger_forget(Ledger *l, const char *path)
{
        if (!ledger_find(l, path))
                return 0;
        return append(l, &(Record) { .type = RECORD_FORGET, .path = path });
}

int ledger_hold(Ledger *l, const char *device)
{
        if (ledger_is_held(l, device))
                return 0;
        return append(l, &(Record) { .type = RECORD_HOLD, .device = device });
}

int ledger_release(Ledger *l, const char *device)
{
        if (!ledger_is_held(l, device))
                return 0;
        return append(l, &(Record) { .type = RECORD_RELEASE, .device = device });
}

const LedgerEntry *ledger_find(const Ledger *l, const char *path)
{
        return entries_find(&l->entries, path, NULL);
}

bool ledger_is_held(const Ledger *l, const char *device)
{
        return entries_find(&l->entries, NULL, device);
}

const LedgerEntry *ledger_entry(const Ledger *l, size_t i)
{
        return l->entries.items[i];
}

size_t ledger_count(const Ledger *l)
{
        return l->entries.n;
}

int ledger_folder(const Ledger *l)
{
        return l->dir;
}
