# SPDX-License-Identifier: GPL-2.0-or-later
"""iSCSI hosts, sessions and connections: in software, and in hardware below a PCI function."""

from . import scsi

NULL = "(null)"


def add_transport(machine, name):
    """The transport's class device; a transport is no host."""
    if name in machine.transports:
        return
    machine.transports.add(name)
    tree, path = machine.tree, f"sys/devices/virtual/iscsi_transport/{name}"
    tree.put_all(path, {"handle": 18446744072640000000 + len(machine.transports), "caps": "0x39"})
    tree.link(f"{path}/subsystem", "sys/class/iscsi_transport")
    tree.link(f"sys/class/iscsi_transport/{name}", path)


def add_software_host(machine, host):
    """One iscsi_tcp session; each has a SCSI host of its own, with no parent device and no node."""
    add_transport(machine, "tcp")
    index = machine.next("iscsi") + 1
    number = machine.next("host")
    path = scsi.add_host(machine, "sys/devices/platform", number, "iscsi_tcp")
    local, peer, port = f"10.9.{index}.1", f"10.9.{index}.2", 40000 + index
    machine.workqueues.iscsi_host(number)
    values = {"netdev": host.over if host.via == "netdev" else NULL, "hwaddress": NULL, "initiatorname": NULL}
    if host.connected:
        values["ipaddress"] = local
    scsi.add_class(machine, "iscsi_host", path, f"host{number}", values)
    if machine.page.patched:
        values = {"xmit_numa": 0, "xmit_inline": 0, "rx_cpu": -1, "xmit_stats": "local 0 remote 0"}
        machine.tree.put_all(f"{path}/scsi_host/host{number}", values)
    disk = add_session(machine, path, number, index, peer, port if host.connected else 0, host.scheduler)
    if host.multipath:
        scsi.add_multipath(machine, disk)
    if host.connected:
        _tell_netlink(machine, host, local, peer, port)


def _tell_netlink(machine, host, local, peer, port):
    """What netlink shows of the connection, as far as the way `host.via` needs it."""
    netlink = machine.netlink
    socket = {"local": f"{local}:{port}", "remote": f"{peer}:3260"}
    if host.via == "socket":
        socket["dev"] = host.over
    netlink["sockets"].append(socket)
    netlink["addresses"].append({"address": local, "prefixlen": 24, "dev": host.over})
    if host.via != "address":
        network = f"{local.rpartition('.')[0]}.0/24"
        netlink["routes"].append({"dst": network, "dev": host.over, "src": local})


def add_session(machine, host_path, number, index, peer, local_port, scheduler="mq-deadline"):
    """A session with one connection and one disk, whose folder it returns; `local_port` 0: the connection is down."""
    tree = machine.tree
    session = machine.next("session") + 1
    path = f"{host_path}/session{session}"
    tree.put(f"{path}/uevent", "")
    machine.workqueues.iscsi_session(number, session)
    scsi.add_class(
        machine,
        "iscsi_session",
        path,
        f"session{session}",
        {
            "targetname": f"iqn.2024-01.test:t{index}",
            "state": "LOGGED_IN" if local_port else "FAILED",
            "ifacename": "default",
            "tpgt": 1,
            "target_id": 0,
        },
    )
    connection = f"connection{session}:0"
    values = {"persistent_address": peer, "persistent_port": 3260, "state": "up" if local_port else "failed"}
    if local_port:
        values |= {"address": peer, "port": 3260, "local_port": local_port}
    tree.put(f"{path}/{connection}/uevent", "")
    scsi.add_class(machine, "iscsi_connection", f"{path}/{connection}", connection, values)
    everyone = [machine.topology.online]
    return scsi.add_lun(machine, f"{path}/target{number}:0:0", f"{number}:0:0:0", everyone, scheduler)


def add_offload_host(machine, function_path, name, netdev):
    """A host that the card itself carries; its node is the function's."""
    add_transport(machine, name)
    index = machine.next("iscsi") + 1
    number = machine.next("host")
    path = scsi.add_host(machine, function_path, number, name)
    scsi.add_class(
        machine,
        "iscsi_host",
        path,
        f"host{number}",
        {
            "netdev": netdev or NULL,
            "ipaddress": f"10.9.{index}.1",
            "hwaddress": f"02:00:00:01:00:{index:02x}",
            "initiatorname": "iqn.2024-01.test:initiator",
            "port_state": "LINK_UP",
            "port_speed": "25 Gbps",
        },
    )
    add_session(machine, path, number, index, f"10.9.{index}.2", 40000 + index)
