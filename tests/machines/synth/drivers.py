# SPDX-License-Identifier: GPL-2.0-or-later
"""What each driver's PCI function looks like: ids, kind, and the vectors it asks for.

Names and the split into managed and settable vectors follow the drivers of Linux 6.1.
"""

from dataclasses import dataclass


@dataclass
class Vector:
    """One MSI vector: its action name (None: allocated, but nobody requested it) and its part."""

    name: str | None
    queue: int | None = None
    managed: bool = False


@dataclass
class Unit:
    """What the names of a function's vectors may contain."""

    bdf: str
    queues: int
    host: int = -1
    index: int = 0
    netdev: str = ""
    virtio: str = ""


@dataclass
class Driver:
    kind: str
    driver: str
    pci_class: int
    vendor: int
    device: int
    vectors: object
    msi: str = "msix"
    transport: str = ""
    proc_name: str = ""
    onchip: bool = False
    virtio_driver: str = ""
    hint: bool = False


def _numbered(count, form, managed):
    return [Vector(form.format(i), i, managed) for i in range(count)]


def _hisi_sas(unit):
    names = {1: "hisi_sas_v3_hw phy", 2: "hisi_sas_v3_hw channel", 11: "hisi_sas_v3_hw fatal"}
    slow = [Vector(names.get(i)) for i in range(16)]
    return slow + _numbered(unit.queues, "hisi_sas_v3_hw cq", True)


def _megaraid(unit):
    name = f"megasas{unit.host}-msix"
    return [Vector(f"{name}0")] + [Vector(f"{name}{i + 1}", i, True) for i in range(unit.queues)]


def _qla2xxx(unit):
    """The base queue's vector is set aside before the managed ones, as the mailbox's is."""
    name = f"qla2xxx{unit.host}_"
    pairs = [Vector(f"{name}qpair{i}", i + 1, True) for i in range(unit.queues)]
    return [Vector(name + "default"), Vector(name + "rsp_q", 0), *pairs]


def _nvme(unit):
    return [Vector(f"nvme{unit.index}q0")] + [
        Vector(f"nvme{unit.index}q{i + 1}", i, True) for i in range(unit.queues)
    ]


def _virtio_scsi(unit):
    slow = [Vector(f"{unit.virtio}-{part}") for part in ("config", "control", "event")]
    return slow + _numbered(unit.queues, f"{unit.virtio}-request", True)


def _virtio_net(unit):
    found = [Vector(f"{unit.virtio}-config")]
    for i in range(unit.queues):
        found += [Vector(f"{unit.virtio}-input.{i}", i), Vector(f"{unit.virtio}-output.{i}", i)]
    return found


def _tg3(unit):
    """The first vector sends, the others receive: no two belong together."""
    receive = [Vector(f"{unit.netdev}-rx-{i + 1}", i + 1) for i in range(unit.queues)]
    return [Vector(f"{unit.netdev}-tx-0", 0), *receive]


def _e1000e(unit):
    return [Vector(f"{unit.netdev}-rx-0", 0), Vector(f"{unit.netdev}-tx-0", 0), Vector(unit.netdev)]


def _i40e(unit):
    queues = _numbered(unit.queues, f"i40e-{unit.netdev}-TxRx-{{}}", False)
    return [Vector(f"i40e-{unit.bdf}:misc"), *queues, Vector(f"i40e-{unit.bdf}:fdir-TxRx-0")]


DRIVERS = {
    # Storage
    "hisi_sas_v3": Driver(
        "hba", "hisi_sas_v3_hw", 0x010700, 0x19E5, 0xA230, _hisi_sas, msi="msi", transport="sas", onchip=True
    ),
    "aacraid": Driver(
        "hba", "aacraid", 0x010400, 0x9005, 0x028D, lambda u: _numbered(u.queues, "aacraid", False)
    ),
    "megaraid_sas": Driver("hba", "megaraid_sas", 0x010400, 0x1000, 0x0016, _megaraid),
    "mpt3sas": Driver(
        "hba",
        "mpt3sas",
        0x010700,
        0x1000,
        0x00AC,
        lambda u: _numbered(u.queues, f"mpt3sas{u.index}-msix{{}}", True),
        transport="sas",
    ),
    "lpfc": Driver(
        "hba",
        "lpfc",
        0x0C0400,
        0x10DF,
        0xE300,
        lambda u: _numbered(u.queues, "lpfc:{}", True),
        transport="fc",
    ),
    "qla2xxx": Driver("hba", "qla2xxx", 0x0C0400, 0x1077, 0x2261, _qla2xxx, transport="fc"),
    "ahci": Driver(
        "hba",
        "ahci",
        0x010601,
        0x8086,
        0xA182,
        lambda u: [Vector(f"ahci[{u.bdf}]", 0)],
        msi="msi",
        transport="ata",
        onchip=True,
    ),
    "virtio_scsi": Driver(
        "hba",
        "virtio-pci",
        0x010000,
        0x1AF4,
        0x1048,
        _virtio_scsi,
        virtio_driver="virtio_scsi",
        proc_name="virtio_scsi",
    ),
    "vmd": Driver(
        "vmd",
        "vmd",
        0x010400,
        0x8086,
        0x201D,
        lambda u: _numbered(u.queues, f"vmd{u.index}", False),
        onchip=True,
    ),
    "nvme": Driver("nvme", "nvme", 0x010802, 0x144D, 0xA824, _nvme),
    # Network
    "ixgbe": Driver(
        "nic",
        "ixgbe",
        0x020000,
        0x8086,
        0x10FB,
        lambda u: [*_numbered(u.queues, f"{u.netdev}-TxRx-{{}}", False), Vector(u.netdev)],
        hint=True,
    ),
    "igb": Driver(
        "nic",
        "igb",
        0x020000,
        0x8086,
        0x1521,
        lambda u: [Vector(u.netdev), *_numbered(u.queues, f"{u.netdev}-TxRx-{{}}", False)],
    ),
    "hns3": Driver(
        "nic",
        "hns3",
        0x020000,
        0x19E5,
        0xA222,
        lambda u: [Vector(f"hclge-misc-{u.bdf}"), *_numbered(u.queues, f"hns3-{u.bdf}-TxRx-{{}}", False)],
    ),
    "mlx5": Driver(
        "nic",
        "mlx5_core",
        0x020000,
        0x15B3,
        0x1017,
        lambda u: [
            Vector(f"mlx5_async0@pci:{u.bdf}"),
            *_numbered(u.queues, f"mlx5_comp{{}}@pci:{u.bdf}", False),
        ],
    ),
    "i40e": Driver("nic", "i40e", 0x020000, 0x8086, 0x1572, _i40e),
    "tg3": Driver("nic", "tg3", 0x020000, 0x14E4, 0x1657, _tg3),
    "e1000e": Driver("nic", "e1000e", 0x020000, 0x8086, 0x10D3, _e1000e),
    "virtio_net": Driver(
        "nic", "virtio-pci", 0x020000, 0x1AF4, 0x1041, _virtio_net, virtio_driver="virtio_net"
    ),
    # An iSCSI host in hardware
    "qedi": Driver(
        "hba",
        "qedi",
        0x010000,
        0x1077,
        0x8084,
        lambda u: _numbered(u.queues, "qedi", False),
        transport="iscsi",
    ),
    # Neither storage nor network
    "xhci": Driver(
        "other",
        "xhci_hcd",
        0x0C0330,
        0x8086,
        0xA1AF,
        lambda u: [Vector("xhci_hcd", 0)],
        msi="msi",
        onchip=True,
    ),
}
