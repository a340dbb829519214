# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Everything at once: a storm of uevents, a NIC with another name, a driver that goes while its vectors are being
# placed, both services killed again and again. Afterwards everything is placed, nothing has grown, and restore knows
# each first value.

netdev_of $NIC1
nic1=$REPLY

# Uevents, as many as there can be, and what the daemon makes of them.
passes() { ctl status | jq .passes; }

have_daemon && take_footprints && mark && before=$(passes)
uevents
start=$REPLY
storm 8
uevents
check "the kernel sent many uevents" test "$((REPLY - start))" -ge 100
note "$((REPLY - start)) uevents in 8 s"
! have_daemon || check "the daemon answers meanwhile" ctl status
udevadm settle -t 60
if have_daemon; then
	sleep 2
	note "$(($(passes) - before)) passes until udev was through with them"
	check "they are far fewer than the events" test "$((4 * ($(passes) - before)))" -lt "$((REPLY - start))"
	check_empty "nothing was written for them" "$(writes_since_mark)"
fi

# A rule for a name, and the NIC that gets this name. udev keeps the one before as another name of the same interface.
rename() {
	ip link property del dev "$1" altname "$2" 2>/dev/null
	ip link set "$1" down && ip link set "$1" name "$2" && ip link set "$2" up &&
		ip route replace 10.9.0.2/32 dev "$2" src 10.9.1.1
}
if have_daemon; then
	mkdir -p /etc/tuned-numaio/policies
	printf 'version: 1\nrules:\n  - name: by-name\n    match: {netdev: "moved*"}\n    set: {node: 2}\n' \
		>/etc/tuned-numaio/policies/moved.yaml
	systemctl reload tuned-numaio.service
	check "it is renamed" rename "$nic1" moved0
	udevadm settle -t 20
	check_placed "$NIC1 is placed by the rule for its new name" $NIC1 4-5
	check_eq "decisions name the node of the rule" "$(ctl decisions |
		jq -r --arg id "pci:$NIC1~irq.affinity" '.items[] | select(.id == $id) | .node')" 2
	check "it gets its old name back" rename moved0 "$nic1"
	check_placed "$NIC1 is placed on its own node again" $NIC1 2-3
	rm /etc/tuned-numaio/policies/moved.yaml
	systemctl reload tuned-numaio.service
else
	check "it is renamed" rename "$nic1" moved0
	check "it gets its old name back" rename moved0 "$nic1"
fi

# The driver of the NIC on node 3 goes and comes while vectors are placed.
if ! have_daemon; then
	check "a driver goes and comes" rebind $NIC3
	check "its interface is there" nic_up $NIC3 10.9.3.1/24
	check "the kernel did not place its vectors" eval "! placed $NIC3 6-7"
	misplace $NIC1 0
	misplace $NIC2 0
	misplace $HBA1 0
	storm 3
	udevadm settle -t 60
	check "nor does it in a storm" eval "! placed $NIC1 2-3 && ! placed $NIC2 4-5 && ! placed $HBA1 2-3"
	return 0
fi
while :; do
	ctl restore "pci:$NIC3"
	ctl apply "pci:$NIC3"
done >/dev/null 2>&1 &
applying=$!
for round in 1 2 3; do
	check "the driver goes and comes, $round" rebind $NIC3
done
kill $applying
wait $applying 2>/dev/null
check "apply takes it back" ctl apply "pci:$NIC3"
check "its interface is there" nic_up $NIC3 10.9.3.1/24
check_all_placed
check_footprints

# Killed again and again in a storm.
storm 8 &
storming=$!
misplaced=("$NIC1" "$NIC2" "$HBA1")
for victims in tuned-numaio-writer tuned-numaio "tuned-numaio tuned-numaio-writer"; do
	misplace "${misplaced[0]}" 0
	misplaced=("${misplaced[@]:1}")
	for victim in $victims; do
		systemctl kill -s KILL --kill-who=main $victim.service
	done
	check "it answers after a kill of $victims" wait_for 60 ready
done
wait $storming
udevadm settle -t 60
check_all_placed

check_restored $NIC3
check "apply places all again" ctl apply
check_all_placed
check_empty "the services logged no error" "$(service_errors)"
