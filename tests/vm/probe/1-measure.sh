# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# numaioctl measure on a kernel without counters: kprobes count on the whole machine, tell small requests from those
# that no cache serves, and leave nothing behind. It patches kernel code, which only a guest with --thread single bears.

have_daemon || return 0
tracing=/sys/kernel/tracing
id=pci:$NVME2
found=("$pci/$NVME2"/nvme/nvme*/nvme*n1)
disk=/dev/${found[0]##*/}
requests=${found[0]}/queue/max_sectors_kb

# Print what somebody may have left in tracefs: probes, and instances.
traces() {
	cat $tracing/kprobe_events
	ls $tracing/instances
}

# Read the disk again and again in pieces of $1, until killed.
reader() {
	trap 'kill $!; exit' TERM
	while :; do
		dd if="$disk" of=/dev/null bs="$1" iflag=direct 2>/dev/null &
		wait $!
	done
}

# measure SIZE KIB: while the disk is read in pieces of this size, by requests of at most so many KiB. Sets answer.
measure() {
	local pid
	echo "$2" >"$requests"
	reader "$1" &
	pid=$!
	sleep 1
	check "$id is measured, read in pieces of $1, requests of up to $2 KiB" eval "ctl measure $id >$state/measured"
	kill $pid
	wait $pid
	answer=$(<"$state/measured")
	note "$(jq -r '"\(.caches.allocations) allocations in \(.seconds) s, \(.caches.misses) misses, \(.caches.dropped) magazines dropped"' <<<"$answer")"
	check "on the whole machine, by kprobes" jq -e '.source == "kprobe" and .scope == "machine"' <<<"$answer"
	check "there were allocations" jq -e '.caches.allocations >= 50 and .caches.misses <= .caches.allocations' <<<"$answer"
	check_eq "and nothing of it is left" "$(traces)" "$before"
}

# share_is JQ: of the last answer.
share_is() { jq -e ".caches.miss_share | $1" <<<"$answer"; }

check "the service is ready" wait_for 60 ready
wait_for 20 quiet
echo 'p:others/reads vfs_read' >>$tracing/kprobe_events
before=$(traces)
check "a probe of somebody else's is there" grep -q others/reads <<<"$before"

measure 4k 128
measure 4k 128
check "requests of 4 KiB come out of the caches" share_is '. < 0.3'
largest=$(<"${requests%/*}/max_hw_sectors_kb")
if ((largest >= 512)); then
	measure 512k 512
	check "requests of 512 KiB do not" share_is '. > 0.7'
	measure 512k 128
	check "split into 128 KiB they do" share_is '. < 0.3'
fi

check_eq "the client says it in words" "$(numaioctl measure "$id" | grep -cE '^ *(Allocations|Misses): ')" 2
echo '-:others/reads' >>$tracing/kprobe_events
check "the writer answers on" ctl apply
check_empty "the services logged no error" "$(service_errors)"
