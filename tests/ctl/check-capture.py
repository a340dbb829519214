#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests numaioctl capture: check-capture.py NUMAIOCTL DAEMON MACHINES [TEST...]

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
NUMAIOCTL, DAEMON, MACHINES = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
TOP = "numaio-capture"
FORMS = re.compile(
    r"(?P<enx>enx[0-9a-f]{12})|(?P<host>db-prod-17|host[a-z]{6}1)|(?P<iqn>\b(?:iqn|nqn)\.[^\s/,\"#~]+)|(?P<uuid>\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b)"
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

    def assert_same_plan(self, one, two, *words):
        texts = [neutral(answer(r, *(words or ["plan"]))).splitlines() for r in (one, two)]
        self.assertGreater(len(texts[0]), 5)
        self.assertEqual(len(texts[0]), len(texts[1]))
        for a, b in zip(*texts):
            self.assertEqual(a, b)

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
                for verb in ("plan", "topology", "devices", "decisions"):
                    self.assert_same_plan(root, copy, verb)
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

    def test_the_daemon_works_on_a_capture(self):
        machine(self.top / "machine", "iscsi")
        copy = self.capture(self.top / "machine")
        (self.top / "api").mkdir()
        subprocess.run([DAEMON, "--root", copy, "--api-dir", self.top / "api", "--once"], check=True, timeout=120,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(json.loads(answer(copy, "plan"))["changes"], [])

    def test_a_capture_of_a_capture(self):
        machine(self.top / "machine", "iscsi")
        first = self.capture(self.top / "machine", "first")
        second = self.capture(first, "second")
        self.assert_same_plan(first, second)
        names = [set(FORMS.findall(everything(r).decode(errors="replace"))) for r in (first, second)]
        self.assertEqual(names[0] & names[1], set())


HOST, DOMAIN = "db-prod-17", "dc1.corp.example"
SERIAL, UUID, MACHINE_ID = "S3Z9NB0K123456", "4c4c4544-0031-3510-8051-b9c04f4d3332", "8a1b2c3d4e5f60718293a4b5c6d7e8f9"
MAC, BARE = "52:54:00:a1:b2:c3", "525400a1b2c3"
IQN = "iqn.2024-01.test:t1"
PASSWORD = "geheim-und-lang"


def rename(root, old, new):
    """Gives an interface another name, wherever it stands below the root."""
    pattern = re.compile(rb"\b" + old.encode() + rb"(?![0-9])")
    for path in sorted(root.rglob("*"), key=lambda p: -len(p.parts)):
        if path.is_symlink():
            target = os.fsencode(os.readlink(path))
            path.unlink()
            os.symlink(pattern.sub(new.encode(), target), path)
        elif path.is_file():
            data = path.read_bytes()
            if pattern.search(data):
                path.write_bytes(pattern.sub(new.encode(), data))
        name = pattern.sub(new.encode(), os.fsencode(path.name))
        if name != os.fsencode(path.name):
            path.rename(path.with_name(os.fsdecode(name)))


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def plant(root):
    """Puts names where a machine may have them; returns all of which nothing may be left."""
    rename(root, "eth1", f"enx{BARE}")
    sys_, proc = root / "sys", root / "proc"
    put(proc / "sys/kernel/hostname", f"{HOST}.{DOMAIN}\n")
    put(root / "etc/hostname", f"{HOST}\n")
    put(root / "etc/machine-id", f"{MACHINE_ID}\n")
    put(root / "etc/os-release", f"NAME=Debian\nIMAGE={MACHINE_ID}\n")
    put(proc / "version", f"Linux version 6.1.0 (kim@{HOST}.{DOMAIN}) (gcc 12) #1 SMP built on {HOST}\n")
    old = (proc / "cmdline").read_text()
    put(proc / "cmdline", f"{old} root=UUID={UUID} rd.iscsi.password={PASSWORD} ip={MAC} isolcpus=3 nosmt={HOST}\n")
    net = sys_ / f"class/net/enx{BARE}"
    put(net / "address", f"{MAC}\n")
    put(net / "operstate", b"\xff\xfe\0up\0" + MAC.upper().encode() + b"\0")
    put(sys_ / "class/dmi/id/product_uuid", f"{UUID.upper()}\n")
    put(sys_ / "block/sda/device/wwid", f"t10.ATA     Disk {SERIAL}  \n")
    put(sys_ / "module/scsi_mod/parameters/note", f"{SERIAL.lower()} {UUID} {HOST}-a {BARE.upper()}\n")
    put(sys_ / f"devices/virtual/workqueue/x-{IQN}/cpumask", "ff\n")
    put(sys_ / f"devices/virtual/workqueue/y-{HOST.upper()}-{SERIAL}/cpumask", "ff\n")
    for name in ("ifacename", "password", "username"):
        for session in (sys_ / "class/iscsi_session").iterdir():
            put(session / name, f"{HOST}\n" if name == "ifacename" else f"{PASSWORD}\n")
    put(root / "run/udev/data/+pci:0000:01:00.0", f"E:ID_SERIAL={SERIAL}\nE:ID_MODEL_FROM_DATABASE=Card\n")
    netlink = json.loads((root / "netlink.json").read_text())
    netlink["addresses"].append({"address": "2001:db8:17::9", "prefixlen": 64, "dev": "eth0"})
    netlink["routes"].append({"dst": "2001:db8:17::/64", "dev": "eth0", "src": None, "gateway": "fe80::5054:ff:fea1:b2c3"})
    put(root / "netlink.json", json.dumps(netlink))
    boot = (proc / "sys/kernel/random/boot_id").read_text().strip()
    addresses = [a["address"] for a in netlink["addresses"]]
    return [HOST, DOMAIN, SERIAL, UUID, MACHINE_ID, MAC, BARE, IQN, PASSWORD, "kim@", boot, "fe80::5054:ff:fea1:b2c3",
            "2001:db8:17", "iqn.2024-01", *addresses]


class Privacy(Case):
    def setUp(self):
        super().setUp()
        self.root = self.top / "machine"
        machine(self.root, "iscsi")

    def test_nothing_is_left(self):
        secrets = plant(self.root)
        copy = self.capture(self.root)
        text = everything(copy).lower()
        for secret in secrets:
            found = re.search(rb"(?<![0-9a-z])" + re.escape(secret.lower().encode()) + rb"(?![0-9])", text)
            self.assertFalse(found, f"{secret} is left: {found and text[max(0, found.start() - 80):found.end() + 20]}")
        self.assertRegex((copy / "proc/cmdline").read_text(), "isolcpus=3 nosmt=host[a-z]{6}1")
        self.assertEqual((copy / "run/udev/data/+pci:0000:01:00.0").read_text(), "E:ID_MODEL_FROM_DATABASE=Card\n")
        self.assert_same_plan(copy, self.root)

    def test_one_thing_has_one_name(self):
        plant(self.root)
        copy = self.capture(self.root)
        name, = (p.name for p in (copy / "sys/class/net").iterdir() if p.name.startswith("enx"))
        self.assertRegex(name, "^enx02[0-9]{10}$")
        self.assertEqual((copy / f"sys/class/net/{name}").resolve().name, name)
        self.assertIn(f" {name}-", (copy / "proc/interrupts").read_text())
        self.assertTrue(list(copy.glob(f"proc/irq/*/{name}-*")))
        mac = ":".join(re.findall("..", name[3:]))
        self.assertIn(mac.encode(), (copy / f"sys/class/net/{name}/operstate").read_bytes())
        note = (copy / "sys/module/scsi_mod/parameters/note").read_text().split()
        self.assertEqual(note[3], name[3:])
        targets = {p.read_text().strip() for p in copy.glob("sys/class/iscsi_session/*/targetname")}
        names = {p.name[2:] for p in copy.glob("sys/devices/virtual/workqueue/x-*")}
        self.assertLess(names, targets)
        self.assertEqual({d["iscsi"]["target"] for d in json.loads(answer(copy, "devices"))["items"] if d["iscsi"]}, targets)

    def test_two_captures_have_nothing_in_common(self):
        plant(self.root)
        names = [set(FORMS.findall(everything(self.capture(self.root, n)).decode(errors="replace"))) for n in ("a", "b")]
        self.assertEqual(names[0] & names[1], set())

    def test_what_would_be_left_is_refused(self):
        put(self.root / "etc/os-release", "NAME=x525400a1b2c3y\n")
        for name in ("eth0", "eth1"):
            put(self.root / f"sys/class/net/{name}/address", f"{MAC}\n")
        done = run("capture", self.file, "--root", self.root)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"etc/os-release", done.stderr)
        self.assertEqual([p for p in self.top.iterdir() if p != self.root], [])

    def test_an_ordinary_host_name_does_no_harm(self):
        for name in ("node", "cpu", "irq", "sys", "pci", "0", "17", "ff", "a", "localhost", "virtio", "affinity", "host", "host1", "capture", "invalid", "TxRx",
                     "serial", "numaioctl", "mlx5", "eth0"):
            with self.subTest(name=name):
                put(self.root / "proc/sys/kernel/hostname", f"{name}\n")
                copy = self.capture(self.root, f"copy-{name}")
                plan = re.sub("host[a-z]{6}1", name, answer(copy, "plan"))
                self.assertTrue(neutral(plan) == neutral(answer(self.root, "plan")))


class File(Case):
    def setUp(self):
        super().setUp()
        self.root = self.top / "machine"
        machine(self.root, "one-cpu")

    def others(self):
        return sorted(p.name for p in self.top.iterdir() if p != self.root)

    def test_it_is_what_it_says(self):
        done = run("capture", self.file, "--root", self.root, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        told = json.loads(done.stdout)
        self.assertEqual(told["file"], str(self.file))
        self.assertEqual(told["bytes"], self.file.stat().st_size)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)
        listed = subprocess.run(["tar", "--zstd", "-tvf", self.file], capture_output=True, text=True, check=True).stdout
        self.assertEqual({line.split()[1] for line in listed.splitlines()}, {"0/0"})
        names = [line.split()[5] for line in listed.splitlines()]
        self.assertEqual({n.split("/")[0] for n in names}, {TOP})
        self.assertEqual(len(names), len(set(names)))
        copy = unpack(self.file, self.top / "unpacked")
        manifest = (copy / "MANIFEST").read_text()
        only_names = manifest.split("as empty files:\n")[1].split()
        self.assertGreater(len(only_names), 0)
        for name in only_names:
            self.assertEqual((copy / name).read_bytes(), b"", name)
        files = [p for p in copy.rglob("*") if p.is_file() and not p.is_symlink()]
        self.assertEqual(told["files"], len(files) - len(only_names))

    def test_standard_output(self):
        done = run("capture", "-", "--root", self.root)
        self.assertEqual(done.returncode, 0)
        listed = subprocess.run(["tar", "--zstd", "-t"], input=done.stdout, capture_output=True, check=True).stdout
        self.assertIn(f"{TOP}/proc/interrupts\n".encode(), listed)
        self.assertIn(b"standard output: ", done.stderr)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([NUMAIOCTL, "capture", "-", "--root", self.root], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"No space left", done.stderr)

    def test_a_file_is_never_replaced(self):
        self.file.write_text("mine")
        (self.top / "link").symlink_to(self.top / "nothing")
        for file in (self.file, self.top / "link", self.top):
            done = run("capture", file, "--root", self.root)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertIn(os.fsencode(file), done.stderr)
        self.assertEqual(self.file.read_text(), "mine")
        self.assertEqual(self.others(), [self.file.name, "link"])

    def test_where_nothing_can_be_written(self):
        for file in (self.top / "none" / "x", pathlib.Path("/proc/x"), self.file / "x"):
            done = run("capture", file, "--root", self.root)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertIn(os.fsencode(file), done.stderr)
        self.assertEqual(self.others(), [])

    def test_no_machine(self):
        (self.top / "empty").mkdir()
        for root in ("empty", "none"):
            done = run("capture", self.file, "--root", self.top / root)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertIn(root.encode(), done.stderr)
        self.assertEqual(self.others(), ["empty"])

    def test_wrong_usage(self):
        for words in (["capture"], ["capture", "a", "b"], ["--socket", "x", "capture", self.file], ["--json", "capture", "-"],
                      ["--policy", "x", "--root", self.root, "capture", self.file], ["--changes", "capture", self.file]):
            done = run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, b""), words)

    def test_a_full_disk(self):
        full = self.top / "full"
        full.mkdir()
        script = 'mount -t tmpfs -o size=4k none "$1" && "$2" capture "$1/x" --root "$3"; code=$?; ls -A "$1"; exit $code'
        words = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", full, NUMAIOCTL, self.root]
        if subprocess.run([*words[:3], "mount", "-t", "tmpfs", "none", full], capture_output=True, check=False).returncode:
            self.skipTest("mount namespaces are not allowed here")
        done = subprocess.run(words, capture_output=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"No space left", done.stderr)

    def test_killed_midway(self):
        """Nothing, or the whole file."""
        ends = set()
        for i in range(60):
            process = subprocess.Popen([NUMAIOCTL, "capture", self.file, "--root", self.root], stdout=subprocess.DEVNULL)
            try:
                process.wait(i / 1000)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGTERM if i % 2 else signal.SIGKILL)
            ends.add(process.wait(60))
            self.assertLessEqual(set(self.others()), {self.file.name})
            if self.file.exists():
                subprocess.run(["tar", "--zstd", "-tf", self.file], capture_output=True, check=True)
                self.file.unlink()
        self.assertTrue(ends - {0}, "it was never killed")

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_what_may_not_be_read(self):
        self.top.chmod(0o755)
        hidden = self.root / "proc/softirqs"
        put(hidden, "secret\n")
        hidden.chmod(0)
        done = run("capture", "-", "--root", self.root, user=65534, group=65534, extra_groups=[])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"proc/softirqs (EACCES)", done.stderr)
        self.file.write_bytes(done.stdout)
        copy = unpack(self.file, self.top / "unpacked")
        self.assertFalse((copy / "proc/softirqs").exists())
        self.assertIn("EACCES proc/softirqs\n", (copy / "MANIFEST").read_text())


class Live(Case):
    """The machine that the test runs on; nothing is changed."""

    def test_plans_are_equal(self):
        done = run("capture", self.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        copy = unpack(self.file, self.top / "unpacked")
        self.assert_same_plan(copy, "/")
        text = everything(copy)
        for path in pathlib.Path("/sys/class/net").glob("*/address"):
            mac = path.read_text().strip()
            if mac.strip("0:"):
                self.assertNotIn(mac.encode(), text)
        netlink = json.loads((copy / "netlink.json").read_text())
        for item in netlink["addresses"]:
            ipaddress.ip_interface(f"{item['address']}/{item['prefixlen']}")
        self.assertIn("127.0.0.1", {a["address"] for a in netlink["addresses"]})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
