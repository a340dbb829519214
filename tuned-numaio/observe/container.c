/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/container.h"

#include <errno.h>
#include <string.h>

static const struct {
        const char *path;
        const char *manager; /* NULL = the file says */
} marks[] = {
        { "run/systemd/container", NULL }, /* by the service manager inside */
        { "run/host/container-manager", NULL },
        { "run/.containerenv", "podman" },
        { ".dockerenv", "docker" },
};

static int answer(char *manager, char **ret)
{
        if (!manager)
                return -ENOMEM;
        *ret = manager;
        return 1;
}

int container_detect(const Root *root, char **ret)
{
        for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
                _cleanup_(freep) char *text = NULL;

                if (!root_exists(root, "%s", marks[i].path))
                        continue;
                if (marks[i].manager)
                        return answer(strdup(marks[i].manager), ret);
                if (root_read(root, &text, "%s", marks[i].path) == -ENOMEM)
                        return -ENOMEM;
                return answer(text && *text ? STEAL_PTR(text) : strdup("container manager unknown"), ret);
        }
        /* Inside of OpenVZ there is only the first one; on its host there are both. */
        if (root_exists(root, "proc/vz") && !root_exists(root, "proc/bc"))
                return answer(strdup("openvz"), ret);
        return 0;
}
