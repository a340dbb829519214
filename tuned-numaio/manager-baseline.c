/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-internal.h"

#include "basic/array.h"
#include "basic/log.h"
#include "report/report.h"

#include <errno.h>
#include <string.h>

static Baseline *find(const Manager *m, const char *device)
{
        for (size_t i = 0; i < m->n_baselines; i++)
                if (strcmp(m->baselines[i].device, device) == 0)
                        return &m->baselines[i];
        return NULL;
}

const Baseline *manager_baseline(const Manager *m, const char *device)
{
        return find(m, device);
}

/* A device that comes back begins anew. */
static void drop_gone(Manager *m)
{
        size_t kept = 0;

        for (size_t i = 0; i < m->n_baselines; i++) {
                if (snapshot_device(m->snapshot, m->baselines[i].device))
                        m->baselines[kept++] = m->baselines[i];
                else
                        free(m->baselines[i].device);
        }
        m->n_baselines = kept;
}

/* A device that is left alone for want of a node is worth a line, once. */
static void tell_unknown_nodes(Manager *m)
{
        for (size_t i = 0; i < m->plan->n_verdicts; i++) {
                const Verdict *v = &m->plan->verdicts[i];
                const LogKnob k = { .message_id = MESSAGE_ID_UNKNOWN, .device = v->device, .knob = v->knob };
                Baseline *b = v->state == VERDICT_UNKNOWN_NODE ? find(m, v->device) : NULL;

                if (!b || b->told)
                        continue;
                b->told = true;
                log_knob(LOG_NOTICE, &k, "%s: %s", v->device, v->reason.text);
        }
}

static int take(Manager *m, const Device *d)
{
        Baseline *b = find(m, d->id);

        if (!b) {
                b = ARRAY_APPEND(m->baselines, m->n_baselines);
                if (!b)
                        return -ENOMEM;
                b->device = strdup(d->id);
                if (!b->device) {
                        m->n_baselines--;
                        return -ENOMEM;
                }
        }
        if (b->counts.total != d->n_vectors)
                b->counts = device_count_vectors(m->snapshot, d, report_planned_node(m->plan, d));
        return 0;
}

int manager_update_baselines(Manager *m)
{
        int r = 0;

        drop_gone(m);
        for (size_t i = 0; r >= 0 && i < m->snapshot->n_devices; i++)
                r = take(m, &m->snapshot->devices[i]);
        if (r >= 0)
                tell_unknown_nodes(m);
        return r;
}

void manager_free_baselines(Manager *m)
{
        for (size_t i = 0; i < m->n_baselines; i++)
                free(m->baselines[i].device);
        free(m->baselines);
}
