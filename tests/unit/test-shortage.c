/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the machine to JSON while memory is short. Arguments: mkmachine, the page of a machine, and the name
 * of one test. */
#include "decisions.h"
#include "machine.h"
#include "observe/observe.h"
#include "report/report.h"
#include "shortage.h"

static const char *arg_mkmachine, *arg_spec;

static int setup(void **state)
{
        Machine *m = calloc(1, sizeof(*m));
        _cleanup_(freep) char *command = NULL;

        scratch_make(m->dir, "shortage");
        command = strf("%s %s %s/machine", arg_mkmachine, arg_spec, m->dir);
        assert_int_equal(system(command), 0);
        *state = m;
        return 0;
}

static int teardown(void **state)
{
        Machine *m = *state;

        remove_folder(m->dir);
        free(m);
        return 0;
}

/* Adds the text of what a report gave, whose reference is taken over. */
static int add_json(Strv *texts, json_t *value)
{
        _cleanup_(freep) char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;

        json_decref(value);
        return text ? strv_add(texts, text) : -ENOMEM;
}

static int report_all(Strv *texts, const Snapshot *s, const Plan *p, Book *b)
{
        int r;

        r = add_json(texts, report_topology(s));
        for (size_t i = 0; r >= 0 && i < s->n_devices; i++)
                r = add_json(texts, report_device_details(s, p, &s->devices[i]));
        if (r >= 0)
                r = add_json(texts, report_plan(s, p));
        for (size_t i = 0; r >= 0 && i < book_count(b); i++)
                r = add_json(texts, decision_to_json(book_at(b, i)));
        return r;
}

/* What a restarted daemon does with an entry of the ledger. */
static int adopt(Book *b, const Plan *p)
{
        static WriterReply entry;

        for (size_t i = 0; i < p->n_changes; i++) {
                int r;

                entry.kind = p->changes[i].kind;
                snprintf(entry.device, sizeof(entry.device), "%s", p->changes[i].device);
                snprintf(entry.id, sizeof(entry.id), "%s", p->changes[i].id);
                snprintf(entry.path, sizeof(entry.path), "%s", p->changes[i].path);
                snprintf(entry.first, sizeof(entry.first), "%s", p->changes[i].current);
                snprintf(entry.set, sizeof(entry.set), "%s", p->changes[i].desired);
                r = book_adopt(b, &entry);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int join(const Strv *texts, char **ret)
{
        char *all = NULL;

        for (size_t i = 0; i < texts->n; i++) {
                char *longer = strf("%s%s\n", all ? all : "", texts->items[i]);

                free(all);
                if (!longer)
                        return -ENOMEM;
                all = longer;
        }
        *ret = all;
        return 0;
}

static int open_machine(const Machine *m, Root **ret)
{
        char dir[SCRATCH_MAX + 16];

        snprintf(dir, sizeof(dir), "%s/machine", m->dir);
        return root_open(dir, ret);
}

/* What was seen of the machine is the same, or nothing. */
static int look(void *data, char **ret)
{
        const KnownRefusal refusal = { "sys/devices/virtual/workqueue/none/cpumask", -EACCES };
        _cleanup_(snapshot_freep) Snapshot *s = NULL;
        _cleanup_(root_freep) Root *root = NULL;
        Strv texts = { 0 };
        int r;

        r = open_machine(data, &root);
        if (r >= 0)
                r = observe(root, &refusal, 1, &s);
        shortage_over();
        if (r < 0)
                return r;
        r = add_json(&texts, report_topology(s));
        for (size_t i = 0; r >= 0 && i < s->n_devices; i++)
                r = add_json(&texts, report_device_details(s, NULL, &s->devices[i]));
        if (r >= 0)
                r = join(&texts, ret);
        strv_clear(&texts);
        return r;
}

static void observing(void **state)
{
        shortage_everywhere(look, NULL, *state);
}

typedef struct Seen {
        Snapshot *snapshot;
        Policy *policy;
        Plan *before; /* what the ledger knows; NULL = just what is planned */
} Seen;

static int decide(void *data, char **ret)
{
        const Seen *seen = data;
        _cleanup_(plan_freep) Plan *p = NULL;
        _cleanup_(book_freep) Book *b = book_new();
        PlanInput in = { .snapshot = seen->snapshot, .policy = seen->policy };
        Strv texts = { 0 };
        int r;

        if (!b)
                return -ENOMEM;
        r = plan(&in, &p);
        if (r >= 0)
                r = adopt(b, seen->before ? seen->before : p);
        if (r >= 0)
                r = book_update(b, seen->snapshot, p);
        if (r >= 0)
                r = report_all(&texts, seen->snapshot, p, b);
        if (r >= 0)
                r = join(&texts, ret);
        strv_clear(&texts);
        return r;
}

static void from_snapshot_to_json(void **state)
{
        _cleanup_(root_freep) Root *root = NULL;
        Seen seen = { 0 };

        assert_int_equal(open_machine(*state, &root), 0);
        assert_int_equal(observe(root, NULL, 0, &seen.snapshot), 0);
        assert_int_equal(policy_new_default(&seen.policy), 0);
        shortage_everywhere(decide, NULL, &seen);
        snapshot_free(seen.snapshot);
        policy_free(seen.policy);
}

/* Knobs that no shipped policy sets, one of which takes a file over from another knob. */
static void transmit_work(void **state)
{
        static const char *const sets[] = { "dynamic: on, transmit: inline", "dynamic: submitter",
                                            "dynamic: auto, transmit: workqueue" };
        _cleanup_(root_freep) Root *root = NULL;
        Seen seen = { 0 };

        assert_int_equal(open_machine(*state, &root), 0);
        assert_int_equal(observe(root, NULL, 0, &seen.snapshot), 0);
        assert_int_equal(policy_new_default(&seen.policy), 0);
        assert_int_equal(
                plan(&(PlanInput) { .snapshot = seen.snapshot, .policy = seen.policy }, &seen.before), 0);
        for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
                _cleanup_(freep) char *text =
                        strf("version: 1\nrules:\n  - {name: workers, set: {workqueue: {cpumask: node}}}\n"
                             "  - {name: transmit, set: {iscsi: {%s}}}\n",
                             sets[i]);

                policy_free(seen.policy);
                assert_int_equal(policy_parse("FILE", text, strlen(text), &seen.policy, NULL), 0);
                shortage_everywhere(decide, NULL, &seen);
        }
        plan_free(seen.before);
        snapshot_free(seen.snapshot);
        policy_free(seen.policy);
}

static const char good_policy[] = "version: 1\n"
                                  "defaults: {on_drift: report, verify: 10min}\n"
                                  "rules:\n"
                                  "  - name: one\n"
                                  "    match: {class: [hba, nvme], pci: \"0000:01:00.?\"}\n"
                                  "    set: {node: 1, cpus: 0-3, irq: {mode: spread}}\n"
                                  "  - name: two\n"
                                  "    match: {class: nic, netdev: \"eth*\", driver: ixgbe}\n"
                                  "    set: {irq: {mode: leave}}\n";

static const char bad_policy[] = "version: 1\n"
                                 "rules:\n"
                                 "  - label: one\n"
                                 "    match: {class: [hbaa]}\n"
                                 "    set: {cpus: x, irq: {mode: spreed, mode: leave}}\n";

static int policy_work(const char *text, size_t size, char **ret)
{
        _cleanup_(policy_freep) Policy *p = NULL;
        PolicyErrors errors = { 0 };
        Strv lines = { 0 };
        int r;

        r = policy_parse("FILE", text, size, &p, &errors);
        if (r == -ENOMEM)
                return r;
        r = 0;
        for (size_t i = 0; r >= 0 && i < errors.n; i++) {
                _cleanup_(freep) char *line = strf("%s: %s", errors.items[i].where, errors.items[i].text);

                r = line ? strv_add(&lines, line) : -ENOMEM;
        }
        if (r >= 0)
                r = strv_add(&lines, p ? "taken" : "refused");
        if (r >= 0)
                r = join(&lines, ret);
        strv_clear(&lines);
        return r;
}

static int read_good_policy(void *data, char **ret)
{
        return policy_work(good_policy, sizeof(good_policy) - 1, ret);
}

static int read_bad_policy(void *data, char **ret)
{
        return policy_work(bad_policy, sizeof(bad_policy) - 1, ret);
}

/* Files in two folders, of which one hides another. */
static int read_policy_folders(void *data, char **ret)
{
        const Machine *m = data;
        char one[SCRATCH_MAX + 16], two[SCRATCH_MAX + 16];
        const char *const dirs[] = { one, two };
        _cleanup_(policy_freep) Policy *p = NULL;
        PolicyErrors errors = { 0 };
        int r;

        snprintf(one, sizeof(one), "%s/one", m->dir);
        snprintf(two, sizeof(two), "%s/two", m->dir);
        r = policy_load_dirs(dirs, ARRAY_SIZE(dirs), &p, &errors);
        return r < 0 ? r : join(policy_files(p), ret);
}

static void policies(void **state)
{
        const Machine *m = *state;

        machine_put(m, "one/10-a.yaml", good_policy);
        machine_put(m, "one/20-b.yaml", good_policy);
        machine_put(m, "two/20-b.yaml", good_policy);
        shortage_everywhere(read_good_policy, NULL, NULL);
        shortage_everywhere(read_bad_policy, NULL, NULL);
        shortage_everywhere(read_policy_folders, NULL, *state);
}

int main(int argc, char **argv)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(policies, setup, teardown),
                cmocka_unit_test_setup_teardown(from_snapshot_to_json, setup, teardown),
                cmocka_unit_test_setup_teardown(transmit_work, setup, teardown),
                cmocka_unit_test_setup_teardown(observing, setup, teardown),
        };

        if (argc < 3)
                return 2;
        arg_mkmachine = argv[1];
        arg_spec = argv[2];
        if (argc > 3)
                cmocka_set_test_filter(argv[3]);
        shortage_init();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
