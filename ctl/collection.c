/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/collection.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <string.h>

#define LINKS_MAX 40

struct Collection {
        Root *root;
        void *tree; /* of Entry, by path */
        size_t n;
        Entry **sorted;
        int error;
};

static int compare(const void *a, const void *b)
{
        return strcmp(((const Entry *)a)->path, ((const Entry *)b)->path);
}

static void entry_free(void *p)
{
        Entry *e = p;

        free(e->path);
        free(e->data);
        free(e);
}

int collection_new(const char *root, Collection **ret)
{
        Collection *c = calloc(1, sizeof(*c));
        int r;

        if (!c)
                return -ENOMEM;
        r = root_open(root, &c->root);
        if (r < 0) {
                free(c);
                return r;
        }
        *ret = c;
        return 0;
}

Collection *collection_free(Collection *c)
{
        if (!c)
                return NULL;
        tdestroy(c->tree, entry_free);
        root_free(c->root);
        free(c->sorted);
        free(c);
        return NULL;
}

int collection_error(const Collection *c)
{
        return c->error;
}

Entry *collection_find(const Collection *c, const char *path)
{
        const Entry key = { .path = (char *)path };
        void *found = tfind(&key, &c->tree, compare);

        return found ? *(Entry **)found : NULL;
}

static Entry *add(Collection *c, const char *path, EntryType type, mode_t mode)
{
        Entry *e = calloc(1, sizeof(*e));

        if (!e)
                return NULL;
        *e = (Entry) { .path = strdup(path), .type = type, .mode = mode };
        if (!e->path || !tsearch(e, &c->tree, compare)) {
                entry_free(e);
                return NULL;
        }
        c->n++;
        return e;
}

/* Reads a link's target into the new entry. */
static int add_link(Collection *c, int fd, const char *path, Entry **ret)
{
        char target[PATH_MAX];
        ssize_t n = readlinkat(fd, "", target, sizeof(target) - 1);
        Entry *e;

        if (n < 0)
                return -errno;
        target[n] = '\0';
        e = add(c, path, ENTRY_LINK, 0777);
        if (!e)
                return -ENOMEM;
        e->data = strdup(target);
        e->size = (size_t)n;
        if (!e->data)
                return -ENOMEM;
        *ret = e;
        return 0;
}

/* Finds or makes the entry of a path whose folder has no link in it. A device or a socket is no part of a
 * machine: -EINVAL. */
static int look(Collection *c, const char *path, Entry **ret)
{
        _cleanup_(closep) int fd = -1;
        struct stat st;

        *ret = collection_find(c, path);
        if (*ret)
                return 0;
        fd = root_open_file(c->root, O_PATH | O_NOFOLLOW, "%s", path);
        if (fd < 0)
                return fd;
        if (fstat(fd, &st) < 0)
                return -errno;
        if (S_ISLNK(st.st_mode))
                return add_link(c, fd, path, ret);
        if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
                return -EINVAL;
        *ret = add(c, path, S_ISDIR(st.st_mode) ? ENTRY_FOLDER : ENTRY_FILE, st.st_mode & 0777);
        return *ret ? 0 : -ENOMEM;
}

/* Appends one name to a path without links. */
static int descend(char *path, const char *name, size_t length)
{
        size_t n = strlen(path);

        if (n + 1 + length >= PATH_MAX)
                return -ENAMETOOLONG;
        if (n > 0)
                path[n++] = '/';
        memcpy(path + n, name, length);
        path[n + length] = '\0';
        return 0;
}

static void ascend(char *path)
{
        char *slash = strrchr(path, '/');

        *(slash ? slash : path) = '\0';
}

/* Takes one name off *rest and goes there; a link's target comes before what is left. `last` = the link at
 * the end is not followed. */
static int step(Collection *c, char *path, char *rest, bool last, unsigned *links, Entry **ret)
{
        size_t length = strcspn(rest, "/");
        char longer[PATH_MAX];
        const char *left = rest + length + strspn(rest + length, "/");
        int r = 0, n;

        if (length == 2 && strncmp(rest, "..", 2) == 0)
                ascend(path);
        else if (length > 0 && !(length == 1 && rest[0] == '.'))
                r = descend(path, rest, length);
        if (r >= 0 && *path)
                r = look(c, path, ret);
        if (r < 0)
                return r;
        if (!*path || !*ret || (*ret)->type != ENTRY_LINK || (last && !*left)) {
                memmove(rest, left, strlen(left) + 1);
                return 0;
        }
        if (++*links > LINKS_MAX)
                return -ELOOP;
        n = snprintf(longer, sizeof(longer), "%s%s%s", (*ret)->data, *left ? "/" : "", left);
        if (n < 0 || (size_t)n >= sizeof(longer))
                return -ENAMETOOLONG;
        if (longer[0] == '/')
                *path = '\0';
        else
                ascend(path);
        memcpy(rest, longer + strspn(longer, "/"), strlen(longer + strspn(longer, "/")) + 1);
        return 0;
}

/* Follows a path as the kernel would, and takes each folder and link on the way. *ret is NULL for the root
 * itself. */
static int walk(Collection *c, const char *asked, bool follow, Entry **ret)
{
        char path[PATH_MAX] = "", rest[PATH_MAX];
        unsigned links = 0;
        Entry *e = NULL;
        int r = 0;

        if (strlen(asked) >= sizeof(rest))
                return -ENAMETOOLONG;
        memcpy(rest, asked, strlen(asked) + 1);
        while (r >= 0 && *rest)
                r = step(c, path, rest, !follow, &links, &e);
        if (r >= 0)
                *ret = *path ? e : NULL;
        return r;
}

static int keep(Entry *e, const RootEvent *event)
{
        char *copy = malloc(event->size + 1);

        if (!copy)
                return -ENOMEM;
        if (event->size)
                memcpy(copy, event->data, event->size);
        copy[event->size] = '\0';
        free(e->data);
        e->data = copy;
        e->size = event->size;
        e->error = 0;
        return 0;
}

/* What stands in a folder is there for whoever lists it; links in it are not followed. */
static int take_names(Collection *c, const Entry *folder)
{
        Strv names = { 0 };
        Entry *e;
        int r;

        r = root_list(c->root, &names, "%s", folder->path);
        for (size_t i = 0; r != -ENOMEM && i < names.n; i++) {
                _cleanup_(freep) char *path = strf("%s/%s", folder->path, names.items[i]);

                r = path ? look(c, path, &e) : -ENOMEM;
        }
        strv_clear(&names);
        return r;
}

static int take(Collection *c, const RootEvent *event)
{
        Entry *e = NULL;
        int r;

        r = walk(c, event->path, event->use != ROOT_LINK, &e);
        if (r < 0 || !e)
                return r;
        if (event->use == ROOT_LIST && e->type == ENTRY_FOLDER && event->error == 0)
                return take_names(c, e);
        if (event->use != ROOT_READ || e->type != ENTRY_FILE)
                return 0;
        if (event->error == 0)
                return keep(e, event);
        if (!e->data)
                e->error = event->error;
        return 0;
}

void collection_watch(void *collection, const RootEvent *event)
{
        Collection *c = collection;

        if (take(c, event) == -ENOMEM)
                c->error = -ENOMEM;
}

/* The folders above a file. */
static int put_folders(Collection *c, const char *path)
{
        for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
                _cleanup_(freep) char *folder = strndup(path, (size_t)(slash - path));

                if (!folder || (!collection_find(c, folder) && !add(c, folder, ENTRY_FOLDER, 0755)))
                        return -ENOMEM;
        }
        return 0;
}

int collection_put(Collection *c, const char *path, char *data, size_t size)
{
        Entry *e = put_folders(c, path) < 0 ? NULL : collection_find(c, path);

        if (!e)
                e = add(c, path, ENTRY_FILE, 0644);
        if (!e) {
                free(data);
                return -ENOMEM;
        }
        free(e->data);
        e->data = data;
        e->size = size;
        e->error = 0;
        return 0;
}

static void gather(const void *node, VISIT visit, void *sorted)
{
        Entry ***at = sorted;

        if (visit == postorder || visit == leaf)
                *(*at)++ = *(Entry *const *)node;
}

int collection_entries(Collection *c, Entry ***ret, size_t *ret_n)
{
        Entry **sorted = reallocarray(c->sorted, c->n + 1, sizeof(*sorted)), **end;

        if (!sorted)
                return -ENOMEM;
        c->sorted = end = sorted;
        twalk_r(c->tree, gather, &end);
        *ret = sorted;
        *ret_n = c->n;
        return 0;
}
