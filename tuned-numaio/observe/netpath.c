/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe/netpath.h"

#include "basic/array.h"
#include "observe/names.h"
#include "observe/node.h"

#include <errno.h>
#include <string.h>

#define DEPTH_MAX 8
#define NICS_MAX  64

typedef struct Nic {
        char *netdev, *chain, *device;
        NodeChoice choice;
} Nic;

typedef struct Nics {
        Nic *items;
        size_t n;
} Nics;

void netpath_clear(NetPath *p)
{
        free(p->chain);
        free(p->nic);
        free(p->device);
        free(p->text);
        *p = (NetPath) { 0 };
}

static void nics_clear(Nics *nics)
{
        for (size_t i = 0; i < nics->n; i++) {
                free(nics->items[i].netdev);
                free(nics->items[i].chain);
                free(nics->items[i].device);
                free(nics->items[i].choice.text);
        }
        free(nics->items);
}

/* A NIC of the snapshot has its node from there; any other (USB, vmbus) is looked at as a device. */
static int choose_node(const Root *root, const Snapshot *s, const char *path, Nic *nic)
{
        _cleanup_(freep) char *id = NULL;
        char pci[PCI_ADDRESS_SIZE];
        const Device *d = NULL;

        if (pci_of_path(path, pci)) {
                id = strf("pci:%s", pci);
                if (!id)
                        return -ENOMEM;
                d = snapshot_device(s, id);
        }
        if (!d || d->class != DEVICE_NIC)
                return node_choose(root, s, path, &nic->choice);
        nic->choice =
                (NodeChoice) { .node = d->node, .source = d->node_source, .text = strdup(d->node_text) };
        nic->device = STEAL_PTR(id);
        return nic->choice.text ? 0 : -ENOMEM;
}

/* A netdev without lower ones is a NIC when it has a device; veth, loopback and tunnels have none. */
static int add_nic(const Root *root, const Snapshot *s, const char *netdev, const char *chain, Nics *nics)
{
        _cleanup_(freep) char *path = NULL;
        Nic *nic;
        int r;

        r = root_realpath(root, &path, "sys/class/net/%s/device", netdev);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        nic = ARRAY_APPEND(nics->items, nics->n);
        if (!nic)
                return -ENOMEM;
        nic->netdev = strdup(netdev);
        nic->chain = strdup(chain);
        if (!nic->netdev || !nic->chain)
                return -ENOMEM;
        return choose_node(root, s, path, nic);
}

/* The names of the lower netdevs; a bond's active slave alone where there is one. */
static int list_lower(const Root *root, const char *netdev, Strv *ret)
{
        _cleanup_(freep) char *active = NULL;
        Strv names = { 0 };
        int r = 0;

        if (root_read(root, &active, "sys/class/net/%s/bonding/active_slave", netdev) >= 0 && active[0])
                return strv_add(ret, active);
        (void)root_list(root, &names, "sys/class/net/%s", netdev);
        for (size_t i = 0; r >= 0 && i < names.n; i++)
                if (strncmp(names.items[i], "lower_", 6) == 0)
                        r = strv_add(ret, names.items[i] + 6);
        strv_clear(&names);
        return r;
}

static int descend(const Root *root, const Snapshot *s, const char *netdev, const char *chain, unsigned depth,
                   Nics *nics)
{
        Strv lower = { 0 };
        int r;

        if (depth > DEPTH_MAX || nics->n >= NICS_MAX)
                return 0;
        r = list_lower(root, netdev, &lower);
        if (r >= 0 && lower.n == 0)
                r = add_nic(root, s, netdev, chain, nics);
        for (size_t i = 0; r >= 0 && i < lower.n; i++) {
                _cleanup_(freep) char *longer = strf("%s > %s", chain, lower.items[i]);

                r = longer ? descend(root, s, lower.items[i], longer, depth + 1, nics) : -ENOMEM;
        }
        strv_clear(&lower);
        return r;
}

static int no_nic(const char *netdev, NetPath *ret)
{
        ret->node = NODE_UNKNOWN;
        ret->chain = strdup(netdev);
        ret->text = strf("%s has no hardware below it", netdev);
        return ret->chain && ret->text ? 0 : -ENOMEM;
}

/* The NICs are on different nodes: none of them is the one. */
static int many_nodes(const Nics *nics, const char *netdev, NetPath *ret)
{
        ret->node = NODE_UNKNOWN;
        ret->chain = strdup(netdev);
        ret->text = strf("the NICs below %s are on different nodes (%s on %d, %s on %d)", netdev,
                         nics->items[0].netdev, nics->items[0].choice.node, nics->items[1].netdev,
                         nics->items[1].choice.node);
        return ret->chain && ret->text ? 0 : -ENOMEM;
}

static int pick(Nics *nics, const char *netdev, NetPath *ret)
{
        if (nics->n == 0)
                return no_nic(netdev, ret);
        for (size_t i = 1; i < nics->n; i++) {
                Nic other = nics->items[i];

                if (other.choice.node == nics->items[0].choice.node)
                        continue;
                nics->items[i] = nics->items[1];
                nics->items[1] = other;
                return many_nodes(nics, netdev, ret);
        }
        ret->node = nics->items[0].choice.node;
        ret->nic = STEAL_PTR(nics->items[0].netdev);
        ret->chain = STEAL_PTR(nics->items[0].chain);
        ret->device = STEAL_PTR(nics->items[0].device);
        ret->text = STEAL_PTR(nics->items[0].choice.text);
        return 0;
}

int netpath_descend(const Root *root, const Snapshot *s, const char *netdev, NetPath *ret)
{
        NetPath path = { 0 };
        Nics nics = { 0 };
        int r;

        r = descend(root, s, netdev, netdev, 0, &nics);
        if (r >= 0)
                r = pick(&nics, netdev, &path);
        nics_clear(&nics);
        if (r < 0) {
                netpath_clear(&path);
                return r;
        }
        *ret = path;
        return 0;
}
