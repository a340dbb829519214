# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# xmit_numa, rx_cpu and xmit_stats of a patched kernel: every value and error that their ABI names; and transmit work
# on the node that receives, also when that becomes another one, by dynamic: on and dynamic: auto.

# shellcheck source=tests/vm/guest/iscsi.sh
. /usr/lib/vm/iscsi.sh
parameters=/sys/module/iscsi_tcp/parameters

# A session, whose files have these names then.
log_in() {
	login || return
	xmit=/sys/class/scsi_host/host$number
	queue=$workqueues/iscsi_q_$number
}

# numa_is XMIT_NUMA NUMA: what the host and its queue say.
numa_is() { file_is "$xmit/xmit_numa" "$1" && file_is "$queue/numa" "$2"; }

# Set here and there to the runs that xmit_stats has counted.
read_stats() { read -r _ here _ there <"$xmit/xmit_stats"; }

# check_share WHEN SUBMITTERS: sets counted to the share on the receiving node by xmit_stats, and by_cpu.
check_share() {
	local before_here before_there
	read_stats
	before_here=$here before_there=$there
	check_transmit "$1" "$2"
	read_stats
	here=$((here - before_here)) there=$((there - before_there))
	counted=$((here + there ? 100 * here / (here + there) : -1))
	note "by xmit_stats: $here runs on the node that receives (CPU $(<"$xmit/rx_cpu")), $there elsewhere: $counted %"
	check "$1: xmit_stats has counted at least what was seen meanwhile" test $((here + there)) -ge "$runs"
}

receives_on() {
	local cpu home
	expand "$1"
	home=$REPLY
	read -r cpu <"$xmit/rx_cpu" && [[ $home == *" $cpu "* ]]
}

node_cpulist 1
home=$REPLY
node_cpulist 3
far=$REPLY
read -r every </sys/devices/system/cpu/online
mask_of "$every"
every_mask=$REPLY

# --- values and errors -----------------------------------------------------------------------

! have_daemon || systemctl stop tuned-numaio.service
check "the target is found" find_target
check_eq "the parameters are off" "$(cat $parameters/{xmit_numa,blocking_xmit})" $'N\nN'
check "log-in" log_in
check_eq "the files have their modes" "$(stat -c %a "$xmit"/{xmit_numa,xmit_inline,rx_cpu,xmit_stats} | tr '\n' ' ')" \
	"644 644 444 444 "
check_eq "only this host has them" "$(compgen -G '/sys/class/scsi_host/host*/xmit_*' | wc -l)" 3
check "by default it is off" numa_is 0 0
check "the log-in was received on some CPU" receives_on "$every"
check "xmit_stats has its form" grep -qxE 'local [0-9]+ remote [0-9]+' "$xmit/xmit_stats"

for value in 1:1 0:0 y:1 n:0 Y:1 N:0 on:1 off:0; do
	check_eq "xmit_numa takes ${value%:*}" "$(error_of "$xmit/xmit_numa" "${value%:*}")" ""
	check "and is ${value#*:}, with pools alike" numa_is "${value#*:}" "${value#*:}"
done
for value in 2 x -1 ''; do
	check_eq "xmit_numa refuses \"$value\"" "$(error_of "$xmit/xmit_numa" "$value")" "Invalid argument"
	check_eq "xmit_inline refuses \"$value\"" "$(error_of "$xmit/xmit_inline" "$value")" "Invalid argument"
done
check "and is as it was" numa_is 0 0
check_eq "xmit_inline needs a session created with blocking_xmit" "$(error_of "$xmit/xmit_inline" 1)" \
	"Operation not supported"
check_eq "but can be off" "$(error_of "$xmit/xmit_inline" 0)" ""
check_eq "it is off" "$(<"$xmit/xmit_inline")" 0

echo 1 >"$xmit/xmit_numa"
echo 0 >"$queue/numa"
check "the queue's own numa goes its own way" numa_is 1 0
echo 1 >"$xmit/xmit_numa"
check "until xmit_numa is written again" numa_is 1 1
mask_of "$home"
echo "$REPLY" >"$queue/cpumask"
echo 0 >"$xmit/xmit_numa"
echo 1 >"$xmit/xmit_numa"
check "the cpumask is none of its business" file_is "$queue/cpumask" "$REPLY"
echo "$every_mask" >"$queue/cpumask"

begin_load "$every"
for _ in {1..50}; do
	echo 0 >"$xmit/xmit_numa"
	echo 1 >"$xmit/xmit_numa"
done
check "it was switched 50 times under I/O" eval "end_load && numa_is 1 1"

exec {numa_fd}>"$xmit/xmit_numa" {inline_fd}>"$xmit/xmit_inline"
begin_load "$every"
check "log-out under I/O" logout
end_load
for fd in $numa_fd $inline_fd; do
	check_eq "a file of a host that has gone says so" "$({ echo 1 >&"$fd"; } 2>&1 | sed 's/.*: //')" "No such device"
	exec {fd}>&-
done

echo 1 >$parameters/recv_from_iscsi_q
echo 1 >$parameters/xmit_numa
check "log-in with recv_from_iscsi_q" log_in
check "the session starts without xmit_numa" numa_is 0 0
check_eq "which cannot be set" "$(error_of "$xmit/xmit_numa" 1)" "Device or resource busy"
check_eq "but taken back" "$(error_of "$xmit/xmit_numa" 0)" ""
begin_load "$home"
sleep 1
check "I/O goes on" end_load
check "log-out" logout
echo 0 >$parameters/recv_from_iscsi_q
check "log-in with the parameter xmit_numa" log_in
check "the session starts with xmit_numa" numa_is 1 1
check "log-out" logout
echo 0 >$parameters/xmit_numa

# --- the daemon: on the node that receives ---------------------------------------------------------

if ! have_daemon; then
	check_empty "the kernel complained of nothing" "$(kernel_complaints)"
	return 0
fi
set_policy all 'irq: {mode: leave}' 'workqueue: {cpumask: leave}' 'iscsi: {dynamic: off}'
check "log-in" log_in
systemctl start tuned-numaio.service
check "the session is found on node 1" wait_for 30 device_field_is "$device" .node 1
misplace $NIC1 "${home%-*}"
check_share "by default" "$every"
check_share "by default" "$far"
default=$counted

begin_load "$every"
set_policy all 'irq: {mode: leave}' 'workqueue: {cpumask: leave}' 'iscsi: {dynamic: on}'
check "dynamic: on is set by xmit_numa" wait_for 20 numa_is 1 1
check "under I/O" end_load
check_decision "and said so" "$device~iscsi.dynamic" '^(applied|right) .*by xmit_numa$'
check "the queue may run anywhere" file_is "$queue/cpumask" "$every_mask"
wait_for 20 quiet
for submitters in "$every" "$far"; do
	check_share "with xmit_numa" "$submitters"
	share_on "$home"
	check "with xmit_numa nearly all of it runs on node 1" test "$REPLY" -ge 98
	check "xmit_stats counts the same" test "$counted" -ge 98
done
check "which is more than by default" test "$default" -lt "$counted"

mark
misplace $NIC1 "${far%-*}"
begin_load "$home"
check "the NIC's vectors move to node 3: rx_cpu follows" wait_for 10 receives_on "$far"
check "under I/O" end_load
check_share "after the vectors moved" "$home"
share_on "$far"
check "transmit work follows: nearly all of it runs on node 3" test "$REPLY" -ge 98
check "xmit_stats counts the same" test "$counted" -ge 98
check_empty "the daemon wrote nothing for that" "$(writes_since_mark)"
check "xmit_numa is as it was" numa_is 1 1

# The CPU that receives goes: a hint to an offline CPU costs nothing but locality.
begin_load "$every"
echo 0 >"/sys/devices/system/cpu/cpu${far%-*}/online"
sleep 1
echo 1 >"/sys/devices/system/cpu/cpu${far%-*}/online"
check "I/O goes on while the CPU that receives goes offline and comes back" end_load
misplace $NIC1 "${home%-*}"

# --- the daemon: where it helps ----------------------------------------------------------------------

evidence() { ctl decisions | jq -r --arg id "$device~iscsi.dynamic" ".items[] | select(.id == \$id) | .evidence | $1"; }
has_kept() { [ "$(evidence .outcome)" = kept ]; }

set_policy all 'irq: {mode: leave}' 'workqueue: {cpumask: leave}' 'iscsi: {dynamic: off}'
check "dynamic: off takes it back" wait_for 20 numa_is 0 0
begin_load "$far"
set_policy all 'irq: {mode: leave}' 'workqueue: {cpumask: leave}' 'iscsi: {dynamic: auto}'
check "dynamic: auto switches on under load, measures, and keeps it" wait_for 60 has_kept
note "after $waited_ms ms"
check_eq "the host is measured by its counters" "$(ctl measure "$device" |
	jq -r '"\(.source) \(.scope) \(.xmit.runs > 0) \(.xmit.local + .xmit.remote == .xmit.runs) \(.xmit.remote_share < 0.1)"')" \
	"xmit_stats host true true true"
check "under I/O" end_load
check "xmit_numa is set" numa_is 1 1
note "evidence: $(evidence '"\(.before.share * 1000 | round / 10) % elsewhere of \(.before.counters.runs) runs in \(.before.seconds) s before, \(.after.share * 1000 | round / 10) % of \(.after.counters.runs) after"')"
check_eq "the evidence has both windows" "$(evidence '"\(.from) \(.to) \(.before.share > 0.2) \(.after.share * 2 <= .before.share)"')" \
	"0 1 true true"
check "it is explained" wait_for 10 eval "numaioctl explain '$device~iscsi.dynamic' | grep -q '1 instead of 0 helped'"

check "the session is restored" ctl restore "$device"
check "as it was at first" numa_is 0 0
rm $policy
systemctl reload tuned-numaio.service
check "everything is taken back" ctl apply
check "log-out" logout
check_all_placed
check_empty "the kernel complained of nothing" "$(kernel_complaints)"
check_empty "the services logged no error" "$(service_errors)"
