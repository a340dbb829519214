/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-internal.h"

#include "apply/identity.h"
#include "basic/array.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "model/knob-file.h"
#include "standin/standin.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#define RECONNECT_USEC 2000000u

bool manager_writer_is_busy(const Manager *m)
{
        return m->applier && applier_is_busy(m->applier);
}

/* --- refusals --- */

static void refusal_clear(Refusal *f)
{
        free(f->id);
        free(f->path);
        free(f->identity);
}

void manager_free_refusals(Manager *m)
{
        for (size_t i = 0; i < m->n_refusals; i++)
                refusal_clear(&m->refusals[i]);
        free(STEAL_PTR(m->refusals));
        m->n_refusals = 0;
}

static Refusal *find_refusal(Manager *m, const char *id, const char *path)
{
        for (size_t i = 0; i < m->n_refusals; i++)
                if (strcmp(m->refusals[i].path, path) == 0 && strcmp(m->refusals[i].id, id) == 0)
                        return &m->refusals[i];
        return NULL;
}

static int add_refusal(Manager *m, const char *id, const char *path, const char *identity, int error)
{
        Refusal new = {
                .id = strdup(id), .path = strdup(path), .identity = strdup(identity), .error = error
        };
        Refusal *f = NULL;

        if (new.id &&new.path &&new.identity) {
                f = find_refusal(m, id, path);
                if (f)
                        refusal_clear(f);
                else
                        f = ARRAY_APPEND(m->refusals, m->n_refusals);
        }
        if (!f) {
                refusal_clear(&new);
                return -ENOMEM;
        }
        *f = new;
        return 0;
}

/* Whether it is about another object than the one that is there now. In doubt it is not. */
static bool is_stale(const Manager *m, const Refusal *f)
{
        _cleanup_(freep) char *identity = NULL;

        if (snapshot_change_is_at(m->snapshot, f->id, f->path) == 0)
                return true;
        return *f->identity && object_identity(m->root, f->path, &identity) >= 0 &&
               strcmp(identity, f->identity) != 0;
}

void manager_forget_stale_refusals(Manager *m, bool *ret_changed)
{
        size_t kept = 0, before = m->n_refusals;

        for (size_t i = 0; i < m->n_refusals; i++) {
                if (is_stale(m, &m->refusals[i]))
                        refusal_clear(&m->refusals[i]);
                else
                        m->refusals[kept++] = m->refusals[i];
        }
        m->n_refusals = kept;
        *ret_changed = kept != before;
}

/* --- answers --- */

static void on_restored(Manager *m, const ApplyResult *r)
{
        const Decision *d = book_find_path(m->book, r->path);
        const LogKnob k = {
                .message_id = MESSAGE_ID_RESTORED,
                .device = d ? d->device : NULL,
                .knob = d ? d->knob : NULL,
                .path = r->path,
                .new_value = r->first,
                .error = r->error,
        };

        if (r->error == -ENODEV || r->error == -ENOENT) {
                book_restored(m->book, r->path, 0); /* the object is gone, nothing is left to restore */
                return;
        }
        if (r->error < 0 && !r->no_ledger) {
                log_knob(manager_note_trouble(m, r) ? LOG_DEBUG : LOG_WARNING, &k,
                         "/%s could not be put back: %s", r->path, strerror(-r->error));
                book_restored(m->book, r->path, r->error);
                return;
        }
        (void)manager_note_trouble(m, r); /* only the ledger still has it */
        log_knob(LOG_INFO, &k, "/%s has its first value again: %s", r->path, r->first);
        book_restored(m->book, r->path, 0);
}

static void on_done(void *userdata, const ApplyResult *r)
{
        Manager *m = userdata;
        Decision *d;
        _cleanup_(freep) char *old = NULL;
        int error_before;

        if (!m->in_round) {
                if (*r->path)
                        on_restored(m, r);
                else
                        (void)error_set(&m->request_error, r->error, r->device,
                                        "the writer cannot note whether the device is held: %s",
                                        strerror(-r->error));
                return;
        }
        d = book_find(m->book, r->id);
        if (!d)
                return;
        error_before = d->error;
        old = d->current ? strdup(d->current) : NULL;
        if (decision_note_full(d, r, &m->full) < 0)
                log_error("out of memory");
        if (book_result(m->book, r, clock_usec(CLOCK_REALTIME)) < 0)
                log_error("out of memory");
        if (r->written)
                drift_written(&d->drift, manager_now(m));
        m->writes += r->written;
        if (d->state == DECISION_REFUSED && add_refusal(m, r->id, r->path, r->identity, r->error) < 0)
                log_error("out of memory");
        manager_log_result(m, d, r, old ? old : "", error_before);
}

static void on_ledger_entry(void *userdata, const WriterReply *entry)
{
        Manager *m = userdata;
        int r = 0;

        if (!entry)
                return; /* on_io() sees that nothing is outstanding */
        if (entry->flags & WRITER_HELD)
                r = strv_add_unique(&m->held, entry->device);
        else if (entry->flags & WRITER_REFUSED)
                r = add_refusal(m, entry->id, entry->path, entry->identity, entry->error);
        if (r >= 0)
                r = book_adopt(m->book, entry);
        if (r < 0)
                log_error("out of memory");
}

/* --- connection --- */

static void arm_reconnect(Manager *m)
{
        /* A writer that cannot start is asked more and more rarely: 2 s, 4 s, up to 32 s. */
        (void)sd_event_source_set_time_relative(m->reconnect,
                                                (uint64_t)RECONNECT_USEC << (m->vain < 4 ? m->vain : 4));
        m->vain++;
        (void)sd_event_source_set_enabled(m->reconnect, SD_EVENT_ONESHOT);
}

static void lost(Manager *m, int error)
{
        log_line(m->vain == 0 ? LOG_WARNING : LOG_DEBUG, "the connection to the writer is lost: %s",
                 strerror(-error));
        manager_disconnect_writer(m);
        arm_reconnect(m);
        /* Without a writer it goes on observing. */
        if (m->in_round || !m->snapshot)
                schedule_event(&m->schedule, manager_now(m));
        m->in_round = false;
        if (m->request_active) {
                Error e;

                manager_answer(
                        m,
                        error_set(&e, -ENOTCONN, NULL, "the writer is gone; its state is kept in the ledger"),
                        &e);
        }
        if (m->stopping)
                (void)sd_event_exit(m->event, 0);
        else
                manager_continue(m); /* who waits is told the same */
        manager_notify_status(m);
}

/* Everything that was asked is answered. */
static void on_idle(Manager *m)
{
        if (!m->ledger_read) {
                m->ledger_read = true;
                if (m->vain > 0)
                        log_notice("the writer is there again");
                m->vain = 0;
                manager_start_round(m, false);
        } else if (m->in_round) {
                manager_pass(m);
        } else if (m->request_active) {
                manager_start_round(m, m->requests[0].kind == REQUEST_APPLY);
        }
        manager_continue(m);
}

static uint32_t to_epoll(short events)
{
        return (events & POLLIN ? EPOLLIN : 0u) | (events & POLLOUT ? EPOLLOUT : 0u);
}

static int on_io(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
        Manager *m = userdata;
        bool was_busy = applier_is_busy(m->applier);
        int r;

        r = applier_process(m->applier);
        if (r >= 0 && !was_busy && (revents & (EPOLLHUP | EPOLLERR)))
                r = -EPIPE;
        if (r < 0) {
                lost(m, r);
                return 0;
        }
        (void)sd_event_source_set_io_events(m->writer_source, to_epoll(applier_events(m->applier)) | EPOLLIN);
        if (was_busy && !applier_is_busy(m->applier))
                on_idle(m);
        return 0;
}

void manager_push_writer(Manager *m)
{
        /* The loop calls on_io() as soon as the socket takes something. */
        if (m->writer_source)
                (void)sd_event_source_set_io_events(m->writer_source, EPOLLIN | EPOLLOUT);
}

static int on_reconnect(sd_event_source *s, uint64_t usec, void *userdata)
{
        Manager *m = userdata;
        Error e = { 0 };

        if (manager_connect_writer(m, &e) < 0) {
                log_line(m->vain <= 1 ? LOG_ERR : LOG_DEBUG, "%s", e.text);
                arm_reconnect(m);
        }
        manager_notify_status(m);
        return 0;
}

static int connect_socket(const char *path)
{
        _cleanup_(closep) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        struct sockaddr_un sa = { .sun_family = AF_UNIX };

        if (fd < 0)
                return -errno;
        snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
        if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
                return -errno;
        return STEAL_FD(fd);
}

/* The shipped writer on the live machine; on a copy a child that stands in for writer and kernel. */
static int reach_writer(Manager *m, Error *e)
{
        _cleanup_(freep) char *folder = NULL;
        int fd;

        if (root_is_live(m->root)) {
                fd = connect_socket(WRITER_SOCKET_PATH);
                return fd < 0 ? error_set(e, fd, WRITER_SOCKET_PATH,
                                          "the writer cannot be reached at %s: %s; start "
                                          "tuned-numaio-writer.socket",
                                          WRITER_SOCKET_PATH, strerror(-fd))
                              : fd;
        }
        fd = standin_make_folder(root_path(m->root), &folder, e);
        if (fd < 0)
                return fd;
        fd = standin_start_writer(root_path(m->root), folder, &m->writer_pid);
        return fd < 0 ? error_set(e, fd, folder, "the stand-in writer cannot be started: %s",
                                  observe_strerror(fd))
                      : fd;
}

static int start_reconnect(Manager *m)
{
        int r = 0;

        if (!m->reconnect)
                r = sd_event_add_time(m->event, &m->reconnect, CLOCK_MONOTONIC, UINT64_MAX, 100000,
                                      on_reconnect, m);
        if (r >= 0)
                r = sd_event_source_set_enabled(m->reconnect, SD_EVENT_OFF);
        return r;
}

int manager_connect_writer(Manager *m, Error *e)
{
        int r;

        r = start_reconnect(m);
        if (r < 0)
                return error_set(e, r, NULL, "no timer: %s", strerror(-r));
        m->writer_fd = reach_writer(m, e);
        if (m->writer_fd < 0) {
                r = m->writer_fd;
                m->writer_fd = -1;
                if (!root_is_live(m->root))
                        return r;
                /* Without a writer the daemon observes, says so, and goes on asking. */
                if (!m->ready_sent)
                        log_warning("%s", e->text);
                arm_reconnect(m);
                return 0;
        }
        m->ledger_read = false;
        r = applier_new(m->writer_fd, on_done, m, &m->applier);
        if (r >= 0)
                r = sd_event_add_io(m->event, &m->writer_source, m->writer_fd, EPOLLIN | EPOLLOUT, on_io, m);
        if (r >= 0)
                r = applier_list(m->applier, on_ledger_entry, m);
        if (r < 0) {
                manager_disconnect_writer(m);
                return error_set(e, r, NULL, "the writer cannot be asked: %s", strerror(-r));
        }
        return 0;
}

void manager_disconnect_writer(Manager *m)
{
        m->writer_source = sd_event_source_disable_unref(m->writer_source);
        m->applier = applier_free(m->applier);
        if (m->writer_fd >= 0)
                close(m->writer_fd);
        m->writer_fd = -1;
        m->iscsi_asked = m->bans.asking = m->bans.known = false;
        if (m->writer_pid > 0)
                standin_end_writer(m->writer_pid);
        m->writer_pid = 0;
}

/* --- work --- */

/* A change that the protocol has no room for: the others go on. */
static void fail(Manager *m, const Change *c, int error)
{
        on_done(m, &(ApplyResult) {
                           .device = c->device,
                           .id = c->id,
                           .path = c->path,
                           .identity = "",
                           .error = error,
                           .first = "",
                           .set = c->desired,
                           .value = "",
                   });
}

int manager_submit(Manager *m)
{
        ApplyMode mode = policy_defaults(m->policy)->apply;
        int n = 0, r;

        if (m->options.observe || m->writer_fd < 0 || m->stopping || mode == APPLY_NEVER ||
            (mode == APPLY_ASK && !m->forced) || m->round_passes > ROUND_PASSES_MAX)
                return 0;
        for (size_t i = 0; i < m->plan->n_changes; i++) {
                const Change *c = &m->plan->changes[i];
                Decision *d = book_find(m->book, c->id);

                if (!d || !manager_may_submit(m, c, d))
                        continue;
                if (!decision_try(d, m->round, c->desired))
                        continue;
                r = applier_set(m->applier, c);
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        fail(m, c, r);
                else
                        n++;
        }
        return n;
}

static void on_iscsi(void *userdata, int fd)
{
        Manager *m = userdata;
        int r = fd;

        if (fd >= 0) {
                r = monitor_add_iscsi_fd(m->monitor, fd);
                if (r < 0)
                        close(fd);
        }
        if (error_is_shortage(r))
                m->iscsi_asked = false; /* the next look asks again */
        if (r < 0)
                log_warning("no iSCSI events: %s; a connection that fails is noticed late", strerror(-r));
}

int manager_ask_iscsi(Manager *m)
{
        bool any = false;

        for (size_t i = 0; i < m->snapshot->n_devices; i++)
                any = any || m->snapshot->devices[i].class == DEVICE_ISCSI_HOST;
        if (!any)
                m->iscsi_asked = false;
        if (!any || m->iscsi_asked || !m->monitor || monitor_has_iscsi(m->monitor) || m->writer_fd < 0)
                return 0;
        m->iscsi_asked = true;
        return applier_iscsi(m->applier, on_iscsi, m);
}
