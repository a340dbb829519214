/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "basic/memory.h"
#include "basic/parse.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/machine.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <locale.h>
#include <string.h>

#define EXIT_USAGE 2
#define INTERVAL   5u /* seconds between two answers of watch */

enum {
        ARG_SOCKET = 0x100,
        ARG_ROOT,
        ARG_POLICY,
        ARG_JSON,
        ARG_CHANGES,
        ARG_INTERVAL,
        ARG_COUNT,
        ARG_VERSION,
};

/* The options, from which getopt's tables and the help come. */
static const struct {
        const char *name;
        int value;
        const char *argument;
        const char *help;
} options[] = {
        { "json", ARG_JSON, NULL, "Print JSON, as the API gives it" },
        { "changes", ARG_CHANGES, NULL, "plan: list each change below its device" },
        { "interval", ARG_INTERVAL, "N", "watch: seconds between two answers, 5 by default" },
        { "count", ARG_COUNT, "N", "watch: end after so many answers" },
        { "socket", ARG_SOCKET, "PATH", "Ask the daemon on this socket" },
        { "root", ARG_ROOT, "DIR", "Look at the machine below DIR, without a daemon" },
        { "policy", ARG_POLICY, "FILE", "With --root: this policy alone, not the built-in one" },
        { "help", 'h', NULL, "Show this help" },
        { "version", ARG_VERSION, NULL, "Show the version" },
};

static void print_help(void)
{
        puts("numaioctl [OPTIONS] VERB\n\n"
             "Asks tuned-numaio what it does, or looks at a copy of a machine.\n\nVerbs:");
        for (const Verb *v = verbs; v->name; v++)
                printf("  %-9s %-8s  %s\n", v->name, v->argument ? v->argument : "", v->help);
        puts("\nOptions:");
        for (size_t i = 0; i < ARRAY_SIZE(options); i++)
                printf("  %s --%-9s%-5s %s\n", options[i].value == 'h' ? "-h" : "  ", options[i].name,
                       options[i].argument ? options[i].argument : "", options[i].help);
        puts("\nExit codes: 0 = done, 1 = failed, 2 = wrong usage. See numaioctl(1).");
}

static int usage(const char *what, const char *which)
{
        fprintf(stderr, "numaioctl: %s%s%s; see numaioctl --help\n", what, which ? ": " : "",
                which ? which : "");
        return -EINVAL;
}

/* A number from 1 to max. */
static int set_number(unsigned *to, const char *option, unsigned max)
{
        if (parse_unsigned(optarg, to) < 0 || *to < 1 || *to > max) {
                fprintf(stderr, "numaioctl: %s takes a number from 1 to %u, not \"%s\"\n", option, max,
                        optarg);
                return -EINVAL;
        }
        return 1;
}

static int set_option(Ctl *c, int value)
{
        switch (value) {
        case ARG_JSON:
                c->json = true;
                return 1;
        case ARG_CHANGES:
                c->changes = true;
                return 1;
        case ARG_INTERVAL:
                return set_number(&c->interval, "--interval", 3600);
        case ARG_COUNT:
                return set_number(&c->count, "--count", INT_MAX);
        case ARG_SOCKET:
                c->socket = optarg;
                return 1;
        case ARG_ROOT:
                c->root = optarg;
                return 1;
        case ARG_POLICY:
                c->policy = optarg;
                return 1;
        case ARG_VERSION:
                puts("numaioctl " PACKAGE_VERSION);
                return 0;
        case 'h':
                print_help();
                return 0;
        default:
                return -EINVAL; /* getopt has said it */
        }
}

/* Returns 1 to go on, 0 when all is done, -EINVAL. */
static int parse_options(Ctl *c, int argc, char **argv)
{
        struct option table[ARRAY_SIZE(options) + 1] = { 0 };
        int value, r = 1;

        for (size_t i = 0; i < ARRAY_SIZE(options); i++)
                table[i] = (struct option) { options[i].name,
                                             options[i].argument ? required_argument : no_argument, NULL,
                                             options[i].value };
        while (r == 1 && (value = getopt_long(argc, argv, "h", table, NULL)) >= 0)
                r = set_option(c, value);
        return r;
}

static int parse_verb(const Ctl *c, int n, char **words, const Verb **ret)
{
        const Verb *v = n > 0 ? verb_find(words[0]) : NULL;

        if (n == 0)
                return usage("there is no verb", NULL);
        if (!v)
                return usage("there is no such verb", words[0]);
        if (n > (v->argument ? 2 : 1))
                return usage("this is too much", words[v->argument ? 2 : 1]);
        if (n == 1 && v->argument && v->argument[0] != '[')
                return usage("this verb needs an argument", v->name);
        if (c->changes && strcmp(v->name, "plan") != 0)
                return usage("--changes is for plan", NULL);
        if ((c->interval || c->count) && !(v->flags & VERB_REPEATS))
                return usage("--interval and --count are for watch", NULL);
        if (c->root && c->socket)
                return usage("--root and --socket exclude each other", NULL);
        if (c->policy && !c->root)
                return usage("--policy needs --root", NULL);
        if (v->run && (c->socket || c->policy))
                return usage("this verb takes no --socket and no --policy", v->name);
        if (v->run && c->json && strcmp(words[1], "-") == 0)
                return usage("--json and the file would be mixed on standard output", NULL);
        if (c->root && !v->offline && !v->run)
                return usage("this verb asks the daemon, and takes no --root", v->name);
        *ret = v;
        return 1;
}

static void print_error(const Error *e)
{
        fprintf(stderr, "numaioctl: %s%s%s\n", e->where, *e->where ? ": " : "", e->text);
}

static int open_machine(Ctl *c)
{
        _cleanup_(freep) PolicyErrors *errors = calloc(1, sizeof(*errors));
        Error e = { 0 };
        int r;

        if (!errors)
                return -ENOMEM;
        r = machine_open(c->root, c->policy, &c->machine, errors, &e);
        for (size_t i = 0; r < 0 && i < errors->n; i++)
                fprintf(stderr, "%s: %s\n", errors->items[i].where, errors->items[i].text);
        if (r < 0 && errors->n == 0)
                print_error(&e);
        return r;
}

/* One answer; on a terminal, what repeats takes the place of the one before. */
static int print_answer(Ctl *c, const Verb *v, const json_t *answer, Error *e)
{
        bool repeats = v->flags & VERB_REPEATS;
        int r;

        if (c->json) {
                r = json_dumpf(answer, stdout, repeats ? JSON_COMPACT : JSON_INDENT(2));
                putchar('\n');
                if (r < 0)
                        (void)error_set(e, -EIO, NULL, "the answer cannot be printed");
        } else {
                if (repeats && isatty(STDOUT_FILENO))
                        fputs("\033[H\033[2J", stdout);
                r = v->show(c, answer, e);
        }
        if (r == 0 && (fflush(stdout) < 0 || ferror(stdout)))
                r = error_set(e, -EIO, NULL, "the answer cannot be printed");
        return r;
}

static int run(Ctl *c, const Verb *v, const char *argument)
{
        json_t *answer = NULL;
        Error e = { 0 };
        int r;

        r = ctl_fetch(c, v, argument, &answer, &e);
        if (r < 0) {
                print_error(&e);
                return EXIT_FAILURE;
        }
        r = print_answer(c, v, answer, &e);
        if (r < 0)
                print_error(&e);
        r = r < 0 ? EXIT_FAILURE : v->exit_code ? v->exit_code(answer) : EXIT_SUCCESS;
        json_decref(answer);
        return r;
}

static int run_again_and_again(Ctl *c, const Verb *v, const char *argument)
{
        int r;

        for (unsigned n = 1;; n++) {
                r = run(c, v, argument);
                if (r != EXIT_SUCCESS || !(v->flags & VERB_REPEATS) || n == c->count)
                        return r;
                sleep(c->interval ? c->interval : INTERVAL);
        }
}

int main(int argc, char **argv)
{
        const Verb *v = NULL;
        Ctl c = { 0 };
        int r;

        memory_guard_json();
        (void)setlocale(LC_ALL, "");
        r = parse_options(&c, argc, argv);
        if (r > 0)
                r = parse_verb(&c, argc - optind, argv + optind, &v);
        if (r <= 0)
                return r < 0 ? EXIT_USAGE : EXIT_SUCCESS;
        if (c.root && v->offline && open_machine(&c) < 0)
                return EXIT_FAILURE;
        r = run_again_and_again(&c, v, argv[optind + 1]);
        machine_free(c.machine);
        client_free(c.client);
        return r;
}
