/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/error.h"

#include <stdbool.h>

/* The main process: one thread, one event loop. Holds the state that passes share, and turns events, answers
 * of the writer and requests of the API into passes: observe, plan, apply. */
typedef struct Manager Manager;

typedef struct ManagerOptions {
        const char *root;    /* "/" = the live machine */
        const char *policy;  /* one policy file instead of the folders; NULL = the folders (live), or the
                                default */
        const char *api_dir; /* makes ro.sock and api.sock there; NULL = sockets from systemd, or none */
        bool observe;        /* never write, do not even connect to the writer */
        bool once;           /* end after the first round */
} ManagerOptions;

/* Keeps the signals that the event loop handles (SIGTERM, SIGINT, SIGHUP) waiting for it. To be called before
 * anything that takes time, so that none of them ends a process that only starts. Returns 0 or a negative
 * errno. */
int manager_block_signals(void);

/* Opens the root, reads the policies (a bad one is an error here, since there is no last good one to keep),
 * connects to the writer, subscribes to events, blocks the signals. Returns 0, or a negative
 * errno with the text in *e. */
int manager_new(const ManagerOptions *options, Manager **ret, Error *e);
Manager *manager_free(Manager *m);
DEFINE_CLEANUP(Manager, manager_free)

/* Runs until SIGTERM or SIGINT (or, with `once`, the end of the first round). Returns 0 or a negative errno.
 */
int manager_run(Manager *m);
