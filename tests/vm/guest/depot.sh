# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The HBA on node 1 as a load on its IOVA caches: reads of 8 KiB from twelve jobs, which take ranges of order 1 on many
# CPUs, while its one interrupt frees them on one. For scenarios on a kernel with the depot's limit, after lib.sh.

default_max=/sys/module/iova/parameters/depot_max

# Set REPLY to the folder of the IOMMU group that PCI device $1 is in.
group_of() {
	REPLY=$(readlink "$pci/$1/iommu_group")
	REPLY=/sys/kernel/iommu_groups/${REPLY##*/}
}

group_of $HBA1
group=$REPLY
hba_disks=("$pci/$HBA1"/host*/target*/*/block/*)
hba_disk=/dev/${hba_disks[0]##*/}

# read_class ORDER: set one variable for each counter of the size class in the HBA's group.
read_class() {
	local order
	# shellcheck disable=SC2034 # the scenarios read these
	while read -r order alloc_cpu alloc_depot alloc_miss free_cpu free_depot free_drop depot_size; do
		[ "$order" != "$1" ] || return 0
	done <"$group/iova_stats"
	return 1
}

# Print the magazines in the fullest depot of the HBA's group.
fullest_depot() { awk '$8 > most { most = $8 } END { print most + 0 }' "$group/iova_stats"; }

# Remember the counters of order 1; end_window sets total and misses to the allocations since then, and share to how many
# of 10,000 missed.
begin_window() {
	read_class 1
	window_total=$((alloc_cpu + alloc_depot + alloc_miss)) window_misses=$alloc_miss
}

end_window() {
	read_class 1
	total=$((alloc_cpu + alloc_depot + alloc_miss - window_total)) misses=$((alloc_miss - window_misses))
	share=$((total > 0 ? 10000 * misses / total : 10000))
}

# window_of ALLOCATIONS: a window of at least so many, which a slow machine takes longer for, but not two minutes.
window_of() {
	local wanted=$1
	enough() { sleep 0.5 && end_window && [ "$total" -ge "$wanted" ]; }
	begin_window
	wait_for 120 enough
}

window() { # SECONDS
	begin_window
	sleep "$1"
	end_window
}

# Set REPLY to a share for people: 1068 is "10.68 %".
percent() { printf -v REPLY '%d.%02d %%' $(($1 / 100)) $(($1 % 100)); }

# start_reads SECONDS [OPTION of fio...]: ends by itself, or by end_reads.
start_reads() {
	fio --name=load --filename="$hba_disk" --direct=1 --rw=randread --bs=8k --ioengine=libaio --iodepth=256 \
		--numjobs=12 --group_reporting --time_based --runtime="$1" --output-format=json \
		--output="$state/fio.json" "${@:2}" >"$state/fio.log" 2>&1 &
	load=$!
}

# Print the value of a jq filter over what fio said; a line or two of its own may come before.
of_load() { sed -n '/^{/,$p' "$state/fio.json" | jq -r "$1"; }

# end_reads [READS]: end it if it runs, and check what it did: at least so many reads (2,000), and all of them well.
end_reads() {
	kill -INT "$load" 2>/dev/null
	wait "$load"
	check_eq "no read failed" "$(of_load '[.jobs[].error] | add')" 0
	check "there were at least ${1:-2000} reads" test "$(of_load '[.jobs[].read.total_ios] | add')" -ge "${1:-2000}"
	note "the load: $(of_load '[.jobs[].read | .total_ios, (.iops | floor)] | "\(.[0]) reads, \(.[1]) in a second"')"
}
