/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the IOVA depot's limit decides how often a device's mappings go to the rbtree: a model of Linux 6.1's
 * allocator under a load of many allocating CPUs and few freeing ones. docs/iova-model.md says what it tells
 * and what not. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iova-load.h"
#include "iova-rule.h"

#define LIMIT_MIN 8
#define LIMIT_MAX 1024

typedef enum Mode { MODE_TABLE, MODE_CASES, MODE_GUEST, MODE_IN_TURN } Mode;

typedef struct Options {
        LoadParameters load;
        Mode mode;
        unsigned start; /* the controller's first limit */
        unsigned ios;   /* of each window; as many before it are not counted */
} Options;

/* What one window shows. */
typedef struct Window {
        double misses, drops, tree; /* for each I/O */
        unsigned depot_least, depot_most;
} Window;

/* 256 CPUs and 16 completion queues; hisi_sas has 4,096 tags, of which 96 are its own; 10 moves are a guess.
 */
static const LoadParameters server = { .cpus = 256,
                                       .freeing = 16,
                                       .jobs = 256,
                                       .iodepth = 16,
                                       .queue_depth = 4000,
                                       .burst = 4000,
                                       .iops = 1927000,
                                       .moves = 10,
                                       .lazy = true,
                                       .seed = 1 };

/* The guest of the measured miss rates. Its emulated HBA has one queue, and so one CPU frees. */
static const LoadParameters guest = { .cpus = 16,
                                      .freeing = 1,
                                      .jobs = 12,
                                      .iodepth = 256,
                                      .queue_depth = 256,
                                      .burst = 1,
                                      .iops = 2000,
                                      .lazy = true,
                                      .seed = 1 };

static const char *const help =
        "usage: iova-depot [OPTION...]\n"
        "\n"
        "A model of Linux 6.1's IOVA magazines and depot. Prints, for depots of 8 to\n"
        "1,024 magazines, how many allocations the caches serve, and per 1,000 I/Os the\n"
        "misses, the magazines dropped and the tree operations; then what the rule of\n"
        "iova.depot: auto would choose. Equal options print equal figures.\n"
        "\n"
        "  --cases            tree operations under variations of the load, a line each\n"
        "  --guest            model beside the miss rates measured in a guest; of the\n"
        "                     options below only --seed counts\n"
        "  --in-turn          misses at limits of 1, 2, 8, 32 and 128 in turn, 12 s each,\n"
        "                     after 12 s at 32 with empty caches, as bench/depot measures\n"
        "  --cpus=N           CPUs that allocate (256)\n"
        "  --freeing=N        CPUs that free, spread over them (16)\n"
        "  --jobs=N           submitters (256)\n"
        "  --iodepth=N        I/Os of each submitter (16)\n"
        "  --queue-depth=N    I/Os that the device takes (4000)\n"
        "  --burst=N          completions in a row before as many are submitted:\n"
        "                     1 is a steady load, the default an in-flight count that\n"
        "                     falls to nothing each time (4000)\n"
        "  --moves=N          of each submitter to another CPU, in a second (10)\n"
        "  --iops=N           I/Os in a second: how many come in the timer's 10 ms\n"
        "                     (1927000)\n"
        "  --strict           no flush queues, as with IOMMU type DMA instead of DMA-FQ\n"
        "  --timer=CPU        the flush timer runs on: arming, any (arming)\n"
        "  --start=N          the limit that the controller starts from (32)\n"
        "  --ios=N            I/Os of a window; as many run before it (1000000)\n"
        "  --seed=N           (1)\n"
        "  -h, --help\n";

static IovaStats since(IovaStats now, const IovaStats *then)
{
        now.alloc_miss -= then->alloc_miss;
        now.free_drop -= then->free_drop;
        now.tree_inserts -= then->tree_inserts;
        now.tree_erases -= then->tree_erases;
        return now;
}

static Window run_window(Load *l, unsigned ios)
{
        IovaStats before = iova_cache_stats(load_cache(l)), s;
        Window w;

        load_depot_range(l, &w.depot_least, &w.depot_most);
        load_run(l, ios);
        load_depot_range(l, &w.depot_least, &w.depot_most);
        s = since(iova_cache_stats(load_cache(l)), &before);
        w.misses = (double)s.alloc_miss / ios;
        w.drops = (double)s.free_drop / ios;
        w.tree = (double)(s.tree_inserts + s.tree_erases) / ios;
        return w;
}

static Load *start_load(const LoadParameters *p, unsigned limit)
{
        Load *l;

        if (load_new(&l, p, limit) >= 0)
                return l;
        fprintf(stderr, "iova-depot: out of memory\n");
        exit(EXIT_FAILURE);
}

static Window run_at(const Options *o, const LoadParameters *p, unsigned limit)
{
        Load *l = start_load(p, limit);
        Window w;

        load_run(l, o->ios);
        w = run_window(l, o->ios);
        load_free(l);
        return w;
}

static void print_load(const LoadParameters *p)
{
        printf("%u CPUs allocate, %u free; %u jobs with iodepth %u, queue depth %u; %u completions in a "
               "row;\n"
               "%.10g moves of each job and %u I/Os in a second; %s; seed %llu\n\n",
               p->cpus, p->freeing, p->jobs, p->iodepth, p->queue_depth, p->burst, p->moves, p->iops,
               !p->lazy                ? "DMA (strict)"
               : p->timer == TIMER_ANY ? "DMA-FQ (lazy), its timer on any CPU"
                                       : "DMA-FQ (lazy), its timer on the CPU that armed it",
               (unsigned long long)p->seed);
}

static void set_limit(Load *l, unsigned limit)
{
        iova_cache_set_limit(load_cache(l), limit);
        while (iova_cache_shrink(load_cache(l)))
                ;
}

/* The controller on one running load: a window, a step, and after a step a window. */
static void print_controller(const Options *o)
{
        Load *l = start_load(&o->load, o->start);
        unsigned limit = o->start;
        double before = 0;
        bool stepped = false;
        RuleStep step;

        load_run(l, o->ios);
        printf("\ncontroller, threshold %g %%: starts at %u", 100 * RULE_MISS_SHARE, limit);
        do {
                Window w = run_window(l, o->ios);

                printf(", misses %.3f %%", 100 * w.misses);
                step = rule_step(stepped ? &before : NULL, w.misses, w.drops > 0, limit, IOVA_DEPOT_MAX);
                if (step == RULE_BACK)
                        limit /= 2;
                else if (step == RULE_DOUBLE)
                        limit *= 2;
                if (step != RULE_KEEP)
                        printf("; %s to %u", step == RULE_BACK ? "goes back" : "doubles", limit);
                before = w.misses;
                stepped = true;
                set_limit(l, limit);
        } while (step == RULE_DOUBLE);
        printf("; stays at %u\n", limit);
        load_free(l);
}

static void print_table(const Options *o)
{
        print_load(&o->load);
        printf("| depot limit | hit rate | misses | magazines dropped | tree operations | depot holds |\n"
               "|---|---|---|---|---|---|\n");
        for (unsigned limit = LIMIT_MIN; limit <= LIMIT_MAX; limit *= 2) {
                Window w = run_at(o, &o->load, limit);

                printf("| %u | %.3f %% | %.2f | %.4f | %.2f | %u to %u |\n", limit, 100 * (1 - w.misses),
                       1000 * w.misses, 1000 * w.drops, 1000 * w.tree, w.depot_least, w.depot_most);
        }
        printf("\nmisses, magazines and tree operations are per 1,000 I/Os\n");
        print_controller(o);
}

static void print_case(const Options *o, const char *name, LoadParameters p)
{
        const char *wrong = load_check(&p);

        if (wrong) {
                printf("| %s | not with these options: %s |\n", name, wrong);
                return;
        }
        printf("| %s |", name);
        for (unsigned limit = LIMIT_MIN; limit <= LIMIT_MAX; limit *= 2)
                printf(" %.2f |", 1000 * run_at(o, &p, limit).tree);
        printf("\n");
        fflush(stdout);
}

/* The load as given, and with one parameter changed in each line. */
static void print_cases(const Options *o)
{
        const LoadParameters *given = &o->load;
        LoadParameters p;
        static const unsigned freeing[] = { 1, 4, 8, 32, 64, 256 };
        char name[64];

        print_load(given);
        printf("tree operations per 1,000 I/Os at a depot limit of\n\n"
               "| load | 8 | 16 | 32 | 64 | 128 | 256 | 512 | 1,024 "
               "|\n|---|---|---|---|---|---|---|---|---|\n");
        print_case(o, "as given", *given);
#define CASE(name, ...) (p = *given, __VA_ARGS__, print_case(o, name, p))
        CASE("strict", p.lazy = false);
        CASE("steady", p.burst = 1);
        CASE("steady, strict", p.burst = 1, p.lazy = false);
        CASE("half of the in-flight I/Os in a row", p.burst = p.queue_depth / 2);
        CASE("no moves", p.moves = 0);
        CASE("100 moves a second", p.moves = 100);
        CASE("timer on any CPU", p.timer = TIMER_ANY);
        CASE("24 jobs with iodepth 128, steady, 100 moves", p.jobs = 24, p.iodepth = 128, p.burst = 1,
             p.moves = 100);
        CASE("1,000 in flight", p.queue_depth = 1000, p.burst = p.burst < 1000 ? p.burst : 1000);
        for (size_t i = 0; i < sizeof(freeing) / sizeof(*freeing); i++) {
                snprintf(name, sizeof(name), "%u free, steady", freeing[i]);
                CASE(name, p.freeing = freeing[i], p.burst = 1);
        }
        CASE("all CPUs free, steady, strict", p.freeing = p.cpus, p.burst = 1, p.lazy = false);
#undef CASE
}

/* As it was measured: one domain and 12 s at each limit, after a cold run at 32. The order is taken to be
 * ascending. */
static void print_guest_line(LoadParameters p)
{
        static const unsigned limits[] = { 1, 2, 8, 32, 128 };
        Load *l = start_load(&p, 32);
        unsigned ios = 12 * p.iops;

        load_run(l, ios);
        printf("| model: %u in a row, %g moves, timer %s |", p.burst, p.moves,
               p.timer == TIMER_ANY ? "any" : "arming");
        for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
                set_limit(l, limits[i]);
                printf(" %.2f %% |", 100 * run_window(l, ios).misses);
        }
        printf("\n");
        load_free(l);
}

static void print_guest(const Options *o)
{
        static const unsigned bursts[] = { 1, 64, 192, 256 };
        static const double moves[] = { 0, 10 };
        LoadParameters p = guest;

        p.seed = o->load.seed;
        printf("16 CPUs, one of which frees; 12 jobs with iodepth 256, queue depth 256, DMA-FQ, 2,000 I/Os "
               "in a\n"
               "second, 12 s at each limit. Share of allocations that miss at a depot limit of\n\n"
               "| | 1 | 2 | 8 | 32 | 128 |\n|---|---|---|---|---|---|\n"
               "| measured in the guest | 36.0 %% | 10.3 %% | 1.07 %% | 0.15 %% | 0.06 %% |\n");
        for (int timer = TIMER_ARMING; timer <= TIMER_ANY; timer++)
                for (size_t m = 0; m < sizeof(moves) / sizeof(*moves); m++)
                        for (size_t b = 0; b < sizeof(bursts) / sizeof(*bursts); b++) {
                                p.timer = timer;
                                p.moves = moves[m];
                                p.burst = bursts[b];
                                print_guest_line(p);
                        }
}

static void print_in_turn(const Options *o)
{
        print_load(&o->load);
        printf("| | 1 | 2 | 8 | 32 | 128 |\n|---|---|---|---|---|---|\n");
        print_guest_line(o->load);
}

static bool parse_number(const char *text, unsigned *ret)
{
        char *end;
        unsigned long n = strtoul(text, &end, 10);

        if (*text < '0' || *text > '9' || *end || n > 100000000)
                return false;
        *ret = (unsigned)n;
        return true;
}

static bool parse_timer(const char *text, TimerCpu *ret)
{
        *ret = strcmp(text, "any") == 0 ? TIMER_ANY : TIMER_ARMING;
        return *ret == TIMER_ANY || strcmp(text, "arming") == 0;
}

enum { ARG_CASES = 0x100, ARG_GUEST, ARG_IN_TURN, ARG_STRICT, ARG_TIMER, ARG_MOVES, ARG_SEED, ARG_NUMBER };

static bool parse_option(Options *o, int c, const char *text)
{
        LoadParameters *p = &o->load;
        unsigned *const numbers[] = { &p->cpus,  &p->freeing, &p->jobs,  &p->iodepth, &p->queue_depth,
                                      &p->burst, &p->iops,    &o->start, &o->ios };
        unsigned n = 0;

        if (c >= ARG_NUMBER)
                return parse_number(text, numbers[c - ARG_NUMBER]);
        switch (c) {
        case ARG_CASES:
        case ARG_GUEST:
        case ARG_IN_TURN:
                o->mode = c == ARG_CASES ? MODE_CASES : c == ARG_GUEST ? MODE_GUEST : MODE_IN_TURN;
                return true;
        case ARG_STRICT:
                p->lazy = false;
                return true;
        case ARG_TIMER:
                return parse_timer(text, &p->timer);
        case ARG_MOVES:
        case ARG_SEED:
                if (!parse_number(text, &n))
                        return false;
                if (c == ARG_MOVES)
                        p->moves = n;
                else
                        p->seed = n;
                return true;
        default:
                return false;
        }
}

/* Returns false after saying what is wrong. */
static bool parse(Options *o, int argc, char **argv)
{
        static const struct option options[] = {
                { "cases", no_argument, NULL, ARG_CASES },
                { "guest", no_argument, NULL, ARG_GUEST },
                { "in-turn", no_argument, NULL, ARG_IN_TURN },
                { "strict", no_argument, NULL, ARG_STRICT },
                { "timer", required_argument, NULL, ARG_TIMER },
                { "moves", required_argument, NULL, ARG_MOVES },
                { "seed", required_argument, NULL, ARG_SEED },
                { "cpus", required_argument, NULL, ARG_NUMBER },
                { "freeing", required_argument, NULL, ARG_NUMBER + 1 },
                { "jobs", required_argument, NULL, ARG_NUMBER + 2 },
                { "iodepth", required_argument, NULL, ARG_NUMBER + 3 },
                { "queue-depth", required_argument, NULL, ARG_NUMBER + 4 },
                { "burst", required_argument, NULL, ARG_NUMBER + 5 },
                { "iops", required_argument, NULL, ARG_NUMBER + 6 },
                { "start", required_argument, NULL, ARG_NUMBER + 7 },
                { "ios", required_argument, NULL, ARG_NUMBER + 8 },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        const char *wrong;
        int c, at;

        while ((c = getopt_long(argc, argv, "h", options, &at)) >= 0) {
                if (c == 'h') {
                        fputs(help, stdout);
                        exit(EXIT_SUCCESS);
                }
                if (c == '?')
                        return false;
                if (!parse_option(o, c, optarg)) {
                        fprintf(stderr, "iova-depot: --%s: not %s\n", options[at].name, optarg);
                        return false;
                }
        }
        wrong = optind < argc                            ? "no arguments but options"
                : !o->ios                                ? "at least one I/O"
                : !o->start || o->start > IOVA_DEPOT_MAX ? "a limit is 1 to 2048 magazines"
                                                         : load_check(&o->load);
        if (wrong)
                fprintf(stderr, "iova-depot: %s\n", wrong);
        return !wrong;
}

int main(int argc, char **argv)
{
        Options o = { .load = server, .start = 32, .ios = 1000000 };

        if (!parse(&o, argc, argv))
                return 2;
        switch (o.mode) {
        case MODE_TABLE:
                print_table(&o);
                break;
        case MODE_CASES:
                print_cases(&o);
                break;
        case MODE_GUEST:
                print_guest(&o);
                break;
        case MODE_IN_TURN:
                print_in_turn(&o);
                break;
        }
        return EXIT_SUCCESS;
}
