/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/file-kind.h"
#include "test.h"

#include <errno.h>
#include <string.h>

static void every_kind_has_a_row(void **state)
{
        for (uint32_t kind = 1; kind < _WRITER_KIND_MAX; kind++) {
                const FileKind *k = file_kind_find(kind);

                assert_non_null(k);
                assert_int_equal(k->kind, kind);
                assert_non_null(strchr(k->knob, '.'));
                assert_true(k->form != FORM_WORD || k->words);
                assert_true(k->form != FORM_NUMBER || k->min < k->max);
        }
        assert_null(file_kind_find(0));
        assert_null(file_kind_find(_WRITER_KIND_MAX));
}

static void values_that_may_be_written(void **state)
{
        static const struct {
                WriterKind kind;
                const char *value;
                int want;
        } cases[] = {
                { WRITER_IRQ_AFFINITY, "0-3,8", 0 },
                { WRITER_IRQ_AFFINITY, "", -EINVAL },
                { WRITER_IRQ_AFFINITY, "0-7:2/4", -EINVAL },
                { WRITER_WORKQUEUE_CPUMASK, "ff", 0 },
                { WRITER_WORKQUEUE_CPUMASK, "0", -EINVAL },
                { WRITER_WORKQUEUE_CPUMASK, "0-1", -EINVAL },
                { WRITER_ISCSI_XMIT_NUMA, "0", 0 },
                { WRITER_ISCSI_XMIT_NUMA, "1", 0 },
                { WRITER_ISCSI_XMIT_NUMA, "2", -EINVAL },
                { WRITER_ISCSI_XMIT_NUMA, "on", -EINVAL },
                { WRITER_IOVA_DEPOT, "1", 0 },
                { WRITER_IOVA_DEPOT, "2048", 0 },
                { WRITER_IOVA_DEPOT, "default", 0 },
                { WRITER_IOVA_DEPOT, "0", -EINVAL },
                { WRITER_IOVA_DEPOT, "2049", -EINVAL },
                { WRITER_IOVA_DEPOT, "032", -EINVAL },
                { WRITER_IOVA_DEPOT, "+32", -EINVAL },
                { WRITER_IOVA_DEPOT, " 32", -EINVAL },
                { WRITER_IOVA_DEPOT, "99999999999999999999", -EINVAL },
                { WRITER_IOMMU_TYPE, "DMA-FQ", 0 },
                { WRITER_IOMMU_TYPE, "identity", -EINVAL },
                { WRITER_WORKQUEUE_SCOPE, "numa", 0 },
                { WRITER_WORKQUEUE_SCOPE, "", -EINVAL },
                { WRITER_WORKQUEUE_SCOPE, "numa\n", -EINVAL },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                assert_int_equal(file_kind_check(file_kind_find(cases[i].kind), cases[i].value),
                                 cases[i].want);
}

static void values_that_say_the_same(void **state)
{
        const FileKind *list = file_kind_find(WRITER_IRQ_AFFINITY);
        const FileKind *mask = file_kind_find(WRITER_WORKQUEUE_CPUMASK);
        const FileKind *depot = file_kind_find(WRITER_IOVA_DEPOT);
        const FileKind *scope = file_kind_find(WRITER_WORKQUEUE_SCOPE);

        assert_int_equal(file_kind_equal(list, "0,1,2", "0-2"), 1);
        assert_int_equal(file_kind_equal(list, "10", "0-2"), 0);
        assert_int_equal(file_kind_equal(mask, "0000000f", "f"), 1);
        assert_int_equal(file_kind_equal(mask, "10", "16"), 0);
        assert_int_equal(file_kind_equal(depot, "32", "32"), 1);
        assert_int_equal(file_kind_equal(depot, "32", "default"), 0);
        assert_int_equal(file_kind_equal(depot, "", "0"), 0);
        assert_int_equal(file_kind_equal(scope, "numa", "numa"), 1);
        assert_int_equal(file_kind_equal(scope, "numa", "cache"), 0);
}

static void what_a_file_reads(void **state)
{
        static const struct {
                WriterKind kind;
                const char *text, *want;
        } cases[] = {
                { WRITER_WORKQUEUE_SCOPE, "default (cache)", "default" },
                { WRITER_WORKQUEUE_SCOPE, "numa", "numa" },
                { WRITER_WORKQUEUE_SCOPE, "none [numa] x", "numa" },
                { WRITER_WORKQUEUE_SCOPE, "a [b", "a" },
                { WRITER_WORKQUEUE_SCOPE, "", "" },
                { WRITER_IOVA_DEPOT, "32 (default)", "32" },
                { WRITER_IRQ_AFFINITY, "0-3,8", "0-3,8" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(freep) char *text = strdup(cases[i].text);

                file_kind_trim(file_kind_find(cases[i].kind), text);
                assert_string_equal(text, cases[i].want);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_kind_has_a_row),
                cmocka_unit_test(values_that_may_be_written),
                cmocka_unit_test(values_that_say_the_same),
                cmocka_unit_test(what_a_file_reads),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
