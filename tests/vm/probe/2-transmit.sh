# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# numaioctl measure of an iSCSI host on a kernel without xmit_stats: tracepoints of the workqueue tell where its transmit
# work runs, wherever it is put, and nothing of them stays, also when a service is killed meanwhile. It patches kernel
# code, which only a guest with --thread single bears.

have_daemon || return 0
# shellcheck source=tests/vm/guest/iscsi.sh
. /usr/lib/vm/iscsi.sh

instance=$tracing/instances/tuned_numaio_xmit

# Print what somebody may have left in tracefs: instances, and events that are switched on.
traces() {
	ls $tracing/instances
	cat $tracing/set_event
}

# dynamic WORD
dynamic() { set_policy iscsi-host 'workqueue: {cpumask: leave}' "iscsi: {dynamic: $1}"; }

# queue_is CPUMASK NUMA
queue_is() { file_is "$queue/cpumask" "$1" && file_is "$queue/numa" "$2"; }

# measure WHEN CPULIST: while these CPUs submit. Sets answer, and by_cpu by the tracepoint alone, whose window is longer.
measure() {
	local node count
	begin_load "$2"
	sleep 1
	begin_count
	check "$1: $device is measured" eval "ctl measure '$device' >$state/measured"
	end_count
	check "$1: I/O goes on" end_load
	answer=$(<"$state/measured")
	note "transmit work $1, CPUs $2 submit: $(jq -r '.xmit | "\(.runs) runs, \(.local) local, \(.remote) remote; by node \([.nodes[].runs] | join(" "))"' <<<"$answer"); $runs seen"
	check "$1: by tracepoints, this host alone" jq -e '.source == "tracepoint" and .scope == "host" and .seconds >= 4' <<<"$answer"
	check "$1: there were runs" jq -e '.xmit | .runs >= 50 and .node == 1' <<<"$answer"
	check "$1: the figures fit each other" \
		jq -e '.xmit | .local + .remote == .runs and ([.nodes[].runs] | add) == .runs and .local == .nodes[1].runs' <<<"$answer"
	for node in 0 1 2 3; do
		node_cpulist $node
		runs_on "$REPLY"
		count=$(jq ".xmit.nodes[$node].runs" <<<"$answer")
		check "$1: $count runs on node $node, $REPLY seen in a longer time" test "$count" -le "$REPLY"
	done
	check_eq "$1: nothing of it is left" "$(traces)" "$before"
}

# xmit_is JQ: of the last answer.
xmit_is() { jq -e ".xmit | $1" <<<"$answer"; }

# signalled NAME UNIT SIGNAL: while something is counted. What was counted is lost.
signalled() {
	ctl measure "$device" >"$state/measured" 2>&1 &
	check "$1: the instance is there" wait_for 20 exists $instance
	check "$1: $2 gets SIG$3" systemctl kill --kill-who=main --signal="$3" "$2"
	check "$1: the instance goes" wait_for 60 gone $instance
	[ "$3" != STOP ] || systemctl kill --kill-who=main --signal=CONT "$2"
	check "$1: who measures is told" eval "! wait $!"
	check "$1: the services are there" wait_for 60 ready
	check_eq "$1: nothing of it is left" "$(traces)" "$before"
}

check "the target is found" find_target
check "the service is ready" wait_for 60 ready
dynamic off
check "log-in" login
queue=$workqueues/iscsi_q_$number
check "the session is found on node 1" wait_for 30 device_field_is "$device" .node 1
check_placed "$NIC1 receives on node 1" $NIC1 2-3
before=$(traces)

check "left alone its queue runs anywhere" queue_is ff 0
measure "left alone" 0-7
check "left alone some of it runs elsewhere" xmit_is '.remote > 0 and .remote_share > 0'

dynamic submitter
check "dynamic: submitter is set" wait_for 20 queue_is ff 1
measure "with submitter" 6-7
# Not all: the disk's I/O scheduler dispatches some of it elsewhere.
check "with submitter most of it runs on node 3" xmit_is '.nodes[3].runs * 2 >= .runs'

dynamic on
check "dynamic: on is set" wait_for 20 queue_is 0c 0
measure "with on" 0-7
check "with on all of it runs on node 1" xmit_is '.remote == 0 and .remote_share == 0'
check_eq "the client says it in words" "$(numaioctl measure "$device" | grep -cE '^ *(Runs|Local|Remote|Receiving node): ')" 4

signalled "the daemon is held up" tuned-numaio.service STOP
check "the writer does not count for ever, which is told" grep -q 'does not count any more' "$state/measured"
signalled "the writer is killed" tuned-numaio-writer.service KILL
signalled "the daemon is killed" tuned-numaio.service KILL
check "it is measured again" wait_for 30 ctl measure "$device"
check_eq "nothing of it is left" "$(traces)" "$before"

check "the session is restored" ctl restore "$device"
check "its queue is as it was at first" queue_is ff 0
rm $policy
systemctl reload tuned-numaio.service
check "log-out" logout
check_empty "the services logged no error" "$(service_errors)"
check_empty "the kernel complained of nothing" "$(kernel_complaints)"
