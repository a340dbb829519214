# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# xmit_inline of a patched kernel: submitters transmit by themselves. When the daemon offers it and when not, and why;
# and runs with it and without, side by side.

# shellcheck source=tests/vm/guest/iscsi.sh
. /usr/lib/vm/iscsi.sh
blocking=/sys/module/iscsi_tcp/parameters/blocking_xmit
transmit="$device~iscsi.transmit"

log_in() {
	login || return
	xmit=/sys/class/scsi_host/host$number
	scheduler=/sys/block/${disk##*/}/queue/scheduler
}

# Look again: a scheduler changes without any event.
look() { systemctl reload tuned-numaio.service; }

check "the target is found" find_target

# --- where it is not offered ---------------------------------------------------------------------

if have_daemon; then
	set_policy iscsi-host 'iscsi: {transmit: inline}'
	check "log-in without blocking_xmit" log_in
	echo none >"$scheduler"
	look
	check_decision "a session that was not created blocking is left to the workqueue, and why" "$transmit" \
		'^left .*logs in while iscsi_tcp\.blocking_xmit is 1'
	check_eq "it was tried once" "$(refusals | grep -c xmit_inline)" 1
	look
	wait_for 20 quiet
	check_eq "and not again" "$(refusals | grep -c xmit_inline)" 1

	size=$(blockdev --getsz "$disk")
	check "a request-based multipath device is put above the disk" \
		dmsetup create numaio --table "0 $size multipath 0 0 1 1 round-robin 0 1 1 $disk 1"
	check "it has queues of its own" matches '/sys/block/dm-*/mq'
	check_decision "a disk below it is left to the workqueue, and why" "$transmit" '^left .*below dm-[0-9]+, a request-based'
	check "it is taken away" dmsetup remove --retry numaio
	check_decision "then that is no longer the reason" "$transmit" '^left .*blocking_xmit is 1'
	check "log-out" logout
fi

# --- where it is ------------------------------------------------------------------------------------

echo 1 >$blocking
check "log-in with blocking_xmit" log_in
check_eq "xmit_inline is off at first" "$(<"$xmit/xmit_inline")" 0
if have_daemon; then
	echo mq-deadline >"$scheduler"
	look
	check_decision "a disk with a scheduler is left to the workqueue, and why" "$transmit" '^left .*scheduler mq-deadline'
	echo none >"$scheduler"
	begin_load 0-3
	look
	check "with none xmit_inline is set" wait_for 20 file_is "$xmit/xmit_inline" 1
	check "under I/O" end_load
	check_decision "and said so" "$transmit" '^(applied|right) submitters transmit'
	begin_load 0-3
	set_policy iscsi-host 'iscsi: {transmit: workqueue}'
	check "transmit: workqueue takes it back" wait_for 20 file_is "$xmit/xmit_inline" 0
	check "under I/O" end_load
	systemctl stop tuned-numaio.service
fi
echo none >"$scheduler"
for value in 1:1 0:0 y:1 n:0 on:1 off:0; do
	check_eq "xmit_inline takes ${value%:*}" "$(error_of "$xmit/xmit_inline" "${value%:*}")" ""
	check_eq "and is ${value#*:}" "$(<"$xmit/xmit_inline")" "${value#*:}"
done
check_eq "it refuses 2" "$(error_of "$xmit/xmit_inline" 2)" "Invalid argument"
begin_load 0-7
for _ in {1..50}; do
	echo 1 >"$xmit/xmit_inline"
	echo 0 >"$xmit/xmit_inline"
done
check "it was switched 50 times under I/O" end_load

# --- side by side -------------------------------------------------------------------------------------

# Set transmitters, the number that xmit_stats has counted so far.
count_transmitters() {
	local here there
	read -r _ here _ there <"$xmit/xmit_stats"
	transmitters=$((here + there))
}

# write_for SECONDS: random writes of 4 KiB by one job with 128 under way. Sets iops, ios and errors; runs of transmit
# work in runs, and transmitters.
write_for() {
	local before
	count_transmitters
	before=$transmitters
	fio --name=side --filename="$disk" --direct=1 --rw=randwrite --bs=4k --ioengine=libaio --iodepth=128 \
		--time_based --runtime="$1" --output-format=json >"$state/fio.json" &
	count_runs "$1"
	wait $!
	count_transmitters
	transmitters=$((transmitters - before))
	read -r iops ios errors <<<"$(jq -r '.jobs[0] | "\(.write.iops | floor) \(.write.total_ios) \(.error)"' "$state/fio.json")"
}

declare -A sum_iops=([0]=0 [1]=0) sum_ios=([0]=0 [1]=0) sum_runs=([0]=0 [1]=0) sum_transmitters=([0]=0 [1]=0)
failed=0
for inline in 0 1 0 1 0 1; do
	echo $inline >"$xmit/xmit_inline"
	write_for 5
	note "xmit_inline $inline: $iops IOPS, $ios requests; $runs runs of transmit work seen, $transmitters transmitters"
	failed=$((failed + errors))
	sum_iops[$inline]=$((sum_iops[$inline] + iops))
	sum_ios[$inline]=$((sum_ios[$inline] + ios))
	sum_runs[$inline]=$((sum_runs[$inline] + runs))
	sum_transmitters[$inline]=$((sum_transmitters[$inline] + transmitters))
done
check_eq "no I/O failed" $failed 0
check "there was enough of it" test "${sum_ios[0]}" -ge 500 -a "${sum_ios[1]}" -ge 500
# Of 1,000 requests.
runs_without=$((1000 * sum_runs[0] / (sum_ios[0] ? sum_ios[0] : 1)))
runs_with=$((1000 * sum_runs[1] / (sum_ios[1] ? sum_ios[1] : 1)))
note "IOPS with xmit_inline against without: $((100 * sum_iops[1] / (sum_iops[0] ? sum_iops[0] : 1))) %"
note "runs of transmit work for 1,000 requests: $runs_without without, $runs_with with xmit_inline"
check "the workqueue transmitted without it" test $runs_without -ge 10
check "and hardly with it" test $((5 * runs_with)) -lt $runs_without
check "somebody else did" test "${sum_transmitters[1]}" -gt $((5 * sum_runs[1]))

echo 1 >"$xmit/xmit_inline"
begin_load 0-7
check "log-out while submitters transmit" logout
end_load
echo 0 >$blocking
check_empty "the kernel complained of nothing" "$(kernel_complaints)"
if have_daemon; then
	rm -f $policy
	systemctl start tuned-numaio.service
	wait_for 60 ready
	check_all_placed
	check_empty "the services logged no error" "$(service_errors)"
fi
