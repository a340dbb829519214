/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/irqbalance-socket.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX     "irqbalance"
#define SUFFIX     ".sock"
#define DIGITS_MAX 9

unsigned irqbalance_socket_pid(const char *name)
{
        size_t n;

        if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
                return 0;
        name += strlen(PREFIX);
        n = strspn(name, "0123456789");
        if (n == 0 || n > DIGITS_MAX || *name == '0' || strcmp(name + n, SUFFIX) != 0)
                return 0;
        return (unsigned)strtoul(name, NULL, 10);
}

unsigned irqbalance_path_pid(const char *path)
{
        static const char folder[] = IRQBALANCE_FOLDER "/";

        if (*path == '@')
                return irqbalance_socket_pid(path + 1);
        return strncmp(path, folder, strlen(folder)) == 0 ? irqbalance_socket_pid(path + strlen(folder)) : 0;
}
