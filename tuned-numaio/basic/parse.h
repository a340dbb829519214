/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Parses a whole decimal number (surrounding white space is allowed, nothing else).
 * Returns 0, -EINVAL (not a number) or -ERANGE (out of range); *ret is untouched on failure. */
int parse_unsigned(const char *s, unsigned *ret);

/* The same with a sign. */
int parse_int(const char *s, int *ret);
