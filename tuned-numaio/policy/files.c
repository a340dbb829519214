/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "policy/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define FILES_MAX 1024u

/* The name under which messages show the compiled-in policy. */
#define DEFAULT_FILE "<compiled-in>/default.yaml"

typedef struct Text {
        char *data;
        size_t size;
} Text;

static void text_clear(Text *t)
{
        free(t->data);
}

/* Reads to the end, or to one byte more than a policy may have. */
static int read_all(int fd, Text *ret)
{
        _cleanup_(freep) char *data = malloc(DOCUMENT_SIZE_MAX + 1);
        size_t size = 0;

        if (!data)
                return -ENOMEM;
        while (size <= DOCUMENT_SIZE_MAX) {
                ssize_t n = read(fd, data + size, DOCUMENT_SIZE_MAX + 1 - size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                size += (size_t)n;
        }
        *ret = (Text) { STEAL_PTR(data), size };
        return 0;
}

static int report_unreadable(PolicyErrors *errors, int code, const char *path)
{
        return problem_of_file(errors, code, path, "cannot read the policy: %s", strerror(-code));
}

/* Reads an open file into the policy. */
static int read_into(Policy *p, int fd, const char *path, PolicyErrors *errors)
{
        _cleanup_(text_clear) Text text = { 0 };
        int r;

        r = read_all(fd, &text);
        if (r < 0)
                return report_unreadable(errors, r, path);
        return policy_read(p, path, text.data, text.size, errors);
}

int policy_new_default(Policy **ret)
{
        return policy_parse(DEFAULT_FILE, policy_default_text, policy_default_size, ret, NULL);
}

int policy_load_file(const char *path, Policy **ret, PolicyErrors *errors)
{
        _cleanup_(policy_freep) Policy *p = policy_new();
        _cleanup_(closep) int fd = -1;
        int r;

        if (!p)
                return -ENOMEM;
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
                return report_unreadable(errors, -errno, path);
        r = read_into(p, fd, path, errors);
        if (r < 0)
                return r;
        *ret = STEAL_PTR(p);
        return 0;
}

/* A file that may be read: its name is in no later folder. */
typedef struct PolicyFile {
        char *name;
        char *path;
} PolicyFile;

typedef struct PolicyFiles {
        PolicyFile *items;
        size_t n;
} PolicyFiles;

static void policy_files_clear(PolicyFiles *files)
{
        for (size_t i = 0; i < files->n; i++) {
                free(files->items[i].name);
                free(files->items[i].path);
        }
        free(files->items);
}

static bool is_policy_name(const char *name)
{
        size_t n = strlen(name);

        return name[0] != '.' && n > strlen(".yaml") && strcmp(name + n - strlen(".yaml"), ".yaml") == 0;
}

static int compare_names(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of a folder's policies, in the order of their bytes. */
static int list_folder(const char *dir, Strv *ret)
{
        DIR *d = opendir(dir);
        struct dirent *e;
        int r = 0;

        if (!d)
                return -errno;
        while (r == 0) {
                errno = 0;
                e = readdir(d);
                if (!e) {
                        r = -errno;
                        break;
                }
                if (!is_policy_name(e->d_name))
                        continue;
                r = ret->n < FILES_MAX ? strv_add(ret, e->d_name) : -E2BIG;
        }
        closedir(d);
        if (ret->n > 1)
                qsort(ret->items, ret->n, sizeof(*ret->items), compare_names);
        return r;
}

/* Takes a file of the same name in an earlier folder away. */
static void drop_name(PolicyFiles *files, const char *name)
{
        for (size_t i = 0; i < files->n; i++) {
                if (strcmp(files->items[i].name, name) != 0)
                        continue;
                free(files->items[i].name);
                free(files->items[i].path);
                files->n--;
                memmove(&files->items[i], &files->items[i + 1], (files->n - i) * sizeof(*files->items));
                return;
        }
}

static int add_file(PolicyFiles *files, const char *dir, const char *name)
{
        PolicyFile *f = ARRAY_APPEND(files->items, files->n);

        if (!f)
                return -ENOMEM;
        f->name = strdup(name);
        f->path = strf("%s/%s", dir, name);
        return f->name && f->path ? 0 : -ENOMEM;
}

/* Adds a folder's files to the list of those to read. */
static int add_folder(PolicyFiles *files, const char *dir, PolicyErrors *errors)
{
        _cleanup_(strv_clear) Strv names = { 0 };
        int r;

        r = list_folder(dir, &names);
        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return problem_of_file(errors, r, dir, "cannot list the policies: %s", strerror(-r));
        for (size_t i = 0; i < names.n; i++) {
                if (!text_is_clean(names.items[i]))
                        return problem_of_file(errors, -EINVAL, dir,
                                               "a file's name is not UTF-8 or holds control characters");
                drop_name(files, names.items[i]);
                r = add_file(files, dir, names.items[i]);
                if (r < 0)
                        return r;
        }
        return 0;
}

static bool is_dev_null(const struct stat *st)
{
        return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

/* Reads one of a folder's files; a link to /dev/null has nothing to read. */
static int load_listed(Policy *p, const char *path, PolicyErrors *errors)
{
        _cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return report_unreadable(errors, -errno, path);
        if (is_dev_null(&st))
                return 0;
        if (!S_ISREG(st.st_mode))
                return problem_of_file(errors, -EINVAL, path, "is not a regular file");
        return read_into(p, fd, path, errors);
}

/* Reads all files, also behind a bad one, so that one look shows what is wrong in each. */
static int load_all(Policy *p, const PolicyFiles *files, PolicyErrors *errors)
{
        int first = 0;

        for (size_t i = 0; i < files->n; i++) {
                int r = load_listed(p, files->items[i].path, errors);

                if (r == -ENOMEM)
                        return r;
                if (first == 0)
                        first = r;
        }
        return first;
}

int policy_load_dirs(const char *const *dirs, size_t n_dirs, Policy **ret, PolicyErrors *errors)
{
        _cleanup_(policy_files_clear) PolicyFiles files = { 0 };
        _cleanup_(policy_freep) Policy *p = policy_new();
        int r;

        if (!p)
                return -ENOMEM;
        for (size_t i = 0; i < n_dirs; i++) {
                r = add_folder(&files, dirs[i], errors);
                if (r < 0)
                        return r;
        }
        r = load_all(p, &files, errors);
        if (r < 0)
                return r;
        if (p->files.n == 0)
                return policy_new_default(ret);
        *ret = STEAL_PTR(p);
        return 0;
}
