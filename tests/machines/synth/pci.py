# SPDX-License-Identifier: GPL-2.0-or-later
"""PCI host bridges, root ports and functions with their MSI vectors."""

from dataclasses import dataclass

from .sets import format_list, parse_list

FIRST_ONCHIP = 0x10
# Domains above this one lie behind a VMD function.
HIDDEN = 0xFFFF
# With MSI-X the function's `irq` file still names the line interrupt, which belongs to something else.
INTX = {"x86_64": 16, "arm64": 0}


@dataclass
class Root:
    """A host bridge: where the next root port, secondary bus and on-chip function go."""

    path: str
    domain: int
    bus: int
    node: int
    ports: int = 1
    buses: int = 1
    onchip: int = FIRST_ONCHIP


@dataclass
class Function:
    path: str
    domain: int
    bus: int
    slot: int
    fn: int
    node: int
    numa_node: int

    @property
    def bdf(self):
        return f"{self.domain:04x}:{self.bus:02x}:{self.slot:02x}.{self.fn}"

    @property
    def devid(self):
        return self.bus << 8 | self.slot << 3 | self.fn


class Pci:
    """Gives out addresses: each node has its own host bridge and its own share of the 256 buses."""

    def __init__(self, machine, nodes):
        self.machine = machine
        self._roots = {}
        self._groups = 0
        self._step = 256
        while self._step * len(nodes) > 256:
            self._step //= 2
        self._base = {node: i * self._step for i, node in enumerate(nodes)}

    def slot(self, device, onchip):
        """Place a new card of `device` and return the address of its function 0 as a Function."""
        root = self._root(device)
        if onchip:
            slot = root.onchip
            root.onchip += 1
            return Function(root.path, root.domain, root.bus, slot, 0, device.node, root.node)
        port = self._port(root, device)
        bus = root.bus + root.buses
        root.buses += 1
        return Function(port.path, root.domain, bus, 0, 0, device.node, root.node)

    def _root(self, device):
        key = (device.node, device.domain)
        if key not in self._roots:
            bus = 0 if device.domain else self._base[device.node]
            self.add_root(device, "sys/devices", bus)
        return self._roots[key]

    def add_root(self, device, parent, bus=0):
        """The host bridge of `device`'s node and domain, below the folder `parent`."""
        path = f"{parent}/pci{device.domain:04x}:{bus:02x}"
        self._roots[device.node, device.domain] = Root(path, device.domain, bus, device.node)

    def has_root(self, device):
        return (device.node, device.domain) in self._roots

    def _port(self, root, device):
        """A root port with its own interrupt, which belongs to no device of ours."""
        machine = self.machine
        node = device.node if device.bridge_node == "own" else device.bridge_node
        where = Function(root.path, root.domain, root.bus, root.ports, 0, device.node, node)
        root.ports += 1
        number = machine.irqs.reserve()
        port = self.write(where, 0x060400, 0x19E5, 0xA120, "pcieport", [number], msi="msi")
        cpus = machine.topology.node_online(node) or machine.topology.online
        machine.irqs.add(
            number,
            self.chip(port, "msi"),
            self.hwirq(port, 0),
            ["PCIe PME", "aerdrv", "pciehp"],
            cpus,
            node=node,
        )
        return port

    def write(self, where, pci_class, vendor, device, driver, numbers, msi="msix", local=""):
        """Write one function's folder below `where.path`; returns it with its own path."""
        machine, topology = self.machine, self.machine.topology
        found = Function(
            f"{where.path}/{where.bdf}",
            where.domain,
            where.bus,
            where.slot,
            where.fn,
            where.node,
            where.numa_node,
        )
        cpus = parse_list(local) if local else topology.node_online(found.numa_node if topology.numa else -1)
        tree, path = machine.tree, found.path
        tree.put_all(
            path,
            {
                "class": f"0x{pci_class:06x}",
                "vendor": f"0x{vendor:04x}",
                "device": f"0x{device:04x}",
                "subsystem_vendor": f"0x{vendor:04x}",
                "subsystem_device": "0x0000",
                "local_cpus": topology.mask(cpus),
                "local_cpulist": format_list(cpus),
                "irq": numbers[0] if numbers and msi == "msi" else INTX[machine.page.arch],
                "enable": 1,
                "uevent": f"DRIVER={driver}\nPCI_CLASS={pci_class:X}\nPCI_ID={vendor:04X}:{device:04X}\n"
                f"PCI_SUBSYS_ID={vendor:04X}:0000\nPCI_SLOT_NAME={found.bdf}",
            },
        )
        if topology.numa:
            tree.put(f"{path}/numa_node", found.numa_node)
        for number in numbers:
            tree.put(f"{path}/msi_irqs/{number}", msi)
        tree.link(f"sys/bus/pci/devices/{found.bdf}", path)
        tree.link(f"{path}/subsystem", "sys/bus/pci")
        tree.link(f"sys/bus/pci/drivers/{driver}/{found.bdf}", path)
        tree.link(f"{path}/driver", f"sys/bus/pci/drivers/{driver}")
        self._write_group(path, found.bdf)
        return found

    def _write_group(self, path, bdf):
        group = f"sys/kernel/iommu_groups/{self._groups}"
        self._groups += 1
        tree, page = self.machine.tree, self.machine.page
        tree.put(f"{group}/type", page.iommu)
        if page.depot:
            tree.put(f"{group}/iova_depot_max", page.depot)
            tree.put(f"{group}/iova_stats", "\n".join(f"{order} 0 0 0 0 0 0 0" for order in range(6)))
        tree.link(f"{group}/devices/{bdf}", path)
        tree.link(f"{path}/iommu_group", group)

    def hwirq(self, function, index):
        """6.1 packs the function into hwirq; later kernels count the function's vectors only."""
        if self.machine.page.kernel != "6.1":
            return index
        return function.domain << 27 | function.devid << 11 | index

    def chip(self, function, msi):
        page = self.machine.page
        if page.arch == "arm64":
            return (
                "ITS-MSI"
                if page.kernel != "6.12"
                else f"ITS-PCI-{'MSIX' if msi == 'msix' else 'MSI'}-{function.bdf}"
            )
        if function.domain > HIDDEN:
            return "VMD-MSI"
        prefix = "IR-" if page.remapping else ""
        if page.kernel == "6.1":
            return f"{prefix}PCI-MSI"
        return f"{prefix}PCI-{'MSIX' if msi == 'msix' else 'MSI'}-{function.bdf}"
