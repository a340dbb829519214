/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* /proc/interrupts, for machines that do not show msi_irqs or action folders. */

typedef struct InterruptLine {
        unsigned irq;
        const char *chip;   /* "IR-PCI-MSIX-0000:18:00.0"; may hold spaces */
        const char *hwirq;  /* "0-edge", "65537 Edge"; "" = the line has none */
        const char *action; /* several joined by ", "; "" = none */
        bool has_function;
        uint64_t function; /* the PCI function, as pci_address() packs it, when has_function */
        char *text;        /* what the strings point into: the line without its counts */
} InterruptLine;

typedef struct Interrupts {
        InterruptLine *lines; /* numbered lines in order of IRQ */
        size_t n_lines;
} Interrupts;

/* Reads the file line by line: at 512 CPUs it is megabytes of counts, of which nothing is kept. Rows without
 * a number (NMI, IPI0 ...) and lines that make no sense are left out. Returns 0, -ENOMEM, or the errno of the
 * file. Form: kernel/irq/proc.c, show_interrupts(). */
int interrupts_read(const Root *root, Interrupts *ret);
/* The same of a text in memory, which it changes and frees, also on failure. */
int interrupts_parse(char *text, Interrupts *ret);
void interrupts_clear(Interrupts *i);

/* NULL = no such line. */
const InterruptLine *interrupts_find(const Interrupts *i, unsigned irq);
