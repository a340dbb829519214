# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded machines, which lie packed beside the checkout: unpacking them, and what is known of each.

The figures come from the README and the *.truth.tsv files of the captures, which were worked out from the
files apart from this project's code.
"""

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "machines"))

from synth.sets import format_list, parse_list  # noqa: E402
from synth.tree import scratch  # noqa: E402, F401

# What no reader looks at; these are most of the files.
UNREAD = (
    "power", "cpuidle", "cpufreq", "memory[0-9]*", "infiniband", "hugepages", "device-tree", "firmware",
    "core_*", "package_*", "cluster_*", "die_*", "statistics", "modalias", "vpd", "hotplug", "mc",
    "firmware_node", "thermal_throttle", "cache/index*/[a-ktu-z]*", "cache/index*/size",
)


def ranges(*spans):
    return set().union(*(parse_list(span) for span in spans))


def modulo(count, step):
    """Nodes 0 to step - 1, dealt out like cards."""
    return {n: set(range(n, count, step)) for n in range(step)}


def blocks(ids, size):
    return {node: set(range(i * size, (i + 1) * size)) for i, node in enumerate(ids)}


def flat(ids, far):
    return {a: {b: 10 if a == b else far for b in ids} for a in ids}


def rows(ids, table):
    return {a: dict(zip(ids, row)) for a, row in zip(ids, table)}


def _ppc():
    """Nodes lie in pairs: 10 to itself, 20 in the pair, 40 to all others."""
    ids = (0, 1, 4, 5, 8, 9, 12, 13)
    return {a: {b: 10 if a == b else 20 if a // 2 == b // 2 else 40 for b in ids} for a in ids}


def _ia64():
    """Groups of four; node 16 has memory alone and is near to everybody."""
    def one(a, b):
        if a == b:
            return 10
        if 16 in (a, b):
            return 14
        return 17 if a // 4 == b // 4 else 20

    return {a: {b: one(a, b) for b in range(17)} for a in range(17)}


def _gpus():
    """Two processors and six memories of GPUs; what is known is that there are three distances."""
    ids = (0, 8, 250, 251, 252, 253, 254, 255)
    return {a: {b: 10 if a == b else 40 if {a, b} == {0, 8} else 80 for b in ids} for a in ids}


SPARSE = (0, 1, 2, 33, 34, 45, 72, 73)
KUNPENG = ((10, 16, 32, 33), (16, 10, 25, 32), (32, 25, 10, 16), (33, 32, 16, 10))


class Machine:
    """What the README's section 3.3 says of one capture. `distance` is None where it is not told."""

    def __init__(self, archive, nodes, distance, kind="numa"):
        self.archive, self.nodes, self.distance, self.kind = archive, nodes, distance, kind


# By the name in the README's table.
MACHINES = {
    "worker1": Machine("openshift-cnto/bare-metal-worker1.sysinfo.tgz", modulo(80, 2), flat((0, 1), 21)),
    "worker2": Machine("openshift-cnto/bare-metal-worker2.sysinfo.tgz", modulo(32, 2), flat((0, 1), 21)),
    "sno-kvm": Machine("openshift-cnto/sno-kvm.sysinfo.tgz", {0: ranges("0-11")}, None),
    "32em64t": Machine("hwloc/32em64t-2n8c+dax+nvme+mic+dimms.tar.bz2", blocks((0, 1), 8), flat((0, 1), 21)),
    "32intel64": Machine(
        "hwloc/32intel64-2p8co2t+8ve.tar.bz2", {0: ranges("0-7,16-23"), 1: ranges("8-15,24-31")}, flat((0, 1), 21)
    ),
    "256ppc": Machine("hwloc/256ppc-8n8s4t.tar.bz2", blocks((0, 1, 4, 5, 8, 9, 12, 13), 32), _ppc()),
    "128ia64": Machine("hwloc/128ia64-17n4s2c.tar.bz2", blocks(range(16), 8) | {16: set()}, _ia64()),
    "48amd64-sparse": Machine("hwloc/48amd64-4pa2n6c-sparse.tar.bz2", blocks(SPARSE, 6), {10, 16, 22}),
    "nvidiagpunumanodes": Machine(
        "hwloc/nvidiagpunumanodes.tar.bz2",
        {0: ranges("0-15"), 8: ranges("88-103")} | {n: set() for n in range(250, 256)},
        _gpus(),
    ),
    "offline-cpu0-node0": Machine("hwloc/offline-cpu0-node0.tar.bz2", {1: set(range(5, 20, 2))}, None),
    "8em64t-buggynuma": Machine(
        "hwloc/8em64t-2s2ca2c-buggynuma.tar.bz2", {0: ranges("0-7")}, None, kind="overlapping"
    ),
    "2pa-pcidomain32bits": Machine("hwloc/2pa-pcidomain32bits.tar.bz2", {0: ranges("0-1")}, None),
    "128arm": Machine("hwloc/128arm-2pa2n8cluster4co.tar.bz2", blocks(range(4), 32), rows(range(4), KUNPENG)),
    "fakepcilocalities": Machine("hwloc/fakepcilocalities.tar.bz2", modulo(40, 4), flat(range(4), 20)),
    "pci-conflicts": Machine("hwloc/40intel64-4n10c+pci-conflicts.tar.bz2", modulo(40, 4), flat(range(4), 20)),
    "x86_64-64cpu": Machine(
        "util-linux-lscpu/x86_64-64cpu.tar.gz",
        {0: set(range(0, 64, 2)), 2: set(range(1, 64, 4)), 3: set(range(3, 64, 4))},
        None,
    ),
    "ppc64-POWER7-64cpu": Machine("util-linux-lscpu/ppc64-POWER7-64cpu.tar.gz", {0: ranges("0-63"), 1: set()}, None),
    "s390-lpar": Machine("util-linux-lscpu/s390-lpar.tar.gz", {0: ranges("1-5,8-19")}, None, kind="none"),
    "x86_64-epyc_7451": Machine(
        "util-linux-lscpu/x86_64-epyc_7451.tar.gz",
        {n: set(range(6 * n, 6 * n + 6)) | set(range(48 + 6 * n, 54 + 6 * n)) for n in range(8)},
        None,
    ),
    "sparc64": Machine("util-linux-lscpu/sparc64.tar.gz", {0: ranges("6-7,10-11,14-15")}, None, kind="none"),
    "L5640": Machine("ghw/linux-amd64-intel-xeon-L5640.tar.gz", modulo(24, 2), flat((0, 1), 20)),
}


class Function:
    """A row of the README's section 3.2: `irqs` are those in msi_irqs."""

    def __init__(self, kind, driver, node, irqs=""):
        self.kind, self.driver, self.node, self.irqs = kind, driver, node, parse_list(irqs)


# The rows with a class that is looked after: InfiniBand without a network interface (32intel64) is not. The node is
# the README's, but for one NVMe without a numa_node whose local_cpulist fits node 0.
FUNCTIONS = {
    "32em64t": {
        "0000:00:02.0": Function("nvme", "nvme", 0, "46-53"),
        "0000:00:1f.2": Function("hba", "ahci", 0, "84"),
        "0000:02:00.0": Function("nic", "igb", 0, "101-109"),
        "0000:02:00.3": Function("nic", "igb", 0, "110-118"),
        "0000:82:00.0": Function("nic", "mlx4_core", 1, "120-247"),
    },
    "32intel64": {
        "0000:60:00.0": Function("nic", "i40e", 0, "52-103,112-158"),
        "0000:60:00.1": Function("nic", "i40e", 0, "159-257"),
    },
    "2pa-pcidomain32bits": {
        "0000:00:03.0": Function("nic", "virtio_net", None, "24-26"),
        "10000:00:04.0": Function("hba", "virtio_blk", None, "27-28"),
    },
    "fakepcilocalities": {"0000:01:00.0": Function("hba", "megaraid_sas", 0)}
    | {f"0000:0{bus}:00.{port}": Function("nic", "bnx2", 0) for bus in (2, 3) for port in (0, 1)},
    "pci-conflicts": {"0000:01:00.0": Function("hba", "megaraid_sas", None)},
    "L5640": {"0000:03:00.0": Function("hba", "megaraid_sas", None)}
    | {f"0000:0{bus}:00.{port}": Function("nic", "bnx2", None) for bus in (1, 2) for port in (0, 1)}
    | {f"0000:05:00.{port}": Function("nic", "igb", port) for port in (0, 1)}
    | {f"0000:05:{slot}.{fn}": Function("nic", "igbvf", fn % 2) for slot in (10, 11) for fn in (0, 1, 4, 5)},
}


class Row:
    """One function of a *.truth.tsv file."""

    def __init__(self, header, line):
        self.__dict__.update(zip(header, line.rstrip("\n").split("\t")))
        for name in header:
            if name not in ("bdf", "class", "driver", "first_name", "last_name"):
                setattr(self, name, int(getattr(self, name)))
        self.kind = "nvme" if getattr(self, "class") == "0x010802" else "hba"
        if getattr(self, "class") == "0x020000":
            self.kind = "nic"

    @property
    def looked_after(self):
        return getattr(self, "class").startswith(("0x01", "0x0200"))


class Captures:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.readme = (self.folder / "README.md").read_text()

    def unpack(self, name, into):
        """Unpacks the machine of that name below the new folder `into`; returns the folder that holds sys."""
        archive = MACHINES[name].archive if name in MACHINES else name
        into.mkdir()
        skip = [f"--exclude=*/{pattern}" for pattern in UNREAD]
        subprocess.run(["tar", "-C", into, "-xf", self.folder / archive, *skip], check=True)
        # Some were packed without the right to write, and a copy is to be changed.
        subprocess.run(["chmod", "-R", "u+rwX", into], check=True)
        if (into / "sys").is_dir():
            return into
        return next(entry for entry in sorted(into.iterdir()) if (entry / "sys").is_dir())

    def truth(self, name):
        """The rows of the machine's *.truth.tsv file."""
        path = self.folder / MACHINES[name].archive.replace(".sysinfo.tgz", ".truth.tsv")
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        return [Row(lines[0].split("\t"), line) for line in lines[1:]]

    def table(self, heading):
        """The rows of the first table after a text of the README, each a list of cells."""
        text = self.readme[self.readme.index(heading) :]
        found = []
        for line in text.splitlines()[1:]:
            if line.startswith("|"):
                found.append([cell.strip() for cell in line.strip("|").split("|")])
            elif found:
                break
        return found[2:]

    def online(self):
        """By capture: the online CPUs as section 3.3 prints them."""
        found = {}
        for name, cpus, _ in self.table("### 3.3"):
            first = re.match(r"[0-9,\- /]+", cpus).group().strip().split(" / ")
            names = re.split(r" / |, ", name)
            for one, text in zip(names, first * (len(names) // len(first))):
                found[one] = parse_list(text)
        return found


def shown(numbers):
    return format_list(numbers) or "none"
