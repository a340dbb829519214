# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernel source and object folders, for build and check-patches. Sourced.

kernel=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-/var/cache}/tuned-numaio
jobs=$(nproc)

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# Patches of series $1 (6.1 or 6.12), in their order, into the array "patches".
read_series() {
	patches=("$kernel/patches/$1"/*.patch)
	[ -e "${patches[0]}" ] || die "no series $1"
}

# Version of the source package of series $1 that apt would download.
source_version() {
	apt-cache policy "linux-source-$1" | sed -n 's/^ *Candidate: \([^(].*\)$/\1/p'
}

# Print the folder that holds the source of series $1, version $2, as its package has it. It is kept: unpacking takes
# half a minute. Sources of graphics, media, sound and wireless drivers are left out, their Kconfig files are not.
get_source() {
	local target="$cache/linux-$2" work deb
	if [ ! -d "$target" ]; then
		mkdir -p "$cache"
		(
			set -e
			flock 9
			[ ! -d "$target" ] || exit 0
			rm -rf --one-file-system "$cache"/linux-unpack.*
			work=$(mktemp -d "$cache/linux-unpack.XXXXXX")
			trap 'rm -rf --one-file-system "$work"' EXIT
			cd "$work" || exit
			apt-get -q -o APT::Sandbox::User=root download "linux-source-$1=$2" >apt.log 2>&1 || {
				cat apt.log >&2
				die "cannot download linux-source-$1 $2; try apt-get update"
			}
			deb=$(echo ./*.deb)
			dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/linux-source-$1.tar.xz" | xz -dcT0 |
				tar -x --exclude='*/drivers/gpu/*.[ch]' --exclude='*/drivers/media/*.[ch]' \
					--exclude='*/sound/*.[ch]' --exclude='*/drivers/net/wireless/*.[ch]'
			mv -T "linux-source-$1" "$target"
			find "$cache" -maxdepth 1 -name 'linux-*' -type d -mtime +30 -exec rm -rf {} +
		) 9>"$cache/linux.lock"
		[ -d "$target" ] || exit 1
	fi
	touch "$target" 2>/dev/null || true
	echo "$target"
}

# Apply the patches $2 and so on to the files below $1.
apply() {
	local folder=$1 p
	shift
	for p in "$@"; do
		patch -d "$folder" -p1 --no-backup-if-mismatch --fuzz=0 -s <"$p" >&2 || die "${p##*/} does not apply"
	done
}

# Make $2 a copy of the source $1 with the patches $3 and so on applied. Files are shared with the source: patch(1)
# replaces those that it changes, and what is built goes elsewhere.
make_tree() {
	local source=$1 tree=$2
	shift 2
	cp -al "$source" "$tree"
	apply "$tree" "$@"
}

# make in the tree $1 with the object folder $2. ccache saves most of the time where it is installed.
run_make() {
	local tree=$1 objects=$2 cc=gcc
	shift 2
	command -v ccache >/dev/null && cc='ccache gcc'
	nice -n 10 make -s -C "$tree" O="$objects" -j "$jobs" CC="$cc" KBUILD_BUILD_USER=tuned-numaio \
		KBUILD_BUILD_HOST=guest KBUILD_BUILD_TIMESTAMP=@0 "$@" >&2
}

# Configure the object folder $2 of the tree $1 from the fragments $3 and so on, of which later ones win, and check that each
# of their lines took.
configure() {
	local tree=$1 objects=$2 line missing=() wanted
	shift 2
	mkdir -p "$objects"
	wanted=$(cat "$@" | awk -F '[= ]' '/^CONFIG_/ { line[$1] = $0 } END { for (c in line) print line[c] }')
	echo "$wanted" >"$objects/wanted.config"
	run_make "$tree" "$objects" KCONFIG_ALLCONFIG="$objects/wanted.config" allnoconfig >/dev/null
	while read -r line; do
		case $line in
		*=n) ! grep -q "^${line%=n}=" "$objects/.config" || missing+=("$line") ;;
		*) grep -qxF "$line" "$objects/.config" || missing+=("$line") ;;
		esac
	done <<<"$wanted"
	((${#missing[@]} == 0)) || die "the configuration did not take: ${missing[*]}"
}
