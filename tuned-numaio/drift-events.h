/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "model/snapshot.h"
#include "monitor/monitor.h"

/* Events after which drivers or the kernel write masks of their own, by the device that they concern: link up
 * or down, channels and rings, a function that is bound, reset or plugged, its netdevs and hosts. CPUs that
 * come or go concern all devices, lost events too. Addresses, routes, rules and iSCSI sessions change what is
 * planned, and no mask. Pure: the clock comes in. Times in microseconds of the monotonic clock, 0 = never. */
typedef struct DriftEvents {
        uint64_t all; /* the last one that concerned every device */
        struct DriftEvent {
                char *device;
                uint64_t at;
        } * items;
        size_t n;
        uint64_t suspended; /* so long in total, at the last word about it */
        bool awake;         /* there was such a word */
} DriftEvents;

/* Takes an event over; snapshot: what was seen last, NULL = nothing yet. Short of memory an event concerns
 * every device. */
void drift_events_add(DriftEvents *e, const Snapshot *snapshot, const MonitorEvent *event, uint64_t now);

/* Told before each look how long the machine was suspended since it booted: when that has grown, its CPUs and
 * drivers started anew. */
void drift_events_add_sleep(DriftEvents *e, uint64_t suspended, uint64_t now);

/* The last event that concerns a device. */
uint64_t drift_events_last(const DriftEvents *e, const char *device);

void drift_events_clear(DriftEvents *e);
