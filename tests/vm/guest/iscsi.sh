# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A software iSCSI session over the NIC on node 1, to a target behind another NIC in
# a network namespace. For scenarios, after lib.sh.

target=iqn.2024-01.vm:t1
portal=10.9.0.2
device="iscsi:default:$target"
configfs=/sys/kernel/config/target
netdev_of $NIC1
nic1=$REPLY
netdev_of $NIC2
nic2=$REPLY

# A LIO target with a disk that swallows everything. The portal must be made inside
# the namespace; "ip netns exec" would hide configfs.
make_target() {
	local group=$configfs/iscsi/$target/tpgt_1
	modprobe -a target_core_mod iscsi_target_mod &&
		mkdir -p $configfs/core/rd_mcp_0/rd0 &&
		echo rd_pages=65536,rd_nullio=1 >$configfs/core/rd_mcp_0/rd0/control &&
		echo 1 >$configfs/core/rd_mcp_0/rd0/enable &&
		mkdir -p $configfs/iscsi && mkdir -p "$group/lun/lun_0" &&
		ln -s $configfs/core/rd_mcp_0/rd0 "$group/lun/lun_0/disk" &&
		echo 0 >"$group/attrib/authentication" &&
		echo 1 >"$group/attrib/generate_node_acls" &&
		echo 0 >"$group/attrib/demo_mode_write_protect" &&
		echo 1 >"$group/attrib/cache_dynamic_acls" &&
		nsenter --net=/run/netns/target mkdir "$group/np/$portal:3260" &&
		echo 1 >"$group/enable"
}

# Set disk and number (of the SCSI host) once the session's disk is there.
find_disk() {
	local found=(/sys/devices/platform/host*/session*/target*/*/block/*)
	[ ${#found[@]} = 1 ] || return 1
	disk=/dev/${found[0]##*/}
	number=${found[0]#*/platform/host}
	number=${number%%/*}
	[ -b "$disk" ]
}

login() {
	iscsiadm -m node -T $target -p $portal --login >/dev/null && wait_for 30 find_disk
}

no_session() { ! compgen -G '/sys/class/iscsi_session/session*' >/dev/null; }

logout() {
	iscsiadm -m node -T $target -p $portal --logout >/dev/null && wait_for 30 no_session
}

route_to() { ip route replace $portal/32 dev "$1" src 10.9.1.1; }

# The target's answers go to interface $1.
answers_to() { ip -n target neigh replace 10.9.1.1 lladdr "$(<"/sys/class/net/$1/address")" dev target0; }
