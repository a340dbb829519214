/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "basic/array.h"
#include "basic/error.h"
#include "basic/parse.h"
#include "observe/devices.h"
#include "observe/names.h"
#include "observe/netpath.h"
#include "observe/node.h"
#include "observe/observe.h"
#include "observe/routes.h"
#include "observe/udev-database.h"

#include <errno.h>
#include <string.h>

typedef struct IscsiWalk {
        const Root *root;
        Snapshot *snapshot;
        Routes *routes; /* opened for the first software host; NULL = not needed, or not to be had */
} IscsiWalk;

/* An attribute's text; NULL when it is missing, empty, "(null)", or answers with an error such as -ENOTCONN.
 */
static char *attribute(const Root *root, const char *folder, const char *name)
{
        char *text = NULL;

        if (root_read(root, &text, "%s/%s", folder, name) < 0)
                return NULL;
        if (text[0] && strcmp(text, "(null)") != 0)
                return text;
        free(text);
        return NULL;
}

static int endpoint(const char *address, const char *port, char **ret)
{
        unsigned number;

        if (!address || !port || parse_unsigned(port, &number) < 0)
                return 0;
        *ret = endpoint_format(address, number);
        return *ret ? 0 : -ENOMEM;
}

/* Reads the peer of the session's first connection, and with the host's address its own end. */
static int read_connection(const Root *root, const Device *d, const char *session, IscsiFacts *f)
{
        Strv names = { 0 };
        int r = 0;

        (void)root_list(root, &names, "%s/%s", d->path, session);
        for (size_t i = 0; r >= 0 && !f->peer && i < names.n; i++) {
                _cleanup_(freep) char *folder = NULL, *address = NULL, *port = NULL, *own = NULL,
                                      *own_port = NULL, *host = NULL;

                if (strncmp(names.items[i], "connection", 10) != 0)
                        continue;
                folder = strf("%s/%s/%s/iscsi_connection/%s", d->path, session, names.items[i],
                              names.items[i]);
                host = strf("%s/iscsi_host/host%d", d->path, f->host);
                if (!folder || !host) {
                        r = -ENOMEM;
                        break;
                }
                address = attribute(root, folder, "address");
                port = attribute(root, folder, "port");
                own = attribute(root, host, "ipaddress");
                own_port = attribute(root, folder, "local_port");
                r = endpoint(address, port, &f->peer);
                if (r >= 0)
                        r = endpoint(own, own_port, &f->local);
        }
        strv_clear(&names);
        return r;
}

/* Adds the disks of "SESSION/TARGET/LUN/block". */
static int read_disks(const Root *root, const char *session, Strv *disks)
{
        Strv targets = { 0 };
        int r = 0;

        (void)root_list(root, &targets, "%s", session);
        for (size_t i = 0; r >= 0 && i < targets.n; i++) {
                Strv luns = { 0 };

                if (strncmp(targets.items[i], "target", 6) != 0)
                        continue;
                (void)root_list(root, &luns, "%s/%s", session, targets.items[i]);
                for (size_t j = 0; r >= 0 && j < luns.n; j++) {
                        Strv names = { 0 };

                        (void)root_list(root, &names, "%s/%s/%s/block", session, targets.items[i],
                                        luns.items[j]);
                        for (size_t k = 0; r >= 0 && k < names.n; k++)
                                r = strv_add_unique(disks, names.items[k]);
                        strv_clear(&names);
                }
                strv_clear(&luns);
        }
        strv_clear(&targets);
        return r;
}

/* Takes target and interface name of the host's first session, and the disks of all. */
static int read_sessions(const Root *root, Device *d, IscsiFacts *f)
{
        Strv names = { 0 };
        int r = 0;

        (void)root_list(root, &names, "%s", d->path);
        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                _cleanup_(freep) char *session = NULL, *folder = NULL;

                if (!name_number(names.items[i], "session", NULL))
                        continue;
                session = strf("%s/%s", d->path, names.items[i]);
                folder = strf("%s/iscsi_session/%s", session ? session : "", names.items[i]);
                if (!session || !folder) {
                        r = -ENOMEM;
                        break;
                }
                if (!f->target) {
                        f->target = attribute(root, folder, "targetname");
                        f->iface = attribute(root, folder, "ifacename");
                        r = read_connection(root, d, names.items[i], f);
                }
                if (r >= 0)
                        r = read_disks(root, session, &d->disks);
        }
        strv_clear(&names);
        strv_sort(&d->disks);
        return r;
}

/* The address of an endpoint as text, for messages: "10.9.0.2" of "10.9.0.2:3260". */
static char *address_text(const char *end)
{
        const char *colon = strrchr(end, ':');

        return strf("%.*s", colon ? (int)(colon - end) : (int)strlen(end), end);
}

/* Takes the text over. */
static int set_how(char *text, char **ret_how)
{
        *ret_how = text;
        return text ? 0 : -ENOMEM;
}

/* By the connection: what its socket is bound to, the route to the peer, the owner of the own address. */
static int netdev_of_connection(IscsiWalk *w, IscsiFacts *f, char **ret_how)
{
        _cleanup_(freep) char *own = NULL, *peer = NULL;
        unsigned local_port = 0, peer_port = 0;
        Address local, remote;
        bool has_local = f->local && endpoint_parse(f->local, &local, &local_port) >= 0;
        bool has_peer = f->peer && endpoint_parse(f->peer, &remote, &peer_port) >= 0;
        int r = -ENOENT;

        if (!w->routes || !has_peer)
                return -ENOENT;
        own = address_text(has_local ? f->local : "");
        peer = address_text(f->peer);
        if (!own || !peer)
                return -ENOMEM;
        if (has_local)
                r = w->routes->ops->socket_device(w->routes, &local, local_port, &remote, peer_port,
                                                  &f->netdev);
        if (r >= 0)
                return set_how(strf("socket to %s bound", peer), ret_how);
        if (!error_is_shortage(r))
                r = w->routes->ops->route_lookup(w->routes, &remote, has_local ? &local : NULL, &f->netdev);
        if (r >= 0)
                return set_how(strf("route to %s", peer), ret_how);
        if (has_local && !error_is_shortage(r))
                r = w->routes->ops->address_owner(w->routes, &local, &f->netdev);
        if (r >= 0)
                return set_how(strf("owner of %s", own), ret_how);
        return error_is_shortage(r) ? r : -ENOENT;
}

/* Finds the netdev in the order of docs/architecture.md; how it was found goes to *ret_how. */
static int find_netdev(IscsiWalk *w, const Device *d, IscsiFacts *f, char **ret_how)
{
        _cleanup_(freep) char *folder = strf("%s/iscsi_host/host%d", d->path, f->host);
        int r = 0;

        if (!folder)
                return -ENOMEM;
        f->netdev = attribute(w->root, folder, "netdev");
        if (f->netdev) {
                *ret_how = strdup("netdev of the iscsi interface");
                return *ret_how ? 0 : -ENOMEM;
        }
        if (!w->routes)
                r = routes_new(w->root, &w->routes);
        return error_is_shortage(r) ? r : netdev_of_connection(w, f, ret_how);
}

static int set_unknown(Device *d, char *text)
{
        d->node = NODE_UNKNOWN;
        d->node_source = NODE_SOURCE_UNKNOWN;
        d->node_text = text;
        return text ? 0 : -ENOMEM;
}

/* A software host sits where the NIC sits that its connection goes through. */
static int place_software(IscsiWalk *w, Device *d, IscsiFacts *f)
{
        _cleanup_(freep) char *how = NULL;
        NetPath path = { 0 };
        int r;

        r = find_netdev(w, d, f, &how);
        if (error_is_shortage(r))
                return r;
        if (r < 0)
                return set_unknown(d, strdup(f->peer ? "no route to the target is known" : "not connected"));
        r = netpath_descend(w->root, w->snapshot, f->netdev, &path);
        if (r < 0)
                return r;
        f->via = strf("%s: %s", how, path.chain);
        f->nic = STEAL_PTR(path.nic);
        f->nic_device = STEAL_PTR(path.device);
        d->node = path.node;
        d->node_source = path.node == NODE_UNKNOWN ? NODE_SOURCE_UNKNOWN : NODE_SOURCE_NETDEV;
        d->node_text = f->via ? strf("%s; %s", f->via, path.text) : NULL;
        netpath_clear(&path);
        return d->node_text ? 0 : -ENOMEM;
}

static int place(IscsiWalk *w, Device *d, IscsiFacts *f)
{
        NodeChoice choice;
        int r;

        if (!f->offload) {
                r = place_software(w, d, f);
                if (r < 0 || w->snapshot->numa)
                        return r;
                free(d->node_text); /* one node: it is right whatever the connection */
                d->node_text = NULL;
        }
        r = node_choose(w->root, w->snapshot, d->path, &choice);
        if (r < 0)
                return r;
        d->node = choice.node;
        d->node_source = choice.source;
        d->node_text = choice.text;
        return 0;
}

/* open-iscsi names an offload host's interface TRANSPORT.HWADDRESS until a session names one. */
static char *default_iface(const Root *root, const Device *d, const IscsiFacts *f)
{
        _cleanup_(freep) char *folder = strf("%s/iscsi_host/host%d", d->path, f->host);
        _cleanup_(freep) char *address = f->offload && folder ? attribute(root, folder, "hwaddress") : NULL;

        return address ? strf("%s.%s", f->transport, address) : strdup("default");
}

static int read_identity(const Root *root, Device *d, IscsiFacts *f)
{
        _cleanup_(freep) char *folder = strf("%s/scsi_host/host%d", d->path, f->host);
        char pci[PCI_ADDRESS_SIZE];

        if (!folder)
                return -ENOMEM;
        d->driver = attribute(root, folder, "proc_name");
        if (!d->driver)
                d->driver = strdup("");
        if (!d->driver)
                return -ENOMEM;
        /* "iscsi_tcp" and "iscsi_iser" are the drivers of the transports tcp and iser; others share the name.
         */
        f->transport = strdup(strncmp(d->driver, "iscsi_", 6) == 0 ? d->driver + 6 : d->driver);
        f->offload = pci_of_path(d->path, pci);
        if (f->offload) {
                d->pci = strdup(pci);
                if (!d->pci)
                        return -ENOMEM;
        }
        d->scsi_hosts = calloc(1, sizeof(*d->scsi_hosts));
        if (!f->transport || !d->scsi_hosts)
                return -ENOMEM;
        d->scsi_hosts[d->n_scsi_hosts++] = f->host;
        return d->pci ? udev_model_of_pci(root, d->pci, &d->model) : 0;
}

static int fill(IscsiWalk *w, unsigned host, const char *path, Device *d)
{
        IscsiFacts *f = d->iscsi = calloc(1, sizeof(*f));
        int r;

        d->class = DEVICE_ISCSI_HOST;
        d->path = strdup(path);
        if (!f || !d->path)
                return -ENOMEM;
        f->host = (int)host;
        r = read_identity(w->root, d, f);
        if (r >= 0)
                r = read_sessions(w->root, d, f);
        if (r < 0)
                return r;
        if (!f->target)
                f->target = strdup("");
        if (!f->iface)
                f->iface = default_iface(w->root, d, f);
        if (!f->target || !f->iface)
                return -ENOMEM;
        d->id = strf("iscsi:%s:%s", f->iface, f->target);
        return d->id ? place(w, d, f) : -ENOMEM;
}

/* A second host of the same interface and target is told apart by "#2". */
static int make_unique(const Snapshot *s, Device *d)
{
        _cleanup_(freep) char *base = strdup(d->id);

        if (!base)
                return -ENOMEM;
        for (unsigned k = 2; snapshot_device(s, d->id); k++) {
                free(d->id);
                d->id = strf("%s#%u", base, k);
                if (!d->id)
                        return -ENOMEM;
        }
        return 0;
}

static int visit(void *context, const char *name, const char *path)
{
        _cleanup_(freep) char *folder = NULL;
        Device device = { 0 }, *slot = NULL;
        IscsiWalk *w = context;
        const char *tail = strstr(path, "/iscsi_host/");
        unsigned host;
        int r;

        if (!tail || !name_number(name, "host", &host))
                return 0;
        folder = strndup(path, (size_t)(tail - path));
        if (!folder)
                return -ENOMEM;
        r = fill(w, host, folder, &device);
        if (r >= 0)
                r = make_unique(w->snapshot, &device);
        if (r >= 0) {
                slot = ARRAY_APPEND(w->snapshot->devices, w->snapshot->n_devices);
                r = slot ? 0 : -ENOMEM;
        }
        if (slot)
                *slot = device;
        else
                device_clear(&device);
        return error_is_shortage(r) ? r : 0;
}

int observe_iscsi(const Root *root, Snapshot *s)
{
        IscsiWalk w = { .root = root, .snapshot = s };
        int r;

        r = class_walk(root, "iscsi_host", visit, &w);
        routes_free(w.routes);
        devices_sort(s);
        return error_is_shortage(r) ? r : 0;
}
