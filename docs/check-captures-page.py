# SPDX-License-Identifier: GPL-2.0-or-later
"""check-captures-page.py PAGE SOURCES.c ANONYMISE.c CAPTURE.c: the page names what a capture is made of.

Each file that SOURCES.c collects, or CAPTURE.c puts together, must lie below a path in the page's table, and each path
there must have a file; each kind of thing that ANONYMISE.c replaces stands in the page; the folder in the tar file has the
name that CAPTURE.c gives it.
"""
import re
import sys
from pathlib import Path


def sources(text):
    """The paths that machine_sources names, with "*" in them."""
    macros = dict(re.findall(r'^#define (\w+)\s+"([^"]*)"', text, re.M))
    table = re.search(r"machine_sources\[\] = \{(.*?)\n\};", text, re.S)[1]
    for folder, names in re.findall(r'\{ ((?:\w+ ?)?(?:"[^"]*")?),\s+((?:"[^"]*"\s*)+)\}', table):
        macro, rest = re.fullmatch(r'(\w*) ?(?:"([^"]*)")?', folder).groups()
        folder = macros.get(macro, "") + (rest or "")
        for name in "".join(re.findall('"([^"]*)"', names)).split():
            yield f"{folder}/{name}".lstrip("/")


def main(page_path, sources_path, anonymise_path, capture_path):
    page = Path(page_path).read_text()
    part = re.search(r"## What is in it\n(.*?)\nNot in it", page, re.S)[1]
    named = {p.replace("*", "x") for p in re.findall(r"`([a-z][\w./*-]*)`", part) if "/" in p or p.endswith(".json")}
    capture = Path(capture_path).read_text()
    made = re.findall(r'collection_put\(c, "([a-z][^"]*)"', capture)
    found = {p.replace("*", "x") for p in [*sources(Path(sources_path).read_text()), *made]}
    kinds = re.findall(r'\[SECRET_\w+\] = "([^"]+)"', Path(anonymise_path).read_text())
    top = re.search(r'#define TOP "([^"]+)"', capture)[1]

    errors = [f"missing: {path}" for path in sorted(found)
              if not any(path == n or path.startswith(n + "/") for n in named)]
    errors += [f"no such file: {n}" for n in sorted(named) if not any(p == n or p.startswith(n + "/") for p in found)]
    errors += [f"missing: {kind}" for kind in kinds if kind.lower() not in page.lower()]
    if f"`{top}/MANIFEST`" not in page:
        errors.append(f"missing: {top}/MANIFEST")
    # A check that finds nothing to check is broken.
    if len(found) < 50 or len(kinds) < 9 or len(named) < 10:
        errors.append("no files or kinds found")
    print("\n".join(errors))
    return bool(errors)


sys.exit(main(*sys.argv[1:]))
