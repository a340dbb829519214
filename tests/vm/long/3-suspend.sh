# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The machine's devices are suspended and resumed: drivers give their interrupts back and take new ones. The kernel's
# own test of that stops short of the sleep itself, from which this emulated machine's clock does not wake it.

have_daemon || return 0
check "the service is ready" wait_for 60 ready
if [ ! -e /sys/power/pm_test ] || ! grep -qw freeze /sys/power/state; then
	skip "suspend" "this kernel cannot: $(</sys/power/state)"
	return 0
fi
wait_for 20 quiet
take_footprints
echo devices >/sys/power/pm_test
for round in 1 2 3; do
	mark
	check "devices are suspended and resumed, $round" eval "echo freeze >/sys/power/state"
	check_all_placed
	note "$(writes_since_mark | wc -l) writes after resume $round"
done
echo none >/sys/power/pm_test
check_footprints
check_restored $HBA1 $NIC1 $NVME2 $NIC2 $HBA3 $NIC3
check "apply places all again" ctl apply
check_all_placed
check_empty "the services logged no error" "$(service_errors)"
