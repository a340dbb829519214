# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A policy that asks for every knob, on Linux 6.12: its depots scale themselves, which is said; transmit work goes by
# affinity_scope and by the cpumask; what is absent is said; restore puts back what was there.

# shellcheck source=tests/vm/guest/iscsi.sh
. /usr/lib/vm/iscsi.sh

# queue_is CPUMASK SCOPE STRICT
queue_is() {
	file_is "$queue/cpumask" "$1" && file_is "$queue/affinity_scope" "$2" && file_is "$queue/affinity_strict" "$3"
}

# Print what the files hold that the policy is about.
knobs() {
	local path
	for path in "$queue"/{cpumask,affinity_scope,affinity_strict} "$pci/$NVME2"/nvme/nvme*/nvme*n1/queue/max_sectors_kb; do
		echo "$path $(<"$path")"
	done
}

check "the target is found" find_target
systemctl stop tuned-numaio.service 2>/dev/null
check "log-in" login
queue=$workqueues/iscsi_q_$number
check "by default the kernel has a pool for each cache" queue_is ff "default (cache)" 0
knobs >"$state/knobs"
everything='iova: {depot: 128, domain: lazy, cacheable_io: on}'
set_policy all "$everything" 'iscsi: {dynamic: submitter, transmit: inline}'
systemctl start tuned-numaio.service
check "the session is found on node 1" wait_for 30 device_field_is "$device" .node 1
check_placed "$NIC1 receives on node 1" $NIC1 2-3

check "dynamic: submitter is set by the scope" wait_for 20 queue_is ff numa 1
check_decision "and said so" "$device~iscsi.dynamic" '^(applied|right) .*by affinity_scope$'
check_transmit "with submitter" 6-7
share_on 2-3
check "little of it runs on node 1 when node 3 submits" test "$REPLY" -le 25
share_on 6-7
check "most of it runs on node 3" test "$REPLY" -ge 50

begin_load 0-7
set_policy all "$everything" 'iscsi: {dynamic: on, transmit: inline}'
check "dynamic: on is set by the cpumask" wait_for 20 queue_is 0c "default (cache)" 0
check "under I/O" end_load
check_transmit "with on" 0-7
share_on 2-3
check_eq "all of it runs on node 1" "$REPLY" 100

check_decisions "the depots scale themselves, which is said" iova.depot \
	'absent .*scale themselves \(iova_depot_work_func\)'
check_decision "transmit: inline is absent, and what provides it is said" "$device~iscsi.transmit" \
	'^absent .*xmit_inline, which kernel/ adds'
check "so it is explained" eval "numaioctl explain '$device~iscsi.transmit' | grep -q 'kernel/ adds'"
check_empty "no decision waits or failed" "$(bad_decisions)"
set_policy all "$everything" 'iscsi: {dynamic: auto}'
check_decision "dynamic: auto is absent, and what provides it is said" "$device~iscsi.dynamic" \
	'^absent .*xmit_stats, which kernel/ adds.* numaioctl measure iscsi:'

check "all devices are restored" ctl restore
check_empty "the knobs are as before the daemon wrote" "$(knobs | diff "$state/knobs" - | head -n 5)"
check_empty "so is everything else" "$(record | diff "$state/first" - | grep '^<' | head -n 5)"
check_empty "the services logged no error" "$(service_errors)"
check "log-out" logout
