/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager-internal.h"

#include "basic/array.h"
#include "basic/log.h"
#include "config.h"
#include "observe/iova-stats.h"
#include "observe/iscsi-knobs.h"
#include "plugins/plugin.h"
#include "report/iommu.h"
#include "report/report.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

/* Clients that go away while they wait leave their requests and connections behind. So many keep half of
 * api.sock's connections free for others. */
#define REQUESTS_MAX 16u

/* --- figures --- */

static VectorCounts count_all(const Manager *m)
{
        VectorCounts all = { 0 };

        for (size_t i = 0; m->snapshot && m->plan && i < m->snapshot->n_devices; i++) {
                const Device *d = &m->snapshot->devices[i];
                VectorCounts c = device_count_vectors(m->snapshot, d, report_planned_node(m->plan, d));

                all.total += c.total;
                all.managed += c.managed;
                all.local += c.local;
                all.remote += c.remote;
                all.settable_local += c.settable_local;
                all.settable_remote += c.settable_remote;
        }
        return all;
}

static unsigned count_state(const Manager *m, DecisionState state)
{
        unsigned n = 0;

        for (size_t i = 0; i < book_count(m->book); i++) {
                const Decision *d = book_at(m->book, i);

                n += d->path && d->state == state;
        }
        return n;
}

/* The changes that a new plan still has for a device (NULL = all); what of a held one could not be put back
 * is none. */
static unsigned count_pending(const Manager *m, const char *device)
{
        unsigned n = 0;

        for (size_t i = 0; i < book_count(m->book); i++) {
                const Decision *d = book_at(m->book, i);

                if (!d->path || (device && strcmp(device, d->device) != 0))
                        continue;
                n += d->state == DECISION_PLANNED || d->state == DECISION_WAITING ||
                     d->drift.state == DRIFT_WAITING ||
                     (d->state == DECISION_FAILED && !strv_contains(&m->held, d->device));
        }
        return n;
}

/* Devices for which the policy asks for what cannot be. */
static unsigned count_errors(const Manager *m)
{
        unsigned n = 0;

        for (size_t i = 0; i < book_count(m->book); i++)
                n += book_at(m->book, i)->state == DECISION_ERROR;
        return n;
}

static const char *state_word(const Manager *m)
{
        if (!m->ready_sent)
                return "starting";
        if (m->options.observe || policy_defaults(m->policy)->apply == APPLY_NEVER)
                return "observing";
        if (m->writer_fd < 0 || m->look_error < 0 || m->policy_errors.n > 0 ||
            count_state(m, DECISION_FAILED) > 0 || count_errors(m) > 0)
                return "degraded";
        return "ready";
}

/* One sentence for people: systemd's STATUS= and the API's status. */
static char *status_text(const Manager *m)
{
        VectorCounts c = count_all(m);
        unsigned planned = count_state(m, DECISION_PLANNED), failed = count_state(m, DECISION_FAILED);
        _cleanup_(freep) char *tail = NULL,
                              *other = manager_irqbalance_text(m, count_state(m, DECISION_WAITING));

        if (!m->snapshot)
                return m->look_error < 0 ? strf("the machine cannot be read: %s", strerror(-m->look_error))
                                         : strdup("the machine is being read");
        if (m->look_error < 0)
                tail = strf("; the machine cannot be read: %s", strerror(-m->look_error));
        else if (m->policy_errors.n > 0)
                tail = strf("; a policy is wrong, the last good ones stay: %s: %s",
                            m->policy_errors.items[0].where, m->policy_errors.items[0].text);
        else if (!m->options.observe && m->writer_fd < 0)
                tail = strdup("; the writer is not connected, nothing is written");
        else if (failed && (tail = manager_trouble_text(m)))
                ; /* one cause for many */
        else if (failed)
                tail = strf("; %u writes failed, see numaioctl decisions", failed);
        else if (count_errors(m))
                tail = strf("; the policy asks %u times for what cannot be, see numaioctl decisions",
                            count_errors(m));
        else if (count_state(m, DECISION_CONTESTED))
                tail = strf("; %u are contested and left to others, see numaioctl decisions",
                            count_state(m, DECISION_CONTESTED));
        else if (planned && policy_defaults(m->policy)->apply == APPLY_ASK)
                tail = strf("; %u changes wait for numaioctl apply", planned);
        else if (planned)
                tail = strf("; %u changes planned", planned);
        else
                tail = strdup("");
        if (!tail || !other)
                return NULL;
        return strf("%zu devices, %u of %u settable vectors local, %u vectors kernel-managed%s%s",
                    m->snapshot->n_devices, c.settable_local, c.settable_local + c.settable_remote, c.managed,
                    other, tail);
}

void manager_notify_status(Manager *m)
{
        _cleanup_(freep) char *text = status_text(m);

        if (text)
                (void)sd_notifyf(0, "STATUS=%s", text);
}

/* --- readers --- */

static json_t *strings(const Strv *v)
{
        json_t *a = json_array();

        for (size_t i = 0; i < v->n; i++)
                json_array_append_new(a, json_string(v->items[i]));
        return a;
}

static json_t *policy_errors(const Manager *m)
{
        json_t *a = json_array();

        for (size_t i = 0; i < m->policy_errors.n; i++)
                json_array_append_new(a, json_pack("{s:s, s:s}", "where", m->policy_errors.items[i].where,
                                                   "text", m->policy_errors.items[i].text));
        return a;
}

static const char *writer_word(const Manager *m)
{
        if (m->options.observe)
                return "none";
        return m->writer_fd >= 0 ? "connected" : "absent";
}

static json_t *get_status(void *userdata)
{
        Manager *m = userdata;
        VectorCounts c = count_all(m);
        MonitorCounts e = m->monitor ? monitor_counts(m->monitor) : (MonitorCounts) { 0 };
        _cleanup_(freep) char *text = status_text(m);

        if (!text)
                return NULL;
        return json_pack(
                "{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:i, s:{s:i, s:i, s:i, s:i}, s:i, s:I, s:i, "
                "s:i, s:i, s:i, s:o, s:o, s:o, "
                "s:{s:I, s:I, s:I}, s:I, s:o}",
                "version", PACKAGE_VERSION, "state", state_word(m), "status", text, "apply",
                apply_mode_to_string(m->options.observe ? APPLY_NEVER : policy_defaults(m->policy)->apply),
                "writer", writer_word(m), "root", root_path(m->root), "uptime_seconds",
                (json_int_t)((manager_now(m) - m->started) / 1000000), "devices",
                (int)(m->snapshot ? m->snapshot->n_devices : 0), "vectors", "total", (int)c.total, "managed",
                (int)c.managed, "local", (int)c.local, "remote", (int)c.remote, "changes_pending",
                (int)count_pending(m, NULL), "writes", (json_int_t)m->writes, "refused",
                (int)count_state(m, DECISION_REFUSED), "drifted", (int)count_state(m, DECISION_DRIFTED),
                "yielded", (int)count_state(m, DECISION_YIELDED), "contested",
                (int)count_state(m, DECISION_CONTESTED), "held", strings(&m->held), "policies",
                strings(policy_files(m->policy)), "policy_errors", policy_errors(m), "events", "udev",
                (json_int_t)e.udev, "netlink", (json_int_t)e.netlink, "overruns", (json_int_t)e.overruns,
                "passes", (json_int_t)m->passes, "irqbalance",
                manager_irqbalance_json(m, count_state(m, DECISION_WAITING)));
}

static json_t *get_topology(void *userdata)
{
        const Manager *m = userdata;

        return m->snapshot ? report_topology(m->snapshot) : json_object();
}

/* Adds {before: {local, remote}}: how it was when the device was first seen with these vectors. */
static json_t *with_baseline(const Manager *m, const Device *d, json_t *object)
{
        const Baseline *b = object ? manager_baseline(m, d->id) : NULL;

        if (b)
                json_object_set_new(object, "before",
                                    json_pack("{s:i, s:i}", "local", (int)b->counts.local, "remote",
                                              (int)b->counts.remote));
        return object;
}

/* Replaces counters, which the snapshot has as they were at the last look, by what they are now. */
static json_t *with_counters(const Manager *m, const Device *d, json_t *object)
{
        json_t *iscsi = json_object_get(object, "iscsi"), *iommu = json_object_get(object, "iommu");
        IovaStats caches;
        XmitFacts xmit;

        if (json_is_object(iscsi) && d->iscsi->xmit.counted &&
            observe_xmit_counters(m->root, d->iscsi->host, &xmit) >= 0)
                json_object_update_new(iscsi, report_xmit(m->snapshot, &xmit));
        if (json_is_object(iommu) && iova_stats_read(m->root, d->iommu->group, &caches) >= 0)
                json_object_set_new(iommu, "caches", report_iova_stats(&caches));
        return object;
}

static json_t *get_devices(void *userdata)
{
        const Manager *m = userdata;
        json_t *a = json_array();

        for (size_t i = 0; a && m->snapshot && i < m->snapshot->n_devices; i++) {
                const Device *d = &m->snapshot->devices[i];

                a = report_append(
                        a, with_counters(m, d, with_baseline(m, d, report_device(m->snapshot, m->plan, d))));
        }
        return a;
}

static json_t *get_device(void *userdata, const char *id)
{
        const Manager *m = userdata;
        const Device *d = m->snapshot ? snapshot_device(m->snapshot, id) : NULL;

        if (!d)
                return json_null();
        return with_counters(m, d, with_baseline(m, d, report_device_details(m->snapshot, m->plan, d)));
}

static json_t *get_decisions(void *userdata)
{
        const Manager *m = userdata;
        json_t *a = json_array();

        for (size_t i = 0; a && i < book_count(m->book); i++)
                a = report_append(a, decision_to_json(book_at(m->book, i)));
        return a;
}

static json_t *get_decision(void *userdata, const char *id)
{
        const Manager *m = userdata;
        const Decision *d = book_find(m->book, id);

        return d ? decision_to_json(d) : json_null();
}

/* --- writers --- */

static int post_plan(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e)
{
        Manager *m = userdata;
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        _cleanup_(plan_freep) Plan *p = NULL;
        _cleanup_(freep) ControlTarget *targets = NULL;
        PlanInput in = { .policy = m->policy, .held = &m->held, .left = &m->left };
        KnownRefusal *known = calloc(m->n_refusals ? m->n_refusals : 1, sizeof(*known));
        int r;

        if (!known)
                return error_set(e, -ENOMEM, NULL, "out of memory");
        for (size_t i = 0; i < m->n_refusals; i++)
                known[i] = (KnownRefusal) { m->refusals[i].path, m->refusals[i].error };
        r = observe(m->root, known, m->n_refusals, &s);
        free(known);
        if (r >= 0)
                r = plugins_complete(m->root, m->policy, &m->symbols, s);
        if (r >= 0)
                r = manager_control_targets(m, &targets);
        if (r >= 0) {
                in.targets = targets;
                in.n_targets = (size_t)r;
                in.snapshot = s;
                in.full = m->full;
                r = plan(&in, &p);
        }
        if (r < 0)
                return error_set(e, r, NULL, "the machine cannot be read: %s", strerror(-r));
        *ret = report_plan(s, p);
        return *ret ? 0 : error_set(e, -ENOMEM, NULL, "out of memory");
}

static int post_request(Manager *m, RequestKind kind, ApiRequest *req, const json_t *body, Error *e)
{
        const char *device = json_string_value(json_object_get(body, "device"));
        int r;

        if (m->options.observe)
                return error_set(e, -EOPNOTSUPP, NULL, "this daemon only observes");
        if (m->stopping)
                return error_set(e, -EBUSY, NULL, "the daemon is stopping");
        if (policy_defaults(m->policy)->apply == APPLY_NEVER && kind == REQUEST_APPLY)
                return error_set(e, -EOPNOTSUPP, NULL, "the policy says apply: never");
        if (device && (!m->snapshot || !snapshot_device(m->snapshot, device)))
                return error_set(e, -ENOENT, device, "there is no device %s", device);
        if (m->writer_fd < 0)
                return error_set(e, -ENOTCONN, NULL,
                                 "the writer is not connected; start tuned-numaio-writer.socket");
        if (m->n_requests >= REQUESTS_MAX)
                return error_set(e, -EBUSY, NULL, "%u requests wait already", REQUESTS_MAX);
        r = manager_add_request(m, kind, req, device);
        if (r < 0)
                return error_set(e, r, NULL, "out of memory");
        manager_continue(m);
        return API_DEFERRED;
}

static int post_apply(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e)
{
        return post_request(userdata, REQUEST_APPLY, req, body, e);
}

static int post_restore(void *userdata, ApiRequest *req, const json_t *body, json_t **ret, Error *e)
{
        return post_request(userdata, REQUEST_RESTORE, req, body, e);
}

const ApiBackend manager_api_backend = {
        .status = get_status,
        .topology = get_topology,
        .devices = get_devices,
        .device = get_device,
        .decisions = get_decisions,
        .decision = get_decision,
        .rates = manager_get_rates,
        .plan = post_plan,
        .apply = post_apply,
        .restore = post_restore,
        .measure = manager_measure,
};

int manager_add_request(Manager *m, RequestKind kind, ApiRequest *api, const char *device)
{
        Request *q = ARRAY_APPEND(m->requests, m->n_requests);

        if (!q)
                return -ENOMEM;
        *q = (Request) { .kind = kind, .api = api, .device = device ? strdup(device) : NULL };
        if (device && !q->device) {
                m->n_requests--;
                return -ENOMEM;
        }
        return 0;
}

/* What the request was about: what apply tried in its round, what restore holds now. */
static bool is_answer(const Manager *m, const Request *q, const Decision *d)
{
        if (!d->path || (q->device && strcmp(q->device, d->device) != 0))
                return false;
        return q->kind == REQUEST_APPLY ? d->round == m->round : d->state != DECISION_RIGHT;
}

/* {changes: [decision...], left: N}; left counts what a new plan still has. */
static json_t *answer_body(const Manager *m, const Request *q)
{
        json_t *a = json_array();
        for (size_t i = 0; i < book_count(m->book); i++) {
                const Decision *d = book_at(m->book, i);

                if (is_answer(m, q, d))
                        a = report_append(a, decision_to_json(d));
        }
        return json_pack("{s:o, s:i}", "changes", a, "left", (int)count_pending(m, q->device));
}

void manager_answer(Manager *m, int error, const Error *e)
{
        Request q = m->requests[0];

        m->n_requests--;
        memmove(m->requests, m->requests + 1, m->n_requests * sizeof(*m->requests));
        m->request_active = false;
        if (q.api)
                api_request_done(q.api, error, error < 0 ? NULL : answer_body(m, &q), e);
        free(q.device);
}

/* --- sockets --- */

static int listen_on(const char *folder, const char *name, mode_t mode)
{
        _cleanup_(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        struct sockaddr_un sa = { .sun_family = AF_UNIX };

        if (fd < 0)
                return -errno;
        if ((size_t)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/%s", folder, name) >= sizeof(sa.sun_path))
                return -ENAMETOOLONG;
        (void)unlink(sa.sun_path);
        if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 || chmod(sa.sun_path, mode) < 0 ||
            listen(fd, 64) < 0)
                return -errno;
        return STEAL_FD(fd);
}

static int open_own_sockets(Manager *m, Error *e)
{
        static const struct {
                const char *name;
                mode_t mode;
                bool read_only;
        } sockets[] = { { "ro.sock", 0666, true }, { "api.sock", 0660, false } };
        int r;

        for (size_t i = 0; i < ARRAY_SIZE(sockets); i++) {
                r = listen_on(m->options.api_dir, sockets[i].name, sockets[i].mode);
                if (r >= 0)
                        r = api_add_socket(m->api, r, sockets[i].read_only);
                if (r < 0)
                        return error_set(e, r, m->options.api_dir,
                                         "the API's socket %s/%s cannot be opened: %s", m->options.api_dir,
                                         sockets[i].name, strerror(-r));
        }
        return 0;
}

static void free_names(char **names)
{
        for (size_t i = 0; names && names[i]; i++)
                free(names[i]);
        free(names);
}

static int take_socket(Manager *m, int fd, const char *name)
{
        int r = sd_is_socket_unix(fd, SOCK_STREAM, 1, NULL, 0);

        if (r > 0)
                return api_add_socket(m->api, fd, strcmp(name, "api") != 0);
        close(fd);
        return r < 0 ? r : -ENOTSOCK;
}

/* Placing goes on without a socket that cannot be used. */
static void take_activated_sockets(Manager *m)
{
        char **names = NULL;
        int n, r;

        n = sd_listen_fds_with_names(1, &names);
        if (n < 0)
                log_error("The sockets handed over by systemd cannot be used, there is no API: %s",
                          strerror(-n));
        for (int i = 0; i < n; i++) {
                r = take_socket(m, SD_LISTEN_FDS_START + i, names[i]);
                if (r < 0)
                        log_error("The socket \"%s\" handed over by systemd cannot be used, the API does "
                                  "without: %s",
                                  names[i], strerror(-r));
        }
        free_names(names);
}

int manager_open_api(Manager *m, Error *e)
{
        int r;

        r = api_new(m->event, &manager_api_backend, m, &m->api);
        if (r < 0)
                return error_set(e, r, NULL, "the API cannot be set up: %s", strerror(-r));
        if (m->options.api_dir)
                return open_own_sockets(m, e);
        take_activated_sockets(m);
        return 0;
}
