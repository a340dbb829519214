# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Boot with Linux 6.12: every settable vector on its device's node; managed ones, which this kernel refuses with EPERM
# and shows by their mode, known as such.

case $(uname -r) in
6.12.*) ok "this is Linux 6.12" ;;
*) not_ok "this is Linux 6.12" "$(uname -r)" ;;
esac

# What the kernel manages is what is_managed says, or nothing below means much.
managed=$(managed_vectors)
check_eq "the kernel refuses managed vectors alone" "$(sort "$state/refused")" "$managed"
check "there are some" test "$(wc -l <<<"$managed")" -ge 8
device_irqs $NVME2
for irq in $REPLY; do
	irq_name "$irq"
	! is_managed "$REPLY" || break
done
check_eq "their files cannot be written" "$(stat -c %a "/proc/irq/$irq/smp_affinity_list")" 444
check_eq "not by root either" "$(error_of "/proc/irq/$irq/smp_affinity_list" 0)" "Operation not permitted"

check "the service is ready" wait_for 60 ready
check_all_placed
for device in $placed_devices; do
	count=$(managed_vectors "$device" | wc -l)
	check_eq "$device has $count managed vectors by the daemon's count" \
		"$(device_field "pci:$device" .vectors.managed)" $count
done
check_empty "managed vectors were not written" "$(refusals)"
