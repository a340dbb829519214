# SPDX-License-Identifier: GPL-2.0-or-later
"""check-reliability-page.py PAGE TOP: each test that the page names is there, is run, and has the check that is named.

A row of the page has three cells; the last one is "`FILE`: `CHECK`, `CHECK`; `FILE`: ...", or "-" where the second one begins
with "Cannot apply". CHECK is a function or words that stand in the file.
"""
import re
import sys
from pathlib import Path

REPORTS = 51
RUN_BY_ITSELF = ("tests/vm/scenario/", "tests/vm/long/", "tests/long.d/", "tests/machines/judge/")


def is_run(top, name):
    """Whether the file belongs to a suite."""
    path = top / name
    if name.startswith(RUN_BY_ITSELF):
        return True
    built = (path.parent / "meson.build").read_text()
    return f"'{re.sub(r'^test-|[.]c$', '', path.name)}'" in built


def has_check(top, name, check):
    """Whether the check is there. A function of a unit test is also in the list of those that run."""
    text = (top / name).read_text()
    if re.fullmatch(r"\w+", check):
        return len(re.findall(rf"\b{check}\b", text)) >= (2 if name.endswith(".c") else 1)
    return check in text


def check_cell(top, cell):
    """Yields what is wrong with one cell, and nothing when all is there."""
    for part in cell.split("; "):
        match = re.fullmatch(r"`([\w./-]+)`: (`[^`]+`(?:, `[^`]+`)*)", part)
        if not match:
            yield f"not a file and its checks: {part}"
            continue
        name = match[1]
        if not (top / name).is_file():
            yield f"no such file: {name}"
            continue
        if not is_run(top, name):
            yield f"nothing runs {name}"
        for check in re.findall(r"`([^`]+)`", match[2]):
            if not has_check(top, name, check):
                yield f"{name} has no {check}"


def main(page, top):
    rows = [re.split(r" *\| *", line.strip().strip("|").strip()) for line in Path(page).read_text().splitlines()
            if line.startswith("|") and not line.startswith(("| elsewhere", "|---"))]
    wrong = [f"{len(rows)} reports, not {REPORTS}"] if len(rows) != REPORTS else []
    for row in rows:
        if len(row) != 3:
            wrong.append(f"{len(row)} cells: {row[0]}")
        elif row[2] == "-":
            wrong += [] if row[1].startswith("Cannot apply: ") else [f"no test, and no reason: {row[0]}"]
        else:
            wrong += check_cell(Path(top), row[2])
    print("\n".join(wrong) or f"{len(rows)} reports")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
