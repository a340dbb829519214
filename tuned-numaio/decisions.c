/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decisions-internal.h"

#include "basic/array.h"
#include "basic/parse.h"
#include "model/knob-file.h"

#include <errno.h>
#include <string.h>

Book *book_new(void)
{
        return calloc(1, sizeof(Book));
}

void decision_clear(Decision *d)
{
        free(d->id);
        free(d->device);
        free(d->plugin);
        free(d->knob);
        free(d->path);
        free(d->first);
        free(d->set);
        free(d->current);
        free(d->desired);
        free(d->tried);
        free(d->reason.rule);
        free(d->reason.file);
        free(d->reason.text);
        drift_clear(&d->drift);
        json_decref(d->evidence);
}

Book *book_free(Book *b)
{
        if (!b)
                return NULL;
        for (size_t i = 0; i < b->n; i++)
                decision_clear(&b->items[i]);
        free(b->items);
        free(b);
        return NULL;
}

size_t book_locate(const Book *b, const char *id, bool *ret_found)
{
        size_t low = 0, high = b->n;

        while (low < high) {
                size_t mid = (low + high) / 2;
                int c = natural_compare(b->items[mid].id, id);

                if (c == 0) {
                        *ret_found = true;
                        return mid;
                }
                if (c < 0)
                        low = mid + 1;
                else
                        high = mid;
        }
        *ret_found = false;
        return low;
}

Decision *book_find(Book *b, const char *id)
{
        bool found;
        size_t i = book_locate(b, id, &found);

        return found ? &b->items[i] : NULL;
}

Decision *book_find_path(Book *b, const char *path)
{
        for (size_t i = 0; i < b->n; i++)
                if (b->items[i].path && strcmp(b->items[i].path, path) == 0)
                        return &b->items[i];
        return NULL;
}

int book_left(const Book *b, Strv *ret)
{
        Strv left = { 0 };

        for (size_t i = 0; i < b->n; i++)
                if (b->items[i].path && drift_is_left(&b->items[i].drift) &&
                    strv_add(&left, b->items[i].path) < 0) {
                        strv_clear(&left);
                        return -ENOMEM;
                }
        *ret = left;
        return 0;
}

size_t book_count(const Book *b)
{
        return b->n;
}

Decision *book_at(Book *b, size_t i)
{
        return i < b->n ? &b->items[i] : NULL;
}

int decision_set_string(char **s, const char *value)
{
        char *copy;

        if (!value || (*s && strcmp(*s, value) == 0))
                return 0;
        copy = strdup(value);
        if (!copy)
                return -ENOMEM;
        free(*s);
        *s = copy;
        return 0;
}

static Decision *open_decision(Book *b, const char *id, const char *device, const char *plugin,
                               const char *knob)
{
        bool found;
        size_t i = book_locate(b, id, &found);
        Decision d = { .irq = -1, .node = NODE_UNKNOWN };

        if (found)
                return &b->items[i];
        if (decision_set_string(&d.id, id) < 0 || decision_set_string(&d.device, device) < 0 ||
            decision_set_string(&d.plugin, plugin) < 0 || decision_set_string(&d.knob, knob) < 0 ||
            array_grow(&b->items, b->n, sizeof(*b->items)) < 0) {
                decision_clear(&d);
                return NULL;
        }
        b->n++;
        memmove(&b->items[i + 1], &b->items[i], (b->n - 1 - i) * sizeof(*b->items));
        b->items[i] = d;
        return &b->items[i];
}

int decision_set_reason(Reason *to, const Reason *from)
{
        to->line = from->line;
        if (decision_set_string(&to->rule, from->rule) < 0 ||
            decision_set_string(&to->file, from->file) < 0 || decision_set_string(&to->text, from->text) < 0)
                return -ENOMEM;
        return 0;
}

static DecisionState state_of_drift(const Decision *d)
{
        switch (d->drift.state) {
        case DRIFT_WAITING:
        case DRIFT_REPORTED:
                return DECISION_DRIFTED;
        case DRIFT_YIELDED:
                return DECISION_YIELDED;
        case DRIFT_CONTESTED:
                return DECISION_CONTESTED;
        case DRIFT_NONE:
        case DRIFT_FOUND:
        case _DRIFT_STATE_MAX:
                break;
        }
        return d->state;
}

void decision_set_drift(Decision *d)
{
        d->state = state_of_drift(d);
}

static int take_change(Book *b, const Change *c, int node)
{
        Decision *d = open_decision(b, c->id, c->device, c->plugin, c->knob);

        if (!d)
                return -ENOMEM;
        d->irq = c->irq;
        d->node = node;
        d->optional = c->optional;
        d->wanted = true;
        d->kind = file_kind_find(c->kind);
        d->accepts = d->set && drift_accepts(d->set, c->desired, c->fallback, c->optional, d->kind);
        d->state = c->settable == SETTABLE_NO ? DECISION_REFUSED
                   : d->error < 0             ? DECISION_FAILED
                                              : DECISION_PLANNED;
        if (decision_set_string(&d->path, c->path) < 0 || decision_set_string(&d->current, c->current) < 0 ||
            decision_set_string(&d->desired, c->desired) < 0)
                return -ENOMEM;
        return decision_set_reason(&d->reason, &c->reason);
}

static DecisionState state_of_verdict(VerdictState v)
{
        switch (v) {
        case VERDICT_RIGHT:
                return DECISION_RIGHT;
        case VERDICT_CHANGES:
                return DECISION_PLANNED;
        case VERDICT_MANAGED:
                return DECISION_MANAGED;
        case VERDICT_LEFT:
                return DECISION_LEFT;
        case VERDICT_UNKNOWN_NODE:
                return DECISION_UNKNOWN_NODE;
        case VERDICT_HELD:
                return DECISION_HELD;
        case VERDICT_ABSENT:
                return DECISION_ABSENT;
        case VERDICT_NONE:
                return DECISION_NONE;
        case VERDICT_ERROR:
        case _VERDICT_STATE_MAX:
                return DECISION_ERROR;
        }
        return DECISION_ERROR;
}

static int take_verdict(Book *b, const Verdict *v)
{
        _cleanup_(freep) char *id = strf("%s~%s", v->device, v->knob);
        Decision *d = id ? open_decision(b, id, v->device, v->plugin, v->knob) : NULL;

        if (!d)
                return -ENOMEM;
        d->state = state_of_verdict(v->state);
        d->node = v->node;
        return decision_set_reason(&d->reason, &v->reason);
}

const Verdict *plan_verdict_of(const Plan *p, const char *device, const char *knob)
{
        for (size_t i = 0; i < p->n_verdicts; i++)
                if (strcmp(p->verdicts[i].device, device) == 0 && strcmp(p->verdicts[i].knob, knob) == 0)
                        return &p->verdicts[i];
        return NULL;
}

/* Whether an id DEVICE~KNOB~ROLE ends with this role. */
static bool has_role(const char *id, const char *role)
{
        size_t n = strlen(id), k = strlen(role);

        return n > k && id[n - k - 1] == '~' && strcmp(id + n - k, role) == 0;
}

static DecisionState state_without_change(const Decision *d, const Verdict *v)
{
        if (v && v->state == VERDICT_HELD) /* what could not be put back has a first value still */
                return d->state == DECISION_FAILED && d->first ? DECISION_FAILED : DECISION_HELD;
        if (v && v->state == VERDICT_LEFT)
                return DECISION_LEFT;
        if (drift_is_left(&d->drift))
                return state_of_drift(d);
        if (d->state == DECISION_REFUSED)
                return d->state;
        return d->first ? DECISION_APPLIED : DECISION_RIGHT;
}

/* The ledger does not know rules: what was adopted from it takes the one that is in force. */
static int take_rule(Decision *d, const Reason *from)
{
        if (!d->reason.rule || *d->reason.rule)
                return 0;
        d->reason.line = from->line;
        return decision_set_string(&d->reason.rule, from->rule) < 0 ||
                               decision_set_string(&d->reason.file, from->file) < 0
                       ? -ENOMEM
                       : 0;
}

/* A decision about one file that the plan says nothing of any more. Returns 1, 0 = what it was about is gone,
 * or -ENOMEM. */
static int refresh(Decision *d, const Snapshot *s, const Plan *p)
{
        const Device *device = snapshot_device(s, d->device);
        KnobFile f = { 0 };
        const Verdict *v;
        unsigned irq;
        int r;

        if (!device || !d->path)
                return device != NULL;
        r = device_find_file(s, device, d->path, &f);
        if (r <= 0)
                return r;
        d->wanted = false;
        free(d->current);
        d->current = STEAL_PTR(f.current);
        r = has_role(d->id, f.role);
        knob_file_clear(&f);
        if (irq_of_path(d->path, &irq))
                d->irq = (int)irq;
        v = plan_verdict_of(p, d->device, d->knob);
        if (v)
                d->node = v->node;
        d->state = state_without_change(d, v);
        if (v && take_rule(d, &v->reason) < 0)
                return -ENOMEM;
        return r;
}

static int drop_gone(Book *b, const Snapshot *s, const Plan *p)
{
        size_t kept = 0;
        int r = 0;

        for (size_t i = 0; i < b->n; i++) {
                int k = refresh(&b->items[i], s, p);

                if (k == 0) {
                        decision_clear(&b->items[i]);
                        continue;
                }
                if (k < 0)
                        r = k;
                if (kept != i)
                        b->items[kept] = b->items[i];
                kept++;
        }
        b->n = kept;
        return r;
}

int book_update(Book *b, const Snapshot *s, const Plan *p)
{
        int r;

        r = book_hand_over(b, s, p);
        if (r >= 0)
                r = drop_gone(b, s, p);
        if (r < 0)
                return r;
        for (size_t i = 0; i < p->n_verdicts; i++) {
                r = take_verdict(b, &p->verdicts[i]);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < p->n_changes; i++) {
                const Verdict *v = plan_verdict_of(p, p->changes[i].device, p->changes[i].knob);

                r = take_change(b, &p->changes[i], v ? v->node : NODE_UNKNOWN);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < b->n; i++) {
                Decision *d = &b->items[i];

                if (d->state != DECISION_RIGHT && d->state != DECISION_APPLIED && d->state != DECISION_HELD)
                        continue;
                d->waited = false;
                d->error = 0; /* whatever was tried last, what is in force is right */
                if (d->state != DECISION_HELD && decision_set_string(&d->desired, d->current) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static void forget_written(Decision *d)
{
        free(STEAL_PTR(d->first));
        free(STEAL_PTR(d->set));
        drift_clear(&d->drift);
}

int book_result(Book *b, const ApplyResult *result, uint64_t now)
{
        Decision *d = book_find(b, result->id);

        if (!d)
                return 0;
        d->error = result->error;
        d->no_ledger = result->no_ledger;
        if (result->error >= 0)
                d->waited = false;
        if (error_is_refusal(result->error) && !result->no_ledger)
                d->state = DECISION_REFUSED;
        else
                d->state = result->error < 0 ? DECISION_FAILED : DECISION_APPLIED;
        if (result->written) {
                d->writes++;
                d->time = now;
        }
        if (result->error < 0)
                return 0;
        if (*result->set && decision_set_string(&d->desired, result->set) < 0)
                return -ENOMEM;
        if (*result->first)
                return decision_set_string(&d->first, result->first) < 0 ||
                                       decision_set_string(&d->set, result->set) < 0
                               ? -ENOMEM
                               : 0;
        forget_written(d); /* the ledger has none of this object */
        return 0;
}

int decision_note_full(const Decision *d, const ApplyResult *result, CpuSet **full)
{
        unsigned cpu;

        if (result->no_ledger || strcmp(d->knob, "irq.affinity") != 0 || !d->desired ||
            parse_unsigned(d->desired, &cpu) < 0)
                return 0;
        if (result->error != -ENOSPC && (result->error < 0 || strcmp(result->set, d->desired) == 0))
                return 0;
        return cpuset_add(full, cpu);
}

/* Another knob may decide about the file since the ledger got its entry. */
static bool is_about(const Decision *d, const WriterReply *entry)
{
        return strcmp(d->device, entry->device) == 0 && has_role(d->id, strrchr(entry->id, '~') + 1);
}

/* Whether it was seen what is in force: the ledger knows less. */
static bool is_looked_at(const Decision *d)
{
        return d->current != NULL;
}

int book_adopt(Book *b, const WriterReply *entry)
{
        static const Reason reason = {
                .rule = (char *)"",
                .file = (char *)"",
                .text = (char *)"set before this process was started, and still right"
        };
        _cleanup_(freep) char *knob = NULL;
        const char *first_tilde = strchr(entry->id, '~');
        Decision *d;

        if (!first_tilde || !*entry->path || !file_kind_find(entry->kind))
                return 0;
        knob = strndup(first_tilde + 1, strcspn(first_tilde + 1, "~"));
        if (!knob)
                return -ENOMEM;
        d = book_find_path(b, entry->path);
        if (!d || !is_about(d, entry)) {
                _cleanup_(freep) char *plugin = strndup(knob, strcspn(knob, "."));

                d = plugin ? open_decision(b, entry->id, entry->device, plugin, knob) : NULL;
        }
        if (!d)
                return -ENOMEM;
        d->kind = file_kind_find(entry->kind);
        if (entry->flags & WRITER_REFUSED) {
                d->state = DECISION_REFUSED;
                d->error = entry->error;
        } else if (!is_looked_at(d)) {
                d->state = DECISION_APPLIED;
        }
        if (decision_set_string(&d->path, entry->path) < 0 ||
            (!d->reason.text && decision_set_reason(&d->reason, &reason) < 0))
                return -ENOMEM;
        if (*entry->set && ((!is_looked_at(d) && decision_set_string(&d->desired, entry->set) < 0) ||
                            decision_set_string(&d->set, entry->set) < 0))
                return -ENOMEM;
        return *entry->first ? decision_set_string(&d->first, entry->first) : 0;
}

void book_restored(Book *b, const char *path, int error)
{
        Decision *d = book_find_path(b, path);

        if (!d)
                return;
        d->error = error;
        d->no_ledger = false;
        drift_clear(&d->drift); /* whoever held it: it is the person's now who restored it */
        if (error < 0) {
                d->state = DECISION_FAILED;
                return;
        }
        forget_written(d);
        d->state = DECISION_HELD;
}

int decision_wait(Decision *d, const char *why)
{
        char *text = strf("%s; then: %s", why, d->reason.text ? d->reason.text : "");

        if (!text)
                return -ENOMEM;
        free(d->reason.text);
        d->reason.text = text;
        d->state = DECISION_WAITING;
        d->waited = true;
        return 0;
}

bool decision_try(Decision *d, uint64_t round, const char *value)
{
        if (d->round == round && d->tried && strcmp(d->tried, value) == 0)
                return false;
        d->round = round;
        (void)decision_set_string(
                &d->tried, value); /* without memory it may be tried twice: the limit on passes ends that */
        return true;
}
