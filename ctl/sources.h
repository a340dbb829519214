/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

/* Which files of a machine a capture is made of, beside those that observe() looks at. */

/* Takes a file's text. Returns 0 or a negative errno, which ends the walk. */
typedef int (*SourceVisit)(void *context, const char *path, const char *text);

/* Reads what else tells how a machine is made and placed: topology, interrupts, PCI functions, queues. Files
 * that are not there or cannot be read are passed over. Whoever watches the root gets them all. Returns 0 or
 * -ENOMEM. */
int sources_read(const Root *root);

/* Visits what identifies a machine. Names: host names. Serials: a serial number or the like is the whole
 * text. Texts: MAC addresses, IQNs and so on stand somewhere in it. None of them is for a capture. Returns 0
 * or -ENOMEM, or what a visit returned. */
int sources_names(const Root *root, SourceVisit visit, void *context);
int sources_serials(const Root *root, SourceVisit visit, void *context);
int sources_texts(const Root *root, SourceVisit visit, void *context);
