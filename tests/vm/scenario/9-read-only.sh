# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Somebody hardens the writer's unit until it cannot write /proc/irq. That is said once, workqueues go on, no first value
# is kept of what was not written, and all is placed as soon as the drop-in is gone.

have_daemon || return 0
drop_in=/run/systemd/system/tuned-numaio-writer.service.d/hardened.conf

restart_writer() {
	systemctl daemon-reload
	systemctl restart tuned-numaio-writer.service
}

# Print what the services have said since the mark, from notices on, but for the restarts themselves.
said() {
	journalctl --sync
	journalctl -b --no-pager -o json -p notice -u tuned-numaio.service -u tuned-numaio-writer.service |
		jq -r --argjson mark "$journal_mark" 'select((.__REALTIME_TIMESTAMP | tonumber) > $mark and ._COMM != "systemd") |
			"\(.PRIORITY) \(.MESSAGE)"' |
		grep -v 'the connection to the writer is lost\|the writer is there again\|the policies were read again'
}

# Keep the decisions of HBA1 and NIC3 that failed, and see whether both have some, and the status counts as many.
all_failed() {
	ctl decisions | jq '[.items[] | select(.error == "EROFS" and .state == "failed")]' >"$state/failed"
	jq -e --arg a "pci:$HBA1" --arg b "pci:$NIC3" '(map(.device) | unique) == [$a, $b]' "$state/failed" &&
		systemctl show -P StatusText tuned-numaio.service |
		grep -q "$(jq length "$state/failed") files are on a file system that is read-only for the writer, see the journal"
}
passes() { ctl status | jq .passes; }
looked() { (($(passes) > before)); }
look() {
	before=$(passes)
	systemctl reload tuned-numaio.service
	wait_for 10 looked
}
# Print the first values of what failed of NIC3, in the order of paths.
firsts() {
	ctl decisions | jq -r --arg d "pci:$NIC3" --slurpfile failed "$state/failed" \
		'.items | sort_by(.path)[] | select(.device == $d and (.path | IN($failed[0][].path))) | "\(.path) \(.first)"'
}

# HBA1 and a workqueue of it had first values noted long ago; the vectors of NIC3 are new, and none is in the ledger.
scsi_hosts_of $HBA1
queue=$workqueues/scsi_tmf_${REPLY%% *}/cpumask
mask=$(<"$queue")
refused=$(ctl status | jq .refused)
mark
pid=$(systemctl show -P MainPID tuned-numaio.service)
mkdir -p "${drop_in%/*}"
printf '[Service]\nReadOnlyPaths=/proc/irq\n' >$drop_in
restart_writer
misplace $HBA1 7
echo ff >"$queue"
check "a driver goes and comes" rebind $NIC3
check "neither what is new nor what was set before can be placed, and the status says so" wait_for 20 all_failed
check "the workqueue is set all the same" wait_for 10 file_is "$queue" "$mask"
check_empty "no interrupt was written" "$(writes_since_mark | grep /proc/irq/)"
check_empty "no first value is kept of what was not" "$(firsts | grep -v ' null$')"
check "it looks again" look
check "and again" look
said >"$state/said"
check_eq "all that is one line of the journal" "$(wc -l <"$state/said")" 1
check "which is an error, and says what to do" grep '^3 .* read-only file system.* ReadOnlyPaths= of tuned-numaio-writer.service' \
	"$state/said"
check_eq "the service stayed up" "$(systemctl show -P MainPID tuned-numaio.service)" "$pid"

rm -r "${drop_in%/*}"
restart_writer
check_all_placed
jq -r --arg d "pci:$NIC3" 'sort_by(.path)[] | select(.device == $d) | "\(.path) \(.current)"' "$state/failed" >"$state/before"
check_eq "first values are those before the first write" "$(firsts | diff "$state/before" - | head -n 5)" ""
check_eq "nothing counts as refused" "$(ctl status | jq '"\(.state) \(.refused)"' -r)" "ready $refused"
said >"$state/said"
check_eq "the journal says that it is over, and nothing else" "$(tail -n +2 "$state/said")" \
	"5 what was read-only can be written again"
