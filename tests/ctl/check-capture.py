#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests numaioctl capture: check-capture.py NUMAIOCTL MACHINES [TEST...]

Each synthetic machine and its capture must have the same plan, but for the names that were replaced.
"""
import ipaddress
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"
NUMAIOCTL, MACHINES = (pathlib.Path(a) for a in sys.argv[1:3])
TOP = "numaio-capture"
FORMS = re.compile(
    r"(?P<iqn>\b(?:iqn|nqn)\.[^\s/,\"#~]+)|(?P<uuid>\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b)"
    r"|(?P<mac>\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b)|(?P<ip>\b(?:\d{1,3}\.){3}\d{1,3}\b)")


def run(*words, **more):
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    return subprocess.run([NUMAIOCTL, *words], capture_output=True, timeout=120, env=env, check=False, **more)


def machine(folder, name):
    subprocess.run([MACHINES / "mkmachine", MACHINES / "specs" / f"{name}.toml", folder], check=True, timeout=60)


def unpack(file, folder):
    """The root that a capture holds."""
    folder.mkdir()
    subprocess.run(["tar", "--zstd", "-xf", file, "-C", folder], check=True, timeout=60)
    return folder / TOP


def answer(root, *words):
    done = run(*words, "--root", root, "--json")
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def neutral(text):
    """The text with a number for each name, in order of appearance: equal for texts that differ in names alone."""
    seen = {}

    def number(m):
        kind = m.lastgroup
        return seen.setdefault((kind, m[0]), f"<{kind} {len(seen)}>")

    return FORMS.sub(number, text)


def everything(root):
    """All names, link targets and contents below a folder."""
    pieces = []
    for path in sorted(root.rglob("*")):
        pieces.append(os.fsencode(path.relative_to(root)))
        if path.is_symlink():
            pieces.append(os.fsencode(os.readlink(path)))
        elif path.is_file():
            pieces.append(path.read_bytes())
    return b"\0\n".join(pieces)


class Case(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="capture-"))
        self.addCleanup(shutil.rmtree, self.top)
        self.file = self.top / "capture.tar.zst"

    def capture(self, root, name="unpacked"):
        self.file.unlink(missing_ok=True)
        done = run("capture", self.file, "--root", root)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return unpack(self.file, self.top / name)


class Machines(Case):
    def test_plans_are_equal(self):
        for spec in sorted((MACHINES / "specs").glob("*.toml")):
            with self.subTest(machine=spec.stem):
                root = self.top / spec.stem
                machine(root, spec.stem)
                copy = self.capture(root, f"{spec.stem}-copy")
                for words in (["plan"], ["topology"], ["devices"], ["decisions"]):
                    want, got = (neutral(answer(r, *words)) for r in (root, copy))
                    self.assertEqual(got, want, words)
                self.assertGreater(len(want), 500)
                shutil.rmtree(root)
                shutil.rmtree(copy.parent)

    def test_a_capture_is_a_machine_copy(self):
        machine(self.top / "machine", "iscsi")
        copy = self.capture(self.top / "machine")
        planned = json.loads(answer(copy, "plan"))["changes"]
        done = json.loads(answer(copy, "apply"))
        self.assertEqual([c["id"] for c in done["changes"]], [c["id"] for c in planned])
        self.assertGreater(len(planned), 0)
        self.assertEqual({c["state"] for c in done["changes"]}, {"applied"})
        self.assertEqual(json.loads(answer(copy, "plan"))["changes"], [])

    def test_a_capture_of_a_capture(self):
        machine(self.top / "machine", "iscsi")
        first = self.capture(self.top / "machine", "first")
        second = self.capture(first, "second")
        self.assertEqual(neutral(answer(second, "plan")), neutral(answer(first, "plan")))
        names = [set(FORMS.findall(everything(r).decode(errors="replace"))) for r in (first, second)]
        self.assertEqual(names[0] & names[1], set())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
