# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the scenarios share; runs in the guest. Functions that say "set REPLY" do so
# instead of printing, because a fork costs many milliseconds under emulation.

shopt -s nullglob

# State of this boot: first (values before the daemon started), uevents, ...
state=/run/vm
pci=/sys/bus/pci/devices
workqueues=/sys/devices/virtual/workqueue

# The machine, as tests/vm/boot makes it. NIC0 and the AHCI are on no node.
HBA1=0000:21:00.0 NIC1=0000:22:00.0
NVME2=0000:41:00.0 NIC2=0000:42:00.0
HBA3=0000:61:00.0 NIC3=0000:62:00.0
NIC0=0000:00:10.0 AHCI=0000:00:1f.2
declare -rA node_of=([$HBA1]=1 [$NIC1]=1 [$NVME2]=2 [$NIC2]=2 [$HBA3]=3 [$NIC3]=3)
placed_devices="$HBA1 $NIC1 $NVME2 $NIC2 $HBA3 $NIC3"
# shellcheck disable=SC2034 # the scenarios read these
readonly HBA1 NIC1 NVME2 NIC2 HBA3 NIC3 NIC0 AHCI placed_devices

# Journal entries of the daemon (tuned-numaio/basic/log.h).
MESSAGE_CHANGE=5b1a3c1d9a8e4f0d8b6e2f7c40d1a9e1
MESSAGE_REFUSED=5b1a3c1d9a8e4f0d8b6e2f7c40d1a9e2
MESSAGE_RESTORED=5b1a3c1d9a8e4f0d8b6e2f7c40d1a9e3

# --- results: the host counts lines that begin with "ok ", "not ok " and "skip " --

: "${scenario:=vm}"

note() { printf '# %s\n' "$*"; }
ok() { printf 'ok %s: %s\n' "$scenario" "$1"; }
not_ok() { printf 'not ok %s: %s%s\n' "$scenario" "$1" "${2:+ ($2)}"; }
skip() { printf 'skip %s: %s (%s)\n' "$scenario" "$1" "$2"; }

# check NAME COMMAND...: passes when the command succeeds.
check() {
	local name=$1
	shift
	if "$@" >"$state/check.out" 2>&1; then
		ok "$name"
	else
		not_ok "$name" "$* failed: $(head -c 300 "$state/check.out" | tr '\n' ' ')"
	fi
}

# check_eq NAME GOT WANT
check_eq() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got \"$2\", want \"$3\""
	fi
}

# check_empty NAME TEXT: TEXT says what is wrong.
check_empty() {
	if [ -z "$2" ]; then
		ok "$1"
	else
		not_ok "$1" "$(tr '\n' ';' <<<"$2" | head -c 600)"
	fi
}

# Print what the kernel has complained of since boot: failed assertions, the order of locks, sleeping where it must not,
# broken objects. Stalls are not among them: an emulated guest on a busy machine has some.
kernel_complaints() {
	dmesg --notime | grep -E 'WARNING:|BUG|Oops|general protection|INFO: (task|trying|possible|suspicious)|FIX .*:' | head -n 20
}

# --- waiting -----------------------------------------------------------------

now_ms() {
	local s
	s=${EPOCHREALTIME/[.,]/}
	REPLY=$((s / 1000))
}

# wait_for SECONDS COMMAND...: succeeds as soon as the command does; sets waited_ms.
wait_for() {
	local start limit=$(($1 * 1000))
	shift
	now_ms
	start=$REPLY
	while ! "$@"; do
		now_ms
		waited_ms=$((REPLY - start))
		((waited_ms < limit)) || return 1
		sleep 0.1
	done
	now_ms
	waited_ms=$((REPLY - start))
}

exists() { [ -e "$1" ]; }
gone() { [ ! -e "$1" ]; }
nonempty() { [ -n "$("$@")" ]; }
# matches PATTERN: some path matches; quote the pattern.
matches() { compgen -G "$1" >/dev/null; }

# file_is PATH VALUE
file_is() {
	local value
	read -r value <"$1" && [ "$value" = "$2" ]
} 2>/dev/null

# Print why the kernel refuses value $2 for file $1; nothing when it takes it.
error_of() { { echo "$2" >"$1"; } 2>&1 | sed 's/.*: //'; }

# --- CPU sets ------------------------------------------------------------------

# Set REPLY to the CPUs of a list, each between blanks: "0-1,4" is " 0 1 4 ".
expand() {
	local part cpu
	REPLY=' '
	for part in ${1//,/ }; do
		for ((cpu = ${part%-*}; cpu <= ${part#*-}; cpu++)); do
			REPLY+="$cpu "
		done
	done
}

# Set REPLY to the CPU list of a node; empty when all its CPUs are offline.
node_cpulist() {
	REPLY=
	read -r REPLY <"/sys/devices/system/node/node$1/cpulist" || true
}

# Set REPLY to the mask of a CPU list as the kernel prints it on this machine, of at most 32 CPUs: "2-3" of 8 is "0c".
mask_of() {
	local cpu mask=0 cpus=(/sys/devices/system/cpu/cpu[0-9]*)
	expand "$1"
	for cpu in $REPLY; do
		mask=$((mask | 1 << cpu))
	done
	printf -v REPLY '%0*x' $(((${#cpus[@]} + 3) / 4)) "$mask"
}

# --- vectors -----------------------------------------------------------------------

# Set REPLY to the IRQ numbers of PCI device $1 that somebody has requested.
device_irqs() {
	local path irq actions
	REPLY=
	for path in "$pci/$1/msi_irqs/"*; do
		irq=${path##*/}
		actions=("/proc/irq/$irq/"*/)
		[ ${#actions[@]} = 0 ] || REPLY+="$irq "
	done
}

# Set REPLY to the (first) action name of IRQ $1.
irq_name() {
	local actions=("/proc/irq/$1/"*/)
	REPLY=${actions[0]:-}
	REPLY=${REPLY%/}
	REPLY=${REPLY##*/}
}

# Which vectors the kernel itself places, by the names of this guest's drivers. 1-boot
# compares this with what the kernel answers to a write.
is_managed() {
	case $1 in
	nvme*q0) return 1 ;;
	nvme*q* | virtio*-request | virtio*-req.*) return 0 ;;
	*) return 1 ;;
	esac
}

# Print "DEVICE NAME" for each of them, sorted: of device $1, or of all placed devices.
managed_vectors() {
	local device irq
	for device in ${1:-$placed_devices}; do
		device_irqs "$device"
		for irq in $REPLY; do
			irq_name "$irq"
			! is_managed "$REPLY" || echo "$device $REPLY"
		done
	done | sort
}

# Set queue to the queue number of a vector by its name, or -1 for the slow path;
# set half to "tx" when the vector is only the transmit half of its queue.
queue_of() {
	queue=-1 half=
	case $1 in
	*-rx-* | *-rxtx-*) queue=${1##*-} ;;
	*-tx-*) queue=${1##*-} half=tx ;;
	*-input.*) queue=${1##*.} ;;
	*-output.*) queue=${1##*.} half=tx ;;
	*-msix*) queue=${1##*-msix} ;;
	esac
}

# Print what is wrong with the vectors of PCI device $1, whose home is CPU list $2:
# settable vectors elsewhere, or queues not spread. Nothing when all is right. A
# vector at home is right and stays; with $3 = fresh the device was moved as a whole, and then
# both halves of a queue are together and slow-path vectors have the whole home.
problems() {
	local irq name list effective home count=0 cpu low='' high='' queue half
	local -A load=() where=()
	expand "$2"
	home=$REPLY
	for cpu in $home; do
		load[$cpu]=0
	done
	device_irqs "$1"
	for irq in $REPLY; do
		irq_name "$irq"
		name=$REPLY
		is_managed "$name" && continue
		count=$((count + 1))
		{ read -r list <"/proc/irq/$irq/smp_affinity_list" &&
			read -r effective <"/proc/irq/$irq/effective_affinity_list"; } 2>/dev/null || continue
		if [[ $home != *" $effective "* ]]; then
			echo "$name (irq $irq) is on CPU $effective"
			continue
		fi
		queue_of "$name"
		if ((queue >= 0)); then
			[ "$half" ] || load[$effective]=$((load[$effective] + 1))
			[ "${where[$queue]:-$effective}" = "$effective" ] || [ "${3:-}" != fresh ] ||
				echo "$name (irq $irq) is on CPU $effective, its other half on ${where[$queue]}"
			where[$queue]=$effective
		elif [ "${3:-}" = fresh ] && [ "$list" != "$2" ]; then
			echo "$name (irq $irq) may use $list"
		fi
	done
	for cpu in "${!load[@]}"; do
		if [ -z "$low" ] || ((load[$cpu] < low)); then low=${load[$cpu]}; fi
		if [ -z "$high" ] || ((load[$cpu] > high)); then high=${load[$cpu]}; fi
	done
	((high - low <= 1)) || echo "queues are not spread: $high on one CPU, $low on another"
	((count > 0)) || echo "no settable vector"
}

# placed DEVICE CPULIST: true when nothing is wrong.
placed() { [ -z "$(problems "$1" "$2")" ]; }

# check_placed NAME DEVICE CPULIST [SECONDS]: waits for it.
check_placed() {
	wait_for "${4:-30}" placed "$2" "$3"
	check_empty "$1" "$(problems "$2" "$3")"
}

# Put every settable vector of PCI device $1 on CPU $2.
misplace() {
	local irq
	device_irqs "$1"
	for irq in $REPLY; do
		echo "$2" >"/proc/irq/$irq/smp_affinity_list"
	done 2>/dev/null
}

# Print "PATH VALUE" for each file that the daemon may write: MSI vectors start at 24.
record() {
	local path value
	for path in /proc/irq/{2[4-9],[3-9][0-9],1[0-9][0-9]}/smp_affinity_list "$workqueues"/cpumask "$workqueues"/*/cpumask; do
		read -r value <"$path" && echo "$path $value"
	done 2>/dev/null
}

# --- devices -------------------------------------------------------------------------

# Set REPLY to the network interface of PCI device $1, virtio or not.
netdev_of() {
	local found=("$pci/$1/net/"* "$pci/$1/virtio"*/net/*)
	REPLY=${found[0]:-}
	REPLY=${REPLY##*/}
}

# Set REPLY to the SCSI host numbers of PCI device $1.
scsi_hosts_of() {
	local path found=("$pci/$1/host"* "$pci/$1/virtio"*/host* "$pci/$1/ata"*/host*)
	REPLY=
	for path in "${found[@]}"; do
		REPLY+="${path##*/host} "
	done
}

# --- the host ------------------------------------------------------------------------

# host LINE...: have QEMU's monitor run a line.
host() {
	local answer
	if [ -z "${host_fd:-}" ]; then
		exec {host_fd}<>/dev/ttyS2
		stty raw -echo <&"$host_fd"
	fi
	printf 'HOST %s\n' "$*" >&"$host_fd"
	read -r -t 60 answer <&"$host_fd" || answer='no answer'
	[ "$answer" = OK ] && return
	note "host: $*: $answer"
	return 1
}

# Write kernel uevents to $state/uevents until the scenario ends: lines like
# "KERNEL[12.345678] add      /devices/... (pci)", seconds of the monotonic clock.
watch_uevents() {
	udevadm monitor --kernel >"$state/uevents" &
	uevent_monitor=$!
	trap 'kill "$uevent_monitor" 2>/dev/null' EXIT
	wait_for 10 grep -q '^KERNEL' "$state/uevents"
}

# Set REPLY to the time in microseconds of the first uevent of action $1 whose path ends with $2.
uevent_time() {
	REPLY=$(awk -v action="$1" -v end="$2" '
		$2 == action && substr($3, length($3) - length(end) + 1) == end {
			gsub(/KERNEL\[|\]/, "", $1)
			printf "%d", $1 * 1000000
			exit
		}' "$state/uevents")
}

# --- the daemon ------------------------------------------------------------------------

have_daemon() { [ -e "$state/daemon" ]; }

# ctl WORDS...: the client's JSON on standard output.
ctl() { numaioctl "$@" --json; }

# device_field ID JQ: a value of one device, as numaioctl lists it.
device_field() {
	ctl devices | jq -r --arg id "$1" ".items[] | select(.id == \$id) | $2"
}

# ready: the service runs and answers.
ready() { systemctl -q is-active tuned-numaio.service && ctl status >/dev/null 2>&1; }
main_pid_is_not() { [ "$(systemctl show -P MainPID tuned-numaio.service)" != "$1" ]; }

device_field_is() { [ "$(device_field "$1" "$2")" = "$3" ]; }

# Set the point from which writes_since_mark counts, in microseconds of the real-time clock: /proc/uptime goes on in a
# sleep, the journal's monotonic clock does not. (A cursor would not do: with a match, journalctl of systemd 252 leaves out
# the first entry after it.)
mark() { journal_mark=${EPOCHREALTIME/[.,]/}; }

# Print "MICROSECONDS DEVICE PATH OLD NEW" for each write since the mark (or since boot).
writes_since_mark() {
	journalctl --sync
	journalctl -b --no-pager -o json MESSAGE_ID=$MESSAGE_CHANGE MESSAGE_ID=$MESSAGE_RESTORED |
		jq -r --argjson mark "${journal_mark:-0}" 'select((.__REALTIME_TIMESTAMP | tonumber) > $mark) |
			"\(.__MONOTONIC_TIMESTAMP) \(.NUMAIO_DEVICE) /\(.NUMAIO_PATH | ltrimstr("/")) \(.NUMAIO_OLD) \(.NUMAIO_NEW)"'
}

# Print "DEVICE PATH" for each write that the kernel refused since boot.
refusals() {
	journalctl --no-pager -o json MESSAGE_ID=$MESSAGE_REFUSED |
		jq -r '"\(.NUMAIO_DEVICE) /\(.NUMAIO_PATH | ltrimstr("/"))"'
}

# Succeeds once the daemon has written nothing for a second.
quiet() {
	local before after
	before=$(writes_since_mark | wc -l)
	sleep 1
	after=$(writes_since_mark | wc -l)
	[ "$before" = "$after" ]
}

# Print the errors that both services logged since boot, but for kills and the broken policy of 1-boot.
service_errors() {
	journalctl -b --no-pager -o cat -p err -u tuned-numaio.service -u tuned-numaio-writer.service |
		grep -v 'code=killed\|status=9/KILL\|Failed with result .signal' |
		grep -v 'x.yaml:\|policies are not taken over' |
		head -n 5
}

# Print "ID STATE" of each decision that is neither in force nor left alone on purpose.
bad_decisions() {
	local all
	all=$(ctl decisions) || {
		echo "numaioctl does not answer"
		return
	}
	jq -r '.items[] | select(.state | IN("planned", "failed", "contested", "error")) | "\(.id) is \(.state)"' <<<"$all"
}

no_bad_decisions() { [ -z "$(bad_decisions)" ]; }

# Print "KIB FILES" of unit $1: memory of its own, open files.
footprint() {
	local pid files
	pid=$(systemctl show -P MainPID "$1")
	files=("/proc/$pid/fd/"*)
	echo "$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status") ${#files[@]}"
}

# Remember what both services hold; check_footprints compares.
take_footprints() {
	main_before=$(footprint tuned-numaio.service)
	writer_before=$(footprint tuned-numaio-writer.service)
}

# Whether unit $1 has $2 files open; sets now to its footprint.
has_files() {
	now=$(footprint "$1")
	[ "${now#* }" = "$2" ]
}

# The services hold as many files as before, and not much more memory: what the allocator keeps of the largest
# round is no leak, nor is a file that is being read.
check_footprints() {
	local name before now
	for name in tuned-numaio tuned-numaio-writer; do
		before=$main_before
		[ $name = tuned-numaio ] || before=$writer_before
		wait_for 10 has_files $name.service "${before#* }"
		note "$name: ${before% *} KiB and ${before#* } files before, ${now% *} KiB and ${now#* } files now"
		check_eq "$name has as many files open as before" "${now#* }" "${before#* }"
		check "$name has not grown by a MiB" test "$((${now% *} - ${before% *}))" -lt 1024
	done
}

# Every device of boot is placed on its node.
check_all_placed() {
	local device
	for device in $placed_devices; do
		node_cpulist "${node_of[$device]}"
		check_placed "$device is placed on node ${node_of[$device]}" "$device" "$REPLY" 60
	done
	wait_for 20 no_bad_decisions
	check_empty "no decision waits or failed" "$(bad_decisions)"
}

# check_restored DEVICE...: restore brings first values back: those recorded before the daemon started, but for the
# PCI devices given. Their vectors were made anew since, so what the decisions say has to be there.
check_restored() {
	local anew=" $* "
	ctl decisions | jq -r '.items[] | select(.first != null) | "\(.device) /\(.path | ltrimstr("/")) \(.first)"' >"$state/written"
	check "decisions know first values" test -s "$state/written"
	check "all devices are restored" ctl restore
	check_empty "every file that was written holds its first value" "$(
		while read -r device path first; do
			recorded=
			[[ $anew == *" ${device#pci:} "* ]] || recorded=$(sed -n "s|^$path ||p" "$state/first")
			value=$(<"$path")
			[ "$value" = "${recorded:-$first}" ] || echo "$path of $device is $value, was ${recorded:-$first}"
		done <"$state/written"
	)"
	note "$(wc -l <"$state/written") files were put back"
}

# --- storms ----------------------------------------------------------------------------

# Set REPLY to the number of uevents since boot.
uevents() { read -r REPLY </sys/kernel/uevent_seqnum; }

# storm SECONDS: have the kernel send uevents that matter, as fast as one process can ask for them.
storm() {
	local file files end=$((SECONDS + $1))
	files=($pci/*/uevent /sys/class/net/e*/uevent /sys/devices/system/{cpu/cpu,node/node}[0-9]*/uevent
		"$workqueues"/scsi_tmf_*/uevent)
	while ((SECONDS < end)); do
		for file in "${files[@]}"; do
			echo add >"$file"
		done 2>/dev/null
	done
}

# rebind DEVICE: take the driver from a PCI function and give it back: its interrupts end and new ones come.
rebind() {
	local driver
	driver=$(readlink "$pci/$1/driver") &&
		echo "$1" >"/sys/bus/pci/drivers/${driver##*/}/unbind" &&
		echo "$1" >"/sys/bus/pci/drivers/${driver##*/}/bind"
}

# nic_up DEVICE ADDRESS: wait for its interface, and bring it up.
nic_up() {
	wait_for 30 matches "$pci/$1/virtio*/net/*" || wait_for 1 matches "$pci/$1/net/*" || return
	udevadm settle -t 20
	netdev_of "$1"
	ip link set "$REPLY" up && ip addr replace "$2" dev "$REPLY"
}
