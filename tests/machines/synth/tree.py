# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes files, folders and links below one root; every path is relative to it."""

import os

RW = 0o644
RO = 0o444
# A machine is many small files: memory is several times faster, where there is enough of it.
MEMORY = "/dev/shm"
ENOUGH = 1 << 30


def scratch():
    """The folder for machines that are thrown away again; None leaves the choice to tempfile."""
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return None
    room = os.statvfs(MEMORY)
    return MEMORY if room.f_bavail * room.f_frsize >= ENOUGH else None


class Tree:
    def __init__(self, root):
        self.root = os.path.abspath(root)
        self._known = set()
        os.makedirs(self.root, exist_ok=True)
        if os.listdir(self.root):
            raise FileExistsError(f"{root}: the folder is not empty")

    def mkdir(self, path):
        if path in self._known:
            return
        os.makedirs(f"{self.root}/{path}", mode=0o755, exist_ok=True)
        self._known.add(path)

    def put(self, path, value, mode=RW):
        """Write one attribute; the newline that every kernel file ends in is added here."""
        self.mkdir(os.path.dirname(path))
        fd = os.open(f"{self.root}/{path}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            data = f"{value}\n".encode()
            while data:
                data = data[os.write(fd, data) :]
        finally:
            os.close(fd)

    def put_all(self, folder, values):
        for name, value in values.items():
            self.put(f"{folder}/{name}", value)

    def link(self, path, target):
        """A relative link at `path` to `target`, as the kernel makes them."""
        folder = os.path.dirname(path)
        self.mkdir(folder)
        os.symlink(os.path.relpath(target, folder), f"{self.root}/{path}")
