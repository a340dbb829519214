#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check-unit.sh security UNIT                  exposure at most 2.2
# check-unit.sh verify LIBEXECDIR UNIT...      systemd finds nothing to complain about, as if the programs were installed
# check-unit.sh sysusers|tmpfiles FILE         the file parses and does what it is for
set -eu
mode=$1
shift

skip() { # WHY
    echo "skipped: $1" >&2
    exit 77
}

need() {
    command -v "$1" >/dev/null || skip "$1 is not there"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $mode in
security)
    need systemd-analyze
    systemd-analyze security --offline=true --no-pager --threshold=22 "$1" >"$work/table" && exit 0
    grep -v '✓' "$work/table"
    exit 1
    ;;
verify)
    need systemd-analyze
    libexecdir=$1
    shift
    # Units name programs that are not installed yet: stand-ins take their place.
    for unit in "$@"; do
        sed "s,=$libexecdir/,=$work/," "$unit" >"$work/$(basename "$unit")"
    done
    for program in tuned-numaiod tuned-numaio-writer; do
        printf '#!/bin/sh\n' >"$work/$program"
        chmod +x "$work/$program"
    done
    # Unknown keys and the like are only warnings to systemd-analyze: here any line is an error.
    SYSTEMD_UNIT_PATH="$work:" systemd-analyze verify --man=no "$work"/*.service "$work"/*.socket >"$work/lines" 2>&1 || true
    cat "$work/lines"
    [ ! -s "$work/lines" ]
    ;;
sysusers)
    need systemd-sysusers
    mkdir -p "$work/etc"
    systemd-sysusers --root="$work" "$1"
    grep -q '^tuned-numaio:.*:/var/lib/tuned-numaio:' "$work/etc/passwd"
    grep -q '^tuned-numaio:' "$work/etc/group"
    ;;
tmpfiles)
    need systemd-tmpfiles
    [ "$(id -u)" = 0 ] || skip "owners can only be set by root"
    mkdir -p "$work/etc"
    printf 'root:x:0:0::/root:/bin/sh\n' >"$work/etc/passwd"
    printf 'root:x:0:\n' >"$work/etc/group"
    systemd-tmpfiles --root="$work" --create "$1"
    [ "$(stat -c %a "$work/run/tuned-numaio")" = 755 ]
    [ "$(stat -c %a "$work/run/tuned-numaio/ledger")" = 700 ]
    [ "$(stat -c %a "$work/run/tuned-numaio/policies")" = 755 ]
    ;;
*)
    echo "unknown mode $mode" >&2
    exit 2
    ;;
esac
