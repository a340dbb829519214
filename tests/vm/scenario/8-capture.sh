# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A capture of this machine, with a session to the target that 4-iscsi made: the plan on it is the plan on the
# machine, and nothing that names the machine is in it.

target=iqn.2024-01.vm:t1
portal=10.9.0.2
folder=$state/capture
host_name=db-guest-17

session_is_up() { compgen -G '/sys/class/iscsi_session/session*' >/dev/null; }

# Print text with a number for each name that a capture replaces, in order of appearance.
neutral() {
	awk '{
		out = ""
		while (match($0, /iqn\.[^ \/,"#~]+|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/)) {
			name = substr($0, RSTART, RLENGTH)
			if (!(name in seen)) seen[name] = "<" ++n ">"
			out = out substr($0, 1, RSTART - 1) seen[name]
			$0 = substr($0, RSTART + RLENGTH)
		}
		print out $0
	}'
}

# check_same NAME VERB [OPTION...]: what numaioctl says about the machine and about the capture.
check_same() {
	local name=$1
	shift
	ctl "$@" --root / | neutral >"$state/machine.json"
	ctl "$@" --root "$folder" | neutral >"$state/capture.json"
	check "$name: there is something to compare" test "$(wc -l <"$state/machine.json")" -gt 50
	check_empty "$name is the same" "$(diff "$state/machine.json" "$state/capture.json" | head -n 6)"
}

# Print what names this machine, one a line.
secrets() {
	echo $host_name
	echo $target
	sed -n 's/^InitiatorName=//p' /etc/iscsi/initiatorname.iscsi
	cat /etc/machine-id /proc/sys/kernel/random/boot_id
	cat /sys/class/net/*/address | grep -v '^00:00:00:00:00:00$'
	cat /sys/class/net/*/address | tr -d : | grep -v '^0*$'
	echo $portal
	ip -o addr | awk '{ sub("/.*", "", $4); print $4 }' | grep -v '^127\.\|^::1$'
	# Longer than what could be a word by itself.
	cat /sys/block/*/serial /sys/block/*/device/serial /sys/block/*/wwid /sys/block/*/device/wwid 2>/dev/null |
		awk 'length($NF) >= 6 && $NF ~ /[0-9]/ { print $NF }'
}

if ! have_daemon; then
	skip "a capture" "there is no daemon, and so no numaioctl"
	return 0
fi
read -r old_name </proc/sys/kernel/hostname
echo $host_name >/proc/sys/kernel/hostname
check "log-in" iscsiadm -m node -T $target -p $portal --login
check "a session is there" wait_for 30 session_is_up
wait_for 30 device_field_is "iscsi:default:$target" .node 1
wait_for 20 quiet

rm -rf "$folder" "$state/capture.tar.zst"
check "a capture is made" numaioctl capture "$state/capture.tar.zst"
note "$(head -n 1 "$state/check.out")"
note "$(sed -n 2p "$state/check.out")"
check "it is not made twice" eval "! numaioctl capture $state/capture.tar.zst"
mkdir "$folder"
check "tar unpacks it" tar --zstd -xf "$state/capture.tar.zst" -C "$folder" --strip-components=1

# Everything to another node: there is much to plan, whatever the daemon did before.
printf 'version: 1\nrules:\n  - name: all\n    match: {class: [hba, nvme, nic, iscsi-host]}\n    set: {node: 0, irq: {mode: spread}, workqueue: {cpumask: node}}\n' \
	>"$state/all.yaml"
check_same "the plan" plan
check_same "the plan of a policy" plan --policy "$state/all.yaml"
check "it has changes" test "$(ctl plan --root / --policy "$state/all.yaml" | jq '.changes | length')" -ge 20
check_same "the list of devices" devices
check_same "the topology" topology
check_eq "the iSCSI host is on node 1" \
	"$(ctl devices --root "$folder" | jq -r '.items[] | select(.class == "iscsi-host") | .node')" 1

secrets >"$state/secrets"
check "names are known" test "$(wc -l <"$state/secrets")" -ge 12
check_empty "none of them is in it" "$(grep -raioF -f "$state/secrets" "$folder" | head -n 5)"
check_empty "nor in the name of a file" "$(cd "$folder" && find . | grep -iF -f "$state/secrets" | head -n 5)"
check_empty "nor in the target of a link" "$(find "$folder" -type l -printf '%l\n' | grep -iF -f "$state/secrets" | head -n 5)"

check "an ordinary user makes one too" eval \
	"setpriv --reuid=65534 --regid=65534 --clear-groups numaioctl capture - | tar --zstd -t | grep -q proc/interrupts"

iscsiadm -m node -T $target -p $portal --logout >/dev/null
echo "$old_name" >/proc/sys/kernel/hostname
rm -rf "$folder"
