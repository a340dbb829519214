/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/udev-database.h"

#include <errno.h>
#include <string.h>

#define DATABASE "run/udev/data"

/* The value of a line "E:KEY=VALUE", NULL = another line. */
static const char *value_of(const char *line, const char *key)
{
        size_t n = strlen(key);

        if (strncmp(line, "E:", 2) != 0 || strncmp(line + 2, key, n) != 0 || line[2 + n] != '=')
                return NULL;
        return line + 2 + n + 1;
}

/* Takes a line's value when it is the key's and not empty; as in udev, the last one counts. */
static void take(const char *line, const char *key, const char **value)
{
        const char *found = value_of(line, key);

        if (found && *found)
                *value = found;
}

int udev_model_of_pci(const Root *root, const char *pci, char **ret)
{
        _cleanup_(freep) char *text = NULL;
        const char *vendor = "", *model = "";
        char *save = NULL, *both;
        int r;

        r = root_read(root, &text, DATABASE "/+pci:%s", pci);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                take(line, "ID_VENDOR_FROM_DATABASE", &vendor);
                take(line, "ID_MODEL_FROM_DATABASE", &model);
        }
        if (!*vendor && !*model)
                return 0;
        both = strf("%s%s%s", vendor, *vendor && *model ? " " : "", model);
        if (!both)
                return -ENOMEM;
        *ret = both;
        return 0;
}
