/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/capture-internal.h"
#include "ctl/sources.h"

#include <errno.h>
#include <string.h>

static int learn_name(void *context, const char *path, const char *text)
{
        return anonymiser_learn_name(context, text);
}

static int learn_serial(void *context, const char *path, const char *text)
{
        return anonymiser_learn_serial(context, text);
}

static int learn_text(void *context, const char *path, const char *text)
{
        return anonymiser_learn(context, text, strlen(text));
}

/* Below these, somebody else than the kernel may have chosen the names. */
static bool holds_chosen_names(const char *path)
{
        static const char *const begins[] = { "proc/irq/", "sys/devices/virtual/workqueue/", "sys/block/",
                                              "run/" };

        for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
                if (strncmp(path, begins[i], strlen(begins[i])) == 0)
                        return true;
        return strstr(path, "/net/") || strstr(path, "/block/") || strstr(path, "/iscsi_");
}

/* The words of which the kernel's own paths are made. */
static int keep_words(Anonymiser *a, const Entry *entry)
{
        const char *slash = strrchr(entry->path, '/');
        int r = 0;

        if (!holds_chosen_names(entry->path))
                r = anonymiser_keep_words(a, entry->path);
        else if (entry->type == ENTRY_FILE)
                r = anonymiser_keep_words(
                        a, slash + 1); /* names of attributes are the kernel's own everywhere */
        if (r == 0 && entry->type == ENTRY_LINK && entry->data && !holds_chosen_names(entry->data))
                r = anonymiser_keep_words(a, entry->data);
        return r;
}

static int learn_entry(Anonymiser *a, const Entry *entry)
{
        int r = anonymiser_learn(a, entry->path, strlen(entry->path));

        return r == 0 && entry->data ? anonymiser_learn(a, entry->data, entry->size) : r;
}

int capture_learn(Anonymiser *a, const Root *root, Entry *const *entries, size_t n)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < n; i++)
                r = keep_words(a, entries[i]);
        if (r == 0)
                r = sources_names(root, learn_name, a);
        if (r == 0)
                r = sources_serials(root, learn_serial, a);
        if (r == 0)
                r = sources_texts(root, learn_text, a);
        for (size_t i = 0; r == 0 && i < n; i++)
                r = learn_entry(a, entries[i]);
        return r < 0 ? r : anonymiser_choose(a);
}

/* CPU masks: hexadecimal digits that could be a host name (db01) are none there. */
static bool is_mask(const Entry *e)
{
        static const char *const parts[] = { "affinity", "cpumask", "cpumap", "_cpus", "_map", "_siblings" };
        const char *name = strrchr(e->path, '/');

        if (strspn(e->data, "0123456789abcdef,\n") != e->size)
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
                if (strstr(name ? name : e->path, parts[i]))
                        return true;
        return false;
}

/* Takes *text and gives another one. */
static int replace(Anonymiser *a, char **text, size_t *size)
{
        char *out = NULL;
        size_t n = 0;
        int r = anonymiser_replace(a, *text, *size, &out, &n);

        if (r < 0)
                return r;
        free(*text);
        *text = out;
        *size = n;
        return 0;
}

int capture_replace(Anonymiser *a, Entry *const *entries, size_t n)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < n; i++) {
                Entry *e = entries[i];
                size_t length = strlen(e->path);

                r = replace(a, &e->path, &length);
                if (r == 0 && e->data && !is_mask(e))
                        r = replace(a, &e->data, &e->size);
        }
        return r;
}

int capture_check(const Anonymiser *a, Entry *const *entries, size_t n, Error *e)
{
        for (size_t i = 0; i < n; i++) {
                const Entry *entry = entries[i];
                const char *left = anonymiser_find(a, entry->path, strlen(entry->path));

                if (!left && entry->data && !is_mask(entry))
                        left = anonymiser_find(a, entry->data, entry->size);
                if (left)
                        return error_set(e, -EBADMSG, entry->path,
                                         "\"%s\" would be left in it, so nothing was written; please report "
                                         "this fault of numaioctl, without that text",
                                         left);
        }
        return 0;
}
