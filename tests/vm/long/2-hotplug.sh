# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# CPUs go and come beside devices that go and come, for five minutes.

have_daemon || return 0
check "the service is ready" wait_for 60 ready
wait_for 20 quiet
take_footprints

end=$((SECONDS + 300))
# One CPU after the other, and at times a whole node.
while ((SECONDS < end)); do
	for cpus in 7 2 5 "2 3" 4 "6 7"; do
		for cpu in $cpus; do
			echo 0 >/sys/devices/system/cpu/cpu$cpu/online
		done
		sleep 0.3
		for cpu in $cpus; do
			echo 1 >/sys/devices/system/cpu/cpu$cpu/online
		done
		sleep 0.3
		echo >>"$state/cpus"
	done
done 2>"$state/cpu-errors" &
cpus=$!

rounds=0
while ((SECONDS < end)); do
	rebind $NIC3 || break
	if ((rounds % 3 == 0)); then
		rebind $NIC2 && nic_up $NIC2 10.9.2.1/24
	fi
	rounds=$((rounds + 1))
done
wait $cpus
check "devices went and came for five minutes" test "$SECONDS" -ge "$end"
note "$rounds times, and $(wc -l <"$state/cpus") times a CPU or a node"
check_eq "all CPUs are online" "$(</sys/devices/system/cpu/online)" 0-7
check "the interfaces are there" nic_up $NIC2 10.9.2.1/24
check "of both" nic_up $NIC3 10.9.3.1/24
check_all_placed
check_footprints
check_restored $NIC2 $NIC3
check "apply places all again" ctl apply
check_all_placed
check_empty "the services logged no error" "$(service_errors)"
