/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/ops.h"

#include "writer/owner.h"

#include <errno.h>
#include <string.h>

#define DIGITS     "0123456789"
#define LETTERS    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define NAME_CHARS LETTERS DIGITS "_-:."
#define IRQ_FOLDER "proc/irq/"
#define NUMBER_MAX 9 /* digits; fits an unsigned int */

unsigned operation_irq(const char *path)
{
        return (unsigned)strtoul(path + strlen(IRQ_FOLDER), NULL, 10);
}

/* A host's folders lie in its own: both numbers are the same. */
static bool is_one_host(const char *path)
{
        const char *first = strstr(path, "/host"), *second = first ? strstr(first + 1, "/host") : NULL;
        size_t n;

        if (!second)
                return true;
        n = strcspn(first + 1, "/");
        return strncmp(first + 1, second + 1, n + 1) == 0;
}

#define WORKQUEUE "sys/devices/virtual/workqueue/*/"
#define SOFT_HOST "sys/devices/platform/host#/scsi_host/host#/"
#define GROUP     "sys/kernel/iommu_groups/#/"

static const Operation operations[] = {
        { WRITER_IRQ_AFFINITY, IRQ_FOLDER "#/smp_affinity_list", irq_owner, NULL },
        { WRITER_WORKQUEUE_CPUMASK, WORKQUEUE "cpumask", workqueue_owner, NULL },
        { WRITER_WORKQUEUE_NUMA, WORKQUEUE "numa", workqueue_owner, NULL },
        { WRITER_WORKQUEUE_SCOPE, WORKQUEUE "affinity_scope", workqueue_owner, NULL },
        { WRITER_WORKQUEUE_STRICT, WORKQUEUE "affinity_strict", workqueue_owner, NULL },
        { WRITER_ISCSI_XMIT_NUMA, SOFT_HOST "xmit_numa", soft_host_owner, NULL },
        { WRITER_ISCSI_XMIT_INLINE, SOFT_HOST "xmit_inline", soft_host_owner, NULL },
        { WRITER_IOVA_DEPOT, GROUP "iova_depot_max", group_owner, depot_first },
        { WRITER_IOMMU_TYPE, GROUP "type", group_owner, NULL },
        { WRITER_BLOCK_MAX_SECTORS, "sys/devices/**/queue/max_sectors_kb", disk_owner, NULL },
};

const Operation *operation_find(uint32_t kind)
{
        for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
                if (operations[i].kind == kind)
                        return &operations[i];
        return NULL;
}

static bool is_number(const char *text, size_t n)
{
        return n > 0 && n <= NUMBER_MAX && strspn(text, DIGITS) >= n && (n == 1 || *text != '0');
}

static bool is_name(const char *text, size_t n)
{
        return n > 0 && strspn(text, NAME_CHARS) >= n && strspn(text, ".") < n;
}

static bool accepts_component(const char *pattern, size_t pattern_n, const char *text, size_t n)
{
        size_t literal = pattern_n - 1;

        if (pattern_n == 1 && *pattern == '*')
                return is_name(text, n);
        if (pattern_n > 0 && pattern[literal] == '#')
                return n > literal && memcmp(pattern, text, literal) == 0 &&
                       is_number(text + literal, n - literal);
        return n == pattern_n && memcmp(pattern, text, n) == 0;
}

static bool accepts(const char *pattern, const char *path)
{
        for (;;) {
                size_t pattern_n = strcspn(pattern, "/"), n = strcspn(path, "/");

                if (pattern_n == 2 && memcmp(pattern, "**", 2) == 0) {
                        if (!is_name(path, n) || !path[n])
                                return false;
                        path += n + 1;
                        if (accepts(pattern + 3, path))
                                return true;
                        continue;
                }
                if (!accepts_component(pattern, pattern_n, path, n))
                        return false;
                pattern += pattern_n;
                path += n;
                if (!*pattern || !*path)
                        return !*pattern && !*path;
                pattern++;
                path++;
        }
}

bool operation_accepts_path(const Operation *op, const char *path)
{
        return strlen(path) < WRITER_PATH_MAX && accepts(op->pattern, path) && is_one_host(path);
}

const FileKind *operation_kind(const Operation *op)
{
        return file_kind_find(op->kind);
}

int operation_check_value(const Operation *op, const char *value)
{
        return strlen(value) < WRITER_VALUE_MAX ? file_kind_check(operation_kind(op), value) : -EINVAL;
}

int operation_equal(const Operation *op, const char *a, const char *b)
{
        return file_kind_equal(operation_kind(op), a, b);
}
