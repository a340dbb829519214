/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/file-kind.h"

#include "basic/cpuset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS     "0123456789"
#define NUMBER_MAX 9 /* digits; fits a long everywhere */

static const char *const depot_words[] = { "default", NULL };
/* enum wq_affn_scope, from 6.6 on. */
static const char *const scope_words[] = { "default", "cpu", "smt", "cache", "numa", "system", NULL };
/* iommu_group_store_type(): what a bound driver allows is DMA to DMA-FQ. */
static const char *const type_words[] = { "DMA", "DMA-FQ", NULL };

static const FileKind kinds[] = {
        { WRITER_IRQ_AFFINITY, FORM_CPULIST, "irq.affinity", 0, 0, NULL },
        { WRITER_WORKQUEUE_CPUMASK, FORM_CPUMASK, "workqueue.cpumask", 0, 0, NULL },
        { WRITER_WORKQUEUE_NUMA, FORM_NUMBER, "iscsi.dynamic", 0, 1, NULL },
        { WRITER_WORKQUEUE_SCOPE, FORM_WORD, "iscsi.dynamic", 0, 0, scope_words },
        { WRITER_WORKQUEUE_STRICT, FORM_NUMBER, "iscsi.dynamic", 0, 1, NULL },
        { WRITER_ISCSI_XMIT_NUMA, FORM_NUMBER, "iscsi.dynamic", 0, 1, NULL },
        { WRITER_ISCSI_XMIT_INLINE, FORM_NUMBER, "iscsi.transmit", 0, 1, NULL },
        { WRITER_IOVA_DEPOT, FORM_NUMBER, "iova.depot", 1, IOVA_DEPOT_MAX, depot_words },
        { WRITER_IOMMU_TYPE, FORM_WORD, "iova.domain", 0, 0, type_words },
        { WRITER_BLOCK_MAX_SECTORS, FORM_NUMBER, "iova.cacheable_io", 1, 1 << 21, NULL },
};

const FileKind *file_kind_find(uint32_t kind)
{
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                if (kinds[i].kind == kind)
                        return &kinds[i];
        return NULL;
}

static bool is_word(const FileKind *k, const char *value)
{
        for (size_t i = 0; k->words && k->words[i]; i++)
                if (strcmp(k->words[i], value) == 0)
                        return true;
        return false;
}

static bool is_number(const char *value)
{
        size_t n = strlen(value);

        return n > 0 && n <= NUMBER_MAX && strspn(value, DIGITS) == n && (n == 1 || *value != '0');
}

static int parse_set(const FileKind *k, const char *value, CpuSet **ret)
{
        return k->form == FORM_CPUMASK ? cpuset_parse_mask(value, ret) : cpuset_parse_list(value, ret);
}

static int check_set(const FileKind *k, const char *value)
{
        /* The kernel's list parser takes more ("0-7:2/4", "all"): none of that is written. */
        const char *chars = k->form == FORM_CPUMASK ? DIGITS "abcdefABCDEF," : DIGITS "-,";
        _cleanup_(cpuset_freep) CpuSet *set = NULL;
        int r;

        if (value[strspn(value, chars)] != '\0')
                return -EINVAL;
        r = parse_set(k, value, &set);
        if (r < 0)
                return r == -ENOMEM ? r : -EINVAL;
        return cpuset_is_empty(set) ? -EINVAL : 0;
}

int file_kind_check(const FileKind *k, const char *value)
{
        long number;

        if (k->form == FORM_CPULIST || k->form == FORM_CPUMASK)
                return check_set(k, value);
        if (is_word(k, value))
                return 0;
        if (k->form != FORM_NUMBER || !is_number(value))
                return -EINVAL;
        number = strtol(value, NULL, 10);
        return number >= k->min && number <= k->max ? 0 : -EINVAL;
}

int file_kind_equal(const FileKind *k, const char *a, const char *b)
{
        _cleanup_(cpuset_freep) CpuSet *x = NULL, *y = NULL;
        int r;

        if (strcmp(a, b) == 0)
                return 1;
        if (k->form == FORM_NUMBER && is_number(a) && is_number(b))
                return strtol(a, NULL, 10) == strtol(b, NULL, 10);
        if (k->form != FORM_CPULIST && k->form != FORM_CPUMASK)
                return 0;
        r = parse_set(k, a, &x);
        if (r >= 0)
                r = parse_set(k, b, &y);
        if (r == -ENOMEM)
                return r;
        return r >= 0 && cpuset_equal(x, y);
}

void file_kind_trim(const FileKind *k, char *text)
{
        const char *word = text, *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
        size_t n;

        if (k->form != FORM_WORD && k->form != FORM_NUMBER)
                return;
        if (close)
                word = open + 1;
        n = close ? (size_t)(close - word) : strcspn(word, " \t");
        memmove(text, word, n);
        text[n] = '\0';
}
