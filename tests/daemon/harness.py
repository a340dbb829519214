# SPDX-License-Identifier: GPL-2.0-or-later
"""A daemon on a copy of a machine, and what it is asked over its API."""

import contextlib
import http.client
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "machines"))

from synth.tree import scratch  # noqa: E402, F401

DEFAULT_POLICY = Path(__file__).resolve().parents[2] / "policies/default.yaml"
TIMEOUT = 60


class Connection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=TIMEOUT)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(TIMEOUT)
        self.sock.connect(self.path)


class Daemon:
    running = []

    def __init__(self, binary, root, folder, *options, level="warning", **how):
        self.binary = binary
        self.folder = folder
        self.root = root
        self.notes = []  # what it told its service manager
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = folder / "notify"
        path.unlink(missing_ok=True)
        self.notify.bind(str(path))
        threading.Thread(target=self.listen, args=(self.notify,), daemon=True).start()
        environment = dict(how.pop("environment", os.environ), NOTIFY_SOCKET=str(path), NUMAIO_LOG_LEVEL=level)
        self.process = subprocess.Popen(
            [binary, "--root", root, "--api-dir", folder, *options], env=environment, **how)
        self.running.append(self)

    def listen(self, sock):
        """A service manager that does not read makes its services wait."""
        with contextlib.suppress(OSError):
            while note := sock.recv(4096):
                self.notes.append(note.decode())

    def wait_for(self, condition, what, seconds=TIMEOUT):
        end = time.monotonic() + seconds
        while not condition():
            assert self.process.poll() is None, "the daemon ended"
            assert time.monotonic() < end, what
            time.sleep(0.02)

    def wait_ready(self):
        self.wait_for(lambda: any("READY=1" in note for note in self.notes), "the daemon does not get ready")

    def ask(self, method, target, body=None, sock="api.sock"):
        connection = Connection(str(self.folder / sock))
        text = None if body is None else json.dumps(body)
        headers = {"Content-Type": "application/json"} if text else {}
        connection.request(method, target, text, headers)
        answer = connection.getresponse()
        data = json.loads(answer.read())
        connection.close()
        return answer.status, data

    def get(self, target):
        status, data = self.ask("GET", target)
        assert status == 200, (target, status, data)
        return data

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        code = self.process.wait(TIMEOUT)
        self.notify.shutdown(socket.SHUT_RDWR)
        self.notify.close()
        return code

    def status(self):
        return self.get("/v1/status")

    def decisions(self):
        """Those about a file, by id."""
        return {d["id"]: d for d in self.get("/v1/decisions")["items"] if d["path"]}

    def look(self):
        """Makes it look again, and waits until that is done."""
        passes = self.status()["passes"]
        os.kill(self.process.pid, signal.SIGHUP)
        self.wait_for(lambda: self.status()["passes"] > passes, "it does not look again")


def writers_of(daemon):
    """The children that stand in for writer and kernel; those that it has not waited for count."""
    with contextlib.suppress(OSError):
        children = f"/proc/{daemon.process.pid}/task/{daemon.process.pid}/children"
        return [int(pid) for pid in Path(children).read_text().split()]
    return []


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def ask_quietly(daemon, *request):
    """Whether it is answered at all depends on who is killed first."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        daemon.ask(*request)


def write_policy(folder, words):
    """The shipped policy with these words replaced, as a file in the folder."""
    text = DEFAULT_POLICY.read_text()
    for old, new in words.items():
        assert old in text, old
        text = text.replace(old, new)
    file = folder / "policy.yaml"
    file.write_text(text)
    return file


def ask_policy(folder):
    """It changes nothing before somebody asks for it."""
    return write_policy(folder, {"apply: auto": "apply: ask"})


def limit_descriptors(pid, soft):
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]))


def leave_descriptors(pid, n):
    """So many more can be opened."""
    used = {int(fd) for fd in os.listdir(f"/proc/{pid}/fd")}
    free = (fd for fd in range(1024) if fd not in used)
    limit_descriptors(pid, [next(free) for _ in range(n + 1)][-1])


def ticks(pid):
    """Of the CPU, that it has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def affinities(root):
    """Each settable file of the machine with its set of CPUs."""
    values = {}
    for folder in (root / "proc/irq").iterdir():
        if folder.name.isdigit():
            values[f"proc/irq/{folder.name}"] = (folder / "smp_affinity_list").read_text().strip()
    for folder in (root / "sys/devices/virtual/workqueue").iterdir():
        mask = folder / "cpumask"
        if folder.is_dir() and mask.exists():
            values[str(mask.relative_to(root))] = int(mask.read_text().strip().replace(",", ""), 16)
    return values


class Case:
    """A fresh copy of the machine, with what is needed to start daemons on it."""

    def __init__(self, binary, client, machine, folder):
        self.binary = binary
        self.client = client
        self.folder = folder
        self.root = folder / "machine"
        self.log = folder / "log"  # what the daemons say
        subprocess.run(["cp", "-a", machine, self.root], check=True)
        self.before = affinities(self.root)

    def start(self, *options, policy=None, ready=True, **how):
        """policy: the shipped one with these words replaced."""
        if policy:
            options += ("--policy", self.write_policy(policy))
        with self.log.open("ab") as log:
            daemon = Daemon(self.binary, self.root, self.folder, *options, stderr=log, **how)
        if ready:
            daemon.wait_ready()
        return daemon

    def lines(self, text):
        """What the daemons said with these words in it."""
        return [line for line in self.log.read_text().splitlines() if text in line]

    def write_policy(self, words):
        return write_policy(self.folder, words)

    def standin(self, **changes):
        page = self.root / "standin.json"
        page.write_text(json.dumps(json.loads(page.read_text()) | changes))

    def changed(self):
        now = affinities(self.root)
        return {path for path, value in self.before.items() if now.get(path, value) != value}


def writer_of(daemon):
    """The child that stands in for writer and kernel."""
    children = Path(f"/proc/{daemon.process.pid}/task/{daemon.process.pid}/children").read_text().split()
    assert len(children) == 1, children
    return int(children[0])


@contextlib.contextmanager
def frozen(pid):
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


class Asked(threading.Thread):
    """A request that is answered later."""

    def __init__(self, daemon, *request):
        super().__init__(daemon=True)
        self.run = lambda: setattr(self, "answer", daemon.ask(*request))
        self.start()

    def wait(self):
        self.join(60)
        return self.answer


class Skip(Exception):
    """A check cannot be made here, with the reason."""


def skip_if_emulated(lacks):
    """For a check that an emulator which runs the programs, as TEST_EMULATED tells with its name, does not bear."""
    emulator = os.environ.get("TEST_EMULATED")
    if emulator:
        raise Skip(f"{emulator} {lacks}")


def call(check, *arguments):
    """Calls a check and says that it passed, or that it was skipped, and why."""
    try:
        check(*arguments)
    except Skip as why:
        print(f"skipped: {check.__name__}: {why}", flush=True)
    else:
        print("ok", check.__name__, flush=True)


def run_check(check, *arguments):
    folder = Path(tempfile.mkdtemp(prefix="numaio-case-", dir=scratch()))
    try:
        call(check, Case(*arguments, folder))
    except BaseException:
        if (folder / "log").exists():
            print("".join((folder / "log").read_text().splitlines(True)[-40:]), file=sys.stderr)
        raise
    finally:
        for daemon in Daemon.running:
            if daemon.process.poll() is None:
                daemon.process.kill()
                daemon.process.wait()
        shutil.rmtree(folder)


def run_checks(functions, binary, client, mkmachine, spec, *names):
    """Runs the check_...() functions, or those that are named, each on a fresh copy of the machine."""
    checks = [f for name, f in functions.items() if name.startswith("check_") and (not names or name in names)]
    with tempfile.TemporaryDirectory(prefix="numaio-machine-", dir=scratch()) as folder:
        machine = Path(folder) / "machine"
        subprocess.run([mkmachine, spec, machine], check=True)
        for check in checks:
            run_check(check, binary, client, machine)
