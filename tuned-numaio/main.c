/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/log.h"
#include "basic/memory.h"
#include "config.h"
#include "manager.h"
#include "observe/container.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE     2
#define EXIT_CONTAINER 3 /* in the unit's RestartPreventExitStatus= too */

static ManagerOptions arg_options = { .root = "/" };

static void help(void)
{
        puts("tuned-numaiod [OPTIONS]\n"
             "\n"
             "Keeps the interrupts and kernel workers of HBAs, NICs, NVMe drives and iSCSI\n"
             "hosts on the NUMA node of their device. Started by tuned-numaio.service.\n"
             "\n"
             "  --root DIR      work on a copy of a machine; a stand-in answers for its kernel\n"
             "  --policy FILE   use this policy file alone\n"
             "  --api-dir DIR   make the API's sockets ro.sock and api.sock in DIR\n"
             "  --observe       never write, only say what would be done\n"
             "  --once          end after the first round of changes\n"
             "  -h, --help      show this help\n"
             "  --version       show the version\n"
             "\n"
             "See tuned-numaio(8).");
}

enum { ARG_ROOT = 0x100, ARG_POLICY, ARG_API_DIR, ARG_OBSERVE, ARG_ONCE, ARG_VERSION };

static const struct option options[] = {
        { "root", required_argument, NULL, ARG_ROOT },
        { "policy", required_argument, NULL, ARG_POLICY },
        { "api-dir", required_argument, NULL, ARG_API_DIR },
        { "observe", no_argument, NULL, ARG_OBSERVE },
        { "once", no_argument, NULL, ARG_ONCE },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, ARG_VERSION },
        { 0 },
};

/* 1 = go on, 0 = done, negative = usage error (said already). */
static int parse_argv(int argc, char **argv)
{
        int c;

        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
                switch (c) {
                case ARG_ROOT:
                        arg_options.root = optarg;
                        break;
                case ARG_POLICY:
                        arg_options.policy = optarg;
                        break;
                case ARG_API_DIR:
                        arg_options.api_dir = optarg;
                        break;
                case ARG_OBSERVE:
                        arg_options.observe = true;
                        break;
                case ARG_ONCE:
                        arg_options.once = true;
                        break;
                case 'h':
                        help();
                        return 0;
                case ARG_VERSION:
                        puts("tuned-numaiod " PACKAGE_VERSION);
                        return 0;
                default:
                        return -EINVAL;
                }
        }
        if (optind < argc) {
                fprintf(stderr, "tuned-numaiod: unexpected argument \"%s\"\n", argv[optind]);
                return -EINVAL;
        }
        return 1;
}

/* Who made the container that this process runs in; NULL = none, as far as anything tells. What a manager
 * leaves no file for may be in the environment. */
static char *find_container(void)
{
        _cleanup_(root_freep) Root *root = NULL;
        const char *told = getenv("container");
        char *manager = NULL;

        if (root_open("/", &root) >= 0)
                (void)container_detect(root, &manager);
        if (manager)
                return manager;
        if (told && *told)
                return strdup(told);
        return getenv("KUBERNETES_SERVICE_HOST") ? strdup("kubernetes") : NULL;
}

/* Interrupts and workqueues belong to the host's kernel. The CPUs and devices that a container shows need not
 * be those of the host, and what is placed by half of the picture is placed wrong. */
static bool is_refused_here(const ManagerOptions *o)
{
        _cleanup_(root_freep) Root *root = NULL;
        _cleanup_(freep) char *manager = NULL;

        if (o->observe || root_open(o->root, &root) < 0 || !root_is_live(root))
                return false;
        manager = find_container();
        if (manager)
                log_error("this is a container (%s): interrupts belong to the host, run tuned-numaio there; "
                          "--observe only looks",
                          manager);
        return manager;
}

int main(int argc, char **argv)
{
        _cleanup_(manager_freep) Manager *m = NULL;
        Error e = { 0 };
        int r;

        memory_guard_json();
        r = manager_block_signals();
        if (r < 0) {
                log_error("signals cannot be blocked: %s", strerror(-r));
                return EXIT_FAILURE;
        }
        r = parse_argv(argc, argv);
        if (r <= 0)
                return r < 0 ? EXIT_USAGE : EXIT_SUCCESS;
        if (is_refused_here(&arg_options))
                return EXIT_CONTAINER;
        r = manager_new(&arg_options, &m, &e);
        if (r < 0) {
                log_error("%s%s%s", e.where, *e.where ? ": " : "", e.text);
                return EXIT_FAILURE;
        }
        r = manager_run(m);
        if (r < 0) {
                log_error("the event loop ended: %s", strerror(-r));
                return EXIT_FAILURE;
        }
        return EXIT_SUCCESS;
}
