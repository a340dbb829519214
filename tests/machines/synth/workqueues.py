# SPDX-License-Identifier: GPL-2.0-or-later
"""Workqueues that the kernel shows in sysfs."""

BASE = "sys/devices/virtual/workqueue"
UNBOUND = ("writeback", "blkcg_punt_bio", "nvme-wq", "nvme-reset-wq", "nvme-delete-wq")


class Workqueues:
    def __init__(self, page, topology):
        self.page = page
        self.topology = topology
        self._ordered = []
        self._iscsi = False

    def host(self, number):
        self._ordered.append(f"scsi_tmf_{number}")

    def host_work(self, number):
        """Only transports that ask for it (Fibre Channel) have this one."""
        self._ordered.append(f"scsi_wq_{number}")

    def iscsi_host(self, number):
        self._iscsi = True
        self._ordered.append(f"iscsi_q_{number}")

    def iscsi_session(self, number, session):
        self._ordered.append(f"iscsi_ctrl_{number}:{session}")

    def write(self, tree):
        """All queues, and the global mask of unbound ones."""
        mask = self.topology.mask
        tree.put(f"{BASE}/uevent", "")
        tree.put(f"{BASE}/cpumask", mask(self.topology.housekeeping()))
        if self.page.kernel == "6.12":
            tree.put(f"{BASE}/cpumask_requested", mask(self.topology.possible))
            tree.put(f"{BASE}/cpumask_isolated", mask(self.topology.isolated))
        for name in UNBOUND:
            self._write(tree, name, 256, numa=1)
        if self._iscsi:
            self._write(tree, "iscsi_conn_cleanup", 256, numa=1)
        for name in self._ordered:
            self._write(tree, name, 1, numa=0)
        self._write(tree, "ib-comp-wq", 256, per_cpu=True)

    def _write(self, tree, name, max_active, numa=0, per_cpu=False):
        path = f"{BASE}/{name}"
        tree.put_all(path, {"per_cpu": int(per_cpu), "max_active": max_active, "uevent": ""})
        tree.link(f"{path}/subsystem", "sys/bus/workqueue")
        tree.link(f"sys/bus/workqueue/devices/{name}", path)
        if per_cpu:
            return
        tree.put_all(path, {"nice": 0, "cpumask": self.topology.mask(self.topology.possible)})
        if self.page.kernel == "6.1":
            pools = " ".join(f"{node}:{16 + i * numa}" for i, node in enumerate(self.topology.ids))
            tree.put_all(path, {"numa": numa, "pool_ids": pools})
        else:
            tree.put_all(path, {"affinity_scope": "default (cache)", "affinity_strict": 0})
