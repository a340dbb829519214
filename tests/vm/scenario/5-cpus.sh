# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A CPU and a whole node go offline and come back. The kernel overwrites the mask of
# a vector whose last CPU goes, and does not put it back.

cpu_online() { echo "$2" >"/sys/devices/system/cpu/cpu$1/online"; }

# Print the masks of a device's settable vectors.
masks() {
	local irq
	device_irqs "$1"
	for irq in $REPLY; do
		irq_name "$irq"
		is_managed "$REPLY" || echo "$irq:$(<"/proc/irq/$irq/smp_affinity_list")"
	done
}

# Where nobody places vectors, they stand as the daemon would have put them.
if ! have_daemon; then
	misplace $HBA1 3
	misplace $NIC1 2
	misplace $NIC2 4
	misplace $NIC3 7
fi

mark
check "CPU 7 goes offline" cpu_online 7 0
if have_daemon; then
	check_placed "$NIC3 moves to the CPU that is left on node 3" $NIC3 6
	check_placed "$HBA3 as well" $HBA3 6
	note "$(writes_since_mark | wc -l) writes after CPU 7 went"
else
	check "the kernel overwrote masks of node 3" test "$(masks $NIC3 | grep -cv ':7$')" -gt 0
fi
mark
check "CPU 7 comes back" cpu_online 7 1
if have_daemon; then
	check_placed "$NIC3 is spread over node 3 again" $NIC3 6-7
	check_placed "$HBA3 may use all of node 3 again" $HBA3 6-7
	note "$(writes_since_mark | wc -l) writes after CPU 7 came back"
else
	check "the kernel did not put the masks back" test "$(masks $NIC3 | grep -c ':7$')" -lt 9
fi

mark
check "CPU 2 goes offline" cpu_online 2 0
check "and CPU 3, and so node 1" cpu_online 3 0
node_cpulist 1
check_eq "node 1 has no CPU" "$REPLY" ""
if have_daemon; then
	check_placed "$HBA1 moves to node 0, the nearest" $HBA1 0-1
	check_placed "$NIC1 as well" $NIC1 0-1
	check_placed "$NIC2 stays on node 2" $NIC2 4-5
	check_placed "$NIC3 stays on node 3" $NIC3 6-7
	scsi_hosts_of $HBA1
	check "scsi_tmf_${REPLY% } moves to node 0" wait_for 20 file_is "$workqueues/scsi_tmf_${REPLY% }/cpumask" 03
	check "the reason says so" eval "ctl decisions | jq -r '.items[] |
		select(.device == \"pci:$HBA1\") | .reason.text' | grep -qi 'node 0'"
	note "$(writes_since_mark | wc -l) writes after node 1 went"
else
	check "the kernel moved the HBA's vector" test "$(masks $HBA1 | grep -c ':3$')" = 0
fi
mark
check "CPU 2 comes back" cpu_online 2 1
check "CPU 3 comes back" cpu_online 3 1
if have_daemon; then
	for nic in $HBA1 $NIC1 $NIC2 $HBA3 $NIC3 $NVME2; do
		node_cpulist "${node_of[$nic]}"
		check_placed "$nic is placed on node ${node_of[$nic]} as before" "$nic" "$REPLY"
	done
	scsi_hosts_of $HBA1
	check "scsi_tmf_${REPLY% } is on node 1 again" wait_for 20 file_is "$workqueues/scsi_tmf_${REPLY% }/cpumask" 0c
	wait_for 20 quiet
	note "$(writes_since_mark | wc -l) writes after node 1 came back"
else
	check "the kernel did not put the HBA's vector back" test "$(masks $HBA1 | grep -c ':3$')" = 0
fi
