# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts: numbers, masks, and the files of /proc/interrupts, /proc/irq and /sys/kernel/irq."""

import zlib
from dataclasses import dataclass, field

from .sets import format_list
from .tree import RO, RW


@dataclass
class Irq:
    number: int
    chip: str
    hwirq: int
    actions: list
    mask: set
    effective: set
    trigger: str = "edge"
    managed: bool = False
    node: int = 0
    hint: set = field(default_factory=set)


def spread_managed(topology, vectors):
    """One mask for each managed vector, as the kernel cuts the possible CPUs: node by node, in
    consecutive groups with SMT siblings together; first the present CPUs, then the others."""
    masks = [set() for _ in range(vectors)]
    done = _spread_over(topology, masks, topology.present, 0)
    absent = topology.possible - topology.present
    _spread_over(topology, masks, absent, 0 if done >= vectors else done)
    return masks


def _spread_over(topology, masks, cpus, current):
    """Cut `cpus` over `masks` from index `current` on; returns how many masks were served."""
    groups = {}
    for cpu in sorted(cpus):
        groups.setdefault(topology.node_of.get(cpu, topology.ids[0]), []).append(cpu)
    if not groups or not masks:
        return 0
    if len(masks) <= len(groups):
        for node in sorted(groups):
            masks[current % len(masks)].update(groups[node])
            current += 1
        return len(masks)
    done = 0
    left_cpus, left_vectors = len(cpus), min(len(masks), len(cpus))
    for node in _serving_order(groups):
        members = groups[node]
        share = max(1, left_vectors * len(members) // left_cpus)
        left_cpus -= len(members)
        left_vectors -= share
        base, extra = divmod(len(members), share)
        for i in range(share):
            masks[current % len(masks)].update(_take(topology, members, base + (i < extra)))
            current += 1
        done += share
    return done


def _serving_order(groups):
    """Small nodes first. Of equally big ones the lowest comes last: so the kernel's heap sort leaves them."""
    lowest = {}
    for node in sorted(groups):
        lowest.setdefault(len(groups[node]), node)
    return sorted(groups, key=lambda node: (len(groups[node]), node in lowest.values(), node))


def _take(topology, members, count):
    """Remove `count` CPUs from `members`: the first, its siblings, the next, and so on."""
    taken = set()
    while len(taken) < count and members:
        first = members[0]
        core = topology.cores[topology.core_of[first]] if first in topology.core_of else [first]
        for cpu in core:
            if cpu in members and len(taken) < count:
                members.remove(cpu)
                taken.add(cpu)
    return taken


class Irqs:
    """All interrupts of one machine; numbers are given in the order of the calls."""

    def __init__(self, page, topology, first):
        self.page = page
        self.topology = topology
        self.all = []
        self.idle = []
        self._next = first
        self._load = dict.fromkeys(topology.possible, 0)

    def reserve(self):
        self._next += 1
        return self._next - 1

    def add_idle(self, number, chip, hwirq):
        """A vector that is allocated, but that nobody requested: /proc does not know it."""
        self.idle.append(Irq(number, chip, hwirq, [], set(), set()))

    def pick(self, mask):
        """The online CPU of `mask` with the fewest vectors, as a set; empty when there is none."""
        usable = sorted(mask & self.topology.online, key=lambda cpu: (self._load[cpu], cpu))
        if usable:
            self._load[usable[0]] += 1
        return set(usable[:1])

    def add(self, number, chip, hwirq, actions, mask, **more):
        irq = Irq(number, chip, hwirq, actions, set(mask), self.pick(mask), **more)
        self.all.append(irq)
        return irq

    def managed_list(self):
        return format_list(irq.number for irq in self.all if irq.managed)

    def count(self, irq, cpu):
        """A fixed, plausible count: only the effective CPU has seen interrupts."""
        if cpu not in irq.effective or not irq.actions:
            return 0
        return zlib.crc32(f"{self.page.name}/{irq.number}".encode()) % 900_000 + 100


def add_system(irqs):
    """The interrupts that every machine has beside its devices."""
    topology, page = irqs.topology, irqs.page
    everyone = topology.online
    if page.arch == "arm64":
        irqs.add(irqs.reserve(), "GICv3", 27, ["arch_timer"], everyone, trigger="level")
        irqs.add(irqs.reserve(), "GICv3", 105, ["arm-smmu-v3-evtq"], everyone)
        return
    apic = "IR-IO-APIC" if page.remapping else "IO-APIC"
    names = {0: ["timer"], 8: ["rtc0"], 9: ["acpi"], 16: ["i801_smbus"]}
    for number in (*range(16), 16):
        level = number in (9, 16)
        hwirq = 2 if number == 0 else number
        irq = irqs.add(
            number, apic, hwirq, names.get(number, []), everyone, trigger="fasteoi" if level else "edge"
        )
        if number == 2:
            irq.chip, irq.effective = "XT-PIC", set()
    if page.remapping:
        for i, node in enumerate(topology.ids):
            cpus = topology.node_online(node) or everyone
            irqs.add(irqs.reserve(), "DMAR-MSI", i, [f"dmar{i}"], {min(cpus)}, node=-1)


ROWS_X86 = (
    ("NMI", "Non-maskable interrupts"),
    ("LOC", "Local timer interrupts"),
    ("SPU", "Spurious interrupts"),
    ("PMI", "Performance monitoring interrupts"),
    ("IWI", "IRQ work interrupts"),
    ("RTR", "APIC ICR read retries"),
    ("RES", "Rescheduling interrupts"),
    ("CAL", "Function call interrupts"),
    ("TLB", "TLB shootdowns"),
    ("TRM", "Thermal event interrupts"),
    ("THR", "Threshold APIC interrupts"),
    ("DFR", "Deferred Error APIC interrupts"),
    ("MCE", "Machine check exceptions"),
    ("MCP", "Machine check polls"),
    ("ERR", None),
    ("MIS", None),
    ("PIN", "Posted-interrupt notification event"),
    ("NPI", "Nested posted-interrupt event"),
    ("PIW", "Posted-interrupt wakeup event"),
)
ROWS_ARM = (
    "Rescheduling interrupts",
    "Function call interrupts",
    "CPU stop interrupts",
    "CPU stop (for crash dump) interrupts",
    "Timer broadcast interrupts",
    "IRQ work interrupts",
    "CPU wake-up interrupts",
)


def write(tree, irqs):
    """Everything that shows `irqs`."""
    tree.put("proc/irq/default_smp_affinity", irqs.topology.mask(irqs.topology.possible))
    _write_interrupts(tree, irqs)
    possible = sorted(irqs.topology.possible)
    for irq in irqs.all:
        _write_proc(tree, irqs, irq)
    for irq in irqs.all + irqs.idle:
        _write_sys(tree, irqs, irq, possible)


def _write_proc(tree, irqs, irq):
    folder = f"proc/irq/{irq.number}"
    mask = irqs.topology.mask
    mode = RO if irq.managed and irqs.page.kernel == "6.12" else RW
    tree.put(f"{folder}/smp_affinity", mask(irq.mask), mode)
    tree.put(f"{folder}/smp_affinity_list", format_list(irq.mask), mode)
    count = sum(irqs.count(irq, cpu) for cpu in irq.effective)
    tree.put_all(
        folder,
        {
            "affinity_hint": mask(irq.hint),
            "effective_affinity": mask(irq.effective),
            "effective_affinity_list": format_list(irq.effective),
            "node": irq.node,
            "spurious": f"count {count % 100000}\nunhandled 0\nlast_unhandled 0 ms",
        },
    )
    for action in irq.actions:
        if action and "/" not in action:
            tree.mkdir(f"{folder}/{action}")


def _write_sys(tree, irqs, irq, possible):
    counts = dict.fromkeys(possible, 0) | {cpu: irqs.count(irq, cpu) for cpu in irq.effective}
    flow = irq.trigger if irqs.page.arch == "x86_64" else None
    folder = f"sys/kernel/irq/{irq.number}"
    tree.put_all(
        folder,
        {
            "actions": ",".join(irq.actions),
            "chip_name": irq.chip,
            "hwirq": irq.hwirq,
            "per_cpu_count": ",".join(map(str, counts.values())),
            "type": "edge" if irq.trigger == "edge" else "level",
            "wakeup": "disabled",
        },
    )
    if flow:
        tree.put(f"{folder}/name", flow)


def _write_interrupts(tree, irqs):
    online = sorted(irqs.topology.online)
    width = _number_width(irqs)
    lines = [" " * (width + 8) + "".join(f"CPU{cpu:<8d}" for cpu in online)]
    zeros = ["         0 "] * len(online)
    column = {cpu: i for i, cpu in enumerate(online)}
    for irq in irqs.all:
        if not irq.actions:
            continue
        cells = zeros.copy()
        for cpu in irq.effective:
            cells[column[cpu]] = f"{irqs.count(irq, cpu):10d} "
        lines.append(f"{irq.number:{width}d}: {''.join(cells)}{_describe(irqs, irq, width)}")
    rows = _rows_x86 if irqs.page.arch == "x86_64" else _rows_arm
    lines.extend(rows(width, zeros))
    tree.put("proc/interrupts", "\n".join(lines))


def _number_width(irqs):
    """The first column is as wide as the greatest number that the kernel foresees, and at least three."""
    foreseen = max(irq.number for irq in irqs.all)
    if irqs.page.arch == "x86_64":
        packages = len(set(irqs.topology.packages.values()))
        foreseen = max(foreseen, 40 + 8 * len(irqs.topology.possible) + 16 * 24 * packages)
    return max(3, len(str(foreseen)))


def _describe(irqs, irq, width):
    """Chip, hwirq, trigger and actions of one line, as show_interrupts() prints them."""
    if irqs.page.arch == "x86_64":
        trigger = f"-{irq.trigger:<8s}"
    else:
        trigger = f" {'Edge' if irq.trigger == 'edge' else 'Level':<8s}"
    return f" {irq.chip:>8s} {irq.hwirq:{width}d}{trigger}  {', '.join(irq.actions)}"


def _rows_x86(width, zeros):
    for name, text in ROWS_X86:
        cells = zeros[0].rstrip() if text is None else f"{''.join(zeros)}  {text}"
        yield f"{name:>{width}s}: {cells}"


def _rows_arm(width, zeros):
    for i, text in enumerate(ROWS_ARM):
        yield f"{'IPI':>{width - 1}s}{i}:{' ' if width >= 4 else ''}{''.join(zeros)}      {text}"
    yield f"{'Err':>{width}s}: {0:10d}"
