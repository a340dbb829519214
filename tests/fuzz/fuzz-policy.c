/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"
#include "policy/problems.h"

#include <errno.h>
#include <string.h>

/* A policy's text. Whatever it is: there is a policy or at least one problem, never both; messages are UTF-8
 * and stand in the order of the file; what was read can be asked for every device. */

static void check_errors(const PolicyErrors *errors)
{
        unsigned line = 0, column = 0;

        FUZZ_REQUIRE(errors->n > 0 && errors->n <= POLICY_ERRORS_MAX);
        for (size_t i = 0; i < errors->n; i++) {
                const Error *e = &errors->items[i];
                unsigned l, c;

                FUZZ_REQUIRE(e->code == -EINVAL && e->text[0] && text_is_clean(e->text));
                FUZZ_REQUIRE(sscanf(e->where, "fuzz.yaml:%u:%u", &l, &c) == 2);
                FUZZ_REQUIRE(l >= 1 && c >= 1);
                FUZZ_REQUIRE(l > line || (l == line && c >= column));
                line = l;
                column = c;
        }
}

static void check_setting(const Setting *s)
{
        if (!s)
                return;
        FUZZ_REQUIRE(s->rule && text_is_clean(s->rule) && strcmp(s->file, "fuzz.yaml") == 0);
        FUZZ_REQUIRE(s->line >= 1 && s->column >= 1);
        FUZZ_REQUIRE(!s->cpus || !cpuset_is_empty(s->cpus));
        FUZZ_REQUIRE(s->word || s->cpus || (s->number >= s->key->min && s->number <= s->key->max));
}

static void check_policy(const Policy *p)
{
        char *netdevs[] = { (char *)"ens1f0" };
        IscsiFacts facts = { .transport = (char *)"tcp", .netdev = (char *)"bond0", .nic = (char *)"ens1f0" };
        const Device devices[] = {
                { .class = DEVICE_HBA,
                  .driver = (char *)"aacraid",
                  .pci = (char *)"0000:21:00.0",
                  .node = 1 },
                { .class = DEVICE_NIC,
                  .driver = (char *)"igb",
                  .pci = (char *)"0001:af:00.1",
                  .netdevs = { netdevs, 1 } },
                { .class = DEVICE_ISCSI_HOST, .driver = (char *)"", .node = NODE_UNKNOWN, .iscsi = &facts },
        };
        static const char *const keys[][2] = {
                { "", "node" }, { "", "cpus" }, { "irq", "mode" }, { "workqueue", "cpumask" }
        };

        FUZZ_REQUIRE(policy_defaults(p)->verify >= 10 && policy_defaults(p)->verify <= 86400);
        for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
                for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
                        check_setting(policy_get(p, &devices[i], keys[k][0], keys[k][1]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(policy_freep) Policy *p = NULL;
        PolicyErrors errors = { 0 };
        int r;

        r = policy_parse("fuzz.yaml", (const char *)data, size, &p, &errors);
        if (r == -ENOMEM)
                return 0;
        FUZZ_REQUIRE((r == 0 && p && errors.n == 0) || (r == -EINVAL && !p));
        if (r < 0)
                check_errors(&errors);
        else
                check_policy(p);
        return 0;
}
