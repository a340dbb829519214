/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-internal.h"

#include "basic/array.h"
#include "basic/log.h"
#include "report/rates.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* Who asks again within this time gets the same answer. */
#define WINDOW_MIN 1000000u
/* An older sample says nothing about now. */
#define WINDOW_MAX 60000000u

/* The rates since the last sample, as the API takes text. */
static json_t *rates_since(const Manager *m, const Counters *now, uint64_t usec)
{
        _cleanup_(freep) char *text = report_rates(m->snapshot, m->plan, &m->rates.last, now, usec);

        return text ? json_string_nocheck(text) : NULL;
}

/* Takes a sample. *ret: the rates since the last one, NULL when that is too old or there was none. */
static int sample(Manager *m, json_t **ret)
{
        Rates *x = &m->rates;
        uint64_t now = manager_now(m);
        json_t *answer = NULL;
        Counters c;
        int r;

        r = counters_read(m->root, &c);
        if (r < 0)
                return r;
        if (x->time > 0 && now > x->time && now - x->time <= WINDOW_MAX) {
                answer = rates_since(m, &c, now - x->time);
                if (!answer) {
                        counters_clear(&c);
                        return -ENOMEM;
                }
        }
        counters_clear(&x->last);
        json_decref(x->answer);
        x->last = c;
        x->time = now;
        x->answer = answer;
        *ret = answer;
        return 0;
}

static int fail(Error *e, int error)
{
        if (error == -ENOENT || error == -EINVAL)
                return error_set(e, -EOPNOTSUPP, "proc/stat",
                                 "this machine does not count its interrupts there");
        return error_set(e, error, "proc/stat", "the counters cannot be read: %s", strerror(-error));
}

static int on_second_sample(sd_event_source *s, uint64_t usec, void *userdata)
{
        Manager *m = userdata;
        Rates *x = &m->rates;
        size_t n = x->n_waiting;
        json_t *answer = NULL;
        Error e = { 0 };
        int r;

        r = sample(m, &answer);
        if (r >= 0 && !answer)
                r = -EAGAIN; /* the machine slept meanwhile */
        if (r < 0)
                r = fail(&e, r);
        x->n_waiting = 0;
        for (size_t i = 0; i < n; i++)
                api_request_done(x->waiting[i], r, r < 0 ? NULL : json_incref(answer), &e);
        return 0;
}

static int arm(Manager *m)
{
        Rates *x = &m->rates;
        int r;

        if (!x->timer)
                return sd_event_add_time_relative(m->event, &x->timer, CLOCK_MONOTONIC, WINDOW_MIN, 1000,
                                                  on_second_sample, m);
        r = sd_event_source_set_time_relative(x->timer, WINDOW_MIN);
        return r < 0 ? r : sd_event_source_set_enabled(x->timer, SD_EVENT_ONESHOT);
}

static int wait_for_second(Manager *m, ApiRequest *req, Error *e)
{
        Rates *x = &m->rates;
        ApiRequest **w;
        int r = 0;

        if (x->n_waiting == 0)
                r = arm(m);
        if (r < 0)
                return error_set(e, r, NULL, "no timer: %s", strerror(-r));
        w = ARRAY_APPEND(x->waiting, x->n_waiting);
        if (!w)
                return error_set(e, -ENOMEM, NULL, "out of memory");
        *w = req;
        return API_DEFERRED;
}

int manager_get_rates(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e)
{
        Manager *m = userdata;
        Rates *x = &m->rates;
        json_t *answer = x->answer;
        int r;

        if (!m->snapshot)
                return error_set(e, -EBUSY, NULL, "the machine is being read");
        if (x->n_waiting > 0)
                return wait_for_second(m, req, e);
        if (!answer || manager_now(m) - x->time >= WINDOW_MIN) {
                r = sample(m, &answer);
                if (r < 0)
                        return fail(e, r);
        }
        if (!answer)
                return wait_for_second(m, req, e);
        *ret = json_incref(answer);
        return 0;
}

void manager_clear_rates(Manager *m)
{
        counters_clear(&m->rates.last);
        json_decref(m->rates.answer);
        free(m->rates.waiting);
        sd_event_source_disable_unref(m->rates.timer);
}
