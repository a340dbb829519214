# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Stop, start and kill of the service disturb nothing; restore puts first values back
# and holds them until apply.

if ! have_daemon; then
	record >"$state/before"
	check_eq "the record covers all vectors and workqueues" \
		"$(grep -c . "$state/before")" "$(cut -d ' ' -f 1 "$state/before" | sort -u | wc -l)"
	return 0
fi

firsts() { ctl decisions | jq -r '.items[] | select(.first != null) | "\(.id) \(.first)"' | sort; }

wait_for 20 quiet
record >"$state/before"
firsts >"$state/firsts"
check "decisions know first values" test -s "$state/firsts"
mark

check "the service stops" systemctl stop tuned-numaio.service
check_eq "stopping changes nothing" "$(record | diff "$state/before" - | head -n 5)" ""
check "it starts again" systemctl start tuned-numaio.service
check "and answers" wait_for 20 ready
wait_for 20 quiet
check_eq "starting changes nothing" "$(record | diff "$state/before" - | head -n 5)" ""
check_eq "it adopted the ledger" "$(firsts | diff "$state/firsts" - | head -n 5)" ""

pid=$(systemctl show -P MainPID tuned-numaio.service)
systemctl kill -s KILL --kill-who=main tuned-numaio.service
check "killed, it is started again" wait_for 30 main_pid_is_not "$pid"
check "and answers" wait_for 30 ready
pid=$(systemctl show -P MainPID tuned-numaio-writer.service)
systemctl kill -s KILL --kill-who=main tuned-numaio-writer.service
wait_for 20 quiet
check_eq "kills change nothing" "$(record | diff "$state/before" - | head -n 5)" ""
check_eq "and lose no first value" "$(firsts | diff "$state/firsts" - | head -n 5)" ""
check_empty "nothing was written meanwhile" "$(writes_since_mark)"

# One device first.
check "one device is restored" ctl restore "pci:$NIC2"
check_empty "its vectors are as before the daemon" "$(
	device_irqs $NIC2
	for irq in $REPLY; do
		path=/proc/irq/$irq/smp_affinity_list
		grep -qxF "$path $(<"$path")" "$state/first" || echo "$path is $(<"$path")"
	done
)"
netdev_of $NIC2
ip link set "$REPLY" down
ip link set "$REPLY" up
sleep 2
check "and it is held: link-up does not place it" eval "! placed $NIC2 4-5"
node_cpulist 1
check_placed "others stay placed" $NIC1 "$REPLY"
check "apply takes it back" ctl apply "pci:$NIC2"
check_placed "$NIC2 is placed again" $NIC2 4-5

# Everything.
unset journal_mark
writes_since_mark | awk '!seen[$3]++ { print $3, $4 }' >"$state/written"
note "$(wc -l <"$state/written") files were written since boot"
check "all devices are restored" ctl restore
check_empty "every file ever written holds its first value" "$(
	while read -r path first; do
		[ -e "$path" ] || continue
		# What was there at boot is known from the record, whoever wrote first.
		recorded=$(sed -n "s|^$path ||p" "$state/first")
		value=$(<"$path")
		[ "$value" = "${recorded:-$first}" ] || echo "$path is $value, was ${recorded:-$first}"
	done <"$state/written"
)"
record >"$state/restored"
sleep 3
check_empty "and stays so" "$(record | diff "$state/restored" - | head -n 5)"
check "apply places all again" ctl apply
for device in $placed_devices; do
	node_cpulist "${node_of[$device]}"
	check_placed "$device is placed again" "$device" "$REPLY"
done

check_empty "the services logged no error" "$(service_errors)"
