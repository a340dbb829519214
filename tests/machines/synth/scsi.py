# SPDX-License-Identifier: GPL-2.0-or-later
"""SCSI hosts with their disks, and block devices."""

SD_MAJOR, NVME_MAJOR = 8, 259


def disk_name(index):
    """sda .. sdz, sdaa .."""
    name = ""
    index += 1
    while index:
        index, digit = divmod(index - 1, 26)
        name = chr(ord("a") + digit) + name
    return "sd" + name


def add_host(machine, parent, number, proc_name, queues=1):
    """A SCSI host below the folder `parent`; returns the host's folder."""
    tree, path = machine.tree, f"{parent}/host{number}"
    tree.put(f"{path}/uevent", "DEVTYPE=scsi_host")
    tree.link(f"{path}/subsystem", "sys/bus/scsi")
    tree.link(f"sys/bus/scsi/devices/host{number}", path)
    add_class(
        machine,
        "scsi_host",
        path,
        f"host{number}",
        {
            "proc_name": proc_name,
            "unique_id": number,
            "state": "running",
            "host_busy": 0,
            "can_queue": 1024,
            "nr_hw_queues": queues,
            "cmd_per_lun": 32,
            "active_mode": "Initiator",
        },
    )
    machine.workqueues.host(number)
    return path


def add_class(machine, name, parent, entry, values):
    """A class device parent/name/entry with its links; returns its folder."""
    tree, path = machine.tree, f"{parent}/{name}/{entry}"
    tree.put_all(path, values)
    tree.link(f"{path}/device", parent)
    tree.link(f"{path}/subsystem", f"sys/class/{name}")
    tree.link(f"sys/class/{name}/{entry}", path)
    return path


def add_disks(machine, host_path, number, count, transport, queue_cpus):
    """`count` disks on host `number`, each behind the folders that its transport puts between."""
    for i in range(count):
        target = f"target{number}:0:{i}"
        if transport == "sas":
            path = f"{host_path}/port-{number}:{i}/end_device-{number}:{i}/{target}"
        elif transport == "fc":
            path = f"{host_path}/rport-{number}:0-{i}/{target}"
        else:
            path = f"{host_path}/{target}"
        add_lun(machine, path, f"{number}:0:{i}:0", queue_cpus)


def add_lun(machine, target_path, address, queue_cpus, scheduler="mq-deadline"):
    """One target with one disk, whose folder it returns."""
    tree, path = machine.tree, f"{target_path}/{address}"
    tree.put(f"{target_path}/uevent", "DEVTYPE=scsi_target")
    tree.link(f"{target_path}/subsystem", "sys/bus/scsi")
    tree.put_all(
        path,
        {
            "type": 0,
            "vendor": "SYNTH   ",
            "model": "DISK            ",
            "state": "running",
            "queue_depth": 64,
            "uevent": "DEVTYPE=scsi_device\nDRIVER=sd",
        },
    )
    tree.link(f"{path}/subsystem", "sys/bus/scsi")
    tree.link(f"sys/bus/scsi/devices/{address}", path)
    tree.link(f"{path}/driver", "sys/bus/scsi/drivers/sd")
    tree.mkdir("sys/bus/scsi/drivers/sd")
    add_class(machine, "scsi_device", path, address, {"uevent": ""})
    add_class(machine, "scsi_disk", path, address, {"cache_type": "write back"})
    index = machine.next("sd")
    add_block(
        machine,
        f"{path}/block",
        path,
        disk_name(index),
        f"{SD_MAJOR}:{index * 16}",
        queue_cpus,
        scheduler,
    )
    return f"{path}/block/{disk_name(index)}"


def add_multipath(machine, disk):
    """A request-based device mapper target above a disk."""
    tree, name = machine.tree, f"dm-{machine.next('dm')}"
    path = f"sys/devices/virtual/block/{name}"
    tree.put(f"{path}/mq/0/cpu_list", ", ".join(map(str, sorted(machine.topology.online))))
    tree.link(f"{path}/slaves/{disk.rpartition('/')[2]}", disk)
    tree.link(f"{disk}/holders/{name}", path)
    tree.link(f"sys/block/{name}", path)


def add_block(machine, folder, device, name, numbers, queue_cpus, scheduler):
    """A block device folder/name whose parent device is `device`; one mq folder for each of `queue_cpus`."""
    tree, path = machine.tree, f"{folder}/{name}"
    minor = numbers.partition(":")[2]
    tree.put_all(
        path,
        {
            "dev": numbers,
            "size": 7814037168,
            "ro": 0,
            "uevent": f"MAJOR={numbers.partition(':')[0]}\nMINOR={minor}\nDEVNAME={name}\nDEVTYPE=disk",
        },
    )
    tree.put_all(
        f"{path}/queue",
        {
            "rq_affinity": 1,
            "nomerges": 0,
            "nr_requests": 256,
            "scheduler": f"[{scheduler}] none" if scheduler != "none" else "[none] mq-deadline",
            "max_sectors_kb": 512,
            "iostats": 1,
            "add_random": 0,
            "rotational": 0,
            "io_poll": 0,
            "wbt_lat_usec": 2000,
        },
    )
    for i, cpus in enumerate(queue_cpus):
        tree.put(f"{path}/mq/{i}/cpu_list", ", ".join(map(str, sorted(cpus))))
    tree.link(f"{path}/device", device)
    tree.link(f"{path}/subsystem", "sys/class/block")
    tree.link(f"sys/class/block/{name}", path)
    tree.link(f"sys/block/{name}", path)
