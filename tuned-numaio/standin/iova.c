/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "standin/iova.h"

#include <errno.h>
#include <string.h>

int standin_depot_text(const Root *root, const char *value, char **ret)
{
        char *text;

        if (strcmp(value, "default") == 0)
                return root_read_value(root, ret, "sys/module/iova/parameters/depot_max");
        text = strdup(value);
        if (!text)
                return -ENOMEM;
        *ret = text;
        return 0;
}
