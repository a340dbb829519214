# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A link goes down and up, a driver changes its channels: vectors are placed again.

netdev_of $NIC1
nic1=$REPLY
netdev_of $NIC3
nic3=$REPLY

carrier_is() { [ "$(<"/sys/class/net/$1/carrier")" = "$2" ]; } 2>/dev/null

# Print the effective CPUs of a device's vectors that are outside node $2.
elsewhere() {
	local irq cpu home
	node_cpulist "$2"
	expand "$REPLY"
	home=$REPLY
	device_irqs "$1"
	for irq in $REPLY; do
		read -r cpu <"/proc/irq/$irq/effective_affinity_list"
		[[ $home == *" $cpu "* ]] || echo "$irq:$cpu"
	done
}

# Administrative down and up of the e1000e. Its vectors keep their masks, so that one
# who does not look after link-up is caught only by masks set meanwhile.
ip link set "$nic1" down
device_irqs $NIC1
check_eq "a NIC that is down has no vectors in use" "$REPLY" ""
for path in "$pci/$NIC1/msi_irqs/"*; do
	echo 7 >"/proc/irq/${path##*/}/smp_affinity_list"
done 2>/dev/null
mark
ip link set "$nic1" up
check "the link of $nic1 is up again" wait_for 20 carrier_is "$nic1" 1
if have_daemon; then
	check_placed "$NIC1 is placed again after its link came up" $NIC1 2-3
	note "$(writes_since_mark | wc -l) writes after the link came up"
else
	check "the kernel kept what was set meanwhile" test -n "$(elsewhere $NIC1 1)"
fi

# The cable. The emulated e1000e does not tell its driver, the virtio-net does.
check "the host takes the cable off" host set_link nic3 off
check "$nic3 loses its carrier" wait_for 20 carrier_is "$nic3" 0
check "the host plugs it again" host set_link nic3 on
check "$nic3 has its carrier back" wait_for 20 carrier_is "$nic3" 1
if have_daemon; then
	check_placed "$NIC3 is still in place" $NIC3 6-7
fi

# Channels. The driver of virtio-net gives its vectors to all CPUs, one queue each,
# whenever their number changes.
if ! ethtool -l "$nic3" 2>/dev/null | grep -q 'Combined:.*4'; then
	skip "channels of $nic3" "no tap device on the host: one queue pair"
	return 0
fi
for channels in 2 4; do
	# Where nobody places vectors, they stand as the daemon would have put them.
	have_daemon || misplace $NIC3 6
	mark
	check "ethtool sets $channels channels" ethtool -L "$nic3" combined $channels
	if have_daemon; then
		check_placed "$NIC3 is placed again with $channels channels" $NIC3 6-7
		wait_for 20 quiet
		note "$(writes_since_mark | wc -l) writes after $channels channels"
	else
		check "the driver moved vectors away from node 3" test -n "$(elsewhere $NIC3 3)"
	fi
done
