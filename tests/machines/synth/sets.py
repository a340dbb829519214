# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU sets in the kernel's two forms: lists ("0-3,8") and masks ("f,00000000")."""


def parse_list(text):
    """The set that a list names; an empty text is the empty set."""
    found = set()
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            found.update(range(int(first), int(last or first) + 1))
    return found


def format_list(numbers):
    """The kernel's list form: ranges for two neighbours or more."""
    parts = []
    ordered = sorted(numbers)
    start = 0
    for i, number in enumerate(ordered):
        if i + 1 < len(ordered) and ordered[i + 1] == number + 1:
            continue
        first = ordered[start]
        parts.append(str(first) if first == number else f"{first}-{number}")
        start = i + 1
    return ",".join(parts)


def parse_mask(text):
    """The set that a mask names."""
    value = int(text.strip().replace(",", "") or "0", 16)
    return {bit for bit in range(value.bit_length()) if value >> bit & 1}


def format_mask(numbers, bits):
    """The kernel's mask form for `bits` CPUs: 32-bit groups, of which the first may be short."""
    value = 0
    for number in numbers:
        value |= 1 << number
    groups = []
    for shift in range(0, bits, 32):
        width = (min(bits - shift, 32) + 3) // 4
        groups.append(f"{value >> shift & 0xffffffff:0{width}x}")
    return ",".join(reversed(groups))
