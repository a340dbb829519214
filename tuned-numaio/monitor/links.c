/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/links.h"

#include "basic/array.h"

#include <stdlib.h>
#include <string.h>

/* From linux/if.h, which does not go together with net/if.h. */
#define LINK_LOWER_UP  (1u << 16)
#define RELEVANT_FLAGS ((unsigned)IFF_UP | (unsigned)IFF_RUNNING | LINK_LOWER_UP)

void link_table_clear(LinkTable *t)
{
        free(t->items);
        *t = (LinkTable) { 0 };
}

static LinkState *find(const LinkTable *t, int index)
{
        for (size_t i = 0; i < t->n; i++)
                if (t->items[i].index == index)
                        return &t->items[i];
        return NULL;
}

const LinkState *link_table_find(const LinkTable *t, int index)
{
        return find(t, index);
}

static const char *difference(const LinkState *before, const LinkState *after)
{
        unsigned flags = (before->flags ^ after->flags) & RELEVANT_FLAGS;

        if (flags & IFF_UP)
                return after->flags & IFF_UP ? "up" : "down";
        if (strcmp(before->name, after->name) != 0)
                return "rename";
        if (flags || before->master != after->master || before->lower != after->lower)
                return "change";
        return NULL;
}

const char *link_table_update(LinkTable *t, const LinkState *link)
{
        LinkState *known = find(t, link->index);
        if (known) {
                const char *action = difference(known, link);
                *known = *link;
                return action;
        }
        LinkState *added = ARRAY_APPEND(t->items, t->n);
        if (added)
                *added = *link;
        return "add";
}

void link_table_remove(LinkTable *t, int index)
{
        LinkState *known = find(t, index);
        if (known)
                *known = t->items[--t->n];
}
