# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A software iSCSI session over the NIC on node 1, to a target behind another NIC in
# a network namespace, and where its transmit work runs. For scenarios, after lib.sh.

target=iqn.2024-01.vm:t1
portal=10.9.0.2
device="iscsi:default:$target"
configfs=/sys/kernel/config/target
tracing=/sys/kernel/tracing
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

# Make the target unless an earlier scenario did, and find it over the NIC on node 1.
find_target() {
	[ -e "$configfs/iscsi/$target" ] || make_target || return
	answers_to "$nic1" && route_to "$nic1" && systemctl start iscsid &&
		iscsiadm -m discovery -t st -p $portal
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

# --- load ------------------------------------------------------------------------------

# begin_load CPULIST: on each even one of these CPUs somebody reads from the disk, on each odd one somebody writes,
# 4 KiB at a time, until end_load.
begin_load() {
	local cpu
	load=()
	expand "$1"
	for cpu in $REPLY; do
		if ((cpu % 2)); then
			taskset -c "$cpu" dd if=/dev/zero of="$disk" bs=4k oflag=direct seek=$((cpu * 512)) count=50000 2>/dev/null &
		else
			taskset -c "$cpu" dd if="$disk" of=/dev/null bs=4k iflag=direct skip=$((cpu * 512)) count=50000 2>/dev/null &
		fi
		load+=($!)
	done
}

# Fails when one of them had ended by itself, as after an error.
end_load() {
	local pid status=0
	kill "${load[@]}" 2>/dev/null
	for pid in "${load[@]}"; do
		wait "$pid"
		(($? == 128 + 15)) || status=1
	done
	return $status
}

# --- where transmit work runs --------------------------------------------------------------

# Count for $1 seconds: set runs, and by_cpu, an array.
count_runs() {
	begin_count
	sleep "$1"
	end_count
}

begin_count() {
	echo >$tracing/trace
	echo 1 >$tracing/tracing_on
}

end_count() {
	local cpu n
	echo 0 >$tracing/tracing_on
	runs=0 by_cpu=()
	while read -r cpu n; do
		by_cpu[cpu]=$n
		runs=$((runs + n))
	done < <(awk '
		/function iscsi_xmitworker/ {
			match($0, /\[[0-9]+\]/)
			n[substr($0, RSTART + 1, RLENGTH - 2) + 0]++
		}
		END { for (cpu in n) print cpu, n[cpu] }' $tracing/trace)
}

# Set REPLY to the number of runs on CPU list $1.
runs_on() {
	local cpu n=0
	expand "$1"
	for cpu in $REPLY; do
		n=$((n + ${by_cpu[cpu]:-0}))
	done
	REPLY=$n
}

# The same as a percentage.
share_on() {
	runs_on "$1"
	REPLY=$((runs ? 100 * REPLY / runs : -1))
}

# check_transmit WHEN CPULIST [SECONDS]: these CPUs submit, and work is seen. Sets runs and by_cpu.
check_transmit() {
	local node shares=
	begin_load "$2"
	sleep 0.5
	count_runs "${3:-3}"
	check "$1: I/O goes on" end_load
	for node in 0 1 2 3; do
		node_cpulist $node
		share_on "$REPLY"
		shares+="$REPLY "
	done
	note "transmit work $1, CPUs $2 submit: $runs runs, ${shares}% of them on nodes 0 to 3"
	check "$1: transmit work was seen" test "$runs" -ge 50
}

# --- what the daemon is told and says ----------------------------------------------------------

policy=/etc/tuned-numaio/policies/vm.yaml

# set_policy CLASS SECTION...: lines of YAML that a rule sets for devices of this class, or "all".
set_policy() {
	local match="{class: $1}"
	[ "$1" != all ] || match='{}'
	shift
	mkdir -p "${policy%/*}"
	{
		printf 'version: 1\nrules:\n  - name: vm\n    match: %s\n    set:\n' "$match"
		printf '      %s\n' "$@"
	} >$policy
	! systemctl -q is-active tuned-numaio.service || systemctl reload tuned-numaio.service
}

# Print "STATE TEXT" of decision $1.
decision() {
	ctl decisions | jq -r --arg id "$1" '.items[] | select(.id == $id) | "\(.state) \(.reason.text)"'
}

# decision_is ID PATTERN: an extended regular expression.
decision_is() { decision "$1" | grep -qE -- "$2"; }

# check_decision NAME ID PATTERN: waits for it.
check_decision() {
	if wait_for 20 decision_is "$2" "$3"; then
		ok "$1"
	else
		not_ok "$1" "$(decision "$2")"
	fi
}

# check_decisions NAME KNOB PATTERN: of each device of boot.
check_decisions() {
	local pci_device said wrong=
	said=$(ctl decisions | jq -r --arg knob "$2" '.items[] | select(.id == "\(.device)~\($knob)") | "\(.device) \(.state) \(.reason.text)"')
	for pci_device in $placed_devices; do
		grep -qE -- "^pci:$pci_device $3" <<<"$said" || wrong+="$(grep "^pci:$pci_device " <<<"$said") "
	done
	check_empty "$1" "${wrong% }"
}
