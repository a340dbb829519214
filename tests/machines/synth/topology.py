# SPDX-License-Identifier: GPL-2.0-or-later
"""CPUs, cores, caches and NUMA nodes of a machine."""

from .sets import format_list, format_mask, parse_list
from .spec import Error


class Topology:
    """Who is where. `node_cpus` is None on a machine without NUMA."""

    def __init__(self, page):
        cpus, nodes = page.cpus, page.nodes
        self.count = cpus.count
        self.possible = set(range(max(cpus.possible, cpus.count)))
        self.present = set(range(cpus.count))
        self.offline = parse_list(cpus.offline)
        self.online = self.present - self.offline
        self.isolated = parse_list(cpus.isolated)
        self.nohz_full = parse_list(cpus.nohz_full)
        self.bits = page.mask_bits or len(self.possible)
        self.cores = self._cores(cpus)
        self.core_of = {cpu: i for i, core in enumerate(self.cores) for cpu in core}
        self.numa = nodes.numa
        self.ids = list(nodes.ids) if nodes.numa else [0]
        self.node_cpus = self._node_cpus(nodes)
        self.node_of = {cpu: node for node in reversed(self.ids) for cpu in self.node_cpus[node]}
        self.distances = nodes.distances or self._plain_distances(nodes)
        self.packages = {node: i // nodes.per_package for i, node in enumerate(self.ids)}
        self.llc = self._llc(cpus.llc)

    def _cores(self, cpus):
        if cpus.count % cpus.smt:
            raise Error(f"{cpus.count} CPUs do not make whole cores of {cpus.smt} threads")
        total = cpus.count // cpus.smt
        if cpus.siblings == "split":
            return [[core + thread * total for thread in range(cpus.smt)] for core in range(total)]
        return [[core * cpus.smt + thread for thread in range(cpus.smt)] for core in range(total)]

    def _node_cpus(self, nodes):
        if not nodes.numa:
            return {0: set(self.present)}
        if isinstance(nodes.cpus, list):
            return {node: parse_list(text) for node, text in zip(nodes.ids, nodes.cpus, strict=True)}
        if nodes.cpus == "overlap":
            return {node: set(self.present) for node in nodes.ids}
        owners = [node for node in nodes.ids if node not in nodes.memory_only]
        found = {node: set() for node in nodes.ids}
        for i, core in enumerate(self.cores):
            if nodes.cpus == "interleaved":
                owner = owners[i % len(owners)]
            elif nodes.cpus == "block":
                owner = owners[i * len(owners) // len(self.cores)]
            else:
                raise Error(f"nodes.cpus: '{nodes.cpus}' is not block, interleaved, overlap or a list")
            found[owner].update(core)
        return found

    def _plain_distances(self, nodes):
        apart = 10 if nodes.cpus == "overlap" else 20
        return [[10 if a == b else apart for b in self.ids] for a in self.ids]

    def _llc(self, size):
        """CPU -> the CPUs that share its last-level cache; `size` counts cores, 0 is a whole node."""
        found = {}
        for node in self.ids:
            cores = sorted({self.core_of[cpu] for cpu in self.node_cpus[node]})
            step = size or len(cores) or 1
            for start in range(0, len(cores), step):
                domain = {cpu for core in cores[start : start + step] for cpu in self.cores[core]}
                for cpu in domain:
                    found.setdefault(cpu, domain)
        return found

    def node_online(self, node):
        """The node's online CPUs; all of them for an unknown node, as cpumask_of_node() does."""
        return self.online if node < 0 else self.node_cpus.get(node, set()) & self.online

    def package_online(self, cpu):
        """The online CPUs of the package that holds `cpu`."""
        package = self.packages[self.node_of[cpu]]
        return {other for other in self.online if self.packages[self.node_of[other]] == package}

    def home(self, node):
        """CPUs that may take interrupts on `node`: online and not kept free of noise."""
        return self.node_online(node) - self.isolated - self.nohz_full

    def housekeeping(self):
        return self.present - self.isolated - self.nohz_full

    def mask(self, cpus):
        return format_mask(cpus, self.bits)


def write_cpus(tree, page, topology):
    base = "sys/devices/system/cpu"
    # Where the kernel has no such mask it prints this, as wide as the mask would be.
    no_mask = "(null)".rjust(topology.bits) if page.arch == "x86_64" else ""
    tree.put_all(
        base,
        {
            "online": format_list(topology.online),
            "possible": format_list(topology.possible),
            "present": format_list(topology.present),
            "offline": format_list(topology.possible - topology.online),
            "kernel_max": 8191,
            "nohz_full": format_list(topology.nohz_full) or no_mask,
        },
    )
    if page.cpus.isolated_file:
        tree.put(f"{base}/isolated", format_list(topology.isolated))
    tree.put_all(
        f"{base}/smt",
        {"active": int(page.cpus.smt > 1), "control": "on" if page.cpus.smt > 1 else "notsupported"},
    )
    for cpu in sorted(topology.present):
        folder = f"{base}/cpu{cpu}"
        tree.mkdir(folder)
        tree.link(f"sys/bus/cpu/devices/cpu{cpu}", folder)
        tree.link(f"{folder}/subsystem", "sys/bus/cpu")
        if cpu or page.arch != "x86_64":
            tree.put(f"{folder}/online", int(cpu in topology.online))
        if topology.numa:
            node = topology.node_of[cpu]
            tree.link(f"{folder}/node{node}", f"sys/devices/system/node/node{node}")
        if cpu in topology.online:
            _write_cpu(tree, topology, cpu, folder)


def _write_cpu(tree, topology, cpu, folder):
    """Core and cache files, which exist for online CPUs only and name online CPUs only."""
    core = topology.core_of[cpu]
    threads = set(topology.cores[core]) & topology.online
    siblings = format_list(threads)
    package = topology.package_online(cpu)
    tree.put_all(
        f"{folder}/topology",
        {
            "core_id": core,
            "physical_package_id": topology.packages[topology.node_of[cpu]],
            "die_id": 0,
            "thread_siblings": topology.mask(threads),
            "thread_siblings_list": siblings,
            "core_cpus_list": siblings,
            "core_siblings": topology.mask(package),
            "core_siblings_list": format_list(package),
        },
    )
    shared = topology.llc[cpu] & topology.online
    caches = (
        ("1", "Data", threads),
        ("1", "Instruction", threads),
        ("2", "Unified", threads),
        ("3", "Unified", shared),
    )
    for index, (level, kind, cpus) in enumerate(caches):
        tree.put_all(
            f"{folder}/cache/index{index}",
            {
                "level": level,
                "type": kind,
                "shared_cpu_list": format_list(cpus),
                "shared_cpu_map": topology.mask(cpus),
            },
        )


def write_nodes(tree, topology):
    if not topology.numa:
        return
    base = "sys/devices/system/node"
    everyone = format_list(topology.ids)
    tree.put_all(
        base,
        {
            "online": everyone,
            "possible": everyone,
            "has_cpu": format_list(n for n in topology.ids if topology.node_online(n)),
            "has_memory": everyone,
            "has_normal_memory": everyone,
        },
    )
    for row, node in enumerate(topology.ids):
        folder = f"{base}/node{node}"
        cpus = topology.node_online(node)
        tree.put_all(
            folder,
            {
                "cpulist": format_list(cpus),
                "cpumap": topology.mask(cpus),
                "distance": " ".join(map(str, topology.distances[row])),
            },
        )
        tree.link(f"{folder}/subsystem", "sys/bus/node")
        tree.link(f"sys/bus/node/devices/node{node}", folder)
        for cpu in sorted(topology.node_cpus[node]):
            tree.link(f"{folder}/cpu{cpu}", f"sys/devices/system/cpu/cpu{cpu}")
