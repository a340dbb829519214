# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# An NVMe drive, an HBA and a NIC come and go: placed by events, with nothing written
# that was right already. Prints the time from uevent to last write.

nvme=0000:63:00.0 hba=0000:23:00.0 nic=0000:43:00.0

# Print the time from the pci add event of device $1 to the last write to it.
print_latency() {
	local id="pci:$1" from last
	uevent_time add "/$1"
	from=$REPLY
	last=$(writes_since_mark | awk -v id="$id" '$2 == id { t = $1 } END { print t }')
	if [ -n "$from" ] && [ -n "$last" ]; then
		ok "the time from $1's uevent to its last write is $(((last - from) / 1000)) ms"
	else
		not_ok "the time from $1's uevent to its last write is known" "uevent at \"$from\", write at \"$last\""
	fi
}

# Print writes since the mark to anything but the devices given, or that changed nothing.
needless_writes() {
	local wanted=" $* "
	writes_since_mark | while read -r _ device path old new; do
		if [[ $wanted != *" ${device#pci:} "* ]]; then
			echo "$path of $device: $old to $new"
		elif [ "$old" = "$new" ]; then
			echo "$path: $old again"
		fi
	done
}

driver_bound() { [ -e "$pci/$1/driver" ] && grep -q "bind .*/$1 (pci)" "$state/uevents"; }
# megasas takes half a minute to bind, and cannot be unplugged before.
has_scsi_host() {
	scsi_hosts_of "$1"
	[ -n "$REPLY" ]
}

# New vectors start on CPU 0: without this the kernel would put most of them on the
# device's node by itself, where nothing is left to show.
read -r default </proc/irq/default_smp_affinity
echo 1 >/proc/irq/default_smp_affinity
mark
record >"$state/before"
watch_uevents

check "the host plugs an NVMe drive" host drive_add 0 file=null-co://,if=none,id=hot1,format=raw,file.size=1G
check "into node 3" host device_add nvme,id=hotnvme,serial=hot1,drive=hot1,bus=rp3c
check "its block device appears" wait_for 60 matches "$pci/$nvme/nvme/*/nvme*n1"
if have_daemon; then
	check_placed "the NVMe drive is placed on node 3" "$nvme" 6-7
	check "it is listed on node 3" wait_for 10 device_field_is "pci:$nvme" .node 3
	wait_for 20 quiet
	print_latency "$nvme"
fi

check "the host plugs an HBA" host drive_add 0 file=null-co://,if=none,id=hot2,format=raw,file.size=1G
check "into node 1" host device_add megasas,id=hothba,bus=rp1c,romfile=
check "with a disk" host device_add scsi-hd,id=hotdisk,drive=hot2,bus=hothba.0
check "the host plugs a NIC" host netdev_add hubport,id=hotnet,hubid=0
check "into node 2" host device_add e1000e,id=hotnic,netdev=hotnet,bus=rp2c,mac=52:54:00:00:00:12,romfile=
check "its interface appears" wait_for 60 matches "$pci/$nic/net/*"
wait_for 10 grep -q "move .*$nic/net/" "$state/uevents"
netdev_of "$nic"
hot_netdev=$REPLY
check "its link goes up" ip link set "$hot_netdev" up
if have_daemon; then
	check_placed "the NIC is placed on node 2" "$nic" 4-5
fi
check "the HBA's SCSI host appears" wait_for 60 has_scsi_host "$hba"
scsi_hosts_of "$hba"
hot_host=${REPLY% }
if have_daemon; then
	check_placed "the HBA is placed on node 1" "$hba" 2-3
	mask_of 2-3
	check "scsi_tmf_$hot_host runs on node 1" wait_for 20 file_is "$workqueues/scsi_tmf_$hot_host/cpumask" "$REPLY"
fi
check "the HBA's driver is bound" wait_for 90 driver_bound "$hba"
if have_daemon; then
	check "all three are listed" wait_for 10 device_field_is "pci:$nic" .node 2
	wait_for 20 quiet
	print_latency "$hba"
	print_latency "$nic"
	check_empty "nothing else was written, and nothing twice" "$(needless_writes $nvme $hba $nic)"
	check_empty "no file of another device changed" "$(record | grep -vxFf "$state/before" | while read -r path _; do
		grep -q "^$path " "$state/before" && echo "$path"
	done)"
	mark
fi

echo "$default" >/proc/irq/default_smp_affinity

check "the host pulls the NVMe drive" host device_del hotnvme
check "the HBA" host device_del hothba
check "and the NIC" host device_del hotnic
for device in $nvme $hba $nic; do
	check "$device is gone" wait_for 60 gone "$pci/$device"
done
if have_daemon; then
	for device in $nvme $hba $nic; do
		check "$device is no longer listed" wait_for 20 device_field_is "pci:$device" .id ''
	done
	check_empty "nothing was written when they went" "$(needless_writes)"
	check_eq "no decision about them is left" "$(ctl decisions |
		jq -r '.items[].device' | grep -cE "$nvme|$hba|$nic")" 0
fi
host netdev_del hotnet
