/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "report/report.h"
#include "report/xmit.h"
#include "test.h"

#include <errno.h>
#include <string.h>

static CpuSet *cpus(const char *list)
{
        CpuSet *s;

        assert_int_equal(cpuset_parse_list(list, &s), 0);
        return s;
}

static void add_node(Snapshot *s, int id, const char *list, int near, int far)
{
        Node *n = ARRAY_APPEND(s->nodes, s->n_nodes);

        *n = (Node) { .id = id, .cpus = cpus(list), .distance = calloc(2, sizeof(int)) };
        n->distance[0] = s->n_nodes == 1 ? near : far;
        n->distance[1] = s->n_nodes == 1 ? far : near;
}

static void add_vector(Device *d, unsigned irq, int queue, const char *affinity, const char *effective,
                       bool managed)
{
        Vector *v = ARRAY_APPEND(d->vectors, d->n_vectors);

        *v = (Vector) { .irq = irq,
                        .action = strdup("hba-q"),
                        .key = strdup("q"),
                        .role = queue < 0 ? VECTOR_SLOW : VECTOR_QUEUE,
                        .queue = queue,
                        .affinity = cpus(affinity),
                        .effective = cpus(effective),
                        .managed = managed,
                        .settable = managed ? SETTABLE_NO : SETTABLE_YES };
}

/* Nodes 0 and 4 with four CPUs each, and one HBA on node 4 with three vectors: a remote one, a local one
 * whose kernel does not say where it really goes, and a kernel-managed one on the wrong node. */
static Snapshot *machine(void)
{
        Snapshot *s = snapshot_new();
        Device *d = ARRAY_APPEND(s->devices, s->n_devices);
        Workqueue *w = ARRAY_APPEND(s->workqueues, s->n_workqueues);

        s->numa = true;
        s->cpu_bits = 8;
        s->n_cpus = 8;
        s->online = cpus("0-7");
        s->isolated = cpus("");
        s->kernel = strdup("6.1.0");
        add_node(s, 0, "0-3", 10, 21);
        add_node(s, 4, "4-7", 10, 0);
        *d = (Device) { .id = strdup("pci:0000:21:00.0"),
                        .driver = strdup("aacraid"),
                        .pci = strdup("0000:21:00.0"),
                        .model = strdup("Adaptec Series 8"),
                        .node = 4,
                        .node_source = NODE_SOURCE_DEVICE,
                        .node_text = strdup("numa_node of 0000:21:00.0"),
                        .scsi_hosts = calloc(1, sizeof(int)),
                        .n_scsi_hosts = 1 };
        d->scsi_hosts[0] = 2;
        assert_int_equal(strv_add(&d->disks, "sda"), 0);
        add_vector(d, 30, 0, "0-7", "1", false);
        add_vector(d, 31, -1, "4-7", "", false);
        add_vector(d, 32, 1, "0", "0", true);
        *w = (Workqueue) { .name = strdup("scsi_tmf_2"),
                           .path = strdup("sys/devices/virtual/workqueue/scsi_tmf_2"),
                           .cpumask = cpus("0-7"),
                           .numa = -1 };
        return s;
}

static Plan *planned(void)
{
        Plan *p = calloc(1, sizeof(*p));
        Change *c = ARRAY_APPEND(p->changes, p->n_changes);
        Verdict *v = ARRAY_APPEND(p->verdicts, p->n_verdicts);
        Reason reason = { strdup("storage"), strdup("a.yaml"), 7, strdup("queue 0 goes to CPU 5 of node 4") };

        *c = (Change) { .id = strdup("pci:0000:21:00.0~irq.affinity~q0"),
                        .device = strdup("pci:0000:21:00.0"),
                        .plugin = "irq",
                        .knob = "irq.affinity",
                        .path = strdup("proc/irq/30/smp_affinity_list"),
                        .current = strdup("0-7"),
                        .desired = strdup("5"),
                        .irq = 30,
                        .reason = reason };
        *v = (Verdict) { .device = strdup("pci:0000:21:00.0"),
                         .plugin = "irq",
                         .knob = "irq.affinity",
                         .state = VERDICT_CHANGES,
                         .node = 4,
                         .node_source = NODE_SOURCE_DEVICE,
                         .reason = { strdup("storage"), strdup("a.yaml"), 7, strdup("1 vector moves") } };
        return p;
}

static void expect(json_t *json, const char *text)
{
        _cleanup_(freep) char *dump = json_dumps(json, JSON_COMPACT);

        assert_non_null(dump);
        assert_string_equal(dump, text);
        json_decref(json);
}

static void topology_has_sparse_nodes(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();

        assert_int_equal(strv_add(&s->absent, "/proc/irq is absent"), 0);
        expect(report_topology(s),
               "{\"nodes\":[{\"id\":0,\"cpus\":\"0-3\",\"distance\":{\"0\":10,\"4\":21}},"
               "{\"id\":4,\"cpus\":\"4-7\",\"distance\":{\"0\":null,\"4\":10}}],\"numa\":true,"
               "\"overlapping\":false,"
               "\"online\":\"0-7\",\"isolated\":\"\",\"nohz_full\":\"\",\"cpus\":8,\"kernel\":\"6.1.0\","
               "\"absent\":[\"/proc/irq is absent\"]}");
}

static void devices_are_counted_against_their_node(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();

        expect(report_device(s, NULL, &s->devices[0]),
               "{\"id\":\"pci:0000:21:00.0\",\"class\":\"hba\",\"driver\":\"aacraid\",\"pci\":\"0000:21:00."
               "0\",\"model\":\"Adaptec Series 8\","
               "\"node\":4,\"node_source\":\"device\",\"node_text\":\"numa_node of "
               "0000:21:00.0\",\"netdevs\":[],"
               "\"scsi_hosts\":[2],\"disks\":[\"sda\"],"
               "\"vectors\":{\"total\":3,\"managed\":1,\"local\":1,\"remote\":2},"
               "\"settable\":{\"local\":1,\"remote\":1},\"iscsi\":null}");
}

static void details_show_each_vector(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        json_t *d = report_device_details(s, NULL, &s->devices[0]);

        expect(json_incref(json_object_get(d, "workqueues")),
               "[{\"name\":\"scsi_tmf_2\",\"cpumask\":\"000000ff\",\"cpus\":\"0-7\",\"per_cpu\":false,"
               "\"numa\":null,"
               "\"settable\":\"yes\"}]");
        expect(json_incref(json_array_get(json_object_get(d, "irqs"), 0)),
               "{\"irq\":30,\"action\":\"hba-q\",\"key\":\"q\",\"role\":\"queue\",\"queue\":0,\"affinity\":"
               "\"0-7\","
               "\"effective\":\"1\",\"managed\":false,\"settable\":\"yes\",\"pending\":false,\"local\":"
               "false}");
        expect(json_incref(json_array_get(json_object_get(d, "irqs"), 1)),
               "{\"irq\":31,\"action\":\"hba-q\",\"key\":\"q\",\"role\":\"slow-path\",\"queue\":null,"
               "\"affinity\":\"4-7\",\"effective\":null,\"managed\":false,\"settable\":\"yes\",\"pending\":"
               "false,"
               "\"local\":true}");
        json_decref(d);
}

static void an_unknown_node_is_null(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        json_t *d;

        s->devices[0].node = NODE_UNKNOWN;
        s->devices[0].node_source = NODE_SOURCE_UNKNOWN;
        d = report_device_details(s, NULL, &s->devices[0]);
        assert_true(json_is_null(json_object_get(d, "node")));
        assert_string_equal(json_string_value(json_object_get(d, "node_source")), "unknown");
        assert_true(json_is_null(json_object_get(json_array_get(json_object_get(d, "irqs"), 0), "local")));
        expect(json_incref(json_object_get(d, "vectors")),
               "{\"total\":3,\"managed\":1,\"local\":0,\"remote\":0}");
        json_decref(d);
}

static void plans_tell_what_will_be(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = planned();
        json_t *json = report_plan(s, p);

        expect(json_incref(json_object_get(json_array_get(json_object_get(json, "devices"), 0), "planned")),
               "{\"local\":2,\"remote\":1}");
        expect(json_incref(json_array_get(json_object_get(json, "changes"), 0)),
               "{\"id\":\"pci:0000:21:00.0~irq.affinity~q0\",\"device\":\"pci:0000:21:00.0\",\"plugin\":"
               "\"irq\","
               "\"knob\":\"irq.affinity\",\"path\":\"proc/irq/30/smp_affinity_list\",\"current\":\"0-7\","
               "\"desired\":\"5\",\"settable\":\"yes\",\"irq\":30,\"reason\":{\"rule\":\"storage\","
               "\"file\":\"a.yaml\",\"line\":7,\"text\":\"queue 0 goes to CPU 5 of node 4\"}}");
        assert_int_equal(json_array_size(json_object_get(json, "verdicts")), 1);
        json_decref(json);
}

static void a_policys_node_counts(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        _cleanup_(plan_freep) Plan *p = planned();
        json_t *d;

        p->verdicts[0].node = 0;
        p->verdicts[0].node_source = NODE_SOURCE_POLICY;
        d = report_device(s, p, &s->devices[0]);
        assert_int_equal(json_integer_value(json_object_get(d, "node")), 0);
        assert_string_equal(json_string_value(json_object_get(d, "node_source")), "policy");
        assert_string_equal(json_string_value(json_object_get(d, "node_text")),
                            "rule \"storage\" (a.yaml:7)");
        expect(json_incref(json_object_get(d, "vectors")),
               "{\"total\":3,\"managed\":1,\"local\":2,\"remote\":1}");
        json_decref(d);
}

static void any_bytes_become_text(void **state)
{
        static const char *const rows[][2] = {
                { "eth\xff", "\"eth?\"" },
                { "\xc3\xa4", "\"\xc3\xa4\"" },
                { "\xc3", "\"?\"" },
                { "\xed\xa0\x80", "\"???\"" },
                { "\xf5\x80\x80\x80", "\"????\"" },
                { "\xe0\x80\x80", "\"???\"" },
                { "\xf0\x9f\x92\xa1", "\"\xf0\x9f\x92\xa1\"" },
                { "a\tb", "\"a\\tb\"" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                json_t *text = report_text(rows[i][0]);
                _cleanup_(freep) char *dump = json_dumps(text, JSON_ENCODE_ANY);

                assert_string_equal(dump, rows[i][1]);
                json_decref(text);
        }
        assert_true(json_is_null(report_text(NULL)));
}

static void expect_json(json_t *got, const char *want)
{
        _cleanup_(freep) char *text = json_dumps(got, JSON_COMPACT | JSON_REAL_PRECISION(4));

        assert_string_equal(text, want);
        json_decref(got);
}

static json_t *by_cpu(const Snapshot *s, int node, const char *text, double want_seconds)
{
        double seconds = -1;
        json_t *found = NULL;

        assert_int_equal(report_xmit_runs_by_cpu(s, node, text, &seconds, &found), 0);
        assert_true(seconds == want_seconds);
        return found;
}

static void runs_are_told_by_node(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();

        expect_json(report_xmit_runs(3, 1), "{\"runs\":4,\"local\":3,\"remote\":1,\"remote_share\":0.25,"
                                            "\"node\":null,\"nodes\":[]}");
        expect_json(report_xmit_runs(0, 0), "{\"runs\":0,\"local\":0,\"remote\":0,\"remote_share\":null,"
                                            "\"node\":null,\"nodes\":[]}");
        /* CPU 9 is on no node that is known. */
        expect_json(by_cpu(s, 4, "5002 0:1 3:4 4:10 7:4 9:1", 5.002),
                    "{\"runs\":20,\"local\":14,\"remote\":6,\"remote_share\":0.3,\"node\":4,"
                    "\"nodes\":[{\"id\":0,\"runs\":5},{\"id\":4,\"runs\":14}]}");
        expect_json(by_cpu(s, NODE_UNKNOWN, "5000 4:1", 5),
                    "{\"runs\":1,\"local\":null,\"remote\":null,\"remote_share\":null,\"node\":null,"
                    "\"nodes\":[{\"id\":0,\"runs\":0},{\"id\":4,\"runs\":1}]}");
        expect_json(by_cpu(s, 0, "5000 ", 5),
                    "{\"runs\":0,\"local\":0,\"remote\":0,\"remote_share\":null,\"node\":0,"
                    "\"nodes\":[{\"id\":0,\"runs\":0},{\"id\":4,\"runs\":0}]}");
}

static void other_texts_are_refused(void **state)
{
        static const char *const wrong[] = { "",         "x",          "5000 4",      "5000 4:",
                                             "5000 x:1", "5000 4:1 5", "5000 4:1,5:1" };
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        double seconds = 7;
        json_t *found = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
                assert_int_equal(report_xmit_runs_by_cpu(s, 4, wrong[i], &seconds, &found), -EPROTO);
        assert_null(found);
        assert_true(seconds == 7);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(topology_has_sparse_nodes),
                cmocka_unit_test(devices_are_counted_against_their_node),
                cmocka_unit_test(details_show_each_vector),
                cmocka_unit_test(an_unknown_node_is_null),
                cmocka_unit_test(plans_tell_what_will_be),
                cmocka_unit_test(a_policys_node_counts),
                cmocka_unit_test(any_bytes_become_text),
                cmocka_unit_test(runs_are_told_by_node),
                cmocka_unit_test(other_texts_are_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
