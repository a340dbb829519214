/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/iscsi-dynamic.h"
#include "plugins/plugin.h"

#include <errno.h>
#include <string.h>

/* iscsi.transmit: whether commands are transmitted by the host's workqueue or by who submits them. */

#define KNOB "iscsi.transmit"

#define VERDICT(b, d, setting, state, ...) \
        plan_add_verdict(b, d, plugin_iscsi.name, KNOB, state, NULL, setting, __VA_ARGS__)

/* What keeps this disk's submitters from transmitting; "" = nothing. NULL when memory is short. */
static char *why_not_disk(const IscsiDisk *disk)
{
        if (disk->request_based)
                return strf("%s lies below %s, a request-based device mapper target, which submits where "
                            "nobody may "
                            "sleep: its session should not have been created with iscsi_tcp.blocking_xmit",
                            disk->name, disk->request_based);
        if (!disk->scheduler)
                return strf("nothing tells the I/O scheduler of %s", disk->name);
        if (strcmp(disk->scheduler, "none") != 0)
                return strf("%s has the I/O scheduler %s: only with none submitters dispatch by themselves",
                            disk->name, disk->scheduler);
        return strdup("");
}

static char *why_not(const Device *d)
{
        const XmitFacts *x = &d->iscsi->xmit;

        for (size_t i = 0; i < x->n_disks; i++) {
                char *why = why_not_disk(&x->disks[i]);

                if (!why || *why)
                        return why;
                free(why);
        }
        return strdup(x->n_disks ? "" : "no disk lies below this host yet");
}

static int add_change(PlanBuilder *b, const Device *d, const Setting *setting, const Knob *k,
                      const char *value, const char *text)
{
        Change c = { .plugin = plugin_iscsi.name,
                     .knob = KNOB,
                     .kind = k->kind,
                     .path = strdup(k->path),
                     .current = strdup(k->value),
                     .desired = strdup(value),
                     .settable = k->settable,
                     .irq = -1,
                     .reason = { .text = strdup(text) } };

        return plan_add_change(b, d, k->role, setting, &c);
}

static int settle(PlanBuilder *b, const Device *d, const Setting *setting, const Knob *k, const char *value,
                  const char *text)
{
        int r;

        if (strcmp(k->value, value) == 0)
                return VERDICT(b, d, setting, VERDICT_RIGHT, "%s", text);
        if (plan_is_left(b, k->path))
                return VERDICT(b, d, setting, VERDICT_RIGHT, "xmit_inline is left to others");
        r = add_change(b, d, setting, k, value, text);
        return r < 0 ? r : VERDICT(b, d, setting, VERDICT_CHANGES, "%s", text);
}

/* As for every file that the kernel refuses: the change stands in the plan, and nobody tries it again. */
static int refuse(PlanBuilder *b, const Device *d, const Setting *setting, const Knob *k)
{
        static const char text[] =
                "left to the workqueue: the session was not created blocking; it is when it "
                "logs in while iscsi_tcp.blocking_xmit is 1";
        int r;

        r = add_change(b, d, setting, k, "1", text);
        return r < 0 ? r : VERDICT(b, d, setting, VERDICT_LEFT, "%s", text);
}

static int plan_inline(PlanBuilder *b, const Device *d, const Setting *setting, const Knob *k)
{
        _cleanup_(freep) char *why = why_not(d), *text = why ? strf("left to the workqueue: %s", why) : NULL;

        if (!text)
                return -ENOMEM;
        /* What was safe may be so no longer: a multipath device was put above it. */
        if (*why && strcmp(k->value, "1") == 0)
                return settle(b, d, setting, k, "0", text);
        if (*why)
                return VERDICT(b, d, setting, VERDICT_LEFT, "%s", text);
        if (k->settable == SETTABLE_NO && strcmp(k->value, "1") != 0)
                return refuse(b, d, setting, k);
        return settle(b, d, setting, k, "1", "submitters transmit their commands");
}

int iscsi_plan_transmit(PlanBuilder *b, const Device *d)
{
        const Setting *setting = policy_get(plan_policy(b), d, "iscsi", "transmit");
        const Knob *k = device_knob(d, WRITER_ISCSI_XMIT_INLINE);
        bool wanted = setting && strcmp(setting->word, "inline") == 0;

        if (!d->iscsi || d->iscsi->offload)
                return VERDICT(b, d, setting, VERDICT_NONE, "no software iSCSI host");
        if (!setting)
                return VERDICT(b, d, setting, VERDICT_LEFT,
                               "no rule of the policy sets iscsi.transmit for this device");
        if (!k && wanted)
                return VERDICT(b, d, setting, VERDICT_ABSENT,
                               "this host has no xmit_inline, which kernel/ adds to iscsi_tcp of Linux 6.1");
        if (!k)
                return VERDICT(b, d, setting, VERDICT_RIGHT,
                               "the workqueue transmits: this kernel knows no other way");
        if (plan_is_held(b, d))
                return VERDICT(b, d, setting, VERDICT_HELD,
                               "held as it was before the first write, until apply");
        if (!wanted)
                return settle(b, d, setting, k, "0", "the workqueue transmits");
        return plan_inline(b, d, setting, k);
}
