/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "monitor/monitor.h"

/* What an iSCSI event of a type of the kernel's enum iscsi_uevent_e says: 1 and *ret for a session that comes
 * or goes and for a connection that fails, 0 for everything else. */
int iscsi_parse(unsigned type, MonitorEvent *ret);
