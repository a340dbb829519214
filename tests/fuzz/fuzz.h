/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The entry of every fuzz target, by libFuzzer's rules: any input, always 0. What must hold is checked with
 * FUZZ_REQUIRE(). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_REQUIRE(x)                   \
        do {                              \
                if (!(x))                 \
                        __builtin_trap(); \
        } while (0)
