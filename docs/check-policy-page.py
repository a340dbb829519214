#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the manual page of policies against the schema: check-policy-page.py SCHEMA.json PAGE.scd

Every key of the reader's tables has an entry in its section of the page, and every word that it takes stands in the
entry's first line; the page has no entry that the tables do not know.
"""
import json
import re
import sys


def entries(page):
    """{heading: {key: rest of the entry's first line}}"""
    found = {}
    heading = ""
    for line in page.splitlines():
        if m := re.match(r"#+ (.*)", line):
            heading = m[1]
        elif m := re.match(r"\*([a-z_-]+)\*(: (.*))?$", line):
            found.setdefault(heading, {})[m[1]] = m[3] or ""
    return found


def words(schema):
    """The words of an enumeration, wherever they stand in a key's schema."""
    forms = [schema]
    for form in forms:
        forms.extend(form.get("anyOf", []))
    return [w for form in forms for w in form.get("enum", []) if isinstance(w, str)]


def sections(schema):
    """(heading, properties) of every mapping that the page describes."""
    top = schema["properties"]
    rule = next(f for f in top["rules"]["anyOf"] if f["type"] == "array")["items"]["properties"]
    keys = rule["set"]["properties"]
    plugins = {name: s for name, s in keys.items() if "properties" in s}
    yield "FORM", top
    yield "defaults", top["defaults"]["properties"]
    yield "match", rule["match"]["properties"]
    yield "set", {name: s for name, s in keys.items() if name not in plugins}
    for name, s in plugins.items():
        yield f"set: {name}", s["properties"]


def problems(schema, page):
    described = entries(page)
    for heading, properties in sections(schema):
        there = described.get(heading, {})
        for key, value in properties.items():
            if key not in there:
                yield f'"{heading}" has no entry for "{key}"'
                continue
            line = re.split(r" \| ", there[key])
            for word in words(value):
                if word not in line:
                    yield f'the entry of "{key}" in "{heading}" does not name "{word}"'
        for key in there.keys() - properties.keys():
            yield f'"{heading}" describes "{key}", which no table has'


def main():
    with open(sys.argv[1]) as f:
        schema = json.load(f)
    with open(sys.argv[2]) as f:
        found = list(problems(schema, f.read()))
    for problem in found:
        print(f"{sys.argv[2]}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
