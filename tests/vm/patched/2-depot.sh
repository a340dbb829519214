# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The cliff: under one steady load, the share of 5,000 allocations that miss the IOVA caches at four limits of the depot.
# At 1 and 2 they go on missing; at 8 and 32 next to none does once the depot has filled, which takes misses: 8,000
# allocations go by before these are counted.

# shellcheck source=tests/vm/guest/depot.sh
. /usr/lib/vm/depot.sh

limits=(1 2 8 32)
declare -A missed
note "$(nproc) CPUs, group ${group##*/} of type $(<"$group/type"), queue depth $(<"/sys/block/${hba_disk#/dev/}/device/queue_depth")"
start_reads 600
# Empty caches miss until they have filled.
check "there is a load" window_of 8000
for limit in "${limits[@]}"; do
	echo "$limit" >"$group/iova_depot_max"
	check_eq "the limit is $limit" "$(<"$group/iova_depot_max")" "$limit"
	check "no depot holds more" test "$(fullest_depot)" -le "$limit"
	((limit < 8)) || check "the depot may fill at $limit" window_of 8000
	check "there is a load at $limit" window_of 5000
	missed[$limit]=$share
	percent "$share"
	note "limit $limit: $misses of $total allocations missed: $REPLY; $(fullest_depot) magazines in the depot"
done
end_reads
check "at 1 more misses than at 2" test "${missed[1]}" -gt "${missed[2]}"
check "at 2 at least three times as many as at 8" test "${missed[2]}" -ge $((3 * missed[8]))
check "at 1 they are more than 10 %" test "${missed[1]}" -ge 1000
check "at 32 less than 1 %" test "${missed[32]}" -lt 100
echo default >"$group/iova_depot_max"
check_empty "the kernel complained of nothing" "$(kernel_complaints)"
