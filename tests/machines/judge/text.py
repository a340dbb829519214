# SPDX-License-Identifier: GPL-2.0-or-later
"""A plan as a short text that a person can read and check."""

import itertools

from synth.sets import format_list, parse_list, parse_mask


def _s(items):
    return "" if len(items) == 1 else "s"


def _table(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()


def _short(numbers):
    """A list, in the kernel's notation for every n-th CPU where it is one ("1-79:1/2")."""
    ordered = sorted(numbers)
    steps = {b - a for a, b in zip(ordered, ordered[1:])}
    if len(ordered) > 4 and len(steps) == 1 and steps != {1}:
        return f"{ordered[0]}-{ordered[-1]}:1/{steps.pop()}"
    return format_list(ordered)


def _device(device):
    vectors = device["vectors"]
    node = device["node"]
    place = "node ?" if node is None or node < 0 else f"node {node}"
    return (
        device["id"],
        device["class"],
        device["driver"] or "-",
        f"{place} ({device['node_source']})",
        f"{vectors['total']} vector{'' if vectors['total'] == 1 else 's'}",
        f"{vectors['managed']} managed",
        f"{vectors['local']} local",
        f"{vectors['remote']} remote",
    )


def _change(change):
    current, desired = change["current"], change["desired"]
    is_mask = change["path"].endswith("/cpumask")
    if is_mask or change["knob"] == "irq.affinity":
        parse = parse_mask if is_mask else parse_list
        current, desired = (_short(parse(value)) for value in (current, desired))
    parts = change["path"].split("/")
    what = f"irq {parts[2]}" if change["knob"] == "irq.affinity" else parts[-2]
    if change["knob"] == "iova.cacheable_io":
        what = parts[-3]
    role = change["id"].split("~")[2:]
    settable = "" if change["settable"] == "yes" else f"(settable: {change['settable']})"
    return (what, *role, f"{current or '-'} -> {desired}", settable)


def _says_something(verdict):
    """What a device lacks, and what nobody asked for, is nothing to look at."""
    if verdict["state"] in ("left", "absent"):
        return verdict["reason"]["rule"] != "builtin"
    return verdict["state"] not in ("changes", "none")


def render(name, about, plan):
    """The whole golden text."""
    lines = [f"# {name}: {about}", "", f"{len(plan['devices'])} device{_s(plan['devices'])}"]
    if plan["devices"]:
        lines += _table([_device(device) for device in plan["devices"]])
    lines += ["", f"{len(plan['changes'])} change{_s(plan['changes'])}"]
    for (device, knob, rule), group in itertools.groupby(
        plan["changes"], lambda c: (c["device"], c["knob"], c["reason"]["rule"])
    ):
        rows = [_change(change) for change in group]
        lines.append(f"{device} {knob}, rule {rule}: {len(rows)}")
        columns = max(map(len, rows))
        lines += _table([row + ("",) * (columns - len(row)) for row in rows])
    left = [v for v in plan.get("verdicts", []) if _says_something(v)]
    if left:
        lines += ["", "Left as they are"]
        lines += _table([(v["device"], v["knob"], v["state"]) for v in left])
    return "\n".join(lines) + "\n"
