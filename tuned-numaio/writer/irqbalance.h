/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/irqlist.h"
#include "basic/root.h"

/* Has irqbalance leave IRQs alone, over its own socket. */

/* The longest time that one handing over takes, whatever irqbalance does: nothing is written meanwhile. */
#define IRQBALANCE_USEC 2000000u

typedef struct BanAnswer {
        IrqList left_alone; /* of ours, those that irqbalance leaves alone now, as it says itself */
        IrqList users;      /* those that users had banned; they stay so */
        bool script; /* it asks our policy script, and so leaves all of ours alone from its next scan on */
} BanAnswer;

void ban_answer_clear(BanAnswer *a);
DEFINE_CLEANUP(BanAnswer, ban_answer_clear)

/* Whether a path names a socket that irqbalance has: "run/irqbalance/irqbalance12.sock" below the root, or
 * the abstract "@irqbalance12.sock". */
bool irqbalance_accepts_socket(const char *path);

/* Hands the list over, and takes back what was handed over before and is not in it any more. What users
 * banned stays, for which a file of the folder (a descriptor) remembers what was sent to which process.
 * Nothing is sent when irqbalance has it all already, unless `again` (it then scans anew, which asks the
 * policy script). The answer is what irqbalance itself says afterwards.
 *
 * Returns 0, or a negative errno: -ENOENT, -ECONNREFUSED (nobody is there), -ETIMEDOUT (no answer), -EBADMSG
 * (an answer of another form), -EPERM (the socket is another user's), -E2BIG (what users banned fills the
 * command alone). *ret is replaced on success. */
int irqbalance_hand_over(const Root *root, int folder, const char *socket, const IrqList *ours, bool again,
                         BanAnswer *ret);
