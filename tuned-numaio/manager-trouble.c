/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-internal.h"

#include "basic/log.h"

#include <errno.h>
#include <string.h>

static const char *const trouble_over[_TROUBLE_MAX] = {
        [TROUBLE_READ_ONLY] = "what was read-only can be written again",
        [TROUBLE_LEDGER] = "the ledger takes first values again",
};

/* The cause that an error has in common with others; _TROUBLE_MAX = none. */
static Trouble trouble_of(int error, bool no_ledger)
{
        if (error < 0 && no_ledger)
                return TROUBLE_LEDGER;
        return error == -EROFS ? TROUBLE_READ_ONLY : _TROUBLE_MAX;
}

static void tell(Trouble t, const ApplyResult *r)
{
        const LogKnob k = {
                .message_id = MESSAGE_ID_REFUSED,
                .device = r->device,
                .path = r->path,
                .error = r->error,
        };

        if (t == TROUBLE_READ_ONLY)
                log_knob(LOG_ERR, &k,
                         "/%s cannot be written: the writer sees a read-only file system. Nothing is placed "
                         "there "
                         "before that ends. ProtectKernelTunables= or ReadOnlyPaths= of "
                         "tuned-numaio-writer.service do this, or how /proc and /sys are mounted",
                         r->path);
        else
                log_knob(LOG_ERR, &k,
                         "the ledger cannot be written: %s. Nothing is changed before its first value is "
                         "kept: "
                         "make room in /run/tuned-numaio/ledger",
                         strerror(-r->error));
}

bool manager_note_trouble(Manager *m, const ApplyResult *r)
{
        Trouble t = trouble_of(r->error, r->no_ledger);

        /* What was under way when the connection was lost: that is said once, where it is seen. */
        if (r->error == -ENOTCONN || r->error == -ECONNRESET)
                return true;
        if (t == _TROUBLE_MAX)
                return false;
        if (!m->trouble[t])
                tell(t, r);
        m->trouble[t] = true;
        return true;
}

/* What failed in the same way before was said then. */
static int level_of(Manager *m, const Decision *d, const ApplyResult *r, int error_before)
{
        if (manager_note_trouble(m, r) || r->error == error_before)
                return LOG_DEBUG;
        /* What went between the look and the write is no trouble: the next look sees it. */
        if (r->error == -ENOENT || r->error == -ENODEV || (d->optional && r->error == -ENOSPC))
                return LOG_INFO;
        return LOG_WARNING;
}

void manager_log_result(Manager *m, const Decision *d, const ApplyResult *r, const char *old,
                        int error_before)
{
        const LogKnob k = {
                .message_id = r->error < 0 ? MESSAGE_ID_REFUSED : MESSAGE_ID_CHANGE,
                .device = d->device,
                .knob = d->knob,
                .path = r->path,
                .old_value = old,
                .new_value = r->set,
                .rule = d->reason.rule,
                .error = r->error,
        };

        if (r->error < 0)
                log_knob(level_of(m, d, r, error_before), &k, "%s: %s was not written to /%s: %s%s", d->id,
                         r->set, r->path, r->no_ledger ? "the ledger cannot keep the first value: " : "",
                         strerror(-r->error));
        else if (r->written)
                log_knob(LOG_INFO, &k, "%s: %s instead of %s (rule \"%s\"): %s", d->id, r->set, old,
                         d->reason.rule, d->reason.text);
}

static unsigned count_trouble(const Manager *m, Trouble t, int *ret_error)
{
        unsigned n = 0;

        for (size_t i = 0; i < book_count(m->book); i++) {
                const Decision *d = book_at(m->book, i);

                if (!d->path || d->state != DECISION_FAILED || trouble_of(d->error, d->no_ledger) != t)
                        continue;
                *ret_error = d->error;
                n++;
        }
        return n;
}

void manager_end_trouble(Manager *m)
{
        for (Trouble t = 0; t < _TROUBLE_MAX; t++) {
                int error;

                if (!m->trouble[t] || count_trouble(m, t, &error) > 0)
                        continue;
                m->trouble[t] = false;
                log_notice("%s", trouble_over[t]);
        }
}

char *manager_trouble_text(const Manager *m)
{
        unsigned n;
        int error;

        n = count_trouble(m, TROUBLE_READ_ONLY, &error);
        if (n > 0)
                return strf(
                        "; %u files are on a file system that is read-only for the writer, see the journal",
                        n);
        n = count_trouble(m, TROUBLE_LEDGER, &error);
        if (n > 0)
                return strf("; the ledger cannot be written, %u files are left as they are: %s", n,
                            strerror(-error));
        return NULL;
}
