# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a machine's tree in the plainest way, independent of the daemon's own reader."""

import json
import os
import re
from pathlib import Path

from synth.sets import parse_list, parse_mask

CLASSES = (("nvme", r"0x0108"), ("hba", r"0x01|0x0c04"), ("nic", r"0x02"))


class Root:
    def __init__(self, path):
        self.path = Path(path)
        self._read_topology()
        standin = self._json("standin.json")
        self.managed = parse_list(standin.get("managed_irqs", ""))
        self.remapping = standin.get("remapping", True)
        self.full = parse_list(standin.get("full_cpus", ""))
        self.netlink = self._json("netlink.json")
        self.functions = self._read_functions()
        self.iscsi = self._read_iscsi()

    def _json(self, name):
        file = self.path / name
        return json.loads(file.read_text()) if file.exists() else {}

    def text(self, path, default=""):
        try:
            return (self.path / path).read_text().strip(" \n\0")
        except OSError:
            return default

    def _cpus(self, path):
        found = self.text(path)
        return set() if "null" in found else parse_list(found)

    def _read_topology(self):
        cpu = "sys/devices/system/cpu"
        self.online = self._cpus(f"{cpu}/online")
        self.quiet = self._cpus(f"{cpu}/isolated") | self._cpus(f"{cpu}/nohz_full")
        for word in self.text("proc/cmdline").split():
            name, _, value = word.partition("=")
            if name in ("isolcpus", "nohz_full"):
                self.quiet |= parse_list(",".join(v for v in value.split(",") if v[:1].isdigit()))
        base = self.path / "sys/devices/system/node"
        ids = sorted(int(entry.name[4:]) for entry in base.glob("node[0-9]*"))
        self.nodes = {i: self._cpus(base / f"node{i}/cpulist") & self.online for i in ids}
        self.distance = {i: list(map(int, self.text(base / f"node{i}/distance").split())) for i in ids}
        members = [cpu for cpus in self.nodes.values() for cpu in cpus]
        self.overlapping = len(members) != len(set(members))
        self.single = not ids or self.overlapping
        if self.single:
            self.nodes, self.distance = {0: self.online}, {0: [10]}

    def local(self, node):
        """The CPUs that count as local to `node`; where it has none, those that stand in for it."""
        return self.nodes[node] or self.home(node)

    def home(self, node):
        """Usable CPUs of `node`, or of the nearest node that has some (the lower id of two)."""
        order = sorted(self.nodes, key=lambda n: self.distance[node][list(self.nodes).index(n)])
        for near in order:
            usable = self.nodes[near] - self.quiet
            if usable:
                return usable
        return set()

    def _read_functions(self):
        """Storage and network functions that have a requested vector: bdf -> facts."""
        found = {}
        for entry in sorted((self.path / "sys/bus/pci/devices").glob("*")):
            kind = next((k for k, form in CLASSES if re.match(form, self.text(entry / "class"))), None)
            folder = entry.resolve()
            if kind is None or not (folder / "driver").exists():
                continue
            irqs = [int(irq.name) for irq in (folder / "msi_irqs").glob("*")]
            irqs = sorted(irq for irq in irqs if self._requested(irq))
            if irqs:
                found[entry.name] = {
                    "class": kind,
                    "folder": folder,
                    "irqs": irqs,
                    "node": self.node_of(folder),
                }
        return found

    def _requested(self, irq):
        folder = self.path / f"proc/irq/{irq}"
        return folder.is_dir() and any(entry.is_dir() for entry in folder.iterdir())

    def node_of(self, folder):
        """A device folder's node, None when nobody says."""
        if self.single:
            return 0
        top = self.path / "sys/devices"
        for where in (folder, *folder.parents):
            if where == top.resolve():
                break
            node = int(self.text(where / "numa_node", "-1"))
            if node >= 0:
                return node
        cpus = self._cpus(folder / "local_cpulist") & self.online
        fits = [
            node for node, members in self.nodes.items() if cpus and cpus < self.online and cpus <= members
        ]
        return fits[0] if fits else None

    def _read_iscsi(self):
        """SCSI host number -> node (or None) of each iSCSI host."""
        found = {}
        for entry in sorted((self.path / "sys/class/iscsi_host").glob("host*")):
            folder = entry.resolve().parent.parent
            if "platform" in folder.parts:
                found[int(entry.name[4:])] = self._software_node(folder)
            else:
                found[int(entry.name[4:])] = self.node_of(folder.parent)
        return found

    def _software_node(self, folder):
        if self.single:
            return 0
        host = folder / "iscsi_host" / folder.name
        netdev = self.text(host / "netdev")
        address = self.text(host / "ipaddress")
        if netdev in ("", "(null)"):
            netdev = self._carrier(folder, address)
        return self._netdev_node(netdev) if netdev else None

    def _carrier(self, folder, address):
        """The interface that carries the connection: by socket, by route, by address."""
        if not address:
            return None
        connection = next(folder.glob("session*/connection*/iscsi_connection/connection*"))
        local = f"{address}:{self.text(connection / 'local_port')}"
        for socket in self.netlink["sockets"]:
            if socket["local"] == local and "dev" in socket:
                return socket["dev"]
        network = self.text(connection / "address").rpartition(".")[0] + ".0/24"
        for entry in self.netlink["routes"]:
            if entry["dst"] == network:
                return entry["dev"]
        return next((a["dev"] for a in self.netlink["addresses"] if a["address"] == address), None)

    def _netdev_node(self, name):
        """Down through the interfaces below, in a bond to the active one if there is one; None when they
        are on different nodes or on none."""
        folder = (self.path / "sys/class/net" / name).resolve()
        active = self.text(folder / "bonding/active_slave")
        below = [active] if active else [entry.name[6:] for entry in folder.glob("lower_*")]
        if below:
            nodes = {self._netdev_node(lower) for lower in below}
            return nodes.pop() if len(nodes) == 1 else None
        device = folder / "device"
        return self.node_of(device.resolve()) if device.exists() else None

    def irq(self, number, name="smp_affinity_list"):
        return self._cpus(f"proc/irq/{number}/{name}")

    def workqueue_mask(self, name):
        return parse_mask(self.text(f"sys/devices/virtual/workqueue/{name}/cpumask"))

    def host_nodes(self):
        """SCSI host number -> node of every host that belongs to one of our devices."""
        found = dict(self.iscsi)
        for facts in self.functions.values():
            for entry in facts["folder"].glob("**/scsi_host/host*"):
                number = int(entry.name[4:])
                found.setdefault(number, facts["node"])
        return found

    def workqueues(self):
        """Name -> node of each workqueue that belongs to a SCSI host whose node is known."""
        nodes, found = self.host_nodes(), {}
        for entry in (self.path / "sys/devices/virtual/workqueue").iterdir():
            match = re.fullmatch(r"(?:scsi_tmf|scsi_wq|iscsi_q)_(\d+)|iscsi_ctrl_(\d+):\d+", entry.name)
            node = nodes.get(int(match[1] or match[2])) if match else None
            if node is not None and (entry / "cpumask").exists():
                found[entry.name] = node
        return found

    def contents(self):
        """Path -> content of every file but those that no program writes and that are many."""
        found = {}
        top = f"{self.path}/"
        for base in ("proc", "sys"):
            for folder, folders, names in os.walk(top + base):
                if folder in (f"{top}sys/devices/system", f"{top}sys/kernel"):
                    folders[:] = [name for name in folders if name not in ("cpu", "irq")]
                for name in names:
                    file = f"{folder}/{name}"
                    if not os.path.islink(file):
                        with open(file, "rb") as opened:
                            found[file.removeprefix(top)] = opened.read()
        return found
