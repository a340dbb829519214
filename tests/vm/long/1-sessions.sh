# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A session logs in and out for two minutes.

have_daemon || return 0
# shellcheck source=tests/vm/guest/iscsi.sh
. /usr/lib/vm/iscsi.sh

# The workqueue of the session is on node 1.
session_placed() {
	read -r REPLY <"$workqueues/iscsi_q_$number/cpumask" && [ "$REPLY" = 0c ]
} 2>/dev/null

check "the service is ready" wait_for 60 ready
check "a target is made in the namespace, and discovered" find_target
check "log-in" login
check "the session is placed" wait_for 30 session_placed
check "log-out" logout
wait_for 20 quiet
take_footprints
ledger=$(stat -c %s /run/tuned-numaio/ledger/ledger)

rounds=0 end=$((SECONDS + 120))
while ((SECONDS < end)); do
	login || break
	# Every other time it goes before anybody can have looked after it.
	if ((rounds % 2 == 0)); then
		wait_for 30 session_placed || break
	fi
	logout || break
	rounds=$((rounds + 1))
done
check "it logged in and out for two minutes, placed each time" test "$SECONDS" -ge "$end"
note "$rounds times"
check "the session is no longer listed" wait_for 20 device_field_is "$device" .id ''
check_eq "nor are decisions about it" "$(ctl decisions | jq -r '.items[].device' | grep -c '^iscsi:')" 0
check_all_placed
check_footprints
note "the ledger has $(stat -c %s /run/tuned-numaio/ledger/ledger) bytes, $ledger before"
check_restored
check "apply places all again" ctl apply
check_all_placed
check_empty "the services logged no error" "$(service_errors)"
