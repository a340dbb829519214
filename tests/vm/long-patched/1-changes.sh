# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# 200 changes of the depot's limit under load on the HBA, and 200 of xmit_numa and of xmit_inline under load on an iSCSI disk,
# with the kernel's checks of locks, contexts and slab objects at work.

# shellcheck source=tests/vm/guest/depot.sh
. /usr/lib/vm/depot.sh
# shellcheck source=tests/vm/guest/iscsi.sh
. /usr/lib/vm/iscsi.sh

changes=200

# Whether the kernel still looks after its locks: it stops at the first complaint.
locks_are_checked() { grep -qE '^ *debug_locks: +1$' /proc/lockdep_stats && [ "$(</sys/module/lockdep/parameters/prove_locking)" = 1 ]; }

# Print what the checks of a slab cache find; the kernel reports to its log.
validate() {
	local cache
	for cache in "$@"; do
		echo 1 >"/sys/kernel/slab/$cache/validate" || echo "$cache cannot be validated"
	done
}

# change_often FILE VALUE...: write the values in turn until there were enough changes; print each that failed.
change_often() {
	local file=$1 n values start=$SECONDS
	shift
	values=("$@")
	for ((n = 0; n < changes; n++)); do
		echo "${values[n % $#]}" >"$file" || echo "change $n to ${values[n % $#]} failed"
		# A pause without a process of its own.
		read -rt 0.05 -u "$nothing"
	done 2>&1
	note "$changes changes of ${file##*/} in $((SECONDS - start)) s" >&2
}

# change_session SETTING: change it of the session's host while the session's disk is read from.
change_session() {
	hba_disk=$disk
	start_reads 900 --numjobs=4
	sleep 5
	check_empty "$changes changes of $1" "$(change_often "/sys/class/scsi_host/host$number/$1" 1 0)"
	end_reads 200
}

exec {nothing}<> <(:)

check "locks are checked" locks_are_checked
check "so are slab objects" grep -q '[ZP]' <(sed -n 's/.*slub_debug=\([A-Z]*\).*/\1/p' /proc/cmdline)

# --- the depot's limit ---------------------------------------------------------------------

start_reads 900 --numjobs=4
sleep 10
read_class 1
before=$((alloc_cpu + alloc_depot + alloc_miss))
check_empty "$changes changes of iova_depot_max" "$(change_often "$group/iova_depot_max" 1 128 8 default 2 32 3 2048)"
read_class 1
note "$((alloc_cpu + alloc_depot + alloc_miss - before)) allocations of order 1 meanwhile"
check "there was a load" test $((alloc_cpu + alloc_depot + alloc_miss - before)) -ge 1000
check_empty "$changes changes of depot_max" "$(change_often $default_max 1 128 8 2 32)"
end_reads
echo default >"$group/iova_depot_max"
echo 32 >$default_max
check_empty "all magazines are whole" "$(validate kmalloc-1k)"

# --- iSCSI transmit work -------------------------------------------------------------------

check "a target is made in the namespace" make_target
answers_to "$nic1"
route_to "$nic1"
systemctl start iscsid
check "the target is discovered" iscsiadm -m discovery -t st -p $portal
check "log-in" login
change_session xmit_numa
check "log-out" logout

# --- submitters that transmit ------------------------------------------------------------------

echo 1 >/sys/module/iscsi_tcp/parameters/blocking_xmit
check "log-in with blocking_xmit" login
echo none >"/sys/block/${disk##*/}/queue/scheduler"
change_session xmit_inline
check "log-out" logout
echo 0 >/sys/module/iscsi_tcp/parameters/blocking_xmit

check "locks are still checked" locks_are_checked
check_empty "the kernel complained of nothing" "$(kernel_complaints)"
