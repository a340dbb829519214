/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>

/* A small machine in a temporary folder, to write to: CPUs 0-7 of which 0-5 are online, IRQs 30-35 that fire
 * on CPU 0 and may go anywhere, the kernel-managed IRQ 40, and the workqueue iscsi_q_0. */
typedef struct Machine {
        char dir[SCRATCH_MAX];
        Root *root;
} Machine;

/* Writes a file below the machine's folder and makes the folders above it. */
static inline void machine_put(const Machine *m, const char *path, const char *text)
{
        _cleanup_(freep) char *full = strf("%s/%s", m->dir, path);
        _cleanup_(closep) int fd = -1;

        for (char *slash = full + strlen(m->dir) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
                *slash = '\0';
                assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
        }
        fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static inline void machine_expect(const Machine *m, const char *path, const char *want)
{
        _cleanup_(freep) char *text = NULL;

        assert_int_equal(root_read(m->root, &text, "%s", path), 0);
        assert_string_equal(text, want);
}

static inline void machine_put_irq(const Machine *m, int irq, const char *affinity, const char *effective)
{
        _cleanup_(freep) char *proc = strf("proc/irq/%d", irq), *sys = strf("sys/kernel/irq/%d", irq);
        const char *const files[][2] = {
                { "smp_affinity", "ff\n" },
                { "smp_affinity_list", affinity },
                { "effective_affinity", "01\n" },
                { "effective_affinity_list", effective },
        };

        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                _cleanup_(freep) char *path = strf("%s/%s", proc, files[i][0]);

                machine_put(m, path, files[i][1]);
        }
        for (int i = 0; i < 2; i++) {
                _cleanup_(freep) char *path = strf("%s/%s", sys, i ? "chip_name" : "hwirq");
                _cleanup_(freep) char *text = i ? strdup("IR-PCI-MSI\n") : strf("%d\n", 524288 + irq);

                machine_put(m, path, text);
        }
}

static inline int machine_init(Machine *m)
{
        *m = (Machine) { .dir = "" };
        scratch_make(m->dir, "machine");
        machine_put(m, "sys/devices/system/cpu/possible", "0-7\n");
        machine_put(m, "sys/devices/system/cpu/online", "0-5\n");
        machine_put(m, "proc/irq/default_smp_affinity", "ff\n");
        for (int irq = 30; irq <= 35; irq++)
                machine_put_irq(m, irq, "0-7\n", "0\n");
        machine_put_irq(m, 40, "2\n", "2\n");
        machine_put(m, "sys/devices/virtual/workqueue/cpumask", "ff\n");
        machine_put(m, "sys/devices/virtual/workqueue/iscsi_q_0/cpumask", "ff\n");
        machine_put(m, "standin.json", "{\"managed_irqs\": \"40\"}\n");
        return root_open(m->dir, &m->root);
}

static inline int machine_remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
        return remove(path);
}

static inline void remove_folder(const char *path)
{
        assert_int_equal(nftw(path, machine_remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT), 0);
}

static inline void machine_done(Machine *m)
{
        root_free(m->root);
        remove_folder(m->dir);
}
