# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A software iSCSI session over the NIC on node 1, to a target behind another NIC in
# a network namespace: its workqueue goes to node 1, and transmit work with it; the
# decision follows the route to the NIC on node 2; logout removes it.

# shellcheck source=tests/vm/guest/iscsi.sh
. /usr/lib/vm/iscsi.sh

check "a target is made in the namespace, and discovered" find_target
# The session keeps its address whichever way it goes; the target sends where it is told.
ip addr add 10.9.1.1/32 dev "$nic2" 2>/dev/null

# Before: a session that nobody looks after.
have_daemon && systemctl stop tuned-numaio.service
check "log-in" login
check_eq "iscsi_q_$number may run anywhere" "$(<"$workqueues/iscsi_q_$number/cpumask")" ff
check_transmit "before" 0-7 6
share_on 2-3
before=$REPLY
check "less than 100 % of it ran on node 1" test "$before" -lt 100

# After.
if have_daemon; then
	check "the daemon starts" systemctl start tuned-numaio.service
	check "it finds the session and its node" wait_for 30 device_field_is "$device" .node 1
	check "iscsi_q_$number goes to node 1" wait_for 30 file_is "$workqueues/iscsi_q_$number/cpumask" 0c
else
	echo 0c >"$workqueues/iscsi_q_$number/cpumask"
fi
for wq in "$workqueues/scsi_tmf_$number" "$workqueues/iscsi_ctrl_$number:"*; do
	! have_daemon || check "${wq##*/} goes to node 1" wait_for 10 file_is "$wq/cpumask" 0c
done
! have_daemon || check_placed "the vectors of $nic1 are on node 1" $NIC1 2-3
check_transmit "after" 0-7 6
share_on 2-3
check_eq "all of it ran on node 1 ($before % before)" "$REPLY" 100

# The route moves, and the target's answers with it.
! have_daemon || mark
answers_to "$nic2"
route_to "$nic2"
check_eq "the route goes over $nic2" "$(ip -o route get $portal from 10.9.1.1 | sed -n 's/.* dev \([^ ]*\).*/\1/p')" "$nic2"
if have_daemon; then
	check "the decision follows to node 2" wait_for 30 device_field_is "$device" .node 2
	check "iscsi_q_$number follows to node 2" wait_for 30 file_is "$workqueues/iscsi_q_$number/cpumask" 30
else
	echo 30 >"$workqueues/iscsi_q_$number/cpumask"
fi
check_transmit "over the other NIC" 0-7 6
share_on 4-5
check_eq "all of it ran on node 2" "$REPLY" 100

check "log-out" logout
check "iscsi_q_$number is gone" wait_for 20 gone "$workqueues/iscsi_q_$number"
if have_daemon; then
	check "the session is no longer listed" wait_for 20 device_field_is "$device" .id ''
	check_eq "nor are decisions about it" "$(ctl decisions | jq -r '.items[].device' | grep -c "^iscsi:")" 0
fi

# Log-in under the daemon's eyes: placed by events.
answers_to "$nic1"
route_to "$nic1"
! have_daemon || mark
watch_uevents
check "log-in once more" login
if have_daemon; then
	check "the new iscsi_q_$number goes to node 1" wait_for 30 file_is "$workqueues/iscsi_q_$number/cpumask" 0c
	wait_for 10 quiet
	uevent_time add "/workqueue/iscsi_q_$number"
	last=$(writes_since_mark | awk -v id="$device" '$2 == id { t = $1 } END { print t }')
	[ -z "$last" ] || note "from the workqueue's uevent to the last write: $(((last - REPLY) / 1000)) ms"
fi
check "log-out again" logout
ip addr del 10.9.1.1/32 dev "$nic2"
