# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines that nobody thought of: the same seed gives the same page."""

import json
import random

from .drivers import DRIVERS
from .sets import format_list

TYPES = [name for name, driver in DRIVERS.items() if driver.kind != "vmd"]
QUEUES = (1, 2, 3, 4, 8, 16)


def invent(seed):
    """A page as the TOML reader would give it."""
    rng = random.Random(seed)
    nodes = _nodes(rng)
    cpus = _cpus(rng, len(nodes["ids"]))
    devices = [_device(rng, nodes, cpus) for _ in range(rng.randint(1, 6))]
    nics = sum(DRIVERS[device["type"]].kind == "nic" for device in devices)
    hosts = rng.randint(0, 3) if nics else 0
    return {
        "about": f"seed {seed}",
        "arch": rng.choice(("x86_64", "arm64")),
        "kernel": rng.choice(("6.1", "6.6", "6.12")),
        "remapping": rng.random() < 0.8,
        "cpus": cpus,
        "nodes": nodes,
        "device": devices,
        "iscsi": [
            {"over": f"eth{rng.randrange(nics)}", "via": rng.choice(("netdev", "socket", "route", "address"))}
            for _ in range(hosts)
        ],
    }


def _nodes(rng):
    count = rng.choice((1, 1, 2, 2, 3, 4, 8))
    ids = sorted(rng.sample(range(count * 3), count)) if rng.random() < 0.4 else list(range(count))
    return {
        "numa": rng.random() < 0.92,
        "ids": ids,
        "cpus": rng.choice(("block", "block", "interleaved")),
        "memory_only": ids[-1:] if count > 2 and rng.random() < 0.2 else [],
        "distances": [[10 if a == b else rng.choice((12, 16, 20, 32)) for b in ids] for a in ids],
    }


def _cpus(rng, nodes):
    smt = rng.choice((1, 1, 2, 4))
    count = smt * nodes * rng.choice((1, 2, 3, 4, 8)) + smt * rng.randrange(nodes)
    return {
        "count": count,
        "possible": count + rng.choice((0, 0, 8)),
        "smt": smt,
        "siblings": rng.choice(("adjacent", "split")),
        "llc": rng.choice((0, 0, 1, 2, 3)),
        # CPU 0 keeps out of it, so that there is always one that may be used.
        "offline": _some(rng, count, 0.4, 4),
        "isolated": _some(rng, count, 0.3, 2),
        "nohz_full": _some(rng, count, 0.2, 3),
        "isolated_file": rng.random() < 0.8,
    }


def _some(rng, count, chance, part):
    """Up to a `part`th of the CPUs, as a list."""
    if rng.random() > chance:
        return ""
    return format_list(rng.sample(range(1, count), rng.randint(0, (count - 1) // part)))


def _device(rng, nodes, cpus):
    kind = rng.choice(TYPES)
    where = nodes["ids"] if nodes["numa"] else [0]
    if nodes["numa"] and rng.random() < 0.2:
        where = [-1]
    each = format_list(rng.sample(range(cpus["count"]), max(1, cpus["count"] // 3)))
    device = {
        "type": kind,
        "node": rng.choice(where),
        "queues": rng.choice((*QUEUES, cpus["count"])),
        "affinity": rng.choice(("misplaced", "node", "default", "all", f"each {each}")),
    }
    if rng.random() < 0.1:
        device["numa_node"] = -1
    if rng.random() < 0.1 and kind in ("mlx5", "i40e"):
        device["down"] = True
    if rng.random() < 0.1 and kind == "nvme":
        device["domain"] = 0x10000
    return device


def to_toml(value):
    """Written so that mkmachine can read it."""
    if isinstance(value, list):
        return "[" + ", ".join(map(to_toml, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {to_toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)


def page_text(raw):
    return "\n".join(f"{key} = {to_toml(value)}" for key, value in raw.items()) + "\n"
