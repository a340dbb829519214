/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "observe/iommu.h"
#include "policy/policy.h"

/* Completes a snapshot by what is dear to find out, as far as the policy makes it matter: whether the depots
 * of a kernel without a limit for them scale by themselves. To be called between observe() and plan(); the
 * memo lasts as long as the process. Returns 0 or -ENOMEM. */
int iova_complete(const Root *root, const Policy *policy, DepotMemo *memo, Snapshot *s);

/* What a depot limit of `magazines` in each size class can cost. */
double iova_depot_mib(long magazines);       /* MiB of memory */
double iova_depot_space_gib(long magazines); /* GiB of IOVA space */
