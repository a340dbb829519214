# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a machine's TOML page, fills in defaults and refuses what it does not know."""

import re
import tomllib
from pathlib import Path

TOP = {
    "about": "",
    "arch": "x86_64",
    "kernel": "6.1",
    "remapping": True,
    "mask_bits": 0,
    "full_cpus": "",
    "managed_errno": "",
    "patched": False,
    "blocking": False,
    "iommu": "DMA-FQ",
    "depot": 0,
    "rules": "",
    "cpus": {},
    "nodes": {},
    "device": [],
    "links": [],
    "iscsi": [],
}
CPUS = {
    "count": None,
    "possible": 0,
    "smt": 1,
    "siblings": "adjacent",
    "llc": 0,
    "offline": "",
    "isolated": "",
    "isolated_file": True,
    "nohz_full": "",
}
NODES = {"numa": True, "ids": [0], "cpus": "block", "memory_only": [], "distances": [], "per_package": 1}
DEVICE = {
    "type": None,
    "node": 0,
    "numa_node": "own",
    "bridge_node": "own",
    "local": "",
    "domain": 0,
    "ports": 1,
    "queues": 1,
    "disks": 1,
    "affinity": "misplaced",
    "down": False,
}
LINK = {"name": None, "kind": None, "over": None, "mode": "active-backup"}
ISCSI = {"over": None, "via": "route", "connected": True, "scheduler": "mq-deadline", "multipath": False}

KERNELS = {"6.1": "6.1.0-57", "6.6": "6.6.13-1", "6.12": "6.12.117-1"}

# Name -> number, as `bonding/mode` shows them.
BOND_MODES = {"active-backup": 1, "802.3ad": 4}


class Error(Exception):
    """The page cannot be used; the text says why."""


class Page(dict):
    """A table whose keys read like attributes."""

    __getattr__ = dict.__getitem__


def _fill(where, given, defaults):
    for key in given:
        if key not in defaults:
            raise Error(f"{where}: unknown key '{key}', known are {', '.join(defaults)}")
    for key, default in defaults.items():
        if key not in given and default is None:
            raise Error(f"{where}: '{key}' is missing")
    return Page({**defaults, **given})


def _choice(where, value, allowed):
    if value not in allowed:
        raise Error(f"{where}: '{value}' is none of {', '.join(map(str, allowed))}")


def load(path):
    """The page at `path`, checked."""
    try:
        raw = tomllib.loads(Path(path).read_text())
    except tomllib.TOMLDecodeError as error:
        raise Error(f"{path}: {error}") from error
    return check(path, raw, Path(path).stem)


def check(path, raw, name):
    """The table `raw` as nested Pages, every key present; `path` is for complaints, `name` the machine's."""
    page = _fill(path, raw, TOP)
    page["name"] = name
    page["cpus"] = _fill(f"{path}: [cpus]", page.cpus, CPUS)
    page["nodes"] = _fill(f"{path}: [nodes]", page.nodes, NODES)
    page["device"] = [_fill(f"{path}: [[device]] {i}", d, DEVICE) for i, d in enumerate(page.device, 1)]
    page["links"] = [_fill(f"{path}: links", link, LINK) for link in page.links]
    page["iscsi"] = [_fill(f"{path}: iscsi", host, ISCSI) for host in page.iscsi]
    _choice(f"{path}: kernel", page.kernel, KERNELS)
    _choice(f"{path}: arch", page.arch, ("x86_64", "arm64"))
    _choice(f"{path}: siblings", page.cpus.siblings, ("adjacent", "split"))
    for link in page.links:
        _choice(f"{path}: {link.name}: kind", link.kind, ("vlan", "bond", "bridge"))
        _choice(f"{path}: {link.name}: mode", link.mode, BOND_MODES)
    for host in page.iscsi:
        _choice(f"{path}: iscsi over {host.over}: via", host.via, ("netdev", "socket", "route", "address"))
    for device in page.device:
        if not re.fullmatch(r"misplaced|node|default|all|(each )?[0-9,-]+", device.affinity):
            raise Error(f"{path}: affinity '{device.affinity}' is no placement")
    return page
