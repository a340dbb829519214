# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For bench/depot: misses of the IOVA caches at depot limits in turn, with everything fixed that the model has a parameter
# for: the HBA's interrupt on CPU 0, one job on each of CPUs 0 to 11 with 21 requests of its own. What cannot be fixed
# is measured: requests in a second, and how far those in flight swing.

# shellcheck source=tests/vm/guest/depot.sh
. /usr/lib/vm/depot.sh

inflight=/sys/block/${hba_disk#/dev/}/inflight

# sample SECONDS: print how many requests are in flight, twenty times a second.
sample() {
	local reads end=$((SECONDS + $1))
	while ((SECONDS < end)); do
		read -r reads _ <"$inflight"
		echo "$reads"
		sleep 0.05
	done
}

# Set REPLY to "LEAST P5 MEDIAN MOST" of the numbers on standard input.
spread() { REPLY=$(sort -n | awk '{ v[NR] = $1 } END { print v[1], v[int(NR / 20) + 1], v[int(NR / 2) + 1], v[NR] }'); }

misplace $HBA1 0
start_reads 300 --iodepth=21 --cpus_allowed=0-11 --cpus_allowed_policy=split
echo 32 >"$group/iova_depot_max"
sleep 12
for limit in 1 2 8 32 128; do
	echo "$limit" >"$group/iova_depot_max"
	sample 12 >"$state/inflight" &
	window 12
	wait $!
	spread <"$state/inflight"
	note "depot $limit $total $misses $REPLY"
	check "there is a load at $limit" test "$total" -ge 2000
done
end_reads
echo default >"$group/iova_depot_max"
