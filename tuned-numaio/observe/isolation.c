/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/isolation.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static int add_list(const char *list, CpuSet **set)
{
        _cleanup_(cpuset_freep) CpuSet *cpus = NULL;
        int r;

        r = cpuset_parse_list(list, &cpus);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        return cpuset_add_all(set, cpus);
}

/* "FLAG,FLAG,LIST": the flags come first and begin with a letter. */
static int parse_isolcpus(const char *value, CpuSet **isolated, CpuSet **nohz_full)
{
        bool domain = false, nohz = false, flags = false;
        int r = 0;

        while (isalpha((unsigned char)*value)) {
                size_t n = strcspn(value, ",");

                flags = true;
                domain = domain || (n == 6 && strncmp(value, "domain", n) == 0);
                nohz = nohz || (n == 4 && strncmp(value, "nohz", n) == 0);
                value += n;
                value += *value == ',';
        }
        if (domain || !flags)
                r = add_list(value, isolated);
        if (r >= 0 && nohz)
                r = add_list(value, nohz_full);
        return r;
}

int isolation_parse_cmdline(const char *cmdline, CpuSet **isolated, CpuSet **nohz_full)
{
        _cleanup_(freep) char *copy = strdup(cmdline);
        char *save = NULL;
        int r = 0;

        if (!copy)
                return -ENOMEM;
        for (char *word = strtok_r(copy, " \t\n", &save); word && r >= 0;
             word = strtok_r(NULL, " \t\n", &save)) {
                if (strncmp(word, "isolcpus=", 9) == 0)
                        r = parse_isolcpus(word + 9, isolated, nohz_full);
                else if (strncmp(word, "nohz_full=", 10) == 0)
                        r = add_list(word + 10, nohz_full);
        }
        return r;
}

int observe_isolation(const Root *root, Snapshot *s)
{
        _cleanup_(cpuset_freep) CpuSet *isolated = NULL, *nohz_full = NULL;
        _cleanup_(freep) char *cmdline = NULL;
        int r;

        if (root_read(root, &cmdline, "proc/cmdline") >= 0) {
                r = isolation_parse_cmdline(cmdline, &isolated, &nohz_full);
                if (r < 0)
                        return r;
        }
        r = root_read_cpulist(root, &s->isolated, "sys/devices/system/cpu/isolated");
        if (r < 0)
                s->isolated = isolated ? STEAL_PTR(isolated) : cpuset_new(1);
        r = root_read_cpulist(root, &s->nohz_full, "sys/devices/system/cpu/nohz_full");
        if (r < 0)
                s->nohz_full = nohz_full ? STEAL_PTR(nohz_full) : cpuset_new(1);
        return s->isolated && s->nohz_full ? 0 : -ENOMEM;
}
