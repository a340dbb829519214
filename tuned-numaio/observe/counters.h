/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/cleanup.h"
#include "basic/root.h"

#include <stddef.h>
#include <stdint.h>

/* How many interrupts each IRQ has had since boot, from the "intr" line of /proc/stat: a total, then one
 * number for each IRQ number from 0 on (fs/proc/stat.c, show_all_irqs()). The kernel adds the CPUs up, so
 * that reading it costs one short line where /proc/interrupts has a column for every CPU. Each number is 32
 * bits wide there (kernel/irq/irqdesc.c, kstat_irqs_usr()). */
typedef struct Counters {
        uint32_t *by_irq;
        size_t n;
} Counters;

void counters_clear(Counters *c);

/* Reads them; *ret is untouched on failure. Returns 0, -ENOMEM, -ENOENT (no such file), -EINVAL (no such
 * line), or what kept the file from being read. */
int counters_read(const Root *root, Counters *ret);

/* Parses the text of /proc/stat. Returns 0, -EINVAL or -ENOMEM. */
int counters_parse(const char *text, Counters *ret);

/* Interrupts of an IRQ between two looks. A number that became smaller has gone over 32 bits when the step
 * across is the shorter way; otherwise the IRQ number belongs to another device now, which began anew. */
uint32_t counters_between(const Counters *before, const Counters *now, unsigned irq);
