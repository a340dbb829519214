/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/line.h"

#include "observe/names.h"

#include <ctype.h>
#include <string.h>

/* 1 = the function's address is in the name, -1 = only that of others, 0 = none. */
static int names_function(const char *action, const char *pci)
{
        uint64_t own, found;
        int answer = 0;

        if (pci_address(pci, &own) == 0)
                return 0;
        for (const char *p = action; *p; p++) {
                if (p > action && isalnum((unsigned char)p[-1]))
                        continue;
                if (pci_address(p, &found) == 0)
                        continue;
                if (found == own)
                        return 1;
                answer = -1;
        }
        return answer;
}

static char fold(char c)
{
        return c == '-' ? '_' : c;
}

/* "ata_piix", "nvme0q0", "3w-9xxx" of the module 3w_9xxx; but bnx2 is not in "bnx2x". */
static bool begins_with_driver(const char *action, const char *driver)
{
        size_t n = strlen(driver);

        for (size_t i = 0; i < n; i++)
                if (fold(action[i]) != fold(driver[i]))
                        return false;
        return n > 0 && !isalpha((unsigned char)action[n]);
}

static bool begins_with_link(const Root *root, const Device *d, const char *link, const char *action)
{
        _cleanup_(freep) char *name = NULL;

        return root_read_link_name(root, &name, "%s/%s", d->path, link) >= 0 &&
               begins_with_driver(action, name);
}

static bool begins_with_netdev(const char *action, const Strv *netdevs)
{
        for (size_t i = 0; i < netdevs->n; i++) {
                size_t n = strlen(netdevs->items[i]);

                if (strncmp(action, netdevs->items[i], n) == 0 && !isalnum((unsigned char)action[n]))
                        return true;
        }
        return false;
}

static bool begins_with_virtio_child(const Root *root, const Device *d, const char *action)
{
        size_t prefix = strlen("virtio"), n;

        if (strncmp(action, "virtio", prefix) != 0)
                return false;
        n = strspn(action + prefix, "0123456789");
        return n > 0 && !isalpha((unsigned char)action[prefix + n]) &&
               root_exists(root, "%s/%.*s", d->path, (int)(prefix + n), action);
}

bool line_is_of_function(const Root *root, const Device *d, const char *action)
{
        int named = d->pci ? names_function(action, d->pci) : 0;

        if (named != 0)
                return named > 0;
        return begins_with_driver(action, d->driver) || begins_with_link(root, d, "driver", action) ||
               begins_with_link(root, d, "driver/module", action) ||
               begins_with_netdev(action, &d->netdevs) || begins_with_virtio_child(root, d, action);
}
