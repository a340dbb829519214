/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl/filter.h"

#include <string.h>

/* Options of the kernel that say where what runs; "." at the end = all of a module. */
static const char *const options[] = {
        "isolcpus",      "nohz_full",   "nohz",
        "rcu_nocbs",     "irqaffinity", "nosmt",
        "mitigations",   "nr_cpus",     "maxcpus",
        "possible_cpus", "numa",        "numa_balancing",
        "intel_iommu",   "amd_iommu",   "iommu",
        "intremap",      "x2apic",      "nox2apic",
        "noapic",        "nolapic",     "acpi",
        "pci",           "threadirqs",  "skew_tick",
        "housekeeping",  "iommu.",      "workqueue.",
        "nvme.",         "nvme_core.",  "scsi_mod.",
        "megaraid_sas.", "mpt3sas.",    "hisi_sas_v3_hw.",
        "smartpqi.",     "lpfc.",       "qla2xxx.",
};

static bool is_option(const char *word, size_t n)
{
        size_t key = 0;

        while (key < n && word[key] != '=')
                key++;
        for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
                size_t length = strlen(options[i]);
                bool module = options[i][length - 1] == '.';

                if ((module ? key > length : key == length) && strncmp(word, options[i], length) == 0)
                        return true;
        }
        return false;
}

/* Copies a piece to the end of what is kept, which lies before it. */
static size_t keep(char *text, size_t kept, const char *from, size_t n)
{
        memmove(text + kept, from, n);
        return kept + n;
}

static bool is_blank(char c)
{
        return (unsigned char)c <= ' ';
}

size_t filter_cmdline(char *text, size_t size)
{
        size_t kept = 0, i = 0;

        while (i < size) {
                size_t begin;

                while (i < size && is_blank(text[i]))
                        i++;
                begin = i;
                while (i < size && !is_blank(text[i]))
                        i++;
                if (!is_option(text + begin, i - begin))
                        continue;
                if (kept > 0)
                        text[kept++] = ' ';
                kept = keep(text, kept, text + begin, i - begin);
        }
        if (kept < size)
                text[kept++] = '\n';
        return kept;
}

/* "Linux version 6.1.0 (user@host) (gcc ...": a bracket with "@" and no blank in it. */
size_t filter_version(char *text, size_t size)
{
        size_t kept = 0, i = 0;

        while (i < size) {
                size_t n = 1;
                bool at = false;

                while (text[i] == '(' && i + n < size && !is_blank(text[i + n]) && text[i + n] != ')')
                        at |= text[i + n++] == '@';
                if (at && i + n < size && text[i + n] == ')') {
                        i += n + 1;
                        continue;
                }
                text[kept++] = text[i++];
        }
        return kept;
}

size_t filter_udev(char *text, size_t size)
{
        static const char *const keys[] = { "E:ID_VENDOR_FROM_DATABASE=", "E:ID_MODEL_FROM_DATABASE=" };
        size_t kept = 0, i = 0;

        while (i < size) {
                const char *end = memchr(text + i, '\n', size - i);
                size_t n = end ? (size_t)(end - text) - i + 1 : size - i;

                for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
                        if (n > strlen(keys[k]) && strncmp(text + i, keys[k], strlen(keys[k])) == 0)
                                kept = keep(text, kept, text + i, n);
                i += n;
        }
        return kept;
}

void filter_files(Entry *const *entries, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                Entry *e = entries[i];

                if (!e->data || e->type != ENTRY_FILE)
                        continue;
                if (strcmp(e->path, "proc/cmdline") == 0)
                        e->size = filter_cmdline(e->data, e->size);
                else if (strcmp(e->path, "proc/version") == 0)
                        e->size = filter_version(e->data, e->size);
                else if (strncmp(e->path, "run/udev/data/", 14) == 0)
                        e->size = filter_udev(e->data, e->size);
        }
}
