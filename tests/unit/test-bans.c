/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the manager says of an irqbalance that it is to tell what to leave alone. Linked with --wrap for the
 * look at irqbalance, the wait for its socket, and the journal. */
#include "basic/log.h"
#include "manager-internal.h"
#include "tree.h"

#include <stdarg.h>

#define HBA      "0000:00:02.0"
#define STEP_MAX 80 /* of the loop, at most a quarter of a second each */

typedef struct Bench {
        Machine machine;
        Manager *manager;
        IrqbalanceState state; /* what a look finds */
        unsigned lonely_told;
        char told[512];
} Bench;

static Bench *bench; /* for the linker's wrappers */

const IrqbalanceState *__wrap_irqbalance_watch_refresh(IrqbalanceWatch *w);
int __real_sd_event_source_set_time_relative(sd_event_source *s, uint64_t usec);
int __wrap_sd_event_source_set_time_relative(sd_event_source *s, uint64_t usec);
void __wrap_log_knob(int level, const LogKnob *k, const char *format, ...);

const IrqbalanceState *__wrap_irqbalance_watch_refresh(IrqbalanceWatch *w)
{
        return &bench->state;
}

/* Nobody waits for seconds here. */
int __wrap_sd_event_source_set_time_relative(sd_event_source *s, uint64_t usec)
{
        bool retry = bench->manager && s == bench->manager->bans.retry;

        return __real_sd_event_source_set_time_relative(s, retry ? 0 : usec);
}

void __wrap_log_knob(int level, const LogKnob *k, const char *format, ...)
{
        char text[sizeof(bench->told)];
        va_list ap;

        va_start(ap, format);
        vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        if (strcmp(k->message_id, MESSAGE_ID_IRQBALANCE) != 0 || !strstr(text, "without a socket"))
                return;
        bench->lonely_told++;
        memcpy(bench->told, text, sizeof(text));
}

static int setup(void **state)
{
        _cleanup_(freep) char *policy = NULL;
        Bench *b = calloc(1, sizeof(*b));
        ManagerOptions options = { 0 };

        bench = b;
        b->state = (IrqbalanceState) { .running = true, .by_unit = true };
        tree_init(&b->machine);
        tree_put_nodes(&b->machine);
        tree_put_pci(&b->machine, HBA, "0x010700\n", "1\n", "mpt3sas");
        tree_put_vector(&b->machine, HBA, 30, "mpt3sas0-msix0", "0-7\n", "0\n");
        machine_put(&b->machine, "policy.yaml",
                    "version: 1\n"
                    "defaults: {irqbalance: ban}\n"
                    "rules: [{name: all, set: {irq: {mode: spread}}}]\n");
        policy = strf("%s/policy.yaml", b->machine.dir);
        options.root = b->machine.dir;
        options.policy = policy;
        assert_int_equal(manager_new(&options, &b->manager, NULL), 0);
        b->manager->options.policy = NULL;
        *state = b;
        return 0;
}

static int teardown(void **state)
{
        Bench *b = *state;

        manager_free(b->manager);
        machine_done(&b->machine);
        free(b);
        return 0;
}

/* Runs the loop until a condition holds; it fails the test when it never does. */
#define RUN_UNTIL(b, condition)                                                      \
        do {                                                                         \
                for (unsigned i = 0; !(condition) && i < STEP_MAX; i++)              \
                        assert_true(sd_event_run((b)->manager->event, 250000) >= 0); \
                assert_true(condition);                                              \
        } while (0)

/* An event, and all that follows of it. */
static void look_again(Bench *b)
{
        MonitorEvent e = { .source = "udev", .subsystem = "pci", .action = "add", .object = "/sys/x" };
        uint64_t passes = b->manager->passes;

        manager_on_event(b->manager, &e);
        RUN_UNTIL(b, b->manager->passes > passes && !b->manager->in_round);
}

static void a_unit_without_a_socket_is_told_once(void **state)
{
        Bench *b = *state;
        Manager *m = b->manager;

        RUN_UNTIL(b, b->lonely_told > 0);
        assert_non_null(strstr(b->told, "irqbalance.service"));
        assert_non_null(strstr(b->told, "systemctl disable --now irqbalance"));
        machine_expect(&b->machine, "proc/irq/30/smp_affinity_list", "0-7");
        for (int i = 0; i < 3; i++)
                look_again(b);
        assert_int_equal(b->lonely_told, 1);

        /* The next one that comes is another one. */
        b->state = (IrqbalanceState) { 0 };
        look_again(b);
        assert_int_equal(m->bans.asked.n, 1);
        b->state = (IrqbalanceState) { .running = true, .by_unit = true };
        look_again(b);
        RUN_UNTIL(b, b->lonely_told > 1);
        look_again(b);
        assert_int_equal(b->lonely_told, 2);
}

/* Each irqbalance is without a socket while it starts. */
static void a_socket_that_comes_is_no_news(void **state)
{
        Bench *b = *state;

        RUN_UNTIL(b, b->manager->bans.known);
        assert_int_equal(b->lonely_told, 0);
        b->state.pid = 1;
        snprintf(b->state.socket, sizeof(b->state.socket), "run/irqbalance/irqbalance1.sock");
        RUN_UNTIL(b, *b->manager->bans.socket && b->manager->bans.known);
        assert_int_equal(b->lonely_told, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(a_unit_without_a_socket_is_told_once, setup, teardown),
                cmocka_unit_test_setup_teardown(a_socket_that_comes_is_no_news, setup, teardown),
        };

        assert_int_equal(setenv("NUMAIO_LOG_LEVEL", "emerg", 1), 0);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
