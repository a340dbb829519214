/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "apply/identity.h"

#include "basic/strv.h"
#include "model/knob-file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int read_or_empty(const Root *root, const char *folder, const char *file, char **ret)
{
        int r;

        r = root_read(root, ret, "%s/%s", folder, file);
        if (r >= 0 || r == -ENOMEM)
                return r;
        *ret = strdup("");
        return *ret ? 0 : -ENOMEM;
}

/* kernfs does not give an inode number out again during a boot. The hardware's number tells machine copies
 * apart whose folders were made anew. */
static int irq_identity(const Root *root, unsigned irq, char **ret)
{
        _cleanup_(freep) char *hwirq = NULL, *chip = NULL;
        char folder[64];
        struct stat st;
        int r;

        snprintf(folder, sizeof(folder), "sys/kernel/irq/%u", irq);
        r = root_stat(root, &st, "%s", folder);
        if (r == -ENOENT) {
                snprintf(folder, sizeof(folder), "proc/irq/%u", irq);
                r = root_stat(root, &st, "%s", folder);
        }
        if (r < 0)
                return r;
        r = read_or_empty(root, folder, "hwirq", &hwirq);
        if (r >= 0)
                r = read_or_empty(root, folder, "chip_name", &chip);
        if (r < 0)
                return r;
        *ret = strf("inode %llu hwirq %.64s chip %.64s", (unsigned long long)st.st_ino, hwirq, chip);
        return *ret ? 0 : -ENOMEM;
}

static int folder_identity(const Root *root, const char *path, char **ret)
{
        const char *slash = strrchr(path, '/');
        struct stat st;
        int r;

        if (!slash)
                return -ENOENT;
        r = root_stat(root, &st, "%.*s", (int)(slash - path), path);
        if (r < 0)
                return r;
        *ret = strf("inode %llu", (unsigned long long)st.st_ino);
        return *ret ? 0 : -ENOMEM;
}

int object_identity(const Root *root, const char *path, char **ret)
{
        unsigned irq;

        return irq_of_path(path, &irq) ? irq_identity(root, irq, ret) : folder_identity(root, path, ret);
}
