# SPDX-License-Identifier: GPL-2.0-or-later
"""Properties that every plan must have. Each function yields complaints; none is good."""

import re
from collections import Counter

from synth.sets import format_list, parse_list, parse_mask

WORKQUEUES = "sys/devices/virtual/workqueue/"


def _irq(change):
    return int(change["path"].split("/")[2])


def _irq_changes(plan):
    return {_irq(c): c for c in plan["changes"] if c["knob"] == "irq.affinity"}


def _vectors(root, made, bdf):
    return [v for v in made if v["bdf"] == bdf and v["irq"] in root.functions[bdf]["irqs"]]


def check_plan(root, made, plan):
    """All rules for a plan that was made for `root` as it is now."""
    yield from _shape(plan)
    yield from _devices(root, plan)
    yield from _interrupts(root, made, plan)
    yield from _workqueues(root, plan)
    yield from _iscsi(root, plan)
    yield from _iova(root, plan)


def _iova(root, plan):
    """A group's files belong to the device in it, a disk's to the function that it lies below."""
    for change in (c for c in plan["changes"] if c["knob"].startswith("iova.")):
        folder = root.path / "sys/bus/pci/devices" / change["device"].removeprefix("pci:")
        where, path = change["id"], change["path"]
        if change["knob"] == "iova.cacheable_io":
            if not path.startswith(f"{folder.resolve().relative_to(root.path.resolve())}/"):
                yield f"{where}: {path} is not below the device"
            if int(change["desired"]) > 128 or int(root.text(path)) <= 128:
                yield f"{where}: {root.text(path)} -> {change['desired']} is not needed"
            continue
        if path.split("/")[3] != (folder / "iommu_group").resolve().name:
            yield f"{where}: {path} is not the device's group"
        if change["knob"] == "iova.domain" and (root.text(path), change["desired"]) != ("DMA", "DMA-FQ"):
            yield f"{where}: {root.text(path)} -> {change['desired']} is not what the kernel takes"


def _shape(plan):
    for key in ("id", "path"):
        for value, count in Counter(change[key] for change in plan["changes"]).items():
            if count > 1:
                yield f"{count} changes have the {key} {value}"
    known = {device["id"] for device in plan["devices"]}
    for change in plan["changes"]:
        where = change["id"]
        if change["device"] not in known:
            yield f"{where}: there is no device {change['device']}"
        if change["settable"] not in ("yes", "no", "unknown"):
            yield f"{where}: settable is {change['settable']!r}"
        if change["settable"] == "no":
            yield f"{where}: it plans what cannot be set"
        if not change["reason"].get("rule") or not change["reason"].get("text"):
            yield f"{where}: there is no reason"


def _devices(root, plan):
    shown = {device["id"]: device for device in plan["devices"]}
    for bdf, facts in root.functions.items():
        device = shown.get(f"pci:{bdf}")
        if device is None:
            yield f"pci:{bdf} ({facts['class']}) is not shown"
            continue
        node = device["node"] if device["node"] is not None and device["node"] >= 0 else None
        if node != facts["node"]:
            yield f"pci:{bdf}: it is on node {facts['node']}, not {node}"
        counts = count_vectors(root, facts)
        found = {key: device["vectors"].get(key) for key in counts}
        if _is_lone(root, facts) and found["managed"] == 0:
            counts["managed"] = 0
        if found != counts:
            yield f"pci:{bdf}: vectors are {counts}, not {found}"
    nodes = Counter(device["node"] for device in plan["devices"] if device["class"] == "iscsi-host")
    for node, count in Counter(root.iscsi.values()).items():
        if nodes[node] + (nodes[-1] if node is None else 0) != count:
            yield f"{count} iSCSI hosts are on node {node}, not {nodes[node]}"


def count_vectors(root, facts):
    """The four figures of a function, counted from its files."""
    counts = {
        "total": len(facts["irqs"]),
        "managed": len(root.managed.intersection(facts["irqs"])),
        "local": 0,
        "remote": 0,
    }
    if facts["node"] is not None:
        for irq in facts["irqs"]:
            cpus = root.irq(irq, "effective_affinity_list")
            counts["local" if cpus and cpus <= root.nodes[facts["node"]] else "remote"] += 1
    return counts


def _is_lone(root, facts):
    """One managed vector alone has the mask of all CPUs, as every new vector: only a write tells."""
    return len(root.managed.intersection(facts["irqs"])) == 1


def _interrupts(root, made, plan):
    changes = _irq_changes(plan)
    owned = {irq for facts in root.functions.values() for irq in facts["irqs"]}
    for irq in sorted(set(changes) - owned):
        yield f"irq {irq} belongs to none of the devices"
    for bdf, facts in root.functions.items():
        vectors = _vectors(root, made, bdf)
        mine = {v["irq"]: changes[v["irq"]] for v in vectors if v["irq"] in changes}
        for irq, change in mine.items():
            if change["device"] != f"pci:{bdf}":
                yield f"irq {irq} belongs to pci:{bdf}, not to {change['device']}"
        if facts["node"] is None:
            yield from (f"irq {irq}: moved although the node is unknown" for irq in mine)
            continue
        if _is_lone(root, facts):
            continue
        home = root.home(facts["node"])
        for vector in vectors:
            yield from _vector(root, home, vector, mine.get(vector["irq"]))
        yield from _spread(root, bdf, home, vectors, mine)


def _vector(root, home, vector, change):
    irq = vector["irq"]
    if change is None:
        effective = root.irq(irq, "effective_affinity_list")
        if not vector["managed"] and not (effective and effective <= home) and not _pending(root, irq, home):
            yield f"irq {irq}: it stays on {format_list(effective)}, outside {format_list(home)}"
        return
    desired = parse_list(change["desired"])
    if vector["managed"]:
        yield f"irq {irq}: managed, yet planned"
    if not desired:
        yield f"irq {irq}: the new mask is empty"
    if not desired <= home:
        yield f"irq {irq}: {change['desired']} is outside {format_list(home)}"
    if parse_list(change["current"]) != root.irq(irq):
        yield f"irq {irq}: it is set to {format_list(root.irq(irq))}, not {change['current']}"
    if desired == root.irq(irq):
        yield f"irq {irq}: the plan changes nothing"
    yield from _named(root, home, irq, change)
    if vector["queue"] is None and desired != home:
        yield f"irq {irq}: a slow-path vector gets {change['desired']}, not all of {format_list(home)}"
    if vector["queue"] is not None and len(desired) != 1:
        yield f"irq {irq}: a queue gets {change['desired']}, not one CPU"


def _named(root, home, irq, change):
    """A move off a home CPU is said to even out, and no other is."""
    now = root.irq(irq) if _pending(root, irq, home) else root.irq(irq, "effective_affinity_list")
    evens_out = len(now) == 1 and now <= home
    if evens_out != ("evening out" in change["reason"]["text"]):
        yield f"irq {irq}: it moves from {format_list(now)}, and is {'not ' if evens_out else ''}said to even out"


def _pending(root, irq, home):
    """Without interrupt remapping a move waits for the next interrupt."""
    wanted, effective = root.irq(irq), root.irq(irq, "effective_affinity_list")
    return not root.remapping and wanted and wanted <= home and not effective <= wanted


def _spread(root, bdf, home, vectors, changes):
    """The queues of one device lie as evenly as they can; rx and tx of one queue lie together."""
    before, after = {}, {}
    for vector in vectors:
        if vector["queue"] is None or vector["managed"]:
            continue
        change = changes.get(vector["irq"])
        now = root.irq(vector["irq"], "effective_affinity_list")
        if _pending(root, vector["irq"], home):
            now = root.irq(vector["irq"])
        before.setdefault(vector["queue"], []).append(now)
        after.setdefault(vector["queue"], []).append(parse_list(change["desired"]) if change else now)
    moved = {vector["queue"] for vector in vectors if vector["irq"] in changes}
    for queue in moved & set(after):
        cpus = set().union(*after[queue])
        if len(cpus) > 1:
            yield f"pci:{bdf}: queue {queue} is torn over {format_list(cpus)}"
    least, most = _load(home, after)
    if most - least > 1:
        yield f"pci:{bdf}: between {least} and {most} queues on one CPU"
    yield from _needless(bdf, home, before, vectors, changes)


def _load(home, queues):
    """The fewest and the most queues on one home CPU. A pair that lies apart, which it may when nothing
    else moves it, counts where its first vector is."""
    load = Counter(cpu for places in queues.values() for cpu in places[0])
    counts = [load[cpu] for cpu in home] if queues else [0]
    return min(counts), max(counts)


def _needless(bdf, home, before, vectors, changes):
    """What is right stays, unless the device's queues lay unevenly."""
    least, most = _load(home, before)
    if most - least > 1:
        return
    for vector in vectors:
        cpus = set().union(*before.get(vector["queue"], []))
        if vector["irq"] in changes and len(cpus) == 1 and cpus <= home:
            yield f"irq {vector['irq']}: it was right on {format_list(cpus)}, yet it moves"


def _workqueues(root, plan):
    changes = {
        c["path"].removeprefix(WORKQUEUES).removesuffix("/cpumask"): c
        for c in plan["changes"]
        if c["path"].startswith(WORKQUEUES) and c["path"].endswith("/cpumask")
    }
    nodes = root.workqueues()
    held = _held(plan)
    for name in sorted(set(changes) - set(nodes)):
        yield f"workqueue {name} belongs to no device on a known node"
    for name, node in nodes.items():
        home, now = root.home(node), root.workqueue_mask(name)
        change = changes.get(name)
        if name in held:
            yield from _held_queue(root, name, home, now, change)
            continue
        if change is None:
            if now != home:
                yield f"workqueue {name}: it stays on {format_list(now)}, not {format_list(home)}"
            continue
        desired = parse_mask(change["desired"])
        if not desired or not desired <= home:
            yield f"workqueue {name}: {change['desired']} is not {format_list(home)}"
        if desired == now:
            yield f"workqueue {name}: the plan changes nothing"


def _held(plan):
    """Names of the queues about which iscsi.dynamic decides."""
    texts = [v["reason"]["text"] for v in plan.get("verdicts", []) if v["knob"] == "workqueue.cpumask"]
    return {match[1] for text in texts if (match := re.search(r"(iscsi_q_\d+) is held by iscsi.dynamic", text))}


def _held_queue(root, name, home, now, change):
    """It runs on the node that receives, or anywhere."""
    if change is not None and change["knob"] != "iscsi.dynamic":
        yield f"workqueue {name}: held by iscsi.dynamic, yet {change['knob']} changes it"
    mask = parse_mask(change["desired"]) if change else now
    if mask != home and not mask >= root.online:
        yield f"workqueue {name}: {format_list(mask)} is neither {format_list(home)} nor everything"


def _iscsi(root, plan):
    """A host's files are its own; submitters transmit only where they may sleep and where it helps."""
    hosts = {d["id"]: d["iscsi"]["host"] for d in plan["devices"] if d.get("iscsi")}
    for change in (c for c in plan["changes"] if c["knob"].startswith("iscsi.")):
        host, path = hosts[change["device"]], change["path"]
        if not {f"iscsi_q_{host}", f"host{host}"} & set(path.split("/")):
            yield f"{change['id']}: {path} is not of host {host}"
        if path.endswith("/xmit_inline") and change["desired"] == "1":
            for disk in (root.path / f"sys/devices/platform/host{host}").glob("session*/target*/*/block/*"):
                if (disk / "holders").exists() or "[none]" not in (disk / "queue/scheduler").read_text():
                    yield f"{change['id']}: {disk.name} is not fit for it"


def check_applied(root, made, plan, again, before, after):
    """What must hold after `plan` was carried out; `root` is the machine then, `again` the next plan."""
    for change in again["changes"]:
        # Nobody who plans anew knows which CPUs had no room.
        if change["knob"] == "irq.affinity" and parse_list(change["desired"]) <= root.full:
            continue
        yield f"the second plan still has {change['id']}: {change['current']} -> {change['desired']}"
    for vector in made:
        facts = root.functions.get(vector["bdf"])
        if facts is None or facts["node"] is None or vector["managed"]:
            continue
        home = root.home(facts["node"])
        effective = root.irq(vector["irq"], "effective_affinity_list")
        if not (effective and effective <= home) and not _pending(root, vector["irq"], home):
            yield f"irq {vector['irq']}: it ended on {format_list(effective)}, outside {format_list(home)}"
    yield from _written(root, plan, before, after)


def _written(root, plan, before, after):
    """Only what was planned is written, and nothing is made or removed."""
    allowed = set()
    for change in plan["changes"]:
        allowed.add(change["path"])
        if change["knob"] == "irq.affinity":
            folder = change["path"].rpartition("/")[0]
            allowed.update(
                f"{folder}/{name}"
                for name in (
                    "smp_affinity",
                    "smp_affinity_list",
                    "effective_affinity",
                    "effective_affinity_list",
                )
            )
        if path := change["path"] if change["path"].endswith("/xmit_numa") else None:
            allowed.add(f"{WORKQUEUES}iscsi_q_{path.split('/')[3].removeprefix('host')}/numa")
    for path in sorted(set(before) ^ set(after)):
        yield f"{path} was {'removed' if path in before else 'made'}"
    for path in sorted(set(before) & set(after)):
        if before[path] != after[path] and path not in allowed:
            yield f"{path} was written, but not planned"
