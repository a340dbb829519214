/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "basic/cpuset.h"
#include "observe/isolation.h"

#include <errno.h>
#include <string.h>

/* A text as a CPU list, as a mask, and as a kernel command line. What is read is written in a form that reads
 * as the same set, in both forms. */

static void check_set(const CpuSet *set)
{
        _cleanup_(cpuset_freep) CpuSet *by_list = NULL, *by_mask = NULL;
        _cleanup_(freep) char *list = cpuset_format_list(set), *mask = cpuset_format_mask(set, 1);

        if (!list || !mask)
                return;
        FUZZ_REQUIRE(cpuset_next(set, -1) < (int)CPUSET_MAX);
        FUZZ_REQUIRE(cpuset_parse_list(list, &by_list) == 0 && cpuset_equal(set, by_list));
        FUZZ_REQUIRE(cpuset_parse_mask(mask, &by_mask) == 0 && cpuset_equal(set, by_mask));
        FUZZ_REQUIRE(cpuset_count(set) == cpuset_count(by_mask));
}

static void check_result(int r, const CpuSet *set)
{
        FUZZ_REQUIRE((r == 0) == (set != NULL));
        FUZZ_REQUIRE(r == 0 || r == -EINVAL || r == -ERANGE || r == -ENOMEM);
        if (r == 0)
                check_set(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(cpuset_freep) CpuSet *list = NULL, *mask = NULL, *isolated = NULL, *nohz_full = NULL;
        _cleanup_(freep) char *text = strndup((const char *)data, size);
        int r;

        if (!text || size == 0)
                return 0;
        r = cpuset_parse_list(text, &list);
        check_result(r, list);
        r = cpuset_parse_mask(text, &mask);
        check_result(r, mask);
        FUZZ_REQUIRE(isolation_parse_cmdline(text, &isolated, &nohz_full) != -EINVAL);
        check_set(isolated);
        check_set(nohz_full);
        return 0;
}
