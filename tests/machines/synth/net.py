# SPDX-License-Identifier: GPL-2.0-or-later
"""Network interfaces: physical ones, and vlan, bond and bridge above them."""

from dataclasses import dataclass

from .spec import BOND_MODES

FLAGS_UP, FLAGS_DOWN = "0x1003", "0x1002"


@dataclass
class Netdev:
    name: str
    path: str
    ifindex: int
    queues: int


def add_netdev(machine, parent, name, queues, up=True, values=None):
    """An interface below the device folder `parent` ("" for a virtual one)."""
    tree, topology = machine.tree, machine.topology
    index = machine.next("ifindex") + 1
    path = f"{parent}/net/{name}" if parent else f"sys/devices/virtual/net/{name}"
    loopback = name == "lo"
    tree.put_all(
        path,
        {
            "address": "00:00:00:00:00:00" if loopback else f"02:00:00:00:{index >> 8:02x}:{index & 255:02x}",
            "ifindex": index,
            "iflink": index,
            "operstate": "unknown" if loopback else "up" if up else "down",
            "flags": "0x9" if loopback else FLAGS_UP if up else FLAGS_DOWN,
            "type": 772 if loopback else 1,
            "mtu": 65536 if loopback else 1500,
            "dev_id": "0x0",
            "dev_port": "0",
            "uevent": f"INTERFACE={name}\nIFINDEX={index}",
        }
        | (values or {}),
    )
    if up:
        tree.put(f"{path}/carrier", 1)
    for i in range(queues):
        tree.put_all(f"{path}/queues/rx-{i}", {"rps_cpus": topology.mask([]), "rps_flow_cnt": 0})
        tree.put_all(f"{path}/queues/tx-{i}", {"xps_cpus": topology.mask([]), "traffic_class": -1})
    if parent:
        tree.link(f"{path}/device", parent)
    tree.link(f"{path}/subsystem", "sys/class/net")
    tree.link(f"sys/class/net/{name}", path)
    machine.netdevs[name] = Netdev(name, path, index, queues)
    return machine.netdevs[name]


def add_link(machine, link):
    """A vlan, bond or bridge over the interfaces `link.over`, with the links that sysfs shows."""
    tree = machine.tree
    below = [machine.netdev(name) for name in link.over]
    values = {}
    if link.kind == "vlan":
        values = {"iflink": below[0].ifindex, "uevent": f"DEVTYPE=vlan\nINTERFACE={link.name}"}
    else:
        values = {"uevent": f"DEVTYPE={link.kind}\nINTERFACE={link.name}"}
    upper = add_netdev(machine, "", link.name, 1, True, values)
    for lower in below:
        tree.link(f"{upper.path}/lower_{lower.name}", lower.path)
        tree.link(f"{lower.path}/upper_{upper.name}", upper.path)
        if link.kind != "vlan":
            tree.link(f"{lower.path}/master", upper.path)
        if link.kind == "bridge":
            tree.put(f"{lower.path}/brport/state", 3)
            tree.link(f"{upper.path}/brif/{lower.name}", f"{lower.path}/brport")
    if link.kind == "bond":
        tree.put_all(
            f"{upper.path}/bonding",
            {
                "slaves": " ".join(link.over),
                "mode": f"{link.mode} {BOND_MODES[link.mode]}",
                "active_slave": link.over[0] if link.mode == "active-backup" else "",
            },
        )
    if link.kind == "bridge":
        tree.put(f"{upper.path}/bridge/bridge_id", "8000.020000000001")
