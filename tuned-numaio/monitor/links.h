/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

/* What of a link decides where its traffic goes. */
typedef struct LinkState {
        int index;
        unsigned flags; /* IFF_* */
        int master;     /* index of the bridge or bond, 0 = none */
        int lower;      /* IFLA_LINK: index of a vlan's device, 0 = none */
        char name[IFNAMSIZ];
} LinkState;

/* The links as they were told last; the kernel tells a link again for statistics, wireless events and much
 * else. Zero-initialised it is empty. */
typedef struct LinkTable {
        LinkState *items;
        size_t n;
} LinkTable;

void link_table_clear(LinkTable *t);

/* NULL = none. Valid until the next change of the table. */
const LinkState *link_table_find(const LinkTable *t, int index);

/* Takes a link's state over. Returns what happened: "add", "up", "down" (IFF_UP), "rename", "change"
 * (carrier, master, lower device), or NULL when nothing that matters did. Short of memory it returns "add"
 * each time. */
const char *link_table_update(LinkTable *t, const LinkState *link);
/* Forgets a link, known or not. */
void link_table_remove(LinkTable *t, int index);
