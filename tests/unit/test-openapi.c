/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "api/problem.h"
#include "api/routes.h"
#include "basic/array.h"
#include "basic/strv.h"
#include "decisions.h"
#include "report/evidence.h"
#include "report/rates.h"
#include "report/report.h"
#include "test.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <yaml.h>

/* Holds api/openapi.yaml (the first argument) against the routes, and against what is really sent. */

static yaml_document_t document;

static const char *text(const yaml_node_t *n)
{
        return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : "";
}

static yaml_node_t *node(int index)
{
        return yaml_document_get_node(&document, index);
}

static size_t n_pairs(const yaml_node_t *map)
{
        return map && map->type == YAML_MAPPING_NODE
                       ? (size_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start)
                       : 0;
}

static const char *key_at(const yaml_node_t *map, size_t i)
{
        return text(node(map->data.mapping.pairs.start[i].key));
}

static yaml_node_t *value_at(const yaml_node_t *map, size_t i)
{
        return node(map->data.mapping.pairs.start[i].value);
}

static yaml_node_t *find(const yaml_node_t *map, const char *key)
{
        for (size_t i = 0; i < n_pairs(map); i++)
                if (strcmp(key_at(map, i), key) == 0)
                        return value_at(map, i);
        return NULL;
}

static size_t n_items(const yaml_node_t *list)
{
        return list && list->type == YAML_SEQUENCE_NODE
                       ? (size_t)(list->data.sequence.items.top - list->data.sequence.items.start)
                       : 0;
}

static yaml_node_t *item_at(const yaml_node_t *list, size_t i)
{
        return node(list->data.sequence.items.start[i]);
}

static yaml_node_t *top(const char *key)
{
        return find(yaml_document_get_root_node(&document), key);
}

static yaml_node_t *schema(const char *name)
{
        yaml_node_t *s = find(find(top("components"), "schemas"), name);

        assert_non_null(s);
        return s;
}

static void same(Strv *a, Strv *b)
{
        strv_sort(a);
        strv_sort(b);
        for (size_t i = 0; i < a->n || i < b->n; i++)
                assert_string_equal(i < a->n ? a->items[i] : "nothing", i < b->n ? b->items[i] : "nothing");
        strv_clear(a);
        strv_clear(b);
}

static void add(Strv *v, const char *a, const char *b)
{
        _cleanup_(freep) char *s = strf("%s %s", a, b);

        assert_int_equal(strv_add(v, s), 0);
}

static void routes_and_paths_are_the_same(void **state)
{
        const yaml_node_t *paths = top("paths");
        Strv documented = { 0 }, there = { 0 };
        size_t n;
        const Route *routes = routes_all(&n);

        for (size_t i = 0; i < n; i++)
                add(&there, routes[i].path, routes[i].method);
        for (size_t i = 0; i < n_pairs(paths); i++) {
                const yaml_node_t *methods = value_at(paths, i);

                for (size_t j = 0; j < n_pairs(methods); j++) {
                        char method[16] = "";

                        for (size_t k = 0; key_at(methods, j)[k] && k < sizeof(method) - 1; k++)
                                method[k] = (char)toupper(key_at(methods, j)[k]);
                        add(&documented, key_at(paths, i), method);
                }
        }
        assert_true(there.n > 0);
        same(&there, &documented);
}

static yaml_node_t *operation(const Route *r)
{
        return find(find(top("paths"), r->path), strcmp(r->method, "GET") == 0 ? "get" : "post");
}

static void filters_and_parameters_are_the_same(void **state)
{
        size_t n;
        const Route *routes = routes_all(&n);

        for (size_t i = 0; i < n; i++) {
                const yaml_node_t *parameters = find(operation(&routes[i]), "parameters");
                Strv documented = { 0 }, there = { 0 };

                for (const Filter *f = routes[i].filters; f && f->name; f++)
                        add(&there, routes[i].path, f->name);
                for (size_t j = 0; j < n_items(parameters); j++)
                        if (strcmp(text(find(item_at(parameters, j), "in")), "query") == 0)
                                add(&documented, routes[i].path, text(find(item_at(parameters, j), "name")));
                same(&there, &documented);
        }
}

static void enumerations_are_the_same(void **state)
{
        const yaml_node_t *states = find(schema("State"), "enum"), *classes = find(schema("Class"), "enum"),
                          *types = find(find(find(schema("Problem"), "properties"), "type"), "enum");
        Strv documented = { 0 }, there = { 0 };

        for (int i = 0; i < _DECISION_STATE_MAX; i++)
                assert_int_equal(strv_add(&there, decision_state_to_string(i)), 0);
        for (size_t i = 0; i < n_items(states); i++)
                assert_int_equal(strv_add(&documented, text(item_at(states, i))), 0);
        same(&there, &documented);
        for (int i = 0; i < _DEVICE_CLASS_MAX; i++)
                assert_int_equal(strv_add(&there, device_class_to_string(i)), 0);
        for (size_t i = 0; i < n_items(classes); i++)
                assert_int_equal(strv_add(&documented, text(item_at(classes, i))), 0);
        same(&there, &documented);
        for (int i = 0; i < _PROBLEM_MAX; i++)
                add(&there, "/problems/", problem_kind(i)->slug);
        add(&there, "/problems/", "too-many-connections");
        for (size_t i = 0; i < n_items(types); i++)
                add(&documented, "/problems/", text(item_at(types, i)) + strlen("/problems/"));
        same(&there, &documented);
}

static void states_can_be_asked_for(void **state)
{
        const yaml_node_t *states = find(schema("State"), "enum");
        size_t n;
        const Route *routes = routes_all(&n), *list = NULL;

        for (size_t i = 0; i < n; i++)
                if (strcmp(routes[i].path, "/v1/decisions") == 0)
                        list = &routes[i];
        assert_non_null(list);
        for (size_t i = 0; i < n_items(states); i++) {
                _cleanup_(freep) char *target = strf("/v1/decisions?state=%s", text(item_at(states, i)));
                Url url;
                Answer a;

                assert_int_equal(url_parse(target, &url), 0);
                assert_int_equal(route_check_query(list, &url, &a), 0);
                url_clear(&url);
        }
}

static void add_properties(Strv *names, const yaml_node_t *s)
{
        const yaml_node_t *properties = find(s, "properties"), *all = find(s, "allOf");
        const char *reference = text(find(s, "$ref"));

        if (*reference)
                add_properties(names, schema(strrchr(reference, '/') + 1));
        for (size_t i = 0; i < n_items(all); i++)
                add_properties(names, item_at(all, i));
        for (size_t i = 0; i < n_pairs(properties); i++)
                assert_int_equal(strv_add(names, key_at(properties, i)), 0);
}

/* Asserts that an object has the members of a schema, and no others. */
static void check(const char *name, json_t *object)
{
        Strv documented = { 0 }, there = { 0 };
        const char *key;
        json_t *value;

        assert_true(json_is_object(object));
        add_properties(&documented, schema(name));
        json_object_foreach(object, key, value) assert_int_equal(strv_add(&there, key), 0);
        same(&there, &documented);
        json_decref(object);
}

static json_t *first(json_t *object, const char *key)
{
        return json_incref(json_array_get(json_object_get(object, key), 0));
}

static Snapshot *machine(void)
{
        Snapshot *s = snapshot_new();
        Device *d = ARRAY_APPEND(s->devices, s->n_devices);
        Vector *v = ARRAY_APPEND(d->vectors, d->n_vectors);
        Workqueue *w = ARRAY_APPEND(s->workqueues, s->n_workqueues);
        Node *n = ARRAY_APPEND(s->nodes, s->n_nodes);

        n->id = 0;
        *d = (Device) { .id = strdup("iscsi:default:iqn.x"),
                        .class = DEVICE_ISCSI_HOST,
                        .driver = strdup("iscsi_tcp"),
                        .vectors = v,
                        .n_vectors = 1,
                        .iscsi = calloc(1, sizeof(IscsiFacts)) };
        *(Knob *)ARRAY_APPEND(d->knobs, d->n_knobs) = (Knob) {
                .kind = WRITER_ISCSI_XMIT_NUMA, .path = strdup("x"), .role = strdup("x"), .value = strdup("0")
        };
        v->action = strdup("x");
        w->name = strdup("iscsi_q_1");
        w->path = strdup("x");
        return s;
}

static void objects_are_as_documented(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        Change change = {
                .id = (char *)"a~b", .device = (char *)"a", .plugin = "irq", .knob = "irq.affinity"
        };
        Verdict verdict = { .device = (char *)"a", .plugin = "irq", .knob = "irq.affinity" };
        Plan p = { &change, 1, &verdict, 1 };
        json_t *device = report_device_details(s, NULL, &s->devices[0]), *plan = report_plan(s, &p),
               *topology = report_topology(s);

        check("TopologyNode", first(topology, "nodes"));
        check("Topology", topology);
        check("Device", report_device(s, NULL, &s->devices[0]));
        check("Vector", first(device, "irqs"));
        check("Workqueue", first(device, "workqueues"));
        check("Knob", first(device, "knobs"));
        check("Iscsi", json_incref(json_object_get(device, "iscsi")));
        check("Counts", json_incref(json_object_get(device, "vectors")));
        json_object_set_new(device, "before", json_object()); /* the daemon adds it */
        check("DeviceDetails", device);
        check("Change", first(plan, "changes"));
        check("Verdict", first(plan, "verdicts"));
        check("PlannedDevice", first(plan, "devices"));
        check("Plan", plan);
        check("Reason", report_reason(&change.reason));
}

static void rates_are_as_documented(void **state)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine();
        Counters none = { 0 };
        _cleanup_(freep) char *text = report_rates(s, NULL, &none, &none, 1000000);
        json_t *rates = json_loads(text, 0, NULL);

        assert_non_null(rates);
        check("NodeRate", first(rates, "nodes"));
        check("DeviceRate", first(rates, "devices"));
        check("Rates", rates);
}

static void decisions_are_as_documented(void **state)
{
        Decision d = { .id = (char *)"a~b",
                       .device = (char *)"a",
                       .plugin = (char *)"irq",
                       .knob = (char *)"irq.affinity" };
        json_t *json = decision_to_json(&d);

        assert_true(json_is_null(json_object_get(json, "drift")));
        json_decref(json);
        d.drift.state = DRIFT_YIELDED;
        json = decision_to_json(&d);
        check("Drift", json_incref(json_object_get(json, "drift")));
        check("Reason", json_incref(json_object_get(json, "reason")));
        check("Decision", json);
}

static void evidence_is_as_documented(void **state)
{
        static const ControlKind kind = { .total = "allocations",
                                          .bad = "misses",
                                          .pressure = "dropped_magazines" };
        Control c = { .kind = &kind, .outcome = CONTROL_KEPT, .before.usec = 1, .after.usec = 2000000 };
        json_t *json = evidence_to_json(&c);

        assert_true(json_is_object(json_object_get(json, "after")));
        check("Window", json_incref(json_object_get(json, "before")));
        check("Evidence", json);
}

/* Members that are always there stand in `required`, which the server's own objects are checked by above. */
static void all_members_are_required(void **state)
{
        const yaml_node_t *schemas = find(top("components"), "schemas");

        for (size_t i = 0; i < n_pairs(schemas); i++) {
                const yaml_node_t *s = value_at(schemas, i), *required = find(s, "required");
                Strv members = { 0 }, named = { 0 };

                if (!find(s, "properties") || strcmp(key_at(schemas, i), "Problem") == 0)
                        continue;
                add_properties(&members, s);
                for (size_t j = 0; j < n_items(required); j++)
                        assert_int_equal(strv_add(&named, text(item_at(required, j))), 0);
                same(&members, &named);
        }
}

int main(int argc, char **argv)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(routes_and_paths_are_the_same),
                cmocka_unit_test(filters_and_parameters_are_the_same),
                cmocka_unit_test(enumerations_are_the_same),
                cmocka_unit_test(states_can_be_asked_for),
                cmocka_unit_test(objects_are_as_documented),
                cmocka_unit_test(rates_are_as_documented),
                cmocka_unit_test(decisions_are_as_documented),
                cmocka_unit_test(evidence_is_as_documented),
                cmocka_unit_test(all_members_are_required),
        };
        yaml_parser_t parser;
        FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
        int r;

        if (!f || !yaml_parser_initialize(&parser))
                return EXIT_FAILURE;
        yaml_parser_set_input_file(&parser, f);
        if (!yaml_parser_load(&parser, &document)) {
                fprintf(stderr, "%s:%zu: %s\n", argv[1], parser.problem_mark.line + 1, parser.problem);
                return EXIT_FAILURE;
        }
        r = cmocka_run_group_tests(tests, NULL, NULL);
        yaml_document_delete(&document);
        yaml_parser_delete(&parser);
        fclose(f);
        return r;
}
