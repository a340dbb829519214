/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/capture.h"

#include "config.h"
#include "ctl/capture-internal.h"
#include "ctl/filter.h"
#include "ctl/netlink-dump.h"
#include "ctl/sources.h"
#include "ctl/tarfile.h"
#include "observe/observe.h"
#include "observe/symbols.h"

#include <errno.h>
#include <string.h>

#define TOP "numaio-capture"

static inline void json_cleanup(json_t **j)
{
        json_decref(*j);
}

static int no_memory(Error *e)
{
        return error_set(e, -ENOMEM, NULL, "memory is short");
}

/* Takes the page in any case. */
static int put_json(Collection *c, const char *path, json_t *page)
{
        char *text = page ? json_dumps(page, JSON_INDENT(1)) : NULL;

        json_decref(page);
        return text ? collection_put(c, path, text, strlen(text)) : -ENOMEM;
}

/* Which vectors the stand-in for the kernel has to refuse. */
static int put_standin(Collection *c, const Snapshot *s)
{
        char *list = NULL;
        size_t n = 0;
        FILE *f = open_memstream(&list, &n);
        int r;

        if (!f)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_devices; i++)
                for (size_t j = 0; j < s->devices[i].n_vectors; j++)
                        if (s->devices[i].vectors[j].managed)
                                fprintf(f, "%s%u", ftell(f) > 0 ? "," : "", s->devices[i].vectors[j].irq);
        r = fclose(f) < 0 ? -ENOMEM : put_json(c, "standin.json", json_pack("{s:s}", "managed_irqs", list));
        free(list);
        return r;
}

/* What a running machine shows elsewhere than in files. */
static int put_beside(Collection *c, const Snapshot *s, Error *e)
{
        json_t *netlink = NULL;
        int r;

        r = netlink_dump(s, &netlink);
        if (r < 0)
                return error_set(e, r, "netlink", "the kernel did not tell addresses and routes: %s",
                                 strerrordesc_np(-r));
        r = put_json(c, "netlink.json", netlink);
        if (r == 0)
                r = put_standin(c, s);
        return r < 0 ? no_memory(e) : 0;
}

/* A plan may depend on what functions the kernel has. */
static int put_symbols(const Root *root, Collection *c)
{
        SymbolMemo memo = { 0 };
        char *text = NULL;
        int r = symbols_ask(root, &memo);

        if (r == 0)
                r = symbols_excerpt(&memo, &text);
        return r < 0 || !text ? r : collection_put(c, "proc/kallsyms", text, strlen(text));
}

static int collect(Root *root, Collection *c, Error *e)
{
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        int r;

        root_watch(root, collection_watch, c);
        r = observe(root, NULL, 0, &s);
        if (r == 0)
                r = sources_read(root);
        root_watch(root, NULL, NULL);
        if (r == 0)
                r = collection_error(c);
        if (r == 0)
                r = put_symbols(root, c);
        if (r == -ENOMEM)
                return no_memory(e);
        if (r < 0)
                return error_set(e, r, root_path(root), "this is no machine: %s", strerrordesc_np(-r));
        return root_is_live(root) ? put_beside(c, s, e) : 0;
}

int capture_collect(const char *root, Collection **ret, Error *e)
{
        _cleanup_(collection_freep) Collection *c = NULL;
        _cleanup_(root_freep) Root *watched = NULL;
        int r;

        r = root_open(root, &watched);
        if (r == 0)
                r = collection_new(root, &c);
        if (r < 0)
                return error_set(e, r, root, "it cannot be opened: %s", strerrordesc_np(-r));
        r = collect(watched, c, e);
        if (r == 0)
                *ret = STEAL_PTR(c);
        return r;
}

/* ---- what is told about it ---- */

static bool is_forbidden(const Entry *entry)
{
        return entry->error == -EACCES || entry->error == -EPERM;
}

static json_t *list_unreadable(Entry *const *entries, size_t n)
{
        json_t *list = json_array();

        for (size_t i = 0; list && i < n; i++)
                if (is_forbidden(entries[i]) &&
                    json_array_append_new(list, json_pack("{s:s%, s:s}", "path", entries[i]->path,
                                                          strlen(entries[i]->path), "error",
                                                          strerrorname_np(-entries[i]->error))) < 0) {
                        json_decref(list);
                        list = NULL;
                }
        return list;
}

static json_t *count_replaced(const Anonymiser *a)
{
        json_t *counts = json_object();

        for (SecretKind k = 0; counts && k < _SECRET_KIND_MAX; k++)
                if (json_object_set_new(counts, secret_kind_to_string(k),
                                        json_integer((json_int_t)anonymiser_count(a, k))) < 0) {
                        json_decref(counts);
                        counts = NULL;
                }
        return counts;
}

static void print_manifest(FILE *f, Entry *const *entries, size_t n)
{
        fputs("Made by numaioctl " PACKAGE_VERSION " capture.\n"
              "numaioctl plan --root " TOP " looks at it as at a machine; see docs/captures.md.\n\n"
              "Could not be read or answered with an error, and are not in it:\n",
              f);
        for (size_t i = 0; i < n; i++)
                if (entries[i]->error < 0)
                        fprintf(f, "%s %s\n", strerrorname_np(-entries[i]->error), entries[i]->path);
        fputs("\nWere not read: only their names are in it, as empty files:\n", f);
        for (size_t i = 0; i < n; i++)
                if (entries[i]->type == ENTRY_FILE && !entries[i]->data && entries[i]->error == 0)
                        fprintf(f, "%s\n", entries[i]->path);
}

/* It names paths, and so has to be made before those are replaced. */
static int put_manifest(Collection *c)
{
        char *text = NULL;
        size_t size = 0, n = 0;
        Entry **entries;
        FILE *f;

        if (collection_entries(c, &entries, &n) < 0)
                return -ENOMEM;
        f = open_memstream(&text, &size);
        if (!f)
                return -ENOMEM;
        print_manifest(f, entries, n);
        if (fclose(f) < 0) {
                free(text);
                return -ENOMEM;
        }
        return collection_put(c, "MANIFEST", text, size);
}

static size_t count_files(Entry *const *entries, size_t n)
{
        size_t files = 0;

        for (size_t i = 0; i < n; i++)
                files += entries[i]->type == ENTRY_FILE && entries[i]->data;
        return files;
}

/* ---- the steps together ---- */

static int anonymise(const char *root, Anonymiser *a, Entry *const *entries, size_t n, Error *e)
{
        _cleanup_(root_freep) Root *plain = NULL;
        int r;

        r = root_open(root, &plain);
        if (r == 0)
                r = capture_learn(a, plain, entries, n);
        if (r == 0)
                r = capture_replace(a, entries, n);
        if (r < 0)
                return error_set(e, r, root, "it cannot be made anonymous: %s", strerrordesc_np(-r));
        return capture_check(a, entries, n, e);
}

static int pack(const Anonymiser *a, Entry *const *entries, size_t n, const char *file, json_t **ret,
                Error *e)
{
        _cleanup_(json_cleanup) json_t *unreadable = list_unreadable(entries, n),
                                       *replaced = count_replaced(a);
        _cleanup_(freep) char *data = NULL;
        size_t size;
        int r;

        if (!unreadable || !replaced)
                return no_memory(e);
        r = tarfile_pack(TOP, entries, n, &data, &size, e);
        if (r == 0)
                r = tarfile_write(file, data, size, e);
        if (r < 0)
                return r;
        *ret = json_pack("{s:s, s:I, s:I, s:O, s:O}", "file", file, "files",
                         (json_int_t)count_files(entries, n), "bytes", (json_int_t)size, "replaced", replaced,
                         "unreadable", unreadable);
        return *ret ? 0 : no_memory(e);
}

int capture(const char *root, const char *file, json_t **ret, Error *e)
{
        _cleanup_(collection_freep) Collection *c = NULL;
        _cleanup_(anonymiser_freep) Anonymiser *a = anonymiser_new();
        Entry **entries;
        size_t n;
        int r;

        if (!a)
                return no_memory(e);
        if (strcmp(file, "-") != 0 && access(file, F_OK) == 0)
                return error_set(e, -EEXIST, file, "there is such a file already");
        r = capture_collect(root, &c, e);
        if (r < 0)
                return r;
        if (put_manifest(c) < 0 || collection_entries(c, &entries, &n) < 0)
                return no_memory(e);
        filter_files(entries, n);
        r = anonymise(root, a, entries, n, e);
        return r < 0 ? r : pack(a, entries, n, file, ret, e);
}
