/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/irqlist.h"

/* What is said to irqbalance over its socket, and what it answers; irqbalance(1), API. No I/O. */

/* irqbalance reads this much of a command. A number that is cut there would be another IRQ. */
#define BAN_COMMAND_MAX 500u

#define BAN_COMMAND_SETUP "setup"

/* Makes the command that bans `users` and as many of `ours` as fit, lowest numbers first; it replaces the
 * whole list that irqbalance has. *ret_fit gets those that are in it. Returns 0; -E2BIG when what users
 * banned fills it alone (nothing is to be sent then); -ENOMEM. */
int ban_command(const IrqList *users, const IrqList *ours, char ret[BAN_COMMAND_MAX + 1], IrqList *ret_fit);

/* Takes the banned IRQs out of the answer to BAN_COMMAND_SETUP. Negative numbers, which some commands make of
 * a range, are none. Returns 0, -EBADMSG for what is no such answer, or -ENOMEM; *ret is replaced. */
int ban_parse_setup(const char *answer, IrqList *ret);

/* Which IRQs users banned themselves: those that stood there before ours came and still do, and those that
 * came later. `known`: users' at the last time; `sent`: everything that was sent then; `listed`: what
 * irqbalance says now. Returns 0 or -ENOMEM; *ret is replaced. */
int ban_of_users(const IrqList *known, const IrqList *sent, const IrqList *listed, IrqList *ret);

/* Whether a command line (arguments that end with NUL each) has irqbalance ask this policy script. */
bool ban_uses_script(const char *arguments, size_t size, const char *script);
