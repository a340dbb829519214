/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/internal.h"

#include <fnmatch.h>
#include <string.h>

static bool glob_matches(const char *pattern, const char *text)
{
        return text && fnmatch(pattern, text, 0) == 0;
}

static bool class_matches(const Device *d, const char *pattern)
{
        return strcmp(device_class_to_string(d->class), pattern) == 0;
}

static bool driver_matches(const Device *d, const char *pattern)
{
        return glob_matches(pattern, d->driver);
}

/* People write addresses as lspci shows them: without domain 0000, and in either case. */
static bool pci_matches(const Device *d, const char *pattern)
{
        if (!d->pci)
                return false;
        if (fnmatch(pattern, d->pci, FNM_CASEFOLD) == 0)
                return true;
        return strncmp(d->pci, "0000:", 5) == 0 && fnmatch(pattern, d->pci + 5, FNM_CASEFOLD) == 0;
}

static bool netdev_matches(const Device *d, const char *pattern)
{
        for (size_t i = 0; i < d->netdevs.n; i++)
                if (glob_matches(pattern, d->netdevs.items[i]))
                        return true;
        return d->iscsi && (glob_matches(pattern, d->iscsi->netdev) || glob_matches(pattern, d->iscsi->nic));
}

static bool node_matches(const Device *d, const char *pattern)
{
        char node[16];

        if (d->node == NODE_UNKNOWN)
                return strcmp(pattern, "unknown") == 0;
        snprintf(node, sizeof(node), "%d", d->node);
        return strcmp(pattern, node) == 0;
}

static bool transport_matches(const Device *d, const char *pattern)
{
        return d->iscsi && glob_matches(pattern, d->iscsi->transport);
}

bool rule_matches(const Rule *rule, const Device *d)
{
        static bool (*const matchers[_MATCH_KEY_MAX])(const Device *, const char *) = {
                [MATCH_CLASS] = class_matches, [MATCH_DRIVER] = driver_matches,
                [MATCH_PCI] = pci_matches,     [MATCH_NETDEV] = netdev_matches,
                [MATCH_NODE] = node_matches,   [MATCH_TRANSPORT] = transport_matches,
        };

        for (size_t key = 0; key < _MATCH_KEY_MAX; key++) {
                const Strv *patterns = &rule->match[key];
                bool fits = patterns->n == 0;

                for (size_t i = 0; i < patterns->n && !fits; i++)
                        fits = matchers[key](d, patterns->items[i]);
                if (!fits)
                        return false;
        }
        return true;
}
