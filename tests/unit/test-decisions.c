/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "decisions.h"
#include "test.h"

#include <errno.h>
#include <string.h>

/* The book over several looks at a machine with one HBA whose only vector may move and change. */

#define DEVICE "pci:0000:21:00.0"
#define ID     DEVICE "~irq.affinity~q0"
#define PATH   "proc/irq/30/smp_affinity_list"

static CpuSet *cpus(const char *list)
{
        CpuSet *s;

        assert_int_equal(cpuset_parse_list(list, &s), 0);
        return s;
}

static Snapshot *machine(const char *key, const char *affinity)
{
        Snapshot *s = snapshot_new();
        Device *d = ARRAY_APPEND(s->devices, s->n_devices);
        Vector *v;

        s->cpu_bits = 8;
        *d = (Device) { .id = strdup(DEVICE), .driver = strdup("aacraid"), .node = 1 };
        v = ARRAY_APPEND(d->vectors, d->n_vectors);
        *v = (Vector) { .irq = 30, .key = strdup(key), .affinity = cpus(affinity), .effective = cpus("") };
        return s;
}

static Change change(const char *desired)
{
        return (Change) { .id = (char *)ID,
                          .device = (char *)DEVICE,
                          .plugin = "irq",
                          .knob = "irq.affinity",
                          .kind = WRITER_IRQ_AFFINITY,
                          .path = (char *)PATH,
                          .current = (char *)"0",
                          .desired = (char *)desired,
                          .irq = 30,
                          .reason = { .text = (char *)"so" } };
}

/* A look that finds `affinity` in force and wants `desired` (NULL = it is right); returns the decision. */
static Decision *look(Book *b, const char *key, const char *affinity, const char *desired)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(key, affinity);
        Verdict v = { .device = (char *)DEVICE, .plugin = "irq", .knob = "irq.affinity", .node = 1 };
        Change c = change(desired);
        Plan p = { .changes = &c, .n_changes = desired ? 1 : 0, .verdicts = &v, .n_verdicts = 1 };

        c.current = (char *)affinity;
        v.state = desired ? VERDICT_CHANGES : VERDICT_RIGHT;
        v.reason = (Reason) {
                .rule = (char *)"near", .file = (char *)"test.yaml", .line = 3, .text = (char *)"so"
        };
        assert_int_equal(book_update(b, s, &p), 0);
        return book_find(b, ID);
}

static ApplyResult result(int error, const char *first, const char *set)
{
        return (ApplyResult) { .device = DEVICE,
                               .id = ID,
                               .path = PATH,
                               .error = error,
                               .written = error == 0,
                               .first = first,
                               .set = set,
                               .value = set };
}

static void failure_stays_visible(void **state)
{
        _cleanup_(book_freep) Book *b = book_new();
        ApplyResult r = result(-EINVAL, "", "4");
        Decision *d = look(b, "q0", "0", "4");

        assert_int_equal(d->state, DECISION_PLANNED);
        assert_int_equal(book_result(b, &r, 1), 0);
        d = look(b, "q0", "0", "4");
        assert_int_equal(d->state, DECISION_FAILED);
        assert_int_equal(d->error, -EINVAL);
        d = look(b, "q0", "5", NULL); /* somebody else put it right */
        assert_int_equal(d->state, DECISION_RIGHT);
        assert_int_equal(d->error, 0);
        assert_string_equal(d->desired, "5");
        d = look(b, "q0", "0", "4");
        assert_int_equal(d->state, DECISION_PLANNED);
}

static void first_is_the_ledgers(void **state)
{
        _cleanup_(book_freep) Book *b = book_new();
        ApplyResult r = result(0, "0", "4");
        Decision *d = look(b, "q0", "0", "4");

        assert_int_equal(book_result(b, &r, 1), 0);
        d = look(b, "q0", "4", NULL);
        assert_int_equal(d->state, DECISION_APPLIED);
        assert_string_equal(d->first, "0");
        /* The number was given to another interrupt, which was right already. */
        r = result(0, "", "4");
        assert_int_equal(book_result(b, &r, 2), 0);
        d = look(b, "q0", "4", NULL);
        assert_int_equal(d->state, DECISION_RIGHT);
        assert_null(d->first);
}

static void restore_that_fails(void **state)
{
        _cleanup_(book_freep) Book *b = book_new();
        ApplyResult r = result(0, "0", "4");
        Decision *d = look(b, "q0", "0", "4");

        assert_int_equal(book_result(b, &r, 1), 0);
        d->drift.state = DRIFT_CONTESTED;
        book_restored(b, PATH, -EINVAL);
        assert_false(drift_is_left(&d->drift));
        assert_int_equal(d->state, DECISION_FAILED);
        assert_int_equal(d->error, -EINVAL);
        assert_string_equal(d->first, "0");
        book_restored(b, PATH, 0);
        assert_int_equal(d->state, DECISION_HELD);
        assert_null(d->first);
}

/* The number is another vector's now: no decision about the old one is left. */
static void number_of_another_vector(void **state)
{
        _cleanup_(book_freep) Book *b = book_new();

        assert_non_null(look(b, "q0", "0", "4"));
        assert_null(look(b, "q1", "0", NULL));
}

static void adopted(void **state)
{
        _cleanup_(book_freep) Book *b = book_new();
        WriterReply *entry = calloc(1, sizeof(*entry));
        Decision *d;

        strcpy(entry->device, DEVICE);
        entry->kind = WRITER_IRQ_AFFINITY;
        strcpy(entry->id, ID);
        strcpy(entry->path, PATH);
        strcpy(entry->first, "0");
        strcpy(entry->set, "4");
        assert_int_equal(book_adopt(b, entry), 0);
        d = look(b, "q0", "4", NULL);
        assert_int_equal(d->state, DECISION_APPLIED);
        assert_int_equal(d->irq, 30);
        assert_int_equal(d->node, 1);
        assert_string_equal(d->reason.text, "set before this process was started, and still right");
        assert_string_equal(d->reason.rule, "near");
        /* The writer was started anew, and its ledger is read again: the reason is known by now. */
        d = look(b, "q0", "0", "4");
        assert_int_equal(book_adopt(b, entry), 0);
        assert_string_equal(d->reason.text, "so");
        /* So is that it does not hold what was set. */
        strcpy(entry->set, "5");
        assert_int_equal(book_adopt(b, entry), 0);
        assert_int_equal(d->state, DECISION_PLANNED);
        assert_string_equal(d->desired, "4");
        assert_string_equal(d->set, "5");
        free(entry);
}

static void full_cpus(void **state)
{
        _cleanup_(book_freep) Book *b = book_new();
        CpuSet *full = NULL;
        ApplyResult r = result(0, "0", "4");
        const Decision *d = look(b, "q0", "0", "4");

        assert_int_equal(decision_note_full(d, &r, &full), 0);
        r = result(-EINVAL, "", "5");
        assert_int_equal(decision_note_full(d, &r, &full), 0);
        r = result(-ENOSPC, "", "4");
        r.no_ledger = true; /* no room in the ledger says nothing about vectors */
        assert_int_equal(decision_note_full(d, &r, &full), 0);
        assert_true(cpuset_is_empty(full));
        r = result(0, "0", "5"); /* another one was taken */
        assert_int_equal(decision_note_full(d, &r, &full), 0);
        assert_true(cpuset_has(full, 4));
        assert_int_equal(cpuset_count(full), 1);
        cpuset_free(full);
}

/* What was set is what the ledger says, and not what is wanted now. */
static void what_was_set(void **state)
{
        _cleanup_(book_freep) Book *b = book_new();
        ApplyResult r = result(0, "0", "4");
        Decision *d = look(b, "q0", "0", "4");

        assert_null(d->set);
        assert_true(d->wanted && !d->accepts);
        assert_int_equal(book_result(b, &r, 1), 0);
        assert_string_equal(d->set, "4");
        d = look(b, "q0", "31",
                 "6"); /* somebody moved it; without a fallback that is the plan's change as well */
        assert_string_equal(d->set, "4");
        assert_true(d->wanted && !d->accepts);
        d = look(b, "q0", "31", "4");
        assert_true(d->wanted && d->accepts);
        r = result(-EINVAL, "0", "5");
        assert_int_equal(book_result(b, &r, 2), 0);
        assert_string_equal(d->set, "4");
        d = look(b, "q0", "4", NULL);
        assert_false(d->wanted);
        book_restored(b, PATH, 0);
        assert_null(d->set);
}

static void what_is_left_to_others(void **state)
{
        static const struct {
                DriftState drift;
                const char *word;
                bool left;
        } rows[] = { { DRIFT_WAITING, "drifted", false },
                     { DRIFT_REPORTED, "drifted", true },
                     { DRIFT_YIELDED, "yielded", true },
                     { DRIFT_CONTESTED, "contested", true } };
        _cleanup_(book_freep) Book *b = book_new();
        ApplyResult r = result(0, "0", "4");
        Decision *d = look(b, "q0", "0", "4");
        json_t *all, *json;
        Strv left;

        assert_int_equal(book_result(b, &r, 1), 0);
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                d = look(b, "q0", "31", "4");
                d->drift.state = rows[i].drift;
                decision_set_drift(d);
                if (rows[i].left)
                        d = look(b, "q0", "31", NULL); /* the plan leaves it out */
                assert_string_equal(decision_state_to_string(d->state), rows[i].word);
                assert_string_equal(d->current, "31");
                assert_string_equal(d->desired, "4");
                assert_int_equal(book_left(b, &left), 0);
                assert_int_equal(left.n, rows[i].left);
                strv_clear(&left);
        }
        d->drift.foreign = strdup("31");
        d->drift.since.real = d->drift.next.real = UINT64_C(1700000000) * 1000000;
        d->drift.n_fights = 3;
        all = decision_to_json(d);
        json = json_object_get(all, "drift");
        assert_int_equal(json_integer_value(json_object_get(json, "count")), 3);
        assert_string_equal(json_string_value(json_object_get(json, "set")), "4");
        assert_string_equal(json_string_value(json_object_get(json, "foreign")), "31");
        assert_string_equal(json_string_value(json_object_get(json, "since")), "2023-11-14T22:13:20Z");
        assert_string_equal(json_string_value(json_object_get(json, "next_try")), "2023-11-14T22:13:20Z");
        json_decref(all);
        /* The number is another vector's now. */
        assert_null(look(b, "q1", "31", NULL));
        assert_int_equal(book_left(b, &left), 0);
        assert_int_equal(left.n, 0);
}

/* A CPU that comes back in the middle of a round makes another value right: that one is tried too. */
static void a_round_tries_each_value_once(void **state)
{
        Decision d = { 0 };

        assert_true(decision_try(&d, 1, "6"));
        assert_false(decision_try(&d, 1, "6"));
        assert_true(decision_try(&d, 1, "7"));
        assert_false(decision_try(&d, 1, "7"));
        assert_true(decision_try(&d, 2, "7"));
        free(d.tried);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(failure_stays_visible),
                cmocka_unit_test(first_is_the_ledgers),
                cmocka_unit_test(restore_that_fails),
                cmocka_unit_test(number_of_another_vector),
                cmocka_unit_test(adopted),
                cmocka_unit_test(full_cpus),
                cmocka_unit_test(what_was_set),
                cmocka_unit_test(what_is_left_to_others),
                cmocka_unit_test(a_round_tries_each_value_once),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
