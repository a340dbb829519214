/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "decisions.h"
#include "test.h"

#include <string.h>

/* A workqueue's cpumask about which first workqueue.cpumask decides, then iscsi.dynamic, and back. */

#define DEVICE "iscsi:default:iqn.2024-01.test:t1"
#define PATH   "sys/devices/virtual/workqueue/iscsi_q_3/cpumask"
#define PLAIN  DEVICE "~workqueue.cpumask~iscsi_q"
#define TAKEN  DEVICE "~iscsi.dynamic~iscsi_q"

static Snapshot *machine(const char *cpus)
{
        Snapshot *s = snapshot_new();
        Device *d = ARRAY_APPEND(s->devices, s->n_devices);
        Workqueue *w = ARRAY_APPEND(s->workqueues, s->n_workqueues);

        s->cpu_bits = 8;
        *d = (Device) { .id = strdup(DEVICE), .driver = strdup("iscsi_tcp"), .node = 1 };
        *w = (Workqueue) { .name = strdup("iscsi_q_3"),
                           .path = strdup("sys/devices/virtual/workqueue/iscsi_q_3") };
        assert_int_equal(cpuset_parse_list(cpus, &w->cpumask), 0);
        return s;
}

/* A look that finds `cpus` in force; the knob that decides wants `desired` (NULL = it is right). */
static void look(Book *b, const char *cpus, bool claimed, const char *desired)
{
        _cleanup_(snapshot_freep) Snapshot *s = machine(cpus);
        Verdict v[] = {
                { .device = (char *)DEVICE,
                  .plugin = "workqueue",
                  .knob = "workqueue.cpumask",
                  .reason = { .rule = (char *)"workers", .file = (char *)"", .text = (char *)"workers so" } },
                { .device = (char *)DEVICE,
                  .plugin = "iscsi",
                  .knob = "iscsi.dynamic",
                  .reason = { .rule = (char *)"iscsi", .file = (char *)"", .text = (char *)"iscsi so" } }
        };
        Claim claim = {
                .device = (char *)DEVICE, .path = (char *)PATH, .plugin = "iscsi", .knob = "iscsi.dynamic"
        };
        Change c = { .id = claimed ? (char *)TAKEN : (char *)PLAIN,
                     .device = (char *)DEVICE,
                     .plugin = v[claimed].plugin,
                     .knob = v[claimed].knob,
                     .kind = WRITER_WORKQUEUE_CPUMASK,
                     .path = (char *)PATH,
                     .current = (char *)"00",
                     .desired = (char *)desired,
                     .irq = -1,
                     .reason = v[claimed].reason };
        Plan p = { .changes = &c,
                   .n_changes = desired ? 1 : 0,
                   .verdicts = v,
                   .n_verdicts = 2,
                   .claims = &claim,
                   .n_claims = claimed };

        v[claimed].state = desired ? VERDICT_CHANGES : VERDICT_RIGHT;
        v[!claimed].state = VERDICT_LEFT;
        assert_int_equal(book_update(b, s, &p), 0);
}

static void written(Book *b, const char *id, const char *first, const char *set)
{
        const ApplyResult r = {
                .device = DEVICE, .id = id, .path = PATH, .written = true, .first = first, .set = set
        };

        assert_int_equal(book_result(b, &r, 1), 0);
}

/* The only decision about the path, which has to have this id. */
static Decision *only(Book *b, const char *id)
{
        size_t n = 0;

        for (size_t i = 0; i < book_count(b); i++)
                n += book_at(b, i)->path != NULL;
        assert_int_equal(n, 1);
        assert_non_null(book_find_path(b, PATH));
        assert_string_equal(book_find_path(b, PATH)->id, id);
        assert_ptr_equal(book_find(b, id), book_find_path(b, PATH));
        return book_find_path(b, PATH);
}

static void goes_over_and_back(void **state)
{
        _cleanup_(book_freep) Book *b = book_new();
        Decision *d;

        look(b, "0-7", false, "f0");
        written(b, PLAIN, "ff", "f0");
        look(b, "4-7", true, "ff"); /* iscsi.dynamic wants every CPU */
        d = only(b, TAKEN);
        assert_string_equal(d->knob, "iscsi.dynamic");
        assert_string_equal(d->plugin, "iscsi");
        assert_string_equal(d->first, "ff");
        assert_string_equal(d->set, "f0");
        assert_string_equal(d->reason.rule, "iscsi");
        assert_int_equal(d->state, DECISION_PLANNED);
        assert_false(d->accepts); /* another wish, and nobody's drift */
        written(b, TAKEN, "ff", "0f");
        look(b, "0-3", false, "f0");
        d = only(b, PLAIN);
        assert_string_equal(d->first, "ff");
        assert_string_equal(d->set, "0f");
        assert_string_equal(d->knob, "workqueue.cpumask");
        assert_int_equal(d->writes, 2);
        book_restored(b, PATH, 0);
        assert_null(only(b, PLAIN)->first);
}

/* Also when the value suits both, so that nothing is written. */
static void goes_over_without_a_change(void **state)
{
        _cleanup_(book_freep) Book *b = book_new();
        Decision *d;

        look(b, "0-7", false, "f0");
        written(b, PLAIN, "ff", "f0");
        only(b, PLAIN)->drift.n_fights = 2;
        look(b, "4-7", true, NULL);
        d = only(b, TAKEN);
        assert_int_equal(d->state, DECISION_APPLIED);
        assert_string_equal(d->first, "ff");
        assert_string_equal(d->reason.text, "iscsi so");
        assert_int_equal(d->drift.n_fights, 2);
        look(b, "4-7", false, NULL);
        assert_string_equal(only(b, PLAIN)->reason.text, "workers so");
}

static WriterReply *entry_of(const char *id, const char *path)
{
        WriterReply *e = calloc(1, sizeof(*e));

        e->kind = WRITER_WORKQUEUE_CPUMASK;
        snprintf(e->device, sizeof(e->device), "%s", DEVICE);
        snprintf(e->id, sizeof(e->id), "%s", id);
        snprintf(e->path, sizeof(e->path), "%s", path);
        snprintf(e->first, sizeof(e->first), "ff");
        snprintf(e->set, sizeof(e->set), "f0");
        return e;
}

/* The ledger has the id of the first write. */
static void ledger_has_the_old_id(void **state)
{
        _cleanup_(freep) WriterReply *entry = entry_of(PLAIN, PATH);
        _cleanup_(book_freep) Book *b = book_new();

        assert_int_equal(book_adopt(b, entry), 0);
        look(b, "4-7", true, NULL);
        assert_string_equal(only(b, TAKEN)->first, "ff");
        only(b, TAKEN)->drift.n_fights = 2;
        /* The writer was away, and tells of it again. */
        assert_int_equal(book_adopt(b, entry), 0);
        assert_int_equal(only(b, TAKEN)->drift.n_fights, 2);
        look(b, "4-7", true, NULL);
        assert_int_equal(only(b, TAKEN)->state, DECISION_APPLIED);
}

/* The host has another number now, and each number was decided about by another knob: what is about the file
 * that is there counts, whichever of the two takes the other's id. */
static void gives_way_to_what_is_there(void **state)
{
        static const char *const ids[] = { PLAIN, TAKEN };

        for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
                _cleanup_(freep) WriterReply *here = entry_of(ids[i], PATH);
                _cleanup_(freep) WriterReply *gone =
                        entry_of(ids[!i], "sys/devices/virtual/workqueue/iscsi_q_2/cpumask");

                for (int claimed = 0; claimed <= 1; claimed++) {
                        _cleanup_(book_freep) Book *b = book_new();

                        assert_int_equal(book_adopt(b, gone), 0);
                        assert_int_equal(book_adopt(b, here), 0);
                        look(b, "4-7", claimed, NULL);
                        assert_string_equal(only(b, ids[claimed])->path, PATH);
                        assert_string_equal(only(b, ids[claimed])->set, "f0");
                }
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(goes_over_and_back),
                cmocka_unit_test(goes_over_without_a_change),
                cmocka_unit_test(ledger_has_the_old_id),
                cmocka_unit_test(gives_way_to_what_is_there),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
