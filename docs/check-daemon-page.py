# SPDX-License-Identifier: GPL-2.0-or-later
"""check-daemon-page.py PAGE FILE...: the page names what programs and administrators meet.

FILEs are sources (.c, .h) and units. Each option, message id and journal field of the sources, each unit, and each
socket that a unit listens on must stand in the page; no option or message id may stand there that no source has.
"""
import re
import sys
from pathlib import Path


def main(page_path, *files):
    page = Path(page_path).read_text()
    sources = "".join(Path(f).read_text() for f in files if f.endswith((".c", ".h")))
    units = [Path(f) for f in files if f.endswith((".service", ".socket"))]
    options = {f"--{name}" for name in re.findall(r'\{ "([a-z-]+)", (?:no|required)_argument', sources)}
    ids = set(re.findall(r'"([0-9a-f]{32})"', sources))
    fields = set(re.findall(r'"(NUMAIO_\w+)"', sources))
    sockets = {s for u in units for s in re.findall(r"^Listen\w+=(\S+)$", u.read_text(), re.M)}

    words = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*|[\w./-]+", page))
    page_options = set(re.findall(r"^\*.*--.*$", page, re.M))
    page_options = {o for line in page_options for o in re.findall(r"--[a-z][a-z-]*", line)}
    errors = [f"missing: {word}" for word in sorted(options - page_options)]
    errors += [f"missing: {word}" for word in sorted((ids | fields | {u.name for u in units}) - words)]
    errors += [f"missing: {word}" for word in sorted(sockets) if word not in page]
    errors += [f"no such option: {word}" for word in sorted(page_options - options)]
    errors += [f"no such message id: {word}" for word in sorted({w for w in words if re.fullmatch("[0-9a-f]{32}", w)} - ids)]
    # A check that finds nothing to check is broken.
    if not (options and ids and fields and sockets):
        errors.append("no option, message id, field or socket found in the files")
    print("\n".join(errors))
    return bool(errors)


sys.exit(main(*sys.argv[1:]))
