/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <poll.h>
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

/* How many descriptors are open, of the first few hundred. */
static inline unsigned fuzz_descriptors(void)
{
        struct pollfd fds[256];
        unsigned n = 0;

        for (int i = 0; i < 256; i++)
                fds[i] = (struct pollfd) { .fd = i };
        while (poll(fds, 256, 0) < 0) {
        }
        for (int i = 0; i < 256; i++)
                n += !(fds[i].revents & POLLNVAL);
        return n;
}
