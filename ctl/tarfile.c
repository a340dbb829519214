/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/tarfile.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <time.h>

typedef struct Buffer {
        char *data;
        size_t size, room;
} Buffer;

static inline void buffer_clear(Buffer *b)
{
        free(b->data);
}

static inline void archive_cleanup(struct archive **a)
{
        if (*a)
                archive_write_free(*a);
}

static inline void entry_cleanup(struct archive_entry **e)
{
        if (*e)
                archive_entry_free(*e);
}

/* The library's own writer to memory takes a buffer of a fixed size. */
static la_ssize_t take(struct archive *a, void *context, const void *data, size_t n)
{
        Buffer *b = context;
        size_t room = b->room ? b->room : 1 << 16;
        char *p = b->data;

        while (room - b->size < n)
                room *= 2;
        if (room > b->room)
                p = realloc(b->data, room);
        if (!p) {
                archive_set_error(a, ENOMEM, "memory is short");
                return -1;
        }
        memcpy(p + b->size, data, n);
        b->data = p;
        b->room = room;
        b->size += n;
        return (la_ssize_t)n;
}

static int failed(struct archive *a, Error *e)
{
        return error_set(e, archive_errno(a) > 0 ? -archive_errno(a) : -EIO, NULL, "it cannot be packed: %s",
                         archive_error_string(a));
}

static mode_t mode_of(const Entry *entry)
{
        switch (entry->type) {
        case ENTRY_FOLDER:
                return 0755;
        case ENTRY_LINK:
                return 0777;
        default:
                return entry->mode | 0400;
        }
}

/* Everything has the same time and belongs to root: who it was is of no use to anybody. */
static int add(struct archive *a, const char *top, const Entry *entry, time_t now, Error *e)
{
        static const unsigned types[] = {
                [ENTRY_FOLDER] = AE_IFDIR,
                [ENTRY_FILE] = AE_IFREG,
                [ENTRY_LINK] = AE_IFLNK,
        };
        _cleanup_(entry_cleanup) struct archive_entry *h = archive_entry_new();
        _cleanup_(freep) char *path = strf("%s%s%s", top, *entry->path ? "/" : "", entry->path);
        bool data = entry->type == ENTRY_FILE && entry->data && entry->size > 0;

        if (!h || !path)
                return error_set(e, -ENOMEM, NULL, "memory is short");
        archive_entry_set_pathname(h, path);
        archive_entry_set_filetype(h, types[entry->type]);
        archive_entry_set_perm(h, mode_of(entry));
        archive_entry_set_mtime(h, now, 0);
        if (entry->type == ENTRY_LINK)
                archive_entry_set_symlink(h, entry->data);
        archive_entry_set_size(h, data ? (la_int64_t)entry->size : 0);
        if (archive_write_header(a, h) != ARCHIVE_OK ||
            (data && archive_write_data(a, entry->data, entry->size) != (la_ssize_t)entry->size))
                return failed(a, e);
        return 0;
}

static int pack(struct archive *a, const char *top, Entry *const *entries, size_t n, Buffer *b, Error *e)
{
        time_t now = time(NULL);
        int r;

        /* GNU's format takes names of any length and of any bytes, whatever the locale. */
        if (archive_write_set_format_gnutar(a) != ARCHIVE_OK ||
            archive_write_add_filter_zstd(a) != ARCHIVE_OK ||
            archive_write_set_bytes_in_last_block(a, 1) != ARCHIVE_OK ||
            archive_write_open2(a, b, NULL, take, NULL, NULL) != ARCHIVE_OK)
                return failed(a, e);
        r = add(a, top, &(Entry) { .path = (char *)"", .type = ENTRY_FOLDER }, now, e);
        for (size_t i = 0; r == 0 && i < n; i++)
                if (entries[i]->error == 0)
                        r = add(a, top, entries[i], now, e);
        if (r == 0 && archive_write_close(a) != ARCHIVE_OK)
                r = failed(a, e);
        return r;
}

int tarfile_pack(const char *top, Entry *const *entries, size_t n, char **ret, size_t *ret_size, Error *e)
{
        _cleanup_(buffer_clear) Buffer b = { 0 };
        _cleanup_(archive_cleanup) struct archive *a = archive_write_new();
        int r;

        if (!a)
                return error_set(e, -ENOMEM, NULL, "memory is short");
        r = pack(a, top, entries, n, &b, e);
        if (r < 0)
                return r;
        *ret = STEAL_PTR(b.data);
        *ret_size = b.size;
        return 0;
}

static int write_all(int fd, const char *data, size_t size)
{
        while (size > 0) {
                ssize_t n = write(fd, data, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                data += n;
                size -= (size_t)n;
        }
        return 0;
}

/* The file has no name while it is written, where the file system can do that. */
static int write_unnamed(const char *folder, const char *file, const char *data, size_t size)
{
        _cleanup_(closep) int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
        char self[64];
        int r;

        if (fd < 0)
                return errno == EISDIR || errno == ENOENT ? -EOPNOTSUPP : -errno;
        r = write_all(fd, data, size);
        if (r < 0)
                return r;
        snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
        return linkat(AT_FDCWD, self, AT_FDCWD, file, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static int write_and_rename(const char *file, const char *data, size_t size)
{
        _cleanup_(freep) char *temporary = strf("%s.XXXXXX", file);
        _cleanup_(closep) int fd = -1;
        int r;

        if (!temporary)
                return -ENOMEM;
        fd = mkostemp(temporary, O_CLOEXEC);
        if (fd < 0)
                return -errno;
        r = write_all(fd, data, size);
        if (r == 0 && close(STEAL_FD(fd)) < 0)
                r = -errno;
        if (r == 0 && renameat2(AT_FDCWD, temporary, AT_FDCWD, file, RENAME_NOREPLACE) < 0)
                r = errno == EINVAL ? -EOPNOTSUPP : -errno;
        /* Where neither works (NFS), a second name does the same. */
        if (r == -EOPNOTSUPP)
                r = link(temporary, file) < 0 ? -errno : 1;
        if (r != 0)
                (void)unlink(temporary);
        return r < 0 ? r : 0;
}

/* The name of a temporary file is seen for a moment: nothing must end the process then. */
static int write_named(const char *file, const char *data, size_t size)
{
        sigset_t all, before;
        int r;

        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, &before);
        r = write_and_rename(file, data, size);
        sigprocmask(SIG_SETMASK, &before, NULL);
        return r;
}

int tarfile_write(const char *file, const char *data, size_t size, Error *e)
{
        const char *slash = strrchr(file, '/');
        _cleanup_(freep) char *folder = NULL;
        int r;

        if (strcmp(file, "-") == 0) {
                r = write_all(STDOUT_FILENO, data, size);
                return r < 0 ? error_set(e, r, NULL, "it cannot be written: %s", strerrordesc_np(-r)) : 0;
        }
        folder = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
        if (!folder)
                return error_set(e, -ENOMEM, NULL, "memory is short");
        r = write_unnamed(folder, file, data, size);
        if (r == -EOPNOTSUPP)
                r = write_named(file, data, size);
        return r < 0 ? error_set(e, r, file, "it cannot be written: %s", strerrordesc_np(-r)) : 0;
}
