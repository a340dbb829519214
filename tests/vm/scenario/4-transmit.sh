# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Where the transmit work of an iSCSI session runs, by what the policy says: by the kernel's default, on the node of
# who submits, on the node that receives, switched under I/O. Then a policy that asks for every knob: what this kernel
# lacks is said, the rest is done, and restored.

# shellcheck source=tests/vm/guest/iscsi.sh
. /usr/lib/vm/iscsi.sh

# dynamic WORD: the policy says so, or by hand what it comes to here.
dynamic() {
	if have_daemon; then
		set_policy iscsi-host 'workqueue: {cpumask: leave}' "iscsi: {dynamic: $1}"
		return
	fi
	case $1 in
	submitter) echo ff >"$queue/cpumask" && echo 1 >"$queue/numa" ;;
	on) echo 0 >"$queue/numa" && echo 0c >"$queue/cpumask" ;;
	esac
}

# queue_is CPUMASK NUMA
queue_is() { file_is "$queue/cpumask" "$1" && file_is "$queue/numa" "$2"; }

# measure WHEN: set at_home and at_submitter, percentages while node 3 submits, and of_all, on node 1 while all do.
measure() {
	check_transmit "$1" 0-7
	share_on 2-3
	of_all=$REPLY
	check_transmit "$1" 6-7
	share_on 2-3
	at_home=$REPLY
	share_on 6-7
	at_submitter=$REPLY
}

# switch WORD CPUMASK NUMA, under I/O
switch() {
	begin_load 0-7
	dynamic "$1"
	check "dynamic: $1 is set" wait_for 20 queue_is "$2" "$3"
	check "dynamic: $1 is set under I/O" end_load
}

check "the target is found" find_target
! have_daemon || set_policy iscsi-host 'workqueue: {cpumask: leave}'
check "log-in" login
queue=$workqueues/iscsi_q_$number
if have_daemon; then
	check "the session is found on node 1" wait_for 30 device_field_is "$device" .node 1
	check_placed "$NIC1 receives on node 1" $NIC1 2-3
else
	misplace $NIC1 2
fi

check "by default all CPUs have one pool" queue_is ff 0
measure "by default"
default_of_all=$of_all default_at_home=$at_home

switch submitter ff 1
measure "with submitter"
# Not all: the disk's I/O scheduler dispatches some of it elsewhere.
check "with submitter little of it runs on node 1 when node 3 submits" test "$at_home" -le 25
check "with submitter most of it runs on node 3 then" test "$at_submitter" -ge 50

switch on 0c 0
measure "with on"
check_eq "with on all of it runs on node 1, whoever submits" "$of_all $at_home" "100 100"
check "which is more than by default" test "$default_of_all" -lt 100 -a "$default_at_home" -lt 100

# --- a policy that asks for everything ----------------------------------------------------------

if have_daemon; then
	begin_load 0-7
	dynamic off
	check "dynamic: off is set under I/O" eval "wait_for 20 queue_is 0c 0 && end_load"

	requests=$(compgen -G "$pci/$NVME2/nvme/nvme*/nvme*n1/queue/max_sectors_kb")
	first=$(<"$requests")
	set_policy all 'iova: {depot: 128, domain: lazy, cacheable_io: on}' 'iscsi: {dynamic: on, transmit: inline}'
	check_decision "transmit: inline is absent, and what provides it is said" "$device~iscsi.transmit" \
		'^absent .*xmit_inline, which kernel/ adds'
	check "so it is explained" eval "numaioctl explain '$device~iscsi.transmit' | grep -q 'kernel/ adds'"
	check_decision "dynamic: on goes by the cpumask" "$device~iscsi.dynamic" '^(applied|right) .*where the connection is received'
	check "which is set" queue_is 0c 0
	check_decisions "a limit of the depots is absent, and what provides it is said" iova.depot \
		'absent .*built in .*patches in kernel/.*Linux 6\.7'
	check_decisions "the domains are lazy" iova.domain '(applied|right) '
	check "requests of the NVMe drive are small" wait_for 20 file_is "$requests" 128
	set_policy all 'iscsi: {dynamic: auto}'
	check_decision "dynamic: auto is absent, and what provides it is said" "$device~iscsi.dynamic" \
		'^absent .*xmit_stats, which kernel/ adds.* numaioctl measure iscsi:'

	check "the session is restored" ctl restore "$device"
	check "its queue is as it was at first" queue_is ff 0
	check "the NVMe drive is restored" ctl restore "pci:$NVME2"
	check_eq "its requests are as they were" "$(<"$requests")" "$first"
	rm $policy
	systemctl reload tuned-numaio.service
	check "both are taken back" eval "ctl apply '$device' && ctl apply 'pci:$NVME2'"
	wait_for 20 quiet
	check "the queue is on node 1" wait_for 20 file_is "$queue/cpumask" 0c
	check_eq "without a rule the requests stay as they are" "$(<"$requests")" "$first"
	check_empty "no decision waits or failed" "$(bad_decisions)"
	check_empty "the services logged no error" "$(service_errors)"
fi
check "log-out" logout
