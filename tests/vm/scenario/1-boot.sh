# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Boot: every settable vector on its device's node and spread, managed ones reported as
# managed and tried at most once, workqueues masked, devices on no node left alone.

# What this guest's kernel manages is what is_managed says, or nothing below means much.
expected=$(managed_vectors)
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

# Print how often the two processes were scheduled.
wakeups() {
	local unit
	for unit in tuned-numaio.service tuned-numaio-writer.service; do
		grep ctxt_switches "/proc/$(systemctl show -P MainPID $unit)/status" | tr '\n\t' '  '
	done
}

if have_daemon; then
	check "the service is ready" wait_for 30 systemctl -q is-active tuned-numaio.service
	check "its status is a line for people" nonempty systemctl show -P StatusText tuned-numaio.service
	note "status: $(systemctl show -P StatusText tuned-numaio.service)"

	for device in $placed_devices; do
		node_cpulist "${node_of[$device]}"
		home=$REPLY
		check_placed "$device is placed on node ${node_of[$device]}" "$device" "$home"
		check_empty "its queues are whole, its slow path has the node" "$(problems "$device" "$home" fresh)"
	done
	wait_for 20 quiet
	check "the writer runs" systemctl -q is-active tuned-numaio-writer.service
	check_eq "nothing was restarted" "$(systemctl show -P NRestarts tuned-numaio.service tuned-numaio-writer.service |
		tr '\n' ' ')" "0  0 "

	# One count for all devices: both CPUs of node 1 carry as many queues, managed ones
	# included, or one more.
	for id in $(ctl devices | jq -r '.items[].id'); do
		ctl device "$id"
	done >"$state/devices"
	for cpu in 2 3; do
		queues[cpu]=$(jq -r --arg cpu $cpu '.irqs[] |
			select(.effective == $cpu and .role != "slow" and .role != "tx") | .irq' "$state/devices" | wc -l)
	done
	note "queues on CPU 2 and 3: ${queues[2]} and ${queues[3]}"
	check "the devices of node 1 share its CPUs evenly" test "$((queues[2] - queues[3]))" -ge -1 -a \
		"$((queues[2] - queues[3]))" -le 1

	for device in $placed_devices; do
		managed=$(managed_vectors "$device" | wc -l)
		device_irqs "$device"
		total=$(wc -w <<<"$REPLY")
		check_eq "$device is listed with its node and vectors" \
			"$(device_field "pci:$device" '"\(.node) \(.vectors.total) \(.vectors.managed)"')" \
			"${node_of[$device]} $total $managed"
		check_eq "$device has no settable vector elsewhere by the daemon's count" \
			"$(device_field "pci:$device" '.vectors.total - .vectors.local - .vectors.remote')" 0
	done
	check_eq "the daemon is connected to the writer" "$(ctl status | jq -r .writer)" connected

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
		'.items[] | select(.device == $d and .knob == "irq.affinity") | .id' | head -n 1)
	check "the HBA's decision has an id" test -n "$id"
	check "it is explained with rule, file and line" jq -e '.reason.rule and .reason.file and .reason.line' <<<"$(ctl explain "$id")"
	check_empty "nothing is left to change" "$(ctl plan | jq -r '.changes[]? | select(.settable != "no") | .id')"

	# Who may do what: everybody reads, root writes.
	check "anybody may ask" runuser -u nobody -- numaioctl status
	check_eq "not anybody may restore" "$(runuser -u nobody -- numaioctl restore >/dev/null 2>&1
		echo $?)" 1

	# A policy with an error leaves the last good one in force.
	mkdir -p /etc/tuned-numaio/policies
	printf 'version: 1\nrules:\n  - name: x\n    set:\n      irq: {mode: sprad}\n' >/etc/tuned-numaio/policies/x.yaml
	mark
	check "the service reloads" systemctl reload tuned-numaio.service
	check "it names the error's place" wait_for 10 eval \
		"ctl status | jq -e '.policy_errors[0].where | test(\"x.yaml:5:\")'"
	rm /etc/tuned-numaio/policies/x.yaml
	check "it reloads again" systemctl reload tuned-numaio.service
	check "without an error" wait_for 10 eval "ctl status | jq -e '.policy_errors == []'"
	check_empty "and nothing was written" "$(writes_since_mark)"

	# Nothing happens, so nobody wakes up.
	sleep 2
	before=$(wakeups)
	check "both processes are known" test "$(wc -w <<<"$before")" = 8
	sleep 6
	check_eq "with nothing to do neither process wakes up" "$(wakeups)" "$before"

	unset journal_mark
	note "writes since boot: $(writes_since_mark | wc -l); CPU time of the daemon:" \
		"$(($(systemctl show -P CPUUsageNSec tuned-numaio.service) / 1000000)) ms," \
		"of the writer: $(($(systemctl show -P CPUUsageNSec tuned-numaio-writer.service) / 1000000)) ms"
	note "from activating to ready:" \
		"$((($(systemctl show -P ActiveEnterTimestampMonotonic tuned-numaio.service) - $(systemctl show \
			-P InactiveExitTimestampMonotonic tuned-numaio.service)) / 1000)) ms"
fi
