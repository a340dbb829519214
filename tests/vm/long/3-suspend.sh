# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The machine's devices are suspended and resumed: drivers give their interrupts back and take new ones. Then its CPUs
# and its clock as well. The kernel's own tests of that stop short of the sleep itself, from which this emulated machine
# does not wake.

have_daemon || return 0
drop_in=/run/systemd/system/tuned-numaio.service.d/debug.conf

# Print how often the daemon was told since the mark that the clock had jumped.
jumps() {
	journalctl --sync
	journalctl -b --no-pager -o json -u tuned-numaio.service | jq --argjson mark "$journal_mark" \
		'select((.__REALTIME_TIMESTAMP | tonumber) > $mark and .MESSAGE == "event: clock clock change ")' -c | wc -l
}

# suspend NAME TEST STATE: the kernel's test TEST of a suspend to STATE.
suspend() {
	mark
	echo "$2" >/sys/power/pm_test
	check "$1" eval "echo $3 >/sys/power/state"
	echo none >/sys/power/pm_test
	check_all_placed
	note "$(writes_since_mark | wc -l) writes after that"
}

check "the service is ready" wait_for 60 ready
if [ ! -e /sys/power/pm_test ] || ! grep -qw freeze /sys/power/state || ! grep -qw mem /sys/power/state; then
	skip "suspend" "this kernel cannot: $(</sys/power/state)"
	return 0
fi
mkdir -p "${drop_in%/*}"
printf '[Service]\nEnvironment=NUMAIO_LOG_LEVEL=debug\n' >$drop_in
systemctl daemon-reload
check "the service is restarted" systemctl restart tuned-numaio.service
check "it is ready again" wait_for 60 ready
wait_for 20 quiet
take_footprints
for round in 1 2 3; do
	suspend "devices are suspended and resumed, $round" devices freeze
	check_eq "the clock went on" "$(jumps)" 0
done
# What the kernel moves away from CPUs that go stays away, and no driver need say so: this is seen because the clock has
# stood still, as in a sleep.
for round in 1 2; do
	suspend "CPUs and clock are suspended and resumed, $round" core mem
	check_eq "the daemon was told that the clock has jumped" "$(jumps)" 1
done
check_footprints
rm -r "${drop_in%/*}"
systemctl daemon-reload
systemctl restart tuned-numaio.service
check "the service is ready at last" wait_for 60 ready
check_restored $HBA1 $NIC1 $NVME2 $NIC2 $HBA3 $NIC3
check "apply places all again" ctl apply
check_all_placed
check_empty "the services logged no error" "$(service_errors)"
