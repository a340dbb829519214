#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests numaioctl as a user meets it: check-numaioctl.py NUMAIOCTL PAGE.scd COMPLETION MACHINES [TEST...]"""
import fcntl
import http.server
import json
import os
import pathlib
import pty
import re
import shutil
import socketserver
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import unittest

# In memory: a machine is thousands of files.
if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"
NUMAIOCTL, PAGE, COMPLETION, MACHINES = (pathlib.Path(a) for a in sys.argv[1:5])


def run(*words):
    """The finished process, in a plain locale."""
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    return subprocess.run([NUMAIOCTL, *words], capture_output=True, text=True, timeout=60, env=env, check=False)


def run_on_terminal(columns, *words):
    """The lines on a terminal of that width."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "xterm"}
    process = subprocess.Popen([NUMAIOCTL, *words], stdin=follower, stdout=follower, env=env)
    os.close(follower)
    text = b""
    try:
        while data := os.read(leader, 65536):
            text += data
    except OSError:  # the other side is closed
        pass
    os.close(leader)
    assert process.wait(60) == 0, words
    return text.decode().splitlines()


def machine(folder, name="sparse-nodes"):
    subprocess.run([MACHINES / "mkmachine", MACHINES / "specs" / f"{name}.toml", folder], check=True, timeout=60)


def files(folder):
    """{path: content} of what a machine shows, without what is kept about it."""
    return {p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*"))
            if p.is_file() and not p.is_symlink() and "run" not in p.relative_to(folder).parts[:1]}


def words_of_help():
    """The verbs and options of --help."""
    text = run("--help").stdout
    verbs = re.findall(r"^  ([a-z]+) ", text, re.M)
    options = re.findall(r"(?<![\w-])(--[a-z]+|-h)(?![\w-])", text)
    return sorted(set(verbs)), sorted(set(options))


class Help(unittest.TestCase):
    def test_help_is_clean(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, run("-h").stdout)
        self.assertEqual([line for line in done.stdout.splitlines() if len(line) > 80], [])
        verbs, options = words_of_help()
        self.assertGreaterEqual(len(verbs), 9)
        self.assertIn("--json", options)

    def test_version(self):
        self.assertRegex(run("--version").stdout, r"^numaioctl \d+\.\d+\.\d+\n$")

    def test_everything_is_in_the_page(self):
        page = PAGE.read_text()
        verbs, options = words_of_help()
        for word in verbs + options:
            self.assertRegex(page, rf"(?m)^\*(-h\*, \*)?{re.escape(word)}\*", f"{word} has no entry in {PAGE}")
        entries = set(re.findall(r"^\*([a-z]+)\*", page, re.M)) | set(re.findall(r"\*(--[a-z]+)\*", page))
        self.assertEqual(entries - set(verbs + options) - {"numaioctl"}, set())

    def test_everything_is_in_the_completion(self):
        text = COMPLETION.read_text()
        verbs, options = words_of_help()
        self.assertEqual(sorted(re.search(r"verbs='(.*)'", text)[1].split()), verbs)
        self.assertEqual(sorted(re.search(r"options='(.*)'", text)[1].split()), options)

    def test_wrong_usage(self):
        for words in ([], ["fly"], ["--fly"], ["status", "x"], ["device"], ["apply", "a", "b"], ["--root"],
                      ["--policy", "x", "plan"], ["--changes", "devices"], ["--root", "/", "status"],
                      ["--root", "/", "--socket", "x", "plan"]):
            done = run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("numaioctl", done.stderr, words)


class Offline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = pathlib.Path(tempfile.mkdtemp(prefix="numaioctl-"))
        cls.pristine = cls.top / "pristine"
        machine(cls.pristine)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.top)

    def setUp(self):
        self.root = self.top / "copy"
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.pristine, self.root, symlinks=True)

    def json(self, *words, code=0):
        done = run(*words, "--root", self.root, "--json")
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_narrow_terminal(self):
        full = [line.rstrip() for line in run("devices", "--root", self.root).stdout.splitlines()]
        self.assertGreater(max(map(len, full)), 120)
        self.assertEqual([line.rstrip() for line in run_on_terminal(80, "devices", "--root", self.root)], full)
        wide = max(map(len, full)) - 10
        self.assertEqual(max(map(len, run_on_terminal(wide, "devices", "--root", self.root))), wide)

    def test_reading_changes_nothing(self):
        before = files(self.root)
        device = self.json("devices")["items"][0]["id"]
        change = self.json("plan")["changes"][0]["id"]
        for words in (["devices"], ["topology"], ["plan"], ["plan", "--changes"], ["decisions"], ["device", device],
                      ["explain", change]):
            done = run(*words, "--root", self.root)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            self.assertGreater(len(done.stdout.splitlines()), 3, words)
        self.assertEqual(files(self.root), before)
        self.assertFalse((self.root / "run").exists())

    def test_plan_has_the_documented_members(self):
        plan = self.json("plan")
        for device in plan["devices"]:
            self.assertLessEqual({"id", "class", "driver", "node", "node_source", "vectors"}, set(device))
            self.assertEqual(set(device["vectors"]), {"total", "managed", "local", "remote"})
        for change in plan["changes"]:
            self.assertLessEqual({"id", "device", "plugin", "knob", "path", "current", "desired", "settable", "reason"},
                                 set(change))
            self.assertEqual(set(change["reason"]), {"rule", "file", "line", "text"})
            self.assertTrue((self.root / change["path"]).exists())

    def test_udev_names_the_model(self):
        pci = next(d["pci"] for d in self.json("devices")["items"] if d["pci"])
        self.assertIsNone(self.json("device", f"pci:{pci}")["model"])
        entry = self.root / f"run/udev/data/+pci:{pci}"
        entry.parent.mkdir(parents=True)
        entry.write_text("E:ID_VENDOR_FROM_DATABASE=Maker\nE:ID_MODEL_FROM_DATABASE=Card 5\n")
        self.assertEqual(self.json("device", f"pci:{pci}")["model"], "Maker Card 5")
        done = run("device", f"pci:{pci}", "--root", self.root)
        self.assertRegex(done.stdout, r"(?m)^ +Model: Maker Card 5$")

    def test_apply_and_restore(self):
        before = files(self.root)
        plan = self.json("plan")
        result = self.json("apply")
        self.assertEqual(sorted(c["id"] for c in result["changes"]), sorted(c["id"] for c in plan["changes"]))
        first = {c["id"]: c["first"].lstrip("0") for c in result["changes"]}
        self.assertEqual(first, {c["id"]: c["current"].lstrip("0") for c in plan["changes"]})
        self.assertEqual(result["left"], 0)
        self.assertEqual({c["state"] for c in result["changes"]}, {"applied"})
        applied = files(self.root)
        now = self.json("plan")
        self.assertEqual(now["changes"], [])
        self.assertEqual([d["vectors"]["local"] for d in now["devices"]], [d["planned"]["local"] for d in plan["devices"]])
        self.assertEqual(self.json("apply")["changes"], [])

        result = self.json("restore")
        self.assertEqual({c["state"] for c in result["changes"]}, {"held"})
        self.assertEqual({c["first"] for c in result["changes"]}, {None})
        self.assertEqual(len(result["changes"]), len(plan["changes"]))
        written = {c["path"] for c in plan["changes"]}
        after = files(self.root)
        self.assertEqual({str(p) for p in written if after[pathlib.Path(p)].split() != before[pathlib.Path(p)].split()}, set())
        self.assertEqual(self.json("plan")["changes"], [], "restored devices are held")
        self.assertGreater(len(self.json("apply")["changes"]), 0)
        self.assertEqual(files(self.root), applied)

    def test_one_device(self):
        changes = self.json("plan")["changes"]
        device = changes[-1]["device"]
        mine = [c["id"] for c in changes if c["device"] == device]
        self.assertEqual(sorted(c["id"] for c in self.json("apply", device)["changes"]), sorted(mine))
        self.assertEqual(len(self.json("plan")["changes"]), len(changes) - len(mine))
        self.json("apply")
        self.assertEqual(len(self.json("restore", device)["changes"]), len(mine))
        self.assertEqual(self.json("plan")["changes"], [])
        states = {d["state"] for d in self.json("decisions")["items"] if d["device"] == device}
        self.assertIn("held", states)
        self.assertLessEqual({c["id"] for c in self.json("apply", device)["changes"]}, set(mine))
        self.assertEqual(self.json("plan")["changes"], [])

    def test_what_is_not_there(self):
        for words in (["device", "pci:none"], ["explain", "none"], ["apply", "pci:none"], ["restore", "pci:none"]):
            done = run(*words, "--root", self.root)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertIn(words[1], done.stderr)
        done = run("devices", "--root", self.top / "none")
        self.assertEqual((done.returncode, done.stdout), (1, ""))

    def test_policies_with_errors(self):
        policy = self.top / "bad.yaml"
        policy.write_text("version: 1\nrules:\n  - name: x\n    math: {class: hba}\n")
        done = run("plan", "--root", self.root, "--policy", policy)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"bad\.yaml:4:5: ")

    def test_a_policy_decides(self):
        policy = self.top / "leave.yaml"
        policy.write_text("version: 1\nrules: []\n")
        done = run("plan", "--root", self.root, "--policy", policy, "--json")
        self.assertEqual(json.loads(done.stdout)["changes"], [], done.stderr)

    def test_the_live_machine_is_not_written(self):
        for verb in ("apply", "restore"):
            done = run(verb, "--root", "/")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("daemon", done.stderr)

    def test_a_copy_whose_run_leads_elsewhere(self):
        (self.top / "elsewhere").mkdir(exist_ok=True)
        (self.root / "run").symlink_to(self.top / "elsewhere")
        done = run("apply", "--root", self.root)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(list((self.top / "elsewhere").iterdir()), [])

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            for more in ([], ["--json"]):
                done = subprocess.run([NUMAIOCTL, "devices", "--root", self.root, *more], stdout=full,
                                      stderr=subprocess.PIPE, check=False, timeout=60)
                self.assertEqual(done.returncode, 1)


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class Online(unittest.TestCase):
    """Against a server that answers with what numaioctl itself says about a copy."""

    @classmethod
    def setUpClass(cls):
        cls.top = pathlib.Path(tempfile.mkdtemp(prefix="numaioctl-"))
        cls.root = cls.top / "machine"
        machine(cls.root)
        cls.answers = {}
        cls.asked = []
        cls.connections = 0
        cls.impatient = False  # closes a connection after one answer, without a word before
        for verb, path in (("topology", "/v1/topology"), ("devices", "/v1/devices"), ("plan", "/v1/plan"),
                           ("decisions", "/v1/decisions")):
            cls.answers[path] = (200, run(verb, "--root", cls.root, "--json").stdout)
        cls.device = json.loads(cls.answers["/v1/devices"][1])["items"][0]["id"]
        cls.answers[f"/v1/devices/{cls.device}"] = (200, run("device", cls.device, "--root", cls.root, "--json").stdout)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                cls.connections += 1
                super().setup()

            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                cls.asked.append((self.command, self.path, self.headers.get("Content-Type"), body))
                code, text = cls.answers.get(self.path, (404, json.dumps({"title": "There is no such thing",
                                                                         "detail": f"no {self.path}", "status": 404})))
                self.send_response(code)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                if text:
                    self.wfile.write(text.encode())
                self.close_connection = self.close_connection or cls.impatient

            do_POST = do_GET

            def log_message(self, *args):
                pass

            def address_string(self):
                return "client"

        cls.socket = str(cls.top / "api.sock")
        cls.server = Server(cls.socket, Handler)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()
        shutil.rmtree(cls.top)

    def test_looks_as_offline(self):
        for words in (["topology"], ["devices"], ["device", self.device], ["plan"], ["plan", "--changes"], ["decisions"],
                      ["plan", "--json"], ["devices", "--json"]):
            done = run(*words, "--socket", self.socket)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            self.assertEqual(done.stdout, run(*words, "--root", self.root).stdout, words)

    def test_writes_name_the_device(self):
        result = {"id": "a~b", "device": "a", "path": "p", "first": "1", "desired": "2", "current": "2",
                  "state": "applied", "error": None}
        self.answers["/v1/apply"] = (200, json.dumps({"changes": [result], "left": 0}))
        self.asked.clear()
        done = run("apply", "a", "--socket", self.socket)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 applied.", done.stdout)
        run("apply", "--socket", self.socket)
        self.assertEqual([(a[0], a[1], a[3]) for a in self.asked],
                         [("POST", "/v1/apply", b'{"device":"a"}'), ("POST", "/v1/apply", b"")])
        self.assertEqual(self.asked[0][2], "application/json")
        self.answers["/v1/apply"] = (200, json.dumps({"changes": [{**result, "state": "failed", "error": "EIO"}]}))
        done = run("apply", "--socket", self.socket)
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed: EIO (Input/output error)", done.stdout)

    def test_status_and_explain(self):
        self.answers["/v1/status"] = (200, json.dumps({"version": "9.9.9", "state": "ready", "status": "28 devices",
                                                       "uptime_seconds": 90061, "policy_errors":
                                                       [{"where": "x.yaml:1:2", "text": "no such key"}]}))
        done = run("status", "--socket", self.socket)
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in ("tuned-numaio 9.9.9: ready", "1 d 1 h 1 min", "x.yaml:1:2: no such key"):
            self.assertIn(text, done.stdout)
        self.answers["/v1/decisions/a~irq.affinity~q0"] = (200, json.dumps({
            "id": "a~irq.affinity~q0", "state": "applied", "first": "7", "current": "3", "desired": "3", "writes": 2,
            "time": "2026-01-02T03:04:05Z", "irq": 45, "node": 1, "device": "a", "path": "proc/irq/45/smp_affinity_list",
            "reason": {"rule": "r", "file": "p.yaml", "line": 7, "text": "queue 0 goes to CPU 3"}}))
        done = run("explain", "a~irq.affinity~q0", "--socket", self.socket)
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in ("queue 0 goes to CPU 3", "p.yaml:7", "2 times", "2026-01-02T03:04:05Z", "7, before"):
            self.assertIn(text, done.stdout)

    def test_watch(self):
        self.answers["/v1/rates"] = (200, json.dumps({
            "window_seconds": 5.0, "per_second": 1234.5, "nodes": [{"id": 1, "per_second": 1000.0}],
            "devices": [{"id": "a", "class": "nic", "node": 1, "per_second": 1234.5, "local_per_second": 1000.0,
                         "remote_per_second": 234.5}]}))
        self.asked.clear()
        before = self.connections
        done = run("watch", "--count", "2", "--interval", "1", "--socket", self.socket)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((len(self.asked), self.connections - before), (2, 1))
        self.assertEqual(done.stdout.count("1234.5 interrupts of devices a second, over 5.0 s"), 2)
        self.assertRegex(done.stdout, r"\na +nic +1 +1234\.5 +1000\.0 +234\.5 +81 %\n")
        done = run("watch", "--count", "1", "--json", "--socket", self.socket)
        self.assertEqual(json.loads(done.stdout)["nodes"], [{"id": 1, "per_second": 1000.0}])
        self.assertEqual(done.stdout.count("\n"), 1)
        for words in (["watch", "--interval", "0"], ["watch", "--count", "x"], ["watch", "--interval", "3601"],
                      ["status", "--count", "1"], ["watch", "--root", "/"]):
            done = run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)

    def test_watch_connects_again(self):
        self.answers["/v1/rates"] = (200, json.dumps({"window_seconds": 1.0, "per_second": 0.0, "nodes": [], "devices": []}))
        self.asked.clear()
        before = self.connections
        type(self).impatient = True
        self.addCleanup(setattr, type(self), "impatient", False)
        done = run("watch", "--count", "3", "--interval", "1", "--socket", self.socket)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((len(self.asked), self.connections - before), (3, 3))

    def test_ids_are_encoded(self):
        self.asked.clear()
        run("device", "a b/../c?d", "--socket", self.socket)
        self.assertEqual(self.asked[0][1], "/v1/devices/a%20b%2F..%2Fc%3Fd")

    def test_problems(self):
        done = run("device", "none", "--socket", self.socket)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "numaioctl: There is no such thing: no /v1/devices/none\n")
        for code, text in ((200, "{"), (200, ""), (500, "<html>"), (503, "{}")):
            self.answers["/v1/decisions/odd"] = (code, text)
            done = run("explain", "odd", "--socket", self.socket)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, r"^numaioctl: .+\n$")

    def test_no_daemon(self):
        done = run("status", "--socket", self.top / "none.sock")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("tuned-numaio.service", done.stderr)


BASH_COMPLETION = pathlib.Path("/usr/share/bash-completion/bash_completion")


@unittest.skipUnless(BASH_COMPLETION.exists(), "bash-completion is not installed")
class Completion(unittest.TestCase):
    def complete(self, *words):
        """What Tab offers at the end of the words."""
        line = " ".join(words)
        # readline also splits at colons.
        parts = [p for p in re.split(r"(\s+|:)", line) if p.strip()] + ([""] if words[-1] == "" else [])
        script = f"""
            PATH={NUMAIOCTL.parent}:$PATH
            . {BASH_COMPLETION}
            . {COMPLETION}
            COMP_WORDS=({" ".join(f"'{p}'" for p in parts)})
            COMP_CWORD={len(parts) - 1} COMP_LINE='{line}' COMP_POINT={len(line)}
            _numaioctl
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_verbs_and_options(self):
        verbs, options = words_of_help()
        self.assertEqual(sorted(self.complete("numaioctl", "")), verbs)
        self.assertEqual(self.complete("numaioctl", "--json", "top"), ["topology"])
        self.assertEqual(sorted(self.complete("numaioctl", "plan", "-")), options)

    def test_ids(self):
        with tempfile.TemporaryDirectory(prefix="numaioctl-") as top:
            root = pathlib.Path(top) / "m"
            machine(root)
            ids = [d["id"] for d in json.loads(run("devices", "--root", root, "--json").stdout)["items"]]
            self.assertEqual(sorted(self.complete("numaioctl", "--root", str(root), "device", "")), sorted(ids))
            # What stands before the last colon is on the line already.
            self.assertEqual(sorted(self.complete("numaioctl", "--root", str(root), "apply", ids[0][:-1])),
                             sorted(i.rpartition(":")[2] for i in ids if i.startswith(ids[0][:-1])))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
