/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "model/snapshot.h"

#include <jansson.h>

/* A device's IOMMU group: {group, type, devices, dma_bits, depot: {kind, limit, default}, caches}; null when
 * it has none. A new reference; NULL = memory is short. */
json_t *report_iommu(const Snapshot *s, const Device *d);

/* Counters of IOVA caches: {allocations, misses, miss_share, dropped, classes: [{order, allocations, misses,
 * dropped, depot}]}; null when there are none. */
json_t *report_iova_stats(const IovaStats *stats);
