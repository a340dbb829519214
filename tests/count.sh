# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Counts what passed, failed and was skipped; for ./test and what it calls. Sourced.

n_passed=0 n_failed=0 n_skipped=0
failures=() skips=()

pass() { n_passed=$((n_passed + 1)); }

fail() { # WHAT
	n_failed=$((n_failed + 1))
	failures+=("$1")
	echo "FAILED: $1"
}

skip() { # WHAT AND WHY
	n_skipped=$((n_skipped + 1))
	skips+=("$1")
	echo "skipped: $1"
}

# One line of meson's testlog.json for each test program. What a program that skips says last is why.
count_meson() { # LOG LABEL
	local name result why

	while IFS=$'\t' read -r name result why; do
		case $result in
		OK | EXPECTEDFAIL) pass ;;
		SKIP) skip "$2: $name: ${why#skipped: }" ;;
		*) fail "$2: $name ($result)" ;;
		esac
	done < <(/usr/bin/python3 -c '
import json, sys
for line in open(sys.argv[1]):
    t = json.loads(line)
    said = (t.get("stdout", "") + t.get("stderr", "")).strip().splitlines() or ["it does not say why"]
    print(t["name"], t["result"], said[-1], sep="\t")' "$1")
}

# A part that counts by itself leaves its figures, one "pass", "fail TEXT" or "skip TEXT" a line, in the file that
# COUNT_FILE names. A part that fails without having said so is one failure.
count_output() { # LABEL STATUS
	local word text before=$n_failed

	while read -r word text; do
		case $word in
		pass) pass ;;
		fail) fail "$1: $text" ;;
		skip) skip "$1: $text" ;;
		esac
	done <"$COUNT_FILE"
	: >"$COUNT_FILE"
	if (($2 != 0 && n_failed == before)); then
		fail "$1 ended with status $2"
	fi
}

# The closing lines; the status is 0 when nothing failed and something passed.
report() {
	((n_skipped == 0)) || printf 'skipped: %s\n' "${skips[@]}"
	((n_failed == 0)) || printf 'FAILED: %s\n' "${failures[@]}"
	echo "$n_passed passed, $n_failed failed, $n_skipped skipped"
	((n_failed == 0 && n_passed > 0))
}
