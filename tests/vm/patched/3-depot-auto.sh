# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# "depot: auto" on a kernel whose depots have a limit: from a limit of 1 the daemon brings the misses under 1 % by steps
# that it measures, keeps the evidence, and shrinks to what it found when the load has gone.

# shellcheck source=tests/vm/guest/depot.sh
. /usr/lib/vm/depot.sh

have_daemon || return 0
limit=$group/iova_depot_max
policy=/etc/tuned-numaio/policies/depot.yaml
id="pci:$HBA1~iova.depot"

# set_depot VALUE: a rule of the policy for the HBA.
set_depot() {
	mkdir -p "${policy%/*}"
	printf 'version: 1\nrules:\n  - {name: depot, match: {pci: "%s"}, set: {iova: {depot: %s}}}\n' $HBA1 "$1" >$policy
	systemctl reload tuned-numaio.service
}

# The decision on the file, which has a role behind the knob's name.
decision() { ctl decisions | jq -c --arg id "$id" '[.items[] | select(.id | startswith($id))]'; }
evidence() { decision | jq -r "[.[].evidence // empty] | last | $1"; }
decided() { [[ $(evidence .outcome) == @(kept|back) ]]; }
few_misses() { window 4 && [ "$share" -lt 100 ]; }
steps() { journalctl -u tuned-numaio.service --no-pager -o cat | grep -F "pci:$HBA1: iova.depot: "; }

check "the service is ready" wait_for 30 ready
echo 1 >"$limit"
mark
start_reads 300
sleep 10
window 4
percent "$share"
note "before: limit 1, $REPLY of $total allocations missed"
check "more than 1 % miss at a limit of 1" test "$share" -ge 100
set_depot auto
check "within a minute less than 1 % do" wait_for 60 few_misses
percent "$share"
note "after $((waited_ms / 1000)) s: limit $(<"$limit"), $REPLY of $total allocations missed"
check "the limit was raised" test "$(<"$limit")" -gt 1

# --- evidence ----------------------------------------------------------------------------

check "the last step is decided" wait_for 60 decided
note "evidence: $(evidence tojson)"
check_eq "it has the counters of the window before and after" "$(evidence \
	'[.before, .after][] | .counters.allocations > 0 and .seconds > 1 and .share != null')" $'true\ntrue'
check "numaioctl explain shows both" eval "numaioctl explain '$id' | grep -q '^ *Before.*allocations' &&
	numaioctl explain '$id' | grep -q '^ *After.*allocations'"
measured=$(ctl measure "pci:$HBA1")
check_eq "the HBA can be measured by its group's counters" "$(jq -r '"\(.source) \(.scope) \(.caches.allocations > 0) \(.caches.classes | length)"' \
	<<<"$measured")" "iova_stats group true 6"
note "measured: $(jq -c '.caches | {allocations, misses, dropped}' <<<"$measured")"

# --- the load ends -------------------------------------------------------------------------

end_reads
check "it shrinks to what it was" wait_for 90 file_is "$limit" 1
note "$((waited_ms / 1000)) s after the load"
wait_for 20 quiet
steps >"$state/steps"
sed 's/^/# journal: /' "$state/steps"
check_empty "no step was told twice" "$(sort "$state/steps" | uniq -d)"
writes_since_mark | grep -F "$limit" >"$state/limits"
cut -d ' ' -f 4,5 "$state/limits" | sed 's/^/# written: /'
check "there were writes up and down" test "$(wc -l <"$state/limits")" -ge 2
check_eq "each has its line in the journal" "$(grep -cE ' is to be |, so it went back' "$state/steps")" "$(wc -l <"$state/limits")"
check_eq "restore succeeds" "$(ctl restore "pci:$HBA1" >/dev/null && echo yes)" yes
check_eq "the first value is in force" "$(<"$limit")" 1

# --- a number ----------------------------------------------------------------------------------

check "the device is taken back" ctl apply "pci:$HBA1"
set_depot 64
check "a limit by the policy" wait_for 20 file_is "$limit" 64
rm $policy
systemctl reload tuned-numaio.service
wait_for 20 quiet
check "its first value is still known" ctl restore "pci:$HBA1"
check_eq "and put back" "$(<"$limit")" 1
check "the device is taken back again" ctl apply "pci:$HBA1"
echo default >"$limit"
check_empty "the services logged no error" "$(service_errors)"
check_empty "the kernel complained of nothing" "$(kernel_complaints)"
