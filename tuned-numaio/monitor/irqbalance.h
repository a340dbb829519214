/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "basic/root.h"

#include <systemd/sd-event.h>

/* Whether irqbalance runs, which moves the same interrupts. Known by the state of its unit (D-Bus), and by
 * its socket, which a process has that systemd did not start too: /run/irqbalance/irqbalancePID.sock, or the
 * abstract name irqbalancePID.sock. Events come from D-Bus, inotify, and the process's pidfd; nothing is
 * polled, and nothing is ever sent to irqbalance. On a copy of a machine the file tells alone: one that is no
 * socket is an irqbalance that runs, a socket is one as long as the process of its name lives. */
typedef struct IrqbalanceState {
        bool running;
        bool by_unit;    /* irqbalance.service is active */
        unsigned pid;    /* of the process whose socket was found; 0 = none was */
        char socket[64]; /* below the root, "run/irqbalance/irqbalance12.sock"; "@..." = abstract; "" = none
                          */
} IrqbalanceState;

/* Something has changed: to be answered by irqbalance_watch_refresh(), in the handler or later. It must not
 * free the watch. */
typedef void (*IrqbalanceHandler)(void *userdata);

typedef struct IrqbalanceWatch IrqbalanceWatch;

/* Starts to watch, and looks once, so that the state is right from the start. Without D-Bus the socket tells
 * alone. Returns 0 or a negative errno. The root must outlive the watch, which the caller frees. */
int irqbalance_watch_new(sd_event *event, const Root *root, IrqbalanceHandler handler, void *userdata,
                         IrqbalanceWatch **ret);
IrqbalanceWatch *irqbalance_watch_free(IrqbalanceWatch *w);
DEFINE_CLEANUP(IrqbalanceWatch, irqbalance_watch_free)

/* Looks again. The result belongs to the watch. */
const IrqbalanceState *irqbalance_watch_refresh(IrqbalanceWatch *w);

/* Negative errno: why the unit's state is not known; 0 = it is (or this is a copy, which has none). */
int irqbalance_watch_unit_error(const IrqbalanceWatch *w);

/* Finds irqbalance's socket in the text of /proc/net/unix, where only sockets stand that a process has open:
 * a file that a killed one left behind is none. The first one counts. Returns whether there is one; *ret gets
 * its pid and socket. */
bool irqbalance_find_socket(const char *proc_net_unix, IrqbalanceState *ret);
