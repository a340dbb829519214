/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/log.h"
#include "config.h"
#include "manager.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

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

int main(int argc, char **argv)
{
        _cleanup_(manager_freep) Manager *m = NULL;
        Error e = { 0 };
        int r;

        r = manager_block_signals();
        if (r < 0) {
                log_error("signals cannot be blocked: %s", strerror(-r));
                return EXIT_FAILURE;
        }
        r = parse_argv(argc, argv);
        if (r <= 0)
                return r < 0 ? 2 : EXIT_SUCCESS;
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
