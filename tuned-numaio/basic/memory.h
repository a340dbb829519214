/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* To be called first in a main() whose program reads or writes JSON. jansson cannot be let know that memory
 * is short: its parser then writes beyond its buffers, and what it prints lacks pieces (2.14). From here on
 * such a shortage ends the process with EXIT_FAILURE after a line that says so, as a kill would; both
 * services are made for that. */
void memory_guard_json(void);
