/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include "report/iommu.h"

#include <errno.h>
#include <string.h>

/* Number of bytes of the UTF-8 character at s, 0 when there is none (RFC 3629). */
static size_t utf8_length(const unsigned char *s)
{
        size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : 4;

        if ((s[0] >= 0x80 && s[0] < 0xc2) || s[0] > 0xf4)
                return 0;
        for (size_t i = 1; i < n; i++)
                if ((s[i] & 0xc0) != 0x80)
                        return 0;
        if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
            (s[0] == 0xf4 && s[1] > 0x8f))
                return 0;
        return n;
}

json_t *report_text(const char *s)
{
        _cleanup_(freep) char *copy = NULL;
        const char *end = s;
        size_t n;

        if (!s)
                return json_null();
        while (*end && (n = utf8_length((const unsigned char *)end)) > 0)
                end += n;
        if (!*end)
                return json_string(s);
        copy = strdup(s);
        if (!copy)
                return NULL;
        for (char *p = copy; *p; p += n) {
                n = utf8_length((const unsigned char *)p);
                if (n == 0) {
                        *p = '?';
                        n = 1;
                }
        }
        return json_string(copy);
}

static json_t *text_or_null(const char *s)
{
        return report_text(s && *s ? s : NULL);
}

/* Of a text that is always there; NULL = memory was short. */
static json_t *text_of_own(const char *s)
{
        return s ? report_text(s) : NULL;
}

static json_t *number_or_null(int n, bool known)
{
        return known ? json_integer(n) : json_null();
}

static json_t *cpulist(const CpuSet *s)
{
        _cleanup_(freep) char *text = cpuset_format_list(s);

        return text ? json_string(text) : NULL;
}

static json_t *texts(const Strv *v)
{
        json_t *a = json_array();

        for (size_t i = 0; a && i < v->n; i++)
                if (json_array_append_new(a, report_text(v->items[i])) < 0) {
                        json_decref(a);
                        return NULL;
                }
        return a;
}

json_t *report_append(json_t *array, json_t *item)
{
        if (array && json_array_append_new(array, item) == 0)
                return array;
        if (!array)
                json_decref(item);
        json_decref(array);
        return NULL;
}

static json_t *distances(const Snapshot *s, const Node *n)
{
        json_t *o = json_object();

        for (size_t i = 0; o && n->distance && i < s->n_nodes; i++) {
                char id[16];

                snprintf(id, sizeof(id), "%d", s->nodes[i].id);
                if (json_object_set_new(o, id, number_or_null(n->distance[i], n->distance[i] > 0)) < 0) {
                        json_decref(o);
                        return NULL;
                }
        }
        return o;
}

json_t *report_topology(const Snapshot *s)
{
        json_t *nodes = json_array();

        for (size_t i = 0; nodes && i < s->n_nodes; i++)
                nodes = report_append(nodes, json_pack("{s:i, s:o, s:o}", "id", s->nodes[i].id, "cpus",
                                                       cpulist(s->nodes[i].cpus), "distance",
                                                       distances(s, &s->nodes[i])));
        return json_pack("{s:o, s:b, s:b, s:o, s:o, s:o, s:I, s:o, s:o}", "nodes", nodes, "numa", s->numa,
                         "overlapping", s->overlapping, "online", cpulist(s->online), "isolated",
                         cpulist(s->isolated), "nohz_full", cpulist(s->nohz_full), "cpus",
                         (json_int_t)s->n_cpus, "kernel", report_text(s->kernel), "absent",
                         texts(&s->absent));
}

/* Where a device is planned to belong. A policy that spreads a device over all nodes, or leaves it, says
 * nothing about where the device is: then it stays what was observed. */
static const Verdict *planned_verdict(const Plan *p, const Device *d)
{
        for (size_t i = 0; p && i < p->n_verdicts; i++)
                if (p->verdicts[i].node != NODE_UNKNOWN && strcmp(p->verdicts[i].device, d->id) == 0)
                        return &p->verdicts[i];
        return NULL;
}

int report_planned_node(const Plan *p, const Device *d)
{
        const Verdict *v = planned_verdict(p, d);

        return v ? v->node : d->node;
}

static json_t *node_text(const Device *d, const Verdict *v)
{
        _cleanup_(freep) char *text = NULL;

        if (!v || v->node_source != NODE_SOURCE_POLICY)
                return text_or_null(d->node_text);
        if (v->reason.file && *v->reason.file)
                text = strf("rule \"%s\" (%s:%u)", v->reason.rule, v->reason.file, v->reason.line);
        else
                text = strf("rule \"%s\"", v->reason.rule);
        return text ? report_text(text) : NULL;
}

static json_t *vector_counts(const Snapshot *s, const Device *d, int node)
{
        VectorCounts c = device_count_vectors(s, d, node);

        return json_pack("{s:i, s:i, s:i, s:i}", "total", (int)c.total, "managed", (int)c.managed, "local",
                         (int)c.local, "remote", (int)c.remote);
}

/* {local, remote} of the vectors that are not kernel-managed: those that somebody can place. */
static json_t *settable_counts(const Snapshot *s, const Device *d, int node)
{
        VectorCounts c = device_count_vectors(s, d, node);

        return json_pack("{s:i, s:i}", "local", (int)c.settable_local, "remote", (int)c.settable_remote);
}

static json_t *scsi_hosts(const Device *d)
{
        json_t *a = json_array();

        for (size_t i = 0; a && i < d->n_scsi_hosts; i++)
                a = report_append(a, json_integer(d->scsi_hosts[i]));
        return a;
}

/* {local, remote} of a kernel that counts where transmit work ran. */
static json_t *xmit_runs(const XmitFacts *x)
{
        if (!x->counted)
                return json_null();
        return json_pack("{s:I, s:I}", "local", (json_int_t)x->local, "remote", (json_int_t)x->remote);
}

json_t *report_xmit(const Snapshot *s, const XmitFacts *x)
{
        const Cpu *cpu = x->rx_cpu >= 0 ? snapshot_cpu(s, (unsigned)x->rx_cpu) : NULL;

        return json_pack("{s:o, s:o, s:o}", "rx_cpu", number_or_null(x->rx_cpu, x->rx_cpu >= 0), "rx_node",
                         number_or_null(cpu ? cpu->node : NODE_UNKNOWN, cpu && cpu->node != NODE_UNKNOWN),
                         "xmit", xmit_runs(x));
}

static json_t *iscsi_facts(const Snapshot *s, const IscsiFacts *f)
{
        const XmitFacts none = { .rx_cpu = -1 };
        json_t *o;

        if (!f)
                return json_null();
        o = json_pack("{s:o, s:o, s:o, s:i, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "transport",
                      report_text(f->transport), "iface", report_text(f->iface), "target",
                      text_or_null(f->target), "host", f->host, "offload", f->offload, "local",
                      report_text(f->local), "peer", report_text(f->peer), "netdev", report_text(f->netdev),
                      "via", report_text(f->via), "nic", report_text(f->nic), "nic_device",
                      report_text(f->nic_device));
        if (o && json_object_update_new(o, report_xmit(s, f->offload ? &none : &f->xmit)) < 0) {
                json_decref(o);
                return NULL;
        }
        return o;
}

json_t *report_device(const Snapshot *s, const Plan *p, const Device *d)
{
        const Verdict *v = planned_verdict(p, d);
        int node = v ? v->node : d->node;
        NodeSource source = v ? v->node_source : d->node_source;

        return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
                         report_text(d->id), "class", device_class_to_string(d->class), "driver",
                         report_text(d->driver ? d->driver : ""), "pci", report_text(d->pci), "model",
                         report_text(d->model), "node", number_or_null(node, node != NODE_UNKNOWN),
                         "node_source", node_source_to_string(source), "node_text", node_text(d, v),
                         "netdevs", texts(&d->netdevs), "scsi_hosts", scsi_hosts(d), "disks",
                         texts(&d->disks), "vectors", vector_counts(s, d, node), "settable",
                         settable_counts(s, d, node), "iscsi", iscsi_facts(s, d->iscsi));
}

static json_t *vector(const Snapshot *s, const Vector *v, int node)
{
        const Node *n = snapshot_node(s, node);
        json_t *local = n ? json_boolean(cpuset_is_subset(vector_target(v), n->cpus)) : json_null();

        return json_pack("{s:i, s:o, s:o, s:s, s:o, s:o, s:o, s:b, s:s, s:b, s:o}", "irq", (int)v->irq,
                         "action", report_text(v->action), "key", report_text(v->key), "role",
                         vector_role_to_string(v->role), "queue", number_or_null(v->queue, v->queue >= 0),
                         "affinity", cpulist(v->affinity), "effective",
                         cpuset_is_empty(v->effective) ? json_null() : cpulist(v->effective), "managed",
                         v->managed, "settable", settable_to_string(v->settable), "pending", v->pending,
                         "local", local);
}

static json_t *workqueue(const Snapshot *s, const Workqueue *w)
{
        _cleanup_(freep) char *mask = w->per_cpu ? NULL : cpuset_format_mask(w->cpumask, s->cpu_bits);

        return json_pack("{s:o, s:o, s:o, s:b, s:o, s:s}", "name", report_text(w->name), "cpumask",
                         w->per_cpu ? json_null() : text_of_own(mask), "cpus",
                         w->per_cpu ? json_null() : cpulist(w->cpumask), "per_cpu", w->per_cpu, "numa",
                         number_or_null(w->numa, w->numa >= 0), "settable", settable_to_string(w->settable));
}

static json_t *workqueues(const Snapshot *s, const Device *d)
{
        json_t *a = json_array();

        for (size_t i = 0; a && i < s->n_workqueues; i++)
                if (s->workqueues[i].device >= 0 && &s->devices[s->workqueues[i].device] == d)
                        a = report_append(a, workqueue(s, &s->workqueues[i]));
        return a;
}

static json_t *knobs(const Device *d)
{
        json_t *a = json_array();

        for (size_t i = 0; a && i < d->n_knobs; i++) {
                const Knob *k = &d->knobs[i];

                a = report_append(a, json_pack("{s:s, s:o, s:o, s:s}", "knob", file_kind_find(k->kind)->knob,
                                               "path", report_text(k->path), "value", report_text(k->value),
                                               "settable", settable_to_string(k->settable)));
        }
        return a;
}

json_t *report_device_details(const Snapshot *s, const Plan *p, const Device *d)
{
        json_t *o = report_device(s, p, d), *irqs = json_array();
        int node = report_planned_node(p, d);

        for (size_t i = 0; irqs && i < d->n_vectors; i++)
                irqs = report_append(irqs, vector(s, &d->vectors[i], node));
        if (json_object_set_new(o, "irqs", irqs) < 0 ||
            json_object_set_new(o, "workqueues", workqueues(s, d)) < 0 ||
            json_object_set_new(o, "knobs", knobs(d)) < 0 ||
            json_object_set_new(o, "iommu", report_iommu(s, d)) < 0) {
                json_decref(o);
                return NULL;
        }
        return o;
}

json_t *report_reason(const Reason *r)
{
        return json_pack("{s:o, s:o, s:o, s:o}", "rule", report_text(r->rule), "file", text_or_null(r->file),
                         "line", number_or_null((int)r->line, r->line > 0), "text", report_text(r->text));
}

json_t *report_change(const Change *c)
{
        return json_pack("{s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:s, s:o, s:o}", "id", report_text(c->id),
                         "device", report_text(c->device), "plugin", c->plugin, "knob", c->knob, "path",
                         report_text(c->path), "current", report_text(c->current), "desired",
                         report_text(c->desired), "settable", settable_to_string(c->settable), "irq",
                         number_or_null(c->irq, c->irq >= 0), "reason", report_reason(&c->reason));
}

json_t *report_verdict(const Verdict *v)
{
        return json_pack("{s:o, s:s, s:s, s:s, s:o, s:s, s:o}", "device", report_text(v->device), "plugin",
                         v->plugin, "knob", v->knob, "state", verdict_state_to_string(v->state), "node",
                         number_or_null(v->node, v->node != NODE_UNKNOWN), "node_source",
                         node_source_to_string(v->node_source), "reason", report_reason(&v->reason));
}

static const Change *change_of_vector(const Plan *p, const Device *d, const Vector *v)
{
        for (size_t i = 0; i < p->n_changes; i++)
                if (p->changes[i].irq == (int)v->irq && strcmp(p->changes[i].device, d->id) == 0)
                        return &p->changes[i];
        return NULL;
}

/* {local, remote} as they will be once the plan is carried out. */
static json_t *planned_counts(const Snapshot *s, const Plan *p, const Device *d)
{
        const Node *n = snapshot_node(s, report_planned_node(p, d));
        int local = 0, remote = 0;

        for (size_t i = 0; n && i < d->n_vectors; i++) {
                const Change *c = change_of_vector(p, d, &d->vectors[i]);
                _cleanup_(cpuset_freep) CpuSet *desired = NULL;

                if (c && cpuset_parse_list(c->desired, &desired) == -ENOMEM)
                        return NULL;
                if (cpuset_is_subset(c ? desired : vector_target(&d->vectors[i]), n->cpus))
                        local++;
                else
                        remote++;
        }
        return json_pack("{s:i, s:i}", "local", local, "remote", remote);
}

static json_t *planned_device(const Snapshot *s, const Plan *p, const Device *d)
{
        json_t *o = report_device(s, p, d);

        if (json_object_set_new(o, "planned", planned_counts(s, p, d)) < 0) {
                json_decref(o);
                return NULL;
        }
        return o;
}

json_t *report_plan(const Snapshot *s, const Plan *p)
{
        json_t *devices = json_array(), *changes = json_array(), *verdicts = json_array();

        for (size_t i = 0; devices && i < s->n_devices; i++)
                devices = report_append(devices, planned_device(s, p, &s->devices[i]));
        for (size_t i = 0; changes && i < p->n_changes; i++)
                changes = report_append(changes, report_change(&p->changes[i]));
        for (size_t i = 0; verdicts && i < p->n_verdicts; i++)
                verdicts = report_append(verdicts, report_verdict(&p->verdicts[i]));
        return json_pack("{s:o, s:o, s:o}", "devices", devices, "changes", changes, "verdicts", verdicts);
}

json_t *report_problem(int status, const char *slug, const char *title, const Error *e)
{
        char type[128];

        snprintf(type, sizeof(type), "/problems/%s", slug);
        return json_pack("{s:s, s:s, s:i, s:o*, s:o*}", "type", type, "title", title, "status", status,
                         "detail", e && *e->text ? report_text(e->text) : NULL, "where",
                         e && *e->where ? report_text(e->where) : NULL);
}
