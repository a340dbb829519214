/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decisions-internal.h"

#include "model/knob-file.h"

#include <errno.h>
#include <string.h>

/* A path has one decision, whose id names the knob that decides about it. When that changes the decision goes
 * over, with the first value, what was set, and what others did to it. */

static const Claim *claim_of(const Plan *p, const char *path)
{
        for (size_t i = 0; i < p->n_claims; i++)
                if (strcmp(p->claims[i].path, path) == 0)
                        return &p->claims[i];
        return NULL;
}

static void take_out(Book *b, size_t i)
{
        b->n--;
        memmove(&b->items[i], &b->items[i + 1], (b->n - i) * sizeof(*b->items));
}

/* Gives a decision its new id and the place that goes with it. Takes the strings over, also on failure. */
static int rename_decision(Book *b, size_t i, char *id, char *plugin, char *knob)
{
        Decision d;
        bool found;
        size_t at;

        if (!id || !plugin || !knob) {
                free(id);
                free(plugin);
                free(knob);
                return -ENOMEM;
        }
        d = b->items[i];
        take_out(b, i);
        free(d.id);
        free(d.plugin);
        free(d.knob);
        d.id = id;
        d.plugin = plugin;
        d.knob = knob;
        at = book_locate(b, id, &found);
        if (found) { /* of a host that is gone: a role is about one file at a time */
                decision_clear(&b->items[at]);
                take_out(b, at);
        }
        memmove(&b->items[at + 1], &b->items[at], (b->n - at) * sizeof(*b->items));
        b->items[at] = d;
        b->n++;
        return 0;
}

/* Whether the file is there still. Returns 1, 0 or -ENOMEM. */
static int is_there(const Snapshot *s, const Decision *d)
{
        const Device *device = snapshot_device(s, d->device);
        KnobFile f = { 0 };
        int r = device ? device_find_file(s, device, d->path, &f) : 0;

        knob_file_clear(&f);
        return r;
}

static int hand_over(Book *b, size_t i, const Snapshot *s, const Plan *p, const char *knob)
{
        Decision *d = &b->items[i];
        const Verdict *v = plan_verdict_of(p, d->device, knob);
        int r = is_there(s, d);

        if (r < 0)
                return r;
        if (r == 0) {
                decision_clear(d);
                take_out(b, i);
                return 0;
        }
        if (v && decision_set_reason(&d->reason, &v->reason) < 0)
                return -ENOMEM;
        return rename_decision(b, i, strf("%s~%s~%s", d->device, knob, strrchr(d->id, '~') + 1),
                               strndup(knob, strcspn(knob, ".")), strdup(knob));
}

int book_hand_over(Book *b, const Snapshot *s, const Plan *p)
{
        size_t i = 0;

        while (i < b->n) {
                const Decision *d = &b->items[i];
                const Claim *c = d->path ? claim_of(p, d->path) : NULL;
                const char *knob = c ? c->knob : d->path ? d->kind->knob : d->knob;
                int r;

                if (strcmp(d->knob, knob) == 0) {
                        i++;
                        continue;
                }
                r = hand_over(b, i, s, p, knob);
                if (r < 0)
                        return r;
        }
        return 0;
}
