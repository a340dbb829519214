# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Boot: every settable vector on its device's node and spread, managed ones reported as
# managed and tried at most once, workqueues masked, devices on no node left alone.

# What this guest's kernel manages is what is_managed says, or nothing below means much.
expected=$(
	for device in $placed_devices; do
		device_irqs "$device"
		for irq in $REPLY; do
			irq_name "$irq"
			is_managed "$REPLY" && echo "$device $REPLY"
		done
	done | sort
)
check_eq "the kernel refuses managed vectors alone" "$(sort "$state/refused")" "$expected"
count=$(wc -l <<<"$expected")
check_eq "12 vectors are managed" "$count" 12

# Misplaced before the daemon: asserted on the record, since the daemon is at work by now.
misplaced=0 settable=0
for device in $placed_devices; do
	node_cpulist "${node_of[$device]}"
	expand "$REPLY"
	home=$REPLY
	device_irqs "$device"
	for irq in $REPLY; do
		irq_name "$irq"
		is_managed "$REPLY" && continue
		settable=$((settable + 1))
		first=$(sed -n "s|^/proc/irq/$irq/smp_affinity_list ||p" "$state/first")
		[[ $home == *" $first "* ]] || misplaced=$((misplaced + 1))
	done
done
check_eq "all $settable settable vectors were misplaced at first" "$misplaced" "$settable"
check "there are at least 25 of them" test "$settable" -ge 25

if have_daemon; then
	check "the service is ready" wait_for 30 systemctl -q is-active tuned-numaio.service
	check "its status is a line for people" nonempty systemctl show -P StatusText tuned-numaio.service
	note "status: $(systemctl show -P StatusText tuned-numaio.service)"

	for device in $placed_devices; do
		node_cpulist "${node_of[$device]}"
		check_placed "$device is placed on node ${node_of[$device]}" "$device" "$REPLY"
		netdev_of "$device"
	done
	wait_for 20 quiet
	check "the writer runs" systemctl -q is-active tuned-numaio-writer.service
	check_eq "nothing was restarted" "$(systemctl show -P NRestarts tuned-numaio.service tuned-numaio-writer.service |
		tr '\n' ' ')" "0  0 "

	# Node 1 has one queue of the HBA and one of the NIC, for two CPUs.
	device_irqs $HBA1
	read -r hba </proc/irq/${REPLY%% *}/effective_affinity_list
	device_irqs $NIC1
	read -r nic </proc/irq/${REPLY%% *}/effective_affinity_list
	check "the two devices of node 1 do not share a CPU" test "$hba" != "$nic"

	for device in $placed_devices; do
		device_irqs "$device"
		managed=0 total=0
		for irq in $REPLY; do
			total=$((total + 1))
			irq_name "$irq"
			is_managed "$REPLY" && managed=$((managed + 1))
		done
		check_eq "$device is listed with its node and vectors" \
			"$(device_field "pci:$device" '"\(.node) \(.vectors.total) \(.vectors.managed)"')" \
			"${node_of[$device]} $total $managed"
		check_eq "$device has no settable vector elsewhere by the daemon's count" \
			"$(device_field "pci:$device" '.vectors.total - .vectors.local - .vectors.remote')" 0
	done
	check_eq "the client says the same of the writer" "$(ctl status | jq -r .writer | head -c 40 | grep -c .)" 1

	# A managed vector looks like any other on this kernel (mode 0644): it may be tried, once.
	check_empty "no write was refused twice" "$(refusals | sort | uniq -d)"
	check_empty "managed vectors were not written" "$(
		writes_since_mark | while read -r _ _ path _; do
			irq=${path%/smp_affinity_list}
			irq_name "${irq##*/}"
			! is_managed "$REPLY" || echo "$path"
		done
	)"

	for device in $HBA1 $HBA3; do
		node_cpulist "${node_of[$device]}"
		mask_of "$REPLY"
		mask=$REPLY
		scsi_hosts_of "$device"
		for number in $REPLY; do
			check_eq "scsi_tmf_$number of $device runs on node ${node_of[$device]}" \
				"$(<$workqueues/scsi_tmf_$number/cpumask)" "$mask"
		done
	done

	# Everything on no node, and workqueues of no device, is as it was.
	left=''
	for device in $AHCI $NIC0 0000:00:04.0 0000:00:05.0; do
		device_irqs "$device"
		for irq in $REPLY; do
			left+="/proc/irq/$irq/smp_affinity_list "
		done
		scsi_hosts_of "$device"
		for number in $REPLY; do
			left+="$workqueues/scsi_tmf_$number/cpumask "
		done
	done
	left+="$workqueues/cpumask $workqueues/writeback/cpumask $workqueues/nvme-wq/cpumask"
	check_empty "what is on no node was left alone" "$(
		for path in $left; do
			grep -qxF "$path $(<"$path")" "$state/first" || echo "$path is $(<"$path")"
		done
	)"
	check_eq "the AHCI's node is unknown" "$(device_field "pci:$AHCI" '"\(.node) \(.node_source)"')" "null unknown"

	id=$(ctl decisions | jq -r --arg d "pci:$HBA1" \
		'(.decisions? // .)[] | select(.device == $d and .knob == "irq.affinity") | .id' | head -n 1)
	check "the HBA's decision has an id" test -n "$id"
	check "it is explained with rule, file and line" jq -e '.reason.rule and .reason.text' <<<"$(ctl explain "$id")"
	check_empty "nothing is left to change" "$(ctl plan | jq -r '.changes[]? | select(.settable != "no") | .id')"

	note "writes since boot: $(writes_since_mark | wc -l); CPU time of the daemon:" \
		"$(($(systemctl show -P CPUUsageNSec tuned-numaio.service) / 1000000)) ms," \
		"of the writer: $(($(systemctl show -P CPUUsageNSec tuned-numaio-writer.service) / 1000000)) ms"
	note "from activating to ready:" \
		"$((($(systemctl show -P ActiveEnterTimestampMonotonic tuned-numaio.service) - $(systemctl show \
			-P InactiveExitTimestampMonotonic tuned-numaio.service)) / 1000)) ms"
fi
