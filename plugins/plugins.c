/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/plugin.h"

#include <string.h>

static const Plugin *const plugins[] = {
        &plugin_irq,
        &plugin_workqueue,
        &plugin_iscsi,
        &plugin_iova,
};

const Plugin *const *plugins_all(size_t *ret_n)
{
        *ret_n = ARRAY_SIZE(plugins);
        return plugins;
}

const Plugin *plugin_find(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(plugins); i++)
                if (strcmp(plugins[i]->name, name) == 0)
                        return plugins[i];
        return NULL;
}

int plugins_complete(const Root *root, const Policy *policy, SymbolMemo *memo, Snapshot *s)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(plugins); i++)
                if (plugins[i]->complete)
                        r = plugins[i]->complete(root, policy, memo, s);
        return r;
}
