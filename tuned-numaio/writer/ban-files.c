/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/ban-files.h"

#include "basic/strv.h"
#include "writer/state-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define LIST_FILE "irqs"
#define MEMO_FILE "irqbalance"
#define FILE_MAX  ((size_t)1 << 20)

/* *ret is NULL when there is none, or none that was put here. */
static int read_file(int folder, const char *name, char **ret)
{
        _cleanup_(closep) int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        size_t n;
        int r;

        *ret = NULL;
        r = fd < 0 ? -errno : state_file_read(fd, FILE_MAX, ret, &n);
        return r == -ENOENT || r == -EBADMSG || r == -EFBIG ? 0 : r;
}

static char *one_in_a_line(const IrqList *l)
{
        _cleanup_(freep) char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return NULL;
        for (size_t i = 0; i < l->n; i++)
                fprintf(f, "%u\n", l->items[i]);
        return fclose(f) == 0 ? STEAL_PTR(text) : NULL;
}

int ban_put_list(int folder, const IrqList *ours, bool *ret_changed)
{
        _cleanup_(freep) char *text = one_in_a_line(ours), *before = NULL;
        int r;

        if (!text)
                return -ENOMEM;
        r = read_file(folder, LIST_FILE, &before);
        if (r < 0)
                return r;
        *ret_changed = strcmp(before ? before : "", text) != 0;
        if (ours->n == 0)
                return unlinkat(folder, LIST_FILE, 0) < 0 && errno != ENOENT ? -errno : 0;
        return *ret_changed ? state_file_replace(folder, LIST_FILE, text, strlen(text), NULL) : 0;
}

void ban_memo_clear(BanMemo *m)
{
        free(STEAL_PTR(m->instance));
        irq_list_clear(&m->users);
        irq_list_clear(&m->sent);
}

/* Cuts the value of a line "NAME VALUE" off the text; NULL = it is another line. */
static char *take_line(char **text, const char *name)
{
        size_t n = strlen(name);
        char *value = *text + n + 1, *end;

        if (strncmp(*text, name, n) != 0 || (*text)[n] != ' ')
                return NULL;
        end = strchr(value, '\n');
        if (!end)
                return NULL;
        *end = '\0';
        *text = end + 1;
        return value;
}

static int parse_memo(char *text, BanMemo *m)
{
        const char *instance = take_line(&text, "instance"), *users, *sent;
        int r;

        users = instance ? take_line(&text, "users") : NULL;
        sent = users ? take_line(&text, "sent") : NULL;
        if (!sent)
                return -EBADMSG;
        m->instance = strdup(instance);
        r = m->instance ? irq_list_parse(users, &m->users) : -ENOMEM;
        return r < 0 ? r : irq_list_parse(sent, &m->sent);
}

int ban_memo_read(int folder, BanMemo *m)
{
        _cleanup_(freep) char *text = NULL;
        int r;

        r = read_file(folder, MEMO_FILE, &text);
        if (r < 0 || !text)
                return r;
        r = parse_memo(text, m);
        if (r >= 0 || r == -ENOMEM)
                return r;
        ban_memo_clear(m);
        return 0;
}

int ban_memo_put(int folder, const BanMemo *m)
{
        _cleanup_(freep) char *users = irq_list_format(&m->users), *sent = irq_list_format(&m->sent),
                              *text = NULL;

        if (users && sent)
                text = strf("instance %s\nusers %s\nsent %s\n", m->instance, users, sent);
        return text ? state_file_replace(folder, MEMO_FILE, text, strlen(text), NULL) : -ENOMEM;
}
