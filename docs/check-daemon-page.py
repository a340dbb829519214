# SPDX-License-Identifier: GPL-2.0-or-later
"""check-daemon-page.py PAGE LOG_H LOG_C UNIT...: the page names what programs and administrators meet.

Each message id and journal field that the code sends, each unit, and each socket that a unit listens on must stand in the
page; no message id may stand there that the code does not send.
"""
import re
import sys
from pathlib import Path


def main(page_path, log_header, log_source, *units):
    page = Path(page_path).read_text()
    ids = set(re.findall(r'"([0-9a-f]{32})"', Path(log_header).read_text()))
    fields = set(re.findall(r'"(NUMAIO_\w+)"', Path(log_source).read_text()))
    sockets = set()
    for unit in units:
        sockets |= set(re.findall(r"^Listen\w+=(\S+)$", Path(unit).read_text(), re.M))
    wanted = ids | fields | sockets | {Path(unit).name for unit in units}
    errors = [f"missing: {word}" for word in sorted(wanted) if word not in page]
    errors += [f"not sent by the code: {word}" for word in sorted(set(re.findall(r"\b[0-9a-f]{32}\b", page)) - ids)]
    # A check that finds nothing to check is broken.
    if not (ids and fields and sockets):
        errors.append("no message id, field or socket found in the sources")
    print("\n".join(errors))
    return bool(errors)


sys.exit(main(*sys.argv[1:]))
