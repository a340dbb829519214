/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/ops.h"

#include <errno.h>
#include <string.h>

#define DIGITS        "0123456789"
#define LETTERS       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define NAME_CHARS    LETTERS DIGITS "_-:."
#define IRQ_FOLDER    "proc/irq/"
#define PCI_FOLDER    "sys/bus/pci/devices"
#define PCI_PREFIX    "pci:" /* of a device id */
#define ADDRESS_CHARS DIGITS "abcdefABCDEF:."
#define NUMBER_MAX    9 /* digits; fits an unsigned int */

unsigned operation_irq(const char *path)
{
        return (unsigned)strtoul(path + strlen(IRQ_FOLDER), NULL, 10);
}

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
static int irq_identity(const Root *root, const char *path, char **ret)
{
        _cleanup_(freep) char *hwirq = NULL, *chip = NULL;
        char folder[WRITER_PATH_MAX];
        unsigned irq = operation_irq(path);
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
        *ret = strf("inode %llu hwirq %s chip %s", (unsigned long long)st.st_ino, hwirq, chip);
        return *ret ? 0 : -ENOMEM;
}

/* A function owns the message interrupts that it lists; one without a list, but with a driver, has a line. A
 * machine without a PCI bus is a copy of a part. */
static int irq_owner(const Root *root, const char *path, const char *device)
{
        const char *address = device + strlen(PCI_PREFIX);

        if (strncmp(device, PCI_PREFIX, strlen(PCI_PREFIX)) != 0 || !root_exists(root, PCI_FOLDER))
                return 0;
        if (!*address || address[strspn(address, ADDRESS_CHARS)] ||
            !root_exists(root, PCI_FOLDER "/%s", address))
                return -ENODEV;
        if (root_exists(root, PCI_FOLDER "/%s/msi_irqs", address))
                return root_exists(root, PCI_FOLDER "/%s/msi_irqs/%u", address, operation_irq(path))
                               ? 0
                               : -ENODEV;
        return root_exists(root, PCI_FOLDER "/%s/driver", address) ? 0 : -ENODEV;
}

static int folder_identity(const Root *root, const char *path, char **ret)
{
        const char *slash = strrchr(path, '/');
        struct stat st;
        int r;

        r = root_stat(root, &st, "%.*s", (int)(slash - path), path);
        if (r < 0)
                return r;
        *ret = strf("inode %llu", (unsigned long long)st.st_ino);
        return *ret ? 0 : -ENOMEM;
}

static const Operation operations[] = {
        {
                .kind = WRITER_IRQ_AFFINITY,
                .knob = "irq.affinity",
                .pattern = IRQ_FOLDER "#/smp_affinity_list",
                .charset = DIGITS "-,",
                .parse = cpuset_parse_list,
                .identity = irq_identity,
                .owner = irq_owner,
        },
        {
                .kind = WRITER_WORKQUEUE_CPUMASK,
                .knob = "workqueue.cpumask",
                .pattern = "sys/devices/virtual/workqueue/*/cpumask",
                .charset = DIGITS "abcdefABCDEF,",
                .parse = cpuset_parse_mask,
                .identity = folder_identity,
        },
};

const Operation *operation_find(uint32_t kind)
{
        for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
                if (operations[i].kind == kind)
                        return &operations[i];
        return NULL;
}

static bool accepts_component(const char *pattern, size_t pattern_n, const char *text, size_t n)
{
        if (pattern_n == 1 && *pattern == '#')
                return n > 0 && n <= NUMBER_MAX && strspn(text, DIGITS) >= n && (n == 1 || *text != '0');
        if (pattern_n == 1 && *pattern == '*')
                return n > 0 && strspn(text, NAME_CHARS) >= n && strspn(text, ".") < n;
        return n == pattern_n && memcmp(pattern, text, n) == 0;
}

bool operation_accepts_path(const Operation *op, const char *path)
{
        const char *pattern = op->pattern;

        if (strlen(path) >= WRITER_PATH_MAX)
                return false;
        for (;;) {
                size_t pattern_n = strcspn(pattern, "/"), n = strcspn(path, "/");

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

int operation_check_value(const Operation *op, const char *value)
{
        _cleanup_(cpuset_freep) CpuSet *set = NULL;
        int r;

        if (strlen(value) >= WRITER_VALUE_MAX || value[strspn(value, op->charset)] != '\0')
                return -EINVAL;
        r = op->parse(value, &set);
        if (r < 0)
                return r == -ENOMEM ? r : -EINVAL;
        return cpuset_is_empty(set) ? -EINVAL : 0;
}

int operation_equal(const Operation *op, const char *a, const char *b)
{
        _cleanup_(cpuset_freep) CpuSet *x = NULL, *y = NULL;
        int r;

        r = op->parse(a, &x);
        if (r >= 0)
                r = op->parse(b, &y);
        if (r == -ENOMEM)
                return r;
        return r >= 0 && cpuset_equal(x, y);
}
