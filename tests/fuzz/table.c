/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "table.h"

#include "apply/protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU_MAX 65535u

static bool is_list(const char *s)
{
        for (;;) {
                char *end;
                unsigned long from, to;

                if (*s < '0' || *s > '9')
                        return false;
                from = to = strtoul(s, &end, 10);
                if (*end == '-') {
                        if (end[1] < '0' || end[1] > '9')
                                return false;
                        to = strtoul(end + 1, &end, 10);
                }
                if (to > CPU_MAX || from > to)
                        return false;
                if (!*end)
                        return true;
                if (*end != ',')
                        return false;
                s = end + 1;
        }
}

static bool is_mask(const char *s)
{
        return *s && s[strspn(s, "0123456789abcdefABCDEF,")] == '\0' && strpbrk(s, "123456789abcdefABCDEF");
}

bool table_takes(uint32_t kind, const char *s)
{
        return kind == WRITER_IRQ_AFFINITY ? is_list(s) : is_mask(s);
}

uint32_t table_kind(const char *path)
{
        int end = 0;
        char name[WRITER_PATH_MAX];

        if (sscanf(path, "proc/irq/%9[0-9]/smp_affinity_list%n", name, &end) == 1 && end > 0 && !path[end])
                return name[0] != '0' || !name[1] ? WRITER_IRQ_AFFINITY : 0;
        end = 0;
        if (sscanf(path, "sys/devices/virtual/workqueue/%255[-a-zA-Z0-9_:.]/cpumask%n", name, &end) == 1 &&
            end > 0 && !path[end])
                return name[strspn(name, ".")] ? WRITER_WORKQUEUE_CPUMASK : 0;
        return 0;
}

bool table_is_text(const char *s)
{
        for (; *s; s++)
                if ((unsigned char)*s < ' ' || *s == 0x7f)
                        return false;
        return true;
}

bool table_is_socket(const char *path)
{
        char number[16];
        int end = 0;

        if (sscanf(path, "run/irqbalance/irqbalance%9[0-9].sock%n", number, &end) != 1 &&
            sscanf(path, "@irqbalance%9[0-9].sock%n", number, &end) != 1)
                return false;
        return end > 0 && !path[end] && number[0] != '0';
}

bool table_is_queue(const char *name)
{
        char number[16];
        int end = 0;

        if (sscanf(name, "iscsi_q_%9[0-9]%n", number, &end) != 1 || name[end])
                return false;
        return number[0] != '0' || !number[1];
}
