/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "machine.h"
#include "observe/observe.h"

#include <stdio.h>

/* A machine in a temporary folder that starts empty; a test writes what the kernel would show. The functions
 * take printf formats and fail the test when the folder cannot be written. */

#define FORMAT_TEXT(buffer, format)                             \
        do {                                                    \
                va_list _ap;                                    \
                va_start(_ap, format);                          \
                vsnprintf(buffer, sizeof(buffer), format, _ap); \
                va_end(_ap);                                    \
        } while (0)

static inline void tree_init(Machine *m)
{
        *m = (Machine) { .dir = "" };
        scratch_make(m->dir, "tree");
        machine_put(m, "proc/version", "");
        machine_put(m, "sys/kernel/notes", "");
        assert_int_equal(root_open(m->dir, &m->root), 0);
}

_printf_(3, 4) static inline void tree_put(const Machine *m, const char *text, const char *format, ...)
{
        char path[512];

        FORMAT_TEXT(path, format);
        machine_put(m, path, text);
}

_printf_(2, 3) static inline void tree_folder(const Machine *m, const char *format, ...)
{
        char path[512], full[640];

        FORMAT_TEXT(path, format);
        snprintf(full, sizeof(full), "%s/x", path);
        machine_put(m, full, "");
        snprintf(full, sizeof(full), "%s/%s/x", m->dir, path);
        assert_int_equal(unlink(full), 0);
}

/* Makes a link below the machine to a path below the machine. */
static inline void tree_link(const Machine *m, const char *path, const char *target)
{
        _cleanup_(freep) char *full = strf("%s/%s", m->dir, path), *to = strf("/%s", target);
        char *slash = strrchr(full, '/');

        *slash = '\0';
        tree_folder(m, "%s", full + strlen(m->dir) + 1);
        *slash = '/';
        assert_int_equal(symlink(to, full), 0);
}

/* CPUs 0-7 on nodes 0 and 1, four each. */
static inline void tree_put_nodes(const Machine *m)
{
        machine_put(m, "sys/devices/system/cpu/online", "0-7\n");
        machine_put(m, "sys/devices/system/cpu/possible", "0-7\n");
        machine_put(m, "sys/devices/system/cpu/present", "0-7\n");
        machine_put(m, "sys/devices/system/node/online", "0-1\n");
        machine_put(m, "sys/devices/system/node/node0/cpulist", "0-3\n");
        machine_put(m, "sys/devices/system/node/node1/cpulist", "4-7\n");
        machine_put(m, "sys/devices/system/node/node0/distance", "10 21\n");
        machine_put(m, "sys/devices/system/node/node1/distance", "21 10\n");
}

/* A PCI function whose folder is sys/devices/pci0000:00/ADDRESS. */
static inline void tree_put_pci(const Machine *m, const char *address, const char *class, const char *node,
                                const char *driver)
{
        _cleanup_(freep) char *folder = strf("sys/devices/pci0000:00/%s", address);
        _cleanup_(freep) char *link = strf("sys/bus/pci/devices/%s", address);

        tree_put(m, class, "%s/class", folder);
        tree_put(m, node, "%s/numa_node", folder);
        tree_link(m, link, folder);
        if (driver) {
                _cleanup_(freep) char *path = strf("%s/driver", folder);
                _cleanup_(freep) char *target = strf("sys/bus/pci/drivers/%s", driver);

                tree_link(m, path, target);
        }
}

/* An interrupt as /proc/irq shows it; action NULL = nobody requested it. */
static inline void tree_put_irq(const Machine *m, unsigned irq, const char *action, const char *affinity,
                                const char *effective)
{
        tree_put(m, affinity, "proc/irq/%u/smp_affinity_list", irq);
        tree_put(m, effective, "proc/irq/%u/effective_affinity_list", irq);
        tree_put(m, "0\n", "proc/irq/%u/node", irq);
        if (action)
                tree_folder(m, "proc/irq/%u/%s", irq, action);
}

/* The same as MSI vector of a function made by tree_put_pci(). */
static inline void tree_put_vector(const Machine *m, const char *address, unsigned irq, const char *action,
                                   const char *affinity, const char *effective)
{
        tree_put(m, "msix\n", "sys/devices/pci0000:00/%s/msi_irqs/%u", address, irq);
        tree_put_irq(m, irq, action, affinity, effective);
}

static inline Snapshot *tree_observe(const Machine *m)
{
        Snapshot *s = NULL;

        assert_int_equal(observe(m->root, NULL, 0, &s), 0);
        return s;
}

static inline const Device *tree_device(const Snapshot *s, const char *id)
{
        const Device *d = snapshot_device(s, id);

        assert_non_null(d);
        return d;
}

static inline const Vector *tree_vector(const Device *d, unsigned irq)
{
        for (size_t i = 0; i < d->n_vectors; i++)
                if (d->vectors[i].irq == irq)
                        return &d->vectors[i];
        fail_msg("%s has no vector of IRQ %u", d->id, irq);
        return NULL;
}

static inline void assert_cpus(const CpuSet *set, const char *want)
{
        _cleanup_(freep) char *text = cpuset_format_list(set);

        assert_string_equal(text, want);
}
