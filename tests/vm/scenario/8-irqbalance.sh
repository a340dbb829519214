# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# irqbalance 1.9.2, started beside the daemon and before it, by systemd and by hand: interrupts wait until it has ended.
# Told to leave them alone, over its socket and by the policy script, it does so while it goes on with others.

script=/usr/lib/tuned-numaio/irqbalance-policy
policy=/etc/tuned-numaio/policies/irqbalance.yaml
command='systemctl disable --now irqbalance'

# A device that the daemon leaves alone, since it is on no node: irqbalance moves its interrupt.
device_irqs $NIC0
witness=/proc/irq/${REPLY%% *}/smp_affinity_list

arguments() { printf 'IRQBALANCE_ARGS="-t 2 %s"\n' "$*" >/etc/default/irqbalance; }

# irqbalance writes each interrupt that it finds after its start, or a SIGHUP, and not again before it has a reason. It
# writes one CPU, or those of one package: never these two.
bait() { echo 1,6 >"$witness"; }
took_bait() { ! file_is "$witness" 1,6; }

# Print "PATH VALUE" for the settable vectors of the placed devices.
placed_now() {
	local device irq
	for device in $placed_devices; do
		device_irqs "$device"
		for irq in $REPLY; do
			irq_name "$irq"
			is_managed "$REPLY" || echo "/proc/irq/$irq/smp_affinity_list $(<"/proc/irq/$irq/smp_affinity_list")"
		done
	done
}

moved() { ! placed_now | cmp -s - "$1"; }

# field_is JQ VALUE: of what the status says about irqbalance.
field() { ctl status | jq -r ".irqbalance | $1"; }
field_is() { [ "$(field "$1")" = "$2" ]; }

if ! have_daemon; then
	arguments
	placed_now >"$state/alone"
	bait
	check "irqbalance starts" systemctl start irqbalance.service
	check "it moves interrupts" wait_for 30 took_bait
	check "it moves those of the devices too" wait_for 10 moved "$state/alone"
	# What has to be put back when it has ended stays where it is: neither the kernel nor its end does that.
	misplace $NIC1 7
	misplace $HBA3 0
	systemctl stop irqbalance.service
	sleep 2
	check "nobody puts back what was moved" eval "! placed $NIC1 2-3 && ! placed $HBA3 6-7"
	return 0
fi

told() { journalctl -b --no-pager -o cat --unit tuned-numaio.service | grep -c "irqbalance runs ($1.*$2"; }

all_placed() {
	local device
	for device in $placed_devices; do
		node_cpulist "${node_of[$device]}"
		placed "$device" "$REPLY" || return 1
	done
}

check "everything is placed at first" wait_for 20 all_placed
wait_for 20 quiet

# --- the bus is restarted ------------------------------------------------------------

told_again() { journalctl -b --no-pager -o cat --unit tuned-numaio.service | grep -q 'systemd can be asked .* again'; }
check "D-Bus is restarted" systemctl restart dbus.service
check "the daemon is connected again" wait_for 20 told_again

# --- beside the daemon -------------------------------------------------------------

arguments
placed_now >"$state/placed"
bait
check "irqbalance starts beside the daemon" systemctl start irqbalance.service
check "the daemon knows it by its unit" wait_for 10 field_is .unit irqbalance.service
check "and by its socket" wait_for 10 field_is .pid "$(systemctl show -P MainPID irqbalance.service)"
check_eq "status names the one command" "$(field .command)" "$command"
check "so does systemd's" eval "systemctl show -P StatusText tuned-numaio.service | grep -q '$command'"
check "irqbalance moves interrupts" wait_for 30 took_bait
check "those of the devices too" wait_for 10 moved "$state/placed"
# It may well have chosen CPUs of the device's own node, which leaves nothing to wait for.
misplace $NIC1 7
scsi_hosts_of $HBA1
queue=$workqueues/scsi_tmf_${REPLY%% *}/cpumask
before=$(<"$queue")
echo ff >"$queue"
mark
systemctl reload tuned-numaio.service
check "workqueues go on" wait_for 20 file_is "$queue" "$before"
check "interrupts wait" wait_for 10 eval "! field_is .waiting 0"
check "and say what for" eval "ctl decisions | jq -e --arg c '$command' \
	'[.items[] | select(.state == \"waiting\")] | length > 0 and all(.reason.text | contains(\$c))'"
check_empty "no interrupt was written" "$(writes_since_mark | grep -v "$queue")"
check_eq "the journal names the command once" "$(told irqbalance.service "$command")" 1

mark
check "irqbalance stops" systemctl stop irqbalance.service
check "what it moved is put back" wait_for 20 all_placed
note "after $waited_ms ms"
wait_for 20 quiet
check_empty "each file once" "$(writes_since_mark | cut -d ' ' -f 3 | sort | uniq -d)"
check_empty "nothing is contested" "$(ctl decisions | jq -r '.items[] | select(.state == "contested") | .id')"
check "it is gone for the status too" field_is .running false

# --- before the daemon -----------------------------------------------------------------

systemctl stop tuned-numaio.service
bait
systemctl start irqbalance.service
check "irqbalance places before the daemon" wait_for 30 took_bait
misplace $NIC1 7
misplace $HBA3 0
mark
check "the daemon starts" systemctl start tuned-numaio.service
check "interrupts wait from the start" wait_for 20 eval "! field_is .waiting 0"
check_empty "so none was written" "$(writes_since_mark | grep /proc/irq/)"
systemctl stop irqbalance.service
check "they are placed when it stops" wait_for 20 all_placed

# --- by hand -----------------------------------------------------------------------------

mkdir -p /run/irqbalance
irqbalance --foreground >/dev/null 2>&1 &
pid=$!
check "one started by hand is known by its socket" wait_for 20 field_is '"\(.unit) \(.pid) \(.command)"' "null $pid kill $pid"
kill -9 $pid
wait $pid 2>/dev/null
check "killed, it leaves its socket" matches "/run/irqbalance/irqbalance$pid.sock"
check "and is known to be gone" wait_for 10 field_is .running false
rm -rf /run/irqbalance

# --- told to leave interrupts alone -------------------------------------------------------

mkdir -p "${policy%/*}"
printf 'version: 1\ndefaults: {irqbalance: ban}\n' >$policy
systemctl reload tuned-numaio.service
wait_for 20 quiet
arguments --banirq=9
placed_now >"$state/placed"
misplace $NIC1 7
misplace $HBA3 0
bait
mark
systemctl start irqbalance.service
left_alone() { field_is '"\(.running) \(.asked > 10) \(.asked == .left_alone) \(.waiting) \(.error)"' "true true true 0 null"; }
check "irqbalance says that it leaves them alone" wait_for 20 left_alone
check "they are placed while it runs" wait_for 20 all_placed
wait_for 20 quiet
placed_now >"$state/placed"
check "it goes on with others" wait_for 30 took_bait
bait
systemctl kill -s HUP irqbalance.service
check "also after it looked for all of them anew" wait_for 30 took_bait
check_eq "it moved none of those" "$(placed_now | diff "$state/placed" - | head -n 5)" ""
check_eq "its user's ban stands" "$(sed -n 's/^users //p' /run/tuned-numaio/ledger/irqbalance)" 9
asked=$(field .asked)
check "a device is restored" ctl restore "pci:$NIC2"
check "its interrupts are irqbalance's again" eval "wait_for 10 eval '! field_is .asked $asked' && left_alone"
check "it is taken back" ctl apply "pci:$NIC2"
check "and so are its interrupts" eval "wait_for 10 field_is .asked $asked && left_alone"
systemctl restart irqbalance.service
check "the next irqbalance is told as well" eval "wait_for 20 field_is .pid \$(systemctl show -P MainPID irqbalance.service) &&
	wait_for 20 left_alone"
systemctl stop irqbalance.service

# --- the policy script --------------------------------------------------------------------

systemctl stop tuned-numaio.service
arguments "--policyscript=$script"
placed_now >"$state/placed"
bait
systemctl start irqbalance.service
check "without the daemon irqbalance asks the policy script" wait_for 40 took_bait
check_eq "and leaves what it names alone" "$(placed_now | diff "$state/placed" - | head -n 5)" ""
systemctl start tuned-numaio.service
check "the daemon sees that" wait_for 20 field_is '"\(.script) \(.waiting)"' "true 0"
systemctl stop irqbalance.service

rm $policy
arguments
systemctl reload tuned-numaio.service
check "everything is placed at last" wait_for 20 all_placed
check "nothing is left for the script" wait_for 10 gone /run/tuned-numaio/ledger/irqs
check_empty "the services logged no error" "$(
	journalctl -b --no-pager -o cat -p err -u tuned-numaio.service -u tuned-numaio-writer.service |
		grep -v 'code=killed\|status=9/KILL\|Failed with result .signal' | # of 6-restore
		grep -v 'x.yaml:\|policies are not taken over' |                   # of 1-boot
		head -n 5
)"
