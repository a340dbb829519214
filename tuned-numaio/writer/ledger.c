/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/ledger.h"

#include "basic/array.h"
#include "writer/record.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define FILE_NAME     "ledger"
#define FILE_NAME_NEW "ledger.new"
#define FILE_SIZE_MAX (64 << 20) /* ten times what a machine of 8,192 CPUs needs */
/* Old records may take this much room, and as much again as those that count, before the file is written
 * anew. */
#define SLACK (256 << 10)

struct Ledger {
        int dir, fd;
        off_t size, base; /* of the file: now, and after it was written anew */
        char *boot_id;
        LedgerEntry **entries; /* in order of their first record */
        size_t n_entries;
        void *index; /* tsearch(3) tree of the same entries, ordered by compare_entries() */
};

static LedgerEntry *entry_free(LedgerEntry *e)
{
        if (!e)
                return NULL;
        free(e->path);
        free(e->device);
        free(e->id);
        free(e->identity);
        free(e->first);
        free(e->set);
        free(e);
        return NULL;
}
DEFINE_CLEANUP(LedgerEntry, entry_free)

/* A path's entry is found by the path, a hold by the device. */
static int compare_entries(const void *a, const void *b)
{
        const LedgerEntry *x = a, *y = b;

        if (x->held != y->held)
                return x->held ? 1 : -1;
        return x->held ? strcmp(x->device, y->device) : strcmp(x->path, y->path);
}

static LedgerEntry *find(const Ledger *l, const char *path, const char *device)
{
        LedgerEntry key = { .path = (char *)path, .device = (char *)device, .held = !path };
        LedgerEntry **found = tfind(&key, &l->index, compare_entries);

        return found ? *found : NULL;
}

static size_t place_of(const Ledger *l, const LedgerEntry *e)
{
        size_t i = 0;

        while (l->entries[i] != e)
                i++;
        return i;
}

static void drop_entry(Ledger *l, LedgerEntry *e)
{
        size_t i = place_of(l, e);

        memmove(&l->entries[i], &l->entries[i + 1], (l->n_entries - i - 1) * sizeof(*l->entries));
        l->n_entries--;
        tdelete(e, &l->index, compare_entries);
        entry_free(e);
}

static int add_entry(Ledger *l, LedgerEntry *e)
{
        LedgerEntry **slot = ARRAY_APPEND(l->entries, l->n_entries);

        if (!slot)
                return -ENOMEM;
        if (!tsearch(e, &l->index, compare_entries)) {
                l->n_entries--;
                return -ENOMEM;
        }
        *slot = e;
        return 0;
}

/* A new entry, which comes last, instead of an older one with the same key: that needs no memory. */
static void replace_entry(Ledger *l, LedgerEntry *old, LedgerEntry *e)
{
        LedgerEntry **node = tfind(old, &l->index, compare_entries);
        size_t i = place_of(l, old);

        memmove(&l->entries[i], &l->entries[i + 1], (l->n_entries - i - 1) * sizeof(*l->entries));
        l->entries[l->n_entries - 1] = *node = e;
        entry_free(old);
}

static int copy_string(char **to, const char *from)
{
        char *copy = strdup(from ? from : "");

        if (!copy)
                return -ENOMEM;
        free(*to);
        *to = copy;
        return 0;
}

static LedgerEntry *entry_of_record(const Record *r)
{
        _cleanup_(entry_freep) LedgerEntry *e = calloc(1, sizeof(*e));

        if (!e)
                return NULL;
        e->held = r->type == RECORD_HOLD;
        e->kind = r->kind;
        e->refused = r->type == RECORD_REFUSED ? r->refused : 0;
        if (copy_string(&e->device, r->device) < 0 || copy_string(&e->id, r->id) < 0 ||
            copy_string(&e->identity, r->identity) < 0)
                return NULL;
        if (!e->held && copy_string(&e->path, r->path) < 0)
                return NULL;
        if (r->type == RECORD_FIRST && copy_string(&e->first, r->value) < 0)
                return NULL;
        return STEAL_PTR(e);
}

/* A new entry instead of an older one of the same key. */
static int apply_entry(Ledger *l, const Record *r, LedgerEntry *old)
{
        _cleanup_(entry_freep) LedgerEntry *e = entry_of_record(r);
        int r1;

        if (!e)
                return -ENOMEM;
        if (old) {
                replace_entry(l, old, STEAL_PTR(e));
                return 0;
        }
        r1 = add_entry(l, e);
        if (r1 < 0)
                return r1;
        STEAL_PTR(e);
        return 0;
}

/* Carries a record into the entries: whole, or not at all. */
static int apply_record(Ledger *l, const Record *r)
{
        const bool of_device = r->type == RECORD_HOLD || r->type == RECORD_RELEASE;
        LedgerEntry *e = find(l, of_device ? NULL : r->path ? r->path : "", r->device);
        bool same =
                e && !e->held && e->kind == r->kind && r->identity && strcmp(e->identity, r->identity) == 0;

        switch (r->type) {
        case RECORD_FIRST:
                if (!same)
                        return apply_entry(l, r, e);
                return e->first ? 0 : copy_string(&e->first, r->value);
        case RECORD_SET:
                return e ? copy_string(&e->set, r->value) : -ENOENT;
        case RECORD_REFUSED:
                if (!same)
                        return apply_entry(l, r, e);
                e->refused = r->refused;
                return 0;
        case RECORD_HOLD:
                return e ? 0 : apply_entry(l, r, NULL);
        case RECORD_FORGET:
        case RECORD_RELEASE:
                if (e)
                        drop_entry(l, e);
                return 0;
        case RECORD_BOOT:
        case _RECORD_TYPE_MAX:
                break;
        }
        return 0;
}

static int write_at(int fd, const char *bytes, size_t n, off_t at)
{
        while (n > 0) {
                ssize_t k = pwrite(fd, bytes, n, at);

                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return -errno;
                if (k == 0)
                        return -ENOSPC;
                bytes += k;
                at += k;
                n -= (size_t)k;
        }
        return 0;
}

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
        for (size_t i = 0; r >= 0 && i < l->n_entries; i++)
                r = print_entry(f, l->entries[i]);
        if (fclose(f) != 0 && r >= 0)
                r = -ENOMEM;
        if (r < 0)
                return r;
        *ret = STEAL_PTR(text);
        *ret_size = n;
        return 0;
}

static int write_new_file(const Ledger *l, const char *text, size_t n, int *ret_fd)
{
        _cleanup_(closep) int fd = -1;
        int r;

        fd = openat(l->dir, FILE_NAME_NEW, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return -errno;
        /* Locked before it has its name, so that no other writer comes in between. */
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
                return -errno;
        r = write_at(fd, text, n, 0);
        if (r < 0)
                return r;
        if (renameat(l->dir, FILE_NAME_NEW, l->dir, FILE_NAME) < 0)
                return -errno;
        *ret_fd = STEAL_FD(fd);
        return 0;
}

/* Writes the file anew beside the old one and renames it; the old one stays in force when that fails. */
static int compact(Ledger *l)
{
        _cleanup_(freep) char *text = NULL;
        int fd = -1, r;
        size_t n;

        r = format_ledger(l, &text, &n);
        if (r < 0)
                return r;
        r = write_new_file(l, text, n, &fd);
        if (r < 0) {
                (void)unlinkat(l->dir, FILE_NAME_NEW, 0);
                return r;
        }
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
        r = write_at(l->fd, bytes, n, l->size);
        if (r >= 0)
                r = apply_record(l, record);
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

/* Goes through the records up to the first one that is not whole, and returns how many bytes they take; 0
 * when the file belongs to another boot. */
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
                r = record_is_sound(&record) ? apply_record(l, &record) : 0;
                if (r < 0 && r != -ENOENT)
                        return r;
                at += n;
        }
        *ret_good = at;
        return 0;
}

static int read_file(int fd, char **ret, size_t *ret_size)
{
        _cleanup_(freep) char *bytes = NULL;
        size_t n = 0;
        struct stat st;

        if (fstat(fd, &st) < 0)
                return -errno;
        if (st.st_size > FILE_SIZE_MAX)
                return -EFBIG;
        bytes = malloc((size_t)st.st_size + 1);
        if (!bytes)
                return -ENOMEM;
        while (n < (size_t)st.st_size) {
                ssize_t k = pread(fd, bytes + n, (size_t)st.st_size - n, (off_t)n);

                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return -errno;
                if (k == 0)
                        break;
                n += (size_t)k;
        }
        *ret = STEAL_PTR(bytes);
        *ret_size = n;
        return 0;
}

static int load(Ledger *l, const char *folder, Error *e)
{
        _cleanup_(freep) char *bytes = NULL;
        size_t size = 0, good;
        int r;

        r = read_file(l->fd, &bytes, &size);
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
                        return error_set(e, errno == EWOULDBLOCK ? -EBUSY : -errno, folder,
                                         errno == EWOULDBLOCK ? "another writer uses this ledger"
                                                              : "cannot lock the ledger");
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
                return -ENOMEM;
        l->dir = l->fd = -1;
        l->boot_id = strdup(boot_id);
        if (!l->boot_id)
                return -ENOMEM;
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

static void keep_entry(void *e)
{
}

Ledger *ledger_free(Ledger *l)
{
        if (!l)
                return NULL;
        tdestroy(l->index, keep_entry);
        for (size_t i = 0; i < l->n_entries; i++)
                entry_free(l->entries[i]);
        free(l->entries);
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
        return find(l, path, NULL);
}

bool ledger_is_held(const Ledger *l, const char *device)
{
        return find(l, NULL, device);
}

const LedgerEntry *ledger_entry(const Ledger *l, size_t i)
{
        return l->entries[i];
}

size_t ledger_count(const Ledger *l)
{
        return l->n_entries;
}

int ledger_folder(const Ledger *l)
{
        return l->dir;
}
