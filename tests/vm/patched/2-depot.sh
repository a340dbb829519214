# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The cliff: under one steady load, the share of 5,000 allocations that miss the IOVA caches at four limits of the depot.
# At 1 and 2 they go on missing: the least of two windows counts. At 8 and 32 they miss until the depot has filled, one
# magazine after the other: the least of up to six counts.

# shellcheck source=tests/vm/guest/depot.sh
. /usr/lib/vm/depot.sh

declare -A missed

# measure LIMIT WINDOWS ENOUGH: so many windows, or until no more than ENOUGH of 10,000 miss. Sets missed[LIMIT] to the
# least share.
measure() {
	echo "$1" >"$group/iova_depot_max"
	check_eq "the limit is $1" "$(<"$group/iova_depot_max")" "$1"
	check "no depot holds more" test "$(fullest_depot)" -le "$1"
	missed[$1]=10000
	for ((n = 0; n < $2 && missed[$1] > $3; n++)); do
		check "there is a load at $1" window_of 5000
		percent "$share"
		note "limit $1: $misses of $total allocations missed: $REPLY; $(fullest_depot) magazines in the depot"
		((share > missed[$1])) || missed[$1]=$share
	done
}

note "$(nproc) CPUs, group ${group##*/} of type $(<"$group/type"), queue depth $(<"/sys/block/${hba_disk#/dev/}/device/queue_depth")"
start_reads 600
# Empty caches miss until they have filled.
check "there is a load" window_of 8000
measure 1 2 0
measure 2 2 0
measure 8 6 $((missed[2] / 3))
measure 32 6 99
end_reads
check "at 1 more misses than at 2" test "${missed[1]}" -gt "${missed[2]}"
check "at 2 at least three times as many as at 8" test "${missed[2]}" -ge $((3 * missed[8]))
check "at 1 they are more than 10 %" test "${missed[1]}" -ge 1000
check "at 32 less than 1 %" test "${missed[32]}" -lt 100
echo default >"$group/iova_depot_max"
check_empty "the kernel complained of nothing" "$(kernel_complaints)"
