/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[_KERNEL_SYMBOL_MAX] = {
        [SYMBOL_DEPOT_WORK] = "iova_depot_work_func",
        [SYMBOL_NODE_MAX_ACTIVE] = "wq_update_node_max_active",
};

static bool has_all(const SymbolMemo *m)
{
        for (size_t i = 0; i < _KERNEL_SYMBOL_MAX; i++)
                if (!m->has[i])
                        return false;
        return true;
}

/* "ffffffff81234560 t NAME" or "... NAME\t[MODULE]". */
static int look_at(void *userdata, char *line)
{
        const char *type = strchr(line, ' '), *name = type && type[1] ? strchr(type + 1, ' ') : NULL;
        SymbolMemo *m = userdata;
        size_t n;

        if (!name)
                return 0;
        n = strcspn(++name, " \t");
        for (size_t i = 0; i < _KERNEL_SYMBOL_MAX; i++)
                if (strlen(names[i]) == n && memcmp(name, names[i], n) == 0) {
                        m->has[i] = true;
                        return has_all(m) ? -ECANCELED : 0; /* the rest need not be read */
                }
        return 0;
}

int symbols_ask(const Root *root, SymbolMemo *memo)
{
        SymbolMemo m = { .asked = true };
        int r;

        if (memo->asked)
                return 0;
        r = root_read_lines(root, look_at, &m, "proc/kallsyms");
        if (r == -ENOMEM)
                return r;
        m.told = r >= 0 || r == -ECANCELED;
        *memo = m;
        return 0;
}

int symbols_excerpt(const SymbolMemo *memo, char **ret)
{
        char *text = NULL;
        size_t size = 0;
        FILE *f;

        *ret = NULL;
        if (!memo->told)
                return 0;
        f = open_memstream(&text, &size);
        if (!f)
                return -ENOMEM;
        for (size_t i = 0; i < _KERNEL_SYMBOL_MAX; i++)
                if (memo->has[i])
                        fprintf(f, "0000000000000000 t %s\n", names[i]);
        if (fclose(f) < 0) {
                free(text);
                return -ENOMEM;
        }
        *ret = text;
        return 0;
}
