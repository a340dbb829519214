# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts a whole machine together from its page."""

import hashlib
import json
import uuid

from . import irqs as interrupts
from . import iscsi, net, scsi
from .drivers import DRIVERS, Unit
from .pci import HIDDEN, Function, Pci
from .sets import format_list, parse_list
from .spec import KERNELS, Error, Page
from .topology import Topology, write_cpus, write_nodes
from .tree import Tree
from .workqueues import Workqueues

FIRST_IRQ = {"x86_64": 24, "arm64": 10}


class Machine:
    """What the parts share while the tree is written."""

    def __init__(self, page, root):
        self.page = page
        self.tree = Tree(root)
        self.topology = Topology(page)
        self.irqs = interrupts.Irqs(page, self.topology, FIRST_IRQ[page.arch])
        self.workqueues = Workqueues(page, self.topology)
        self.netdevs = {}
        self.transports = set()
        self.netlink = {"addresses": [], "routes": [], "sockets": [], "channels": []}
        self.vectors = []
        self._counters = {}

    def next(self, name):
        """0, 1, 2 ... for each kind of number that the kernel gives out."""
        self._counters[name] = self._counters.get(name, -1) + 1
        return self._counters[name]

    def netdev(self, name):
        if name not in self.netdevs:
            raise Error(f"{self.page.name}: there is no interface '{name}'")
        return self.netdevs[name]


def write(page, root):
    """Write the machine that `page` describes below the empty or new folder `root`.

    Returns what only the maker knows: for each requested vector its IRQ, function, queue number
    (None: slow path) and whether it is managed."""
    machine = Machine(page, root)
    tree, topology = machine.tree, machine.topology
    write_cpus(tree, page, topology)
    write_nodes(tree, topology)
    interrupts.add_system(machine.irqs)
    net.add_netdev(machine, "", "lo", 1)
    _add_devices(machine)
    for link in page.links:
        net.add_link(machine, link)
    for host in page.iscsi:
        machine.netdev(host.over)
        iscsi.add_software_host(machine, host)
    interrupts.write(tree, machine.irqs)
    machine.workqueues.write(tree)
    _write_kernel(machine)
    _write_beside(machine)
    return machine.vectors


def _add_devices(machine):
    """All devices, node by node, as a kernel finds them when it walks the buses."""
    topology = machine.topology
    placed = [(node, device) for device in machine.page.device for node in _nodes(machine, device)]
    order = [*topology.ids, -1]
    nodes = [node for node in order if any(node == where for where, _ in placed)]
    pci = Pci(machine, nodes or [0])
    for node in nodes:
        for where, device in placed:
            if where == node:
                _add_device(machine, pci, Page({**device, "node": node}))


def _nodes(machine, device):
    if device.node == "each":
        return machine.topology.ids
    if device.node != -1 and device.node not in machine.topology.ids:
        raise Error(f"{machine.page.name}: {device.type}: there is no node {device.node}")
    return [device.node]


def _add_device(machine, pci, device):
    if device.type not in DRIVERS:
        raise Error(f"{machine.page.name}: unknown type '{device.type}', known are {', '.join(DRIVERS)}")
    driver = DRIVERS[device.type]
    if device.domain > HIDDEN and not pci.has_root(device):
        _add_vmd(machine, pci, device)
    first = pci.slot(device, driver.onchip)
    for port in range(device.ports):
        node = device.node if device.numa_node == "own" else device.numa_node
        where = Function(first.path, first.domain, first.bus, first.slot, port, device.node, node)
        _add_function(machine, pci, device, driver, where)


def _add_vmd(machine, pci, device):
    """The function that hides the PCI domain of `device`, with vectors that carry all of theirs."""
    vmd = Page({**device, "type": "vmd", "domain": 0, "ports": 1, "queues": 8})
    where = pci.slot(vmd, True)
    pci.add_root(device, _add_function(machine, pci, vmd, DRIVERS["vmd"], where).path)


def _add_function(machine, pci, device, driver, where):
    """One function: its vectors, and what its driver registers below it."""
    unit = Unit(
        where.bdf,
        min(device.queues, len(machine.topology.possible)) if driver.kind != "nic" else device.queues,
    )
    if driver.kind == "hba" and driver.transport != "iscsi":
        unit.host = machine.next("host")
        unit.index = machine.next(device.type)
    elif driver.kind in ("nvme", "vmd"):
        unit.index = machine.next(driver.kind)
    elif driver.kind == "nic":
        unit.netdev = f"eth{machine.next('eth')}"
    if driver.virtio_driver:
        unit.virtio = f"virtio{machine.next('virtio')}"
    vectors = driver.vectors(unit)
    if device.down:
        vectors = [vector if vector.queue is None else type(vector)(None) for vector in vectors]
    numbers = [machine.irqs.reserve() for _ in vectors]
    function = pci.write(
        where,
        driver.pci_class,
        driver.vendor,
        driver.device,
        driver.driver,
        numbers,
        driver.msi,
        device.local,
    )
    maps = _add_vectors(machine, pci, device, driver, function, vectors, numbers)
    parent = _add_virtio(machine, function, driver, unit)
    if driver.kind == "nic":
        net.add_netdev(machine, parent, unit.netdev, device.queues, not device.down)
        machine.netlink["channels"].append(
            {"dev": unit.netdev, "combined": device.queues, "max_combined": 4 * device.queues}
        )
    elif driver.kind == "nvme":
        _add_nvme(machine, parent, unit, function, maps)
    elif driver.transport == "iscsi":
        iscsi.add_offload_host(machine, parent, driver.driver, "")
    elif driver.kind == "hba":
        _add_hba(machine, parent, device, driver, unit, maps)
    return function


def _add_vectors(machine, pci, device, driver, function, vectors, numbers):
    """The interrupts behind `vectors`; returns the CPU set of each managed queue, for the block layer."""
    topology, irqs = machine.topology, machine.irqs
    managed = interrupts.spread_managed(topology, sum(vector.managed for vector in vectors))
    maps = list(managed)
    chip = pci.chip(function, driver.msi)
    for index, (vector, number) in enumerate(zip(vectors, numbers, strict=True)):
        hwirq = pci.hwirq(function, index)
        if vector.name is None:
            irqs.add_idle(number, chip, hwirq)
            continue
        machine.vectors.append(
            {"irq": number, "bdf": function.bdf, "queue": vector.queue, "managed": vector.managed}
        )
        if vector.managed:
            mask = managed.pop(0)
            node = topology.node_of.get(min(mask), 0)
            irqs.add(
                number, chip, hwirq, [vector.name], mask, managed=True, node=node if topology.numa else 0
            )
            continue
        mask = _start_mask(machine, device, function, vector)
        # In one allocation with managed vectors the settable ones have the node of CPU 0.
        node = topology.node_of[0] if maps else function.numa_node
        irq = irqs.add(number, chip, hwirq, [vector.name], mask, node=node if topology.numa else 0)
        if driver.hint and vector.queue is not None:
            irq.hint = {sorted(topology.online)[vector.queue % len(topology.online)]}
    return maps


def _start_mask(machine, device, function, vector):
    """Where a settable vector sits at first."""
    topology, words = machine.topology, device.affinity.split()
    if words[0] == "all":
        return topology.online
    if words[0] == "misplaced":
        cpus = topology.home(_other_node(topology, device.node)) or topology.online
    elif words[0] == "default":
        # What the kernel gives a vector that nobody has touched.
        return topology.node_online(function.numa_node) or topology.online
    elif words[0] == "node":
        cpus = topology.home(device.node) or topology.online
    else:
        # No settable vector is left on offline CPUs alone.
        cpus = parse_list(words[-1]) & topology.online or topology.online
        if words[0] != "each":
            return cpus
    if vector.queue is None:
        return cpus
    ordered = sorted(cpus)
    return {ordered[vector.queue % len(ordered)]}


def _other_node(topology, node):
    """The next node that has usable CPUs, or `node` itself on a machine with one."""
    owners = [n for n in topology.ids if topology.home(n)]
    after = [n for n in owners if n > node] + [n for n in owners if n < node]
    return (after or owners or [node])[0]


def _add_virtio(machine, function, driver, unit):
    """The virtio device between a function and what its driver registers; the function itself without one."""
    if not driver.virtio_driver:
        return function.path
    tree, path = machine.tree, f"{function.path}/{unit.virtio}"
    bus, kind = "sys/bus/virtio", driver.device - 0x1040
    tree.put_all(
        path,
        {
            "device": f"0x{kind:04x}",
            "vendor": "0x1af4",
            "status": "0x0000000f",
            "uevent": f"DRIVER={driver.virtio_driver}\nMODALIAS=virtio:d{kind:08X}v00001AF4",
        },
    )
    tree.link(f"{path}/subsystem", bus)
    tree.link(f"{path}/driver", f"{bus}/drivers/{driver.virtio_driver}")
    tree.link(f"{bus}/drivers/{driver.virtio_driver}/{unit.virtio}", path)
    tree.link(f"{bus}/devices/{unit.virtio}", path)
    return path


def _add_hba(machine, parent, device, driver, unit, maps):
    if driver.transport == "ata":
        parent = f"{parent}/ata{unit.host + 1}"
    name = driver.proc_name or driver.driver
    queues = maps or [machine.topology.possible]
    path = scsi.add_host(machine, parent, unit.host, name, len(queues))
    if driver.transport == "fc":
        machine.workqueues.host_work(unit.host)
        scsi.add_class(
            machine, "fc_host", path, f"host{unit.host}", {"port_state": "Online", "speed": "16 Gbit"}
        )
    scsi.add_disks(machine, path, unit.host, device.disks, driver.transport, queues)


def _add_nvme(machine, parent, unit, function, maps):
    name = f"nvme{unit.index}"
    path = f"{parent}/nvme/{name}"
    tree = machine.tree
    tree.put_all(
        path,
        {
            "model": "SYNTHETIC NVME",
            "state": "live",
            "transport": "pcie",
            "address": function.bdf,
            "cntlid": unit.index,
            "numa_node": function.numa_node,
            "queue_count": unit.queues + 1,
            "uevent": "NVME_TRTYPE=pcie",
        },
    )
    tree.link(f"{path}/device", parent)
    tree.link(f"{path}/subsystem", "sys/class/nvme")
    tree.link(f"sys/class/nvme/{name}", path)
    scsi.add_block(machine, path, path, f"{name}n1", f"{scsi.NVME_MAJOR}:{unit.index}", maps, "none")


def _write_kernel(machine):
    """Command line, version, boot id and the few symbols that tell kernels apart."""
    tree, page = machine.tree, machine.page
    release = f"{KERNELS[page.kernel]}-{'amd64' if page.arch == 'x86_64' else 'arm64'}"
    boot = uuid.UUID(bytes=hashlib.sha256(page.name.encode()).digest()[:16], version=4)
    words = ["BOOT_IMAGE=/boot/vmlinuz", "root=/dev/sda1", "ro", "quiet"]
    if page.cpus.isolated:
        words.append(f"isolcpus={page.cpus.isolated}")
    if machine.topology.nohz_full:
        words.append(f"nohz_full={page.cpus.nohz_full}")
    tree.put("proc/cmdline", " ".join(words))
    tree.put(
        "proc/version", f"Linux version {release} (synthetic@machine) (gcc 12.2.0) #1 SMP PREEMPT_DYNAMIC"
    )
    tree.put("proc/sys/kernel/osrelease", release)
    tree.put("proc/sys/kernel/random/boot_id", boot)
    tree.put("proc/stat", _stat(machine))
    symbols = ["T alloc_iova_fast", "T free_iova_fast", "T irq_set_affinity", "T apply_workqueue_attrs"]
    if page.kernel == "6.12":
        symbols += ["t iova_depot_work_func", "t wq_update_node_max_active"]
    tree.put("proc/kallsyms", "\n".join(f"0000000000000000 {symbol}" for symbol in symbols))
    tree.put("sys/bus/workqueue/uevent", "")
    if page.depot:
        tree.put("sys/module/iova/parameters/depot_max", page.depot)


def _stat(machine):
    """/proc/stat of a machine that has idled since it booted."""
    ticks = "0 0 100 360000 0 0 0 0 0 0"
    counts = {irq.number: sum(machine.irqs.count(irq, cpu) for cpu in irq.effective) for irq in machine.irqs.all}
    numbered = [counts.get(number, 0) for number in range(max(counts) + 1)]
    return "\n".join(
        [
            f"cpu  {ticks}",
            *(f"cpu{cpu} {ticks}" for cpu in sorted(machine.topology.online)),
            f"intr {sum(numbered)} {' '.join(map(str, numbered))}",
            "ctxt 100000",
            "btime 1700000000",
            "processes 5000",
            "procs_running 1",
            "procs_blocked 0",
        ]
    )


def _write_beside(machine):
    """The two files that are no kernel files: what netlink knows, and how the stand-in answers."""
    page = machine.page
    errno = page.managed_errno or ("EPERM" if page.kernel == "6.12" else "EIO")
    standin = {
        "managed_irqs": machine.irqs.managed_list(),
        "managed_errno": errno,
        "remapping": page.remapping,
        "full_cpus": format_list(parse_list(page.full_cpus)),
        "blocking": page.blocking,
    }
    machine.tree.put("netlink.json", json.dumps(machine.netlink, indent=1))
    machine.tree.put("standin.json", json.dumps(standin, indent=1))
