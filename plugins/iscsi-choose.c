/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/iscsi-dynamic.h"

#include <errno.h>
#include <string.h>

void choice_clear(Choice *c)
{
        home_clear(&c->home);
        free(STEAL_PTR(c->why));
}

bool way_holds_mask(XmitWay way)
{
        return way != WAY_NONE && way != WAY_OFF;
}

static const Workqueue *find_queue(const Snapshot *s, const Device *d)
{
        char name[32];

        snprintf(name, sizeof(name), "iscsi_q_%d", d->iscsi->host);
        for (size_t i = 0; i < s->n_workqueues; i++) {
                const Workqueue *w = &s->workqueues[i];

                if (w->device >= 0 && &s->devices[w->device] == d && !w->per_cpu &&
                    strcmp(w->name, name) == 0)
                        return w;
        }
        return NULL;
}

/* Takes the text over. */
static int leave(Choice *c, VerdictState state, char *why)
{
        c->way = WAY_NONE;
        c->state = state;
        free(c->why);
        c->why = why;
        return why ? 0 : -ENOMEM;
}

static int add(Choice *c, XmitWay way, const char *more)
{
        c->way = way;
        c->why = more ? strdup(more) : NULL;
        return more && !c->why ? -ENOMEM : 0;
}

static int choose_cpumask(const PlanBuilder *b, Choice *c, const char *more)
{
        const Snapshot *s = plan_snapshot(b);

        if (cpuset_is_empty(c->home.cpus))
                return leave(c, VERDICT_UNKNOWN_NODE, strf("left alone: %s", c->home.text));
        if (s->workqueue_mask && !cpuset_intersects(c->home.cpus, s->workqueue_mask))
                return leave(
                        c, VERDICT_ERROR,
                        strf("%s lies outside the global workqueue cpumask: the kernel would silently use "
                             "every CPU",
                             c->home.text));
        return add(c, WAY_CPUMASK, more);
}

static int choose_on(const PlanBuilder *b, const Device *d, Choice *c)
{
        const char *more = NULL;

        if (device_knob(d, WRITER_ISCSI_XMIT_NUMA)) {
                if (!d->iscsi->xmit.receives)
                        return add(c, WAY_HINT, NULL);
                more = "; by the cpumask, since iscsi_tcp.recv_from_iscsi_q keeps xmit_numa from being set";
        }
        return choose_cpumask(b, c, more);
}

static int choose_submitter(const Device *d, Choice *c)
{
        const XmitFacts *x = &d->iscsi->xmit;

        if (x->receives)
                return leave(
                        c, VERDICT_LEFT,
                        strdup("iscsi_tcp.recv_from_iscsi_q has the queue receive, too, which relies on its "
                               "one pool"));
        if (device_knob(d, WRITER_WORKQUEUE_NUMA)) {
                if (!x->no_pools)
                        return add(c, WAY_NUMA, NULL);
                return leave(
                        c, VERDICT_ABSENT,
                        strdup("workqueue.disable_numa keeps workqueues from having a pool for each node; "
                               "without that boot option they can"));
        }
        if (!device_knob(d, WRITER_WORKQUEUE_SCOPE) || !device_knob(d, WRITER_WORKQUEUE_STRICT))
                return leave(c, VERDICT_ABSENT,
                             strf("%s has neither numa nor affinity_scope: Linux up to 6.5, or from 6.9 on, "
                                  "has one of them",
                                  c->queue->name));
        if (x->order == QUEUE_STAYS_ORDERED)
                return leave(c, VERDICT_ABSENT,
                             strf("this kernel keeps %s in order, whatever its affinity_scope, as Linux 6.6 "
                                  "to 6.8 "
                                  "do: only its cpumask works (dynamic: on); Linux 6.9 has it",
                                  c->queue->name));
        return add(c, WAY_SCOPE,
                   x->order == QUEUE_ORDER_UNKNOWN ? "; whether this kernel heeds it cannot be told" : NULL);
}

static int choose_auto(const Device *d, Choice *c)
{
        if (d->iscsi->xmit.counted && d->iscsi->xmit.receives)
                return leave(c, VERDICT_LEFT,
                             strdup("iscsi_tcp.recv_from_iscsi_q keeps xmit_numa from being set"));
        if (d->iscsi->xmit.counted && device_knob(d, WRITER_ISCSI_XMIT_NUMA))
                return add(c, WAY_WATCH, NULL);
        return leave(c, VERDICT_ABSENT,
                     strf("auto needs xmit_numa and the counters of xmit_stats, which kernel/ adds to Linux; "
                          "on goes by the cpumask here, and numaioctl measure %s counts once",
                          d->id));
}

static int choose_mode(const PlanBuilder *b, const Device *d, Choice *c)
{
        const char *mode = c->setting->word;

        if (strcmp(mode, "off") == 0)
                return add(c, WAY_OFF, NULL);
        if (strcmp(mode, "on") == 0)
                return choose_on(b, d, c);
        if (strcmp(mode, "submitter") == 0)
                return choose_submitter(d, c);
        return choose_auto(d, c);
}

/* What keeps a host from being touched, whatever the policy says. Returns 1 when nothing does. */
static int check_host(const Device *d, Choice *c)
{
        if (!d->iscsi)
                return leave(c, VERDICT_NONE, strdup("no iSCSI host"));
        if (!c->queue && d->iscsi->offload)
                return leave(c, VERDICT_NONE, strdup("the card transmits: there is no transmit queue"));
        if (!c->setting)
                return leave(c, VERDICT_LEFT,
                             strdup("no rule of the policy sets iscsi.dynamic for this device"));
        if (!c->queue)
                return leave(c, VERDICT_ABSENT,
                             strf("sysfs does not show iscsi_q_%d, as kernels do that make it dynamic by "
                                  "themselves; Linux from 5.8 on shows it",
                                  d->iscsi->host));
        if (d->iscsi->offload || d->iscsi->xmit.sessions > 1)
                return leave(c, VERDICT_LEFT,
                             strf("%s is the queue of all sessions of this host: it is never made dynamic",
                                  c->queue->name));
        return 1;
}

int iscsi_choose(const PlanBuilder *b, const Device *d, Choice *ret, Error *e)
{
        int r;

        *ret = (Choice) { .setting = policy_get(plan_policy(b), d, "iscsi", "dynamic"),
                          .queue = d->iscsi ? find_queue(plan_snapshot(b), d) : NULL,
                          .home = { .node = d->node, .source = d->node_source } };
        r = check_host(d, ret);
        if (r <= 0)
                return r;
        r = plan_home(b, d, &ret->home, e);
        if (r < 0)
                return r;
        if (ret->home.leave)
                return leave(ret, VERDICT_LEFT, strdup("the policy says leave"));
        return choose_mode(b, d, ret);
}
