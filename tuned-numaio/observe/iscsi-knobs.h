/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "observe/knobs.h"

/* Adds the files that decide where a software iSCSI host's transmit work runs, and fills d->iscsi->xmit: what
 * its kernel tells of that work, and what keeps it from being done by the submitter. docs/iscsi.md has the
 * files of each kernel. Returns 0 or -ENOMEM. */
int observe_iscsi_knobs(const Root *root, const Refusals *refusals, Device *d);

/* Reads again what changes all the time: x->rx_cpu, and where transmit work of this host's connection ran.
 * Files that are not there, or have another form, leave -1, and x->counted false. Returns 0 or -ENOMEM. */
int observe_xmit_counters(const Root *root, int host, XmitFacts *x);

/* Parses the text of xmit_stats, "local N remote M" (kernel/'s ABI document). Returns 0 or -EINVAL. */
int xmit_stats_parse(const char *text, XmitFacts *ret);
