# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Somebody else moves an interrupt: once, then again and again until it is contested; apply
# takes it back. Meanwhile a NIC goes down and up and a CPU off and on, time and again, and
# the masks that their drivers and the kernel write are no fight. At last the clock jumps, as after a sleep.

MESSAGE_CONTESTED=5b1a3c1d9a8e4f0d8b6e2f7c40d1a9f1

# The HBA's first settable vector; CPU 6 is of node 3.
device_irqs $HBA1
for irq in $REPLY; do
	irq_name "$irq"
	is_managed "$REPLY" || break
done
file=/proc/irq/$irq/smp_affinity_list
foreign=6

# A look without an event that could explain anything: an address that nobody uses.
netdev_of $NIC1
nic1=$REPLY
look() {
	ip addr add 10.9.9.9/32 dev "$nic1"
	ip addr del 10.9.9.9/32 dev "$nic1"
}

is_foreign() { file_is "$file" $foreign; }
at_home() { ! is_foreign; }
# Writes its value whenever it finds another one.
fighter() {
	while sleep 0.3; do
		is_foreign || echo $foreign >"$file"
	done
}

# Print "ID STATE COUNT" of each decision that has to do with others.
drifts() {
	ctl decisions | jq -r '.items[] | select(.drift != null) | "\(.id) \(.state) \(.drift.count)"'
}
# Print the paths of the journal's entries about contests.
contests() {
	journalctl --sync
	journalctl -b --no-pager -o json MESSAGE_ID=$MESSAGE_CONTESTED | jq -r .NUMAIO_PATH
}
status_is() { [ "$(ctl status | jq -r "$1")" = "$2" ]; }

# Where nobody places vectors, they stand as the daemon would have put them.
have_daemon || misplace $NIC3 6

if have_daemon; then
	wait_for 20 quiet
	check_empty "nothing has drifted before" "$(drifts)"
	mark
	echo $foreign >"$file"
	look
	check "a vector that somebody moved is put back" wait_for 10 at_home
	check_empty "it is on its node again" "$(problems $HBA1 2-3)"
	check_eq "with one write" "$(writes_since_mark | grep -c " $file ")" 1
fi

fighter &
fighter=$!
trap 'kill "$fighter" 2>/dev/null' EXIT
wait_for 10 is_foreign
if have_daemon; then
	look
	check "again and again it is put back later" wait_for 10 status_is .drifted 1
fi

# The vmxnet3 gets new vectors each time, the virtio-net keeps its own.
for nic in $NIC2 $NIC3 $NIC2 $NIC3 $NIC2 $NIC3 $NIC2 $NIC3 $NIC2 $NIC3; do
	netdev_of "$nic"
	ip link set "$REPLY" down
	ip link set "$REPLY" up
	sleep 0.5
done
if have_daemon; then
	check_placed "$NIC2 is placed after it went down and up five times" $NIC2 4-5
	check_placed "so is $NIC3" $NIC3 6-7
	check_empty "nobody fought over them" "$(drifts | grep -v "^pci:$HBA1~")"

	check "the vector is contested in the end" wait_for 90 status_is .contested 1
	check_eq "which the journal says once" "$(contests)" "${file#/}"
	check_eq "it was put back three times" "$(writes_since_mark | grep -c " $file ")" 3
	check_eq "the status of the daemon is good" "$(ctl status | jq -r '"\(.state) \(.changes_pending)"')" "ready 0"
	check "the decision says so" eval "ctl decisions | jq -e '.items[] |
		select(.path == \"${file#/}\" and .state == \"contested\" and .current == \"$foreign\" and .drift.count == 3)'"
	mark
fi

# The virtio-net gives its vectors to other CPUs whenever a CPU comes or goes; the kernel
# overwrites the masks of those whose only CPU goes.
moved=0
for _ in 1 2 3 4 5; do
	for online in 0 1; do
		echo $online >/sys/devices/system/cpu/cpu7/online
		if have_daemon; then
			wait_for 10 placed $NIC3 "$([ $online = 0 ] && echo 6 || echo 6-7)"
		else
			node_cpulist 3
			[ -z "$(problems $NIC3 "$REPLY")" ] || moved=$((moved + 1))
			misplace $NIC3 6
		fi
	done
done
if have_daemon; then
	check_placed "$NIC3 is placed after a CPU went off and on five times" $NIC3 6-7
	check_placed "so is $HBA3" $HBA3 6-7
	note "$(writes_since_mark | wc -l) writes meanwhile"
	check_empty "nobody fought over them" "$(drifts | grep -v "^pci:$HBA1~")"
	check_eq "the contested vector was not touched" "$(writes_since_mark | grep -c " $file ")" 0
	check "and is still theirs" is_foreign
	check_eq "nor was it said again" "$(contests)" "${file#/}"
else
	check "vectors were moved meanwhile" test $moved -gt 0
	check "the fighter keeps its vector" is_foreign
fi

kill "$fighter"
wait "$fighter" 2>/dev/null
if have_daemon; then
	check "apply takes it back" ctl apply "pci:$HBA1"
	check_empty "$HBA1 is placed again" "$(problems $HBA1 2-3)"
	check_eq "nothing is contested" "$(ctl status | jq -r '"\(.contested) \(.drifted)"')" "0 0"

	# To the kernel a sleep is a clock that was set.
	wait_for 20 quiet
	echo $foreign >"$file"
	sleep 2
	check "nobody looks while nothing happens" is_foreign
	date -s '+1 sec' >/dev/null
	check "what was moved meanwhile is put back after a jump of the clock" wait_for 10 at_home
fi
