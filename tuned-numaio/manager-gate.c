/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-internal.h"

#include <string.h>

bool manager_may_submit(Manager *m, const Change *c, Decision *d)
{
        const bool ask = policy_defaults(m->policy)->apply == APPLY_ASK;
        const char *only = ask && m->request_active ? m->requests[0].device : NULL;

        if (c->settable == SETTABLE_NO || d->drift.state == DRIFT_WAITING || drift_is_left(&d->drift))
                return false;
        if (only && strcmp(c->device, only) != 0)
                return false;
        return !manager_irqbalance_keeps(m, c, d);
}
