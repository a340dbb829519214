# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The driver of a NIC with nine interrupts goes and comes: how long until they are on its node. First with
# tuned-numaio, then with nobody, then with irqbalance.

rounds=100 irqbalance_rounds=100
# shellcheck source=/dev/null
. /usr/lib/vm/hotplug.conf

# measure WHO ROUNDS LIMIT_MS
measure() {
	/usr/lib/vm/irq-watch $NIC3 6-7 "$2" "$3" 2>&1 | tee "$state/measured" | sed -u "s/^/# $1 /"
	check_eq "$1 was watched $2 times" "$(wc -l <"$state/measured")" "$2"
}

# New vectors start on CPU 0: none is right by chance.
echo 1 >/proc/irq/default_smp_affinity
check "the service is ready" wait_for 60 ready
check_placed "the NIC is placed" $NIC3 6-7 60
measure tuned-numaio "$rounds" 20000
check_empty "the services logged no error" "$(service_errors)"

systemctl stop tuned-numaio.service tuned-numaio-writer.socket tuned-numaio-writer.service \
	tuned-numaio-ro.socket tuned-numaio-api.socket
measure nobody 5 3000
if ! type irqbalance >/dev/null 2>&1; then
	skip "irqbalance" "not in this image"
	return 0
fi
irqbalance --foreground >"$state/irqbalance" 2>&1 &
balancing=$!
sleep 20
# It looks every ten seconds, and what is new gets its place at the first look: of 20 rounds that were watched for 40 s
# seven were placed, all within ten. Half as much again is for a busy host.
measure irqbalance "$irqbalance_rounds" 15000
check "irqbalance ran all the time" kill -0 $balancing
kill $balancing
