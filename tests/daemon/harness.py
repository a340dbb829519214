# SPDX-License-Identifier: GPL-2.0-or-later
"""A daemon on a copy of a machine, and what it is asked over its API."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
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
        environment = dict(os.environ, NOTIFY_SOCKET=str(path), NUMAIO_LOG_LEVEL=level)
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
