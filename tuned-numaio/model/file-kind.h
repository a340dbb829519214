/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/cleanup.h"

#include <stdint.h>

/* The kinds of files that changes write, and how their values read: one row for each, for the plan, the book
 * of decisions and the writer alike. What the kernel takes beyond these forms is never written. */

/* The highest limit of an IOVA depot that the patched kernel takes (kernel/patches/6.1). */
#define IOVA_DEPOT_MAX 2048

/* Numbers are part of the writer's protocol and of its ledger. */
typedef enum WriterKind {
        WRITER_IRQ_AFFINITY = 1,  /* proc/irq/N/smp_affinity_list */
        WRITER_WORKQUEUE_CPUMASK, /* sys/devices/virtual/workqueue/NAME/cpumask, never empty */
        WRITER_WORKQUEUE_NUMA,    /* .../numa: a pool for each node, up to 6.5 */
        WRITER_WORKQUEUE_SCOPE,   /* .../affinity_scope, from 6.6 on */
        WRITER_WORKQUEUE_STRICT,  /* .../affinity_strict, from 6.6 on */
        WRITER_ISCSI_XMIT_NUMA,   /* sys/devices/platform/hostN/scsi_host/hostN/xmit_numa, kernel/ */
        WRITER_ISCSI_XMIT_INLINE, /* .../xmit_inline, kernel/ */
        WRITER_IOVA_DEPOT,        /* sys/kernel/iommu_groups/N/iova_depot_max, kernel/ */
        WRITER_IOMMU_TYPE,        /* sys/kernel/iommu_groups/N/type */
        WRITER_BLOCK_MAX_SECTORS, /* sys/devices/.../queue/max_sectors_kb */
        _WRITER_KIND_MAX,
} WriterKind;

typedef enum ValueForm {
        FORM_CPULIST, /* a list that is not empty */
        FORM_CPUMASK, /* a mask that is not empty: workqueues take "0" and mean everything */
        FORM_NUMBER,  /* decimal, min..max, or one of words */
        FORM_WORD,    /* one of words */
} ValueForm;

typedef struct FileKind {
        WriterKind kind;
        ValueForm form;
        const char *knob; /* "irq.affinity": whose file it is, unless another knob says that it decides */
        long min, max;
        const char *const *words; /* NULL-terminated; NULL = none */
} FileKind;

/* NULL = there is no such kind. Static data. */
const FileKind *file_kind_find(uint32_t kind);

/* Whether a value may be written: 0, -EINVAL for another form, the empty set or a number out of range, or
 * -ENOMEM. */
int file_kind_check(const FileKind *k, const char *value);

/* Returns 1 when two values say the same, 0 when they do not (what cannot be read equals only itself), or
 * -ENOMEM. */
int file_kind_equal(const FileKind *k, const char *a, const char *b);

/* Cuts what a file reads down to what would be written to have it so: of several words the one in brackets
 * ("[none] mq-deadline"), else the first ("default (cache)"). */
void file_kind_trim(const FileKind *k, char *text);
