# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A kernel with the series boots and complains of nothing; the depot's KUnit suite passes in it; its files take what
# Documentation/ABI says, and refuse the rest as it says.

# shellcheck source=tests/vm/guest/depot.sh
. /usr/lib/vm/depot.sh

note "Linux $(uname -r), $(nproc) CPUs"
check_empty "the kernel has booted without a complaint" "$(kernel_complaints)"

# --- its own tests ---------------------------------------------------------------------

suite() { dmesg --notime | sed -n '/# Subtest: iova-depot$/,/^\(not \)\?ok [0-9]* iova-depot$/p'; }

# Whether they run by themselves is a matter of the configuration.
check "the tests are loaded" eval "modprobe kunit enable=1 && modprobe iova_kunit"
planned=$(suite | sed -n 's/^ *1\.\.\([0-9]*\)$/\1/p' | head -n 1)
cases=$(suite | grep -cE '^ +(not )?ok [0-9]+ ')
check "the suite has cases" test "${planned:-0}" -ge 1
check_eq "each of them has ended" "$cases" "$planned"
while read -r number name; do
	check_eq "KUnit: $name" "$(suite | sed -n "s/^ *\(\(not \)\?ok\) $number $name.*/\1/p")" ok
done < <(suite | sed -n 's/^ \+\(not \)\?ok \([0-9]*\) \([a-z0-9_]*\).*/\2 \3/p')
check "the tests are unloaded" modprobe -r iova_kunit

# --- the limit: values and errors -----------------------------------------------------------

# What a write of $1 to $2 comes to: OK, or the error's name.
written() {
	local said
	said=$({ printf '%s\n' "$1" >"$2"; } 2>&1) && echo OK && return
	case $said in
	*'Invalid argument') echo EINVAL ;;
	*'Numerical result out of range') echo ERANGE ;;
	*'Operation not supported') echo EOPNOTSUPP ;;
	*) echo "$said" ;;
	esac
}

# The same for a read.
read_of() {
	local said
	said=$(cat "$1" 2>&1 >/dev/null) && echo OK && return
	case $said in
	*'Operation not supported') echo EOPNOTSUPP ;;
	*) echo "$said" ;;
	esac
}

limit=$group/iova_depot_max
check_eq "the default is 32" "$(<$default_max)" 32
check_eq "a group follows it" "$(<"$limit")" 32
for file in $default_max "$limit"; do
	for value in 1 2048 33; do
		check_eq "${file##*/} takes $value" "$(written $value "$file") $(<"$file")" "OK $value"
	done
	for value in 0 2049 4294967295 4294967296 99999999999999999999; do
		check_eq "${file##*/} refuses $value" "$(written $value "$file")" ERANGE
	done
	for value in '' x -1 12x 0x10 1.5 'default 7' none; do
		check_eq "${file##*/} refuses \"$value\"" "$(written "$value" "$file")" EINVAL
	done
	check_eq "${file##*/} holds what it took last" "$(<"$file")" 33
done
check_eq "there is no default of the default" "$(written default $default_max)" EINVAL
check_eq "the files' modes" "$(stat -c %a $default_max "$limit" "$group/iova_stats" | tr '\n' ' ')" "644 644 444 "

# --- the default is followed, or not -------------------------------------------------------

echo 5 >"$limit"
echo 7 >$default_max
group_of $NVME2
other=$REPLY
check_eq "a group with a limit of its own keeps it" "$(<"$limit")" 5
check_eq "another follows the default" "$(<"$other/iova_depot_max")" 7
check_eq "\"default\" is taken" "$(written default "$limit")" OK
check_eq "and the group follows again" "$(<"$limit")" 7
echo 32 >$default_max
check_eq "also when the default changes" "$(<"$limit")" 32

# --- the counters --------------------------------------------------------------------------

check_eq "six classes, eight numbers each" "$(awk 'NF == 8 && $1 == NR - 1 && !/[^0-9 ]/' "$group/iova_stats" | wc -l)" 6
check_eq "and nothing else" "$(wc -l <"$group/iova_stats")" 6
check "the HBA has a disk" test -b "$hba_disk"
read_class 1
before=$((alloc_cpu + alloc_depot + alloc_miss))
dd if="$hba_disk" of=/dev/null bs=8k count=500 iflag=direct 2>/dev/null
read_class 1
after=$((alloc_cpu + alloc_depot + alloc_miss))
check "500 reads of 8 KiB are at least 500 allocations of order 1" test $((after - before)) -ge 500
frees=$((free_cpu + free_depot + free_drop))
check "nothing is freed that was not allocated" test "$frees" -le "$after"

# --- growing and shrinking -----------------------------------------------------------------

depot_fills() { sleep 1 && [ "$(fullest_depot)" -ge 2 ]; }

echo 128 >"$limit"
start_reads 400
check "the depot fills" wait_for 180 depot_fills
check_eq "a lower limit is taken under load" "$(written 1 "$limit")" OK
check "and what is above it has gone when the write returns" test "$(fullest_depot)" -le 1
echo 128 >"$limit"
check "a higher one holds at once" wait_for 180 depot_fills
end_reads
sleep 1 # what the flush queue holds
full=$(fullest_depot)
check_eq "the default's change trims the groups that follow it" "$(written default "$limit") $(written 1 $default_max)" "OK OK"
note "$full magazines in the depot at the end of the load, $(fullest_depot) after the limit of 1"
check "to its limit" test "$(fullest_depot)" -le 1
echo 32 >$default_max

# --- a domain that is not for the DMA API --------------------------------------------------

# A group's type can be changed while it has one device, and that no driver. The payload's disk is such a device, and
# has done its part.
disk=$(readlink -f /dev/disk/by-id/virtio-payload)
spare=$(readlink -f "/sys/class/block/${disk#/dev/}/device/..")
spare=${spare##*/}
group_of "$spare"
other=$REPLY
check_eq "a device alone in its group" "$(ls "$other/devices")" "$spare"
type=$(<"$other/type")
echo 5 >"$other/iova_depot_max"
check "its driver lets it go" eval "echo $spare >/sys/bus/pci/drivers/virtio-pci/unbind"
check_eq "the group gets an identity domain" "$(written identity "$other/type") $(<"$other/type")" "OK identity"
check_eq "which has no limit to read" "$(read_of "$other/iova_depot_max")" EOPNOTSUPP
check_eq "none to write" "$(written 5 "$other/iova_depot_max") $(written default "$other/iova_depot_max")" "EOPNOTSUPP EOPNOTSUPP"
check_eq "a wrong value is wrong all the same" "$(written 0 "$other/iova_depot_max") $(written x "$other/iova_depot_max")" "ERANGE EINVAL"
check_eq "and no counters" "$(read_of "$other/iova_stats")" EOPNOTSUPP
check_eq "the default can be changed meanwhile" "$(written 6 $default_max)" OK
check_eq "the group gets a domain of the DMA API again" "$(written "$type" "$other/type") $(<"$other/type")" "OK $type"
check_eq "which starts from the default" "$(<"$other/iova_depot_max")" 6
check "and has counters" grep -q '^0 ' "$other/iova_stats"
echo 32 >$default_max
check "the driver takes the device again" eval "echo $spare >/sys/bus/pci/drivers/virtio-pci/bind"
check "and it works" wait_for 30 eval "dd if=/dev/disk/by-id/virtio-payload of=/dev/null bs=4k count=1"

check_empty "the kernel complained of nothing meanwhile" "$(kernel_complaints)"
