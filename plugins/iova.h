/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a depot limit of `magazines` in each size class can cost. */
double iova_depot_mib(long magazines);       /* MiB of memory */
double iova_depot_space_gib(long magazines); /* GiB of IOVA space */
