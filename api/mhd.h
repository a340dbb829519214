/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>

/* libmicrohttpd, loaded when somebody connects for the first time: with the TLS library that it brings along
 * it is two fifths of the memory of a daemon that nobody asks, and half of the time that one takes to start.
 */

#define MHD_FUNCTIONS(F)               \
        F(add_response_header)         \
        F(create_response_from_buffer) \
        F(destroy_response)            \
        F(get_connection_info)         \
        F(get_connection_values)       \
        F(get_daemon_info)             \
        F(get_timeout)                 \
        F(lookup_connection_value)     \
        F(queue_response)              \
        F(resume_connection)           \
        F(run)                         \
        F(start_daemon)                \
        F(stop_daemon)                 \
        F(suspend_connection)

/* The functions without their prefix "MHD_". */
typedef struct Mhd {
#define MHD_MEMBER(name) __typeof__(MHD_##name) *name;
        MHD_FUNCTIONS(MHD_MEMBER)
#undef MHD_MEMBER
} Mhd;

/* Loads the library, which then stays. Returns 0, or -ELIBACC with *ret_why, which lasts until the next call.
 */
int mhd_load(Mhd *ret, const char **ret_why);
