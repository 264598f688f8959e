#!/bin/sh
# delivered.sh BUILD/tests/unit AGENT SOURCE [--write]: what the samplers of each system deliver in their tests, what they
# read out of the corpus of those kinds that they run programs for, and the settings that they ask for is what collector/rules.d/delivered.yaml
# says, no more and no less. --write makes it anew.
set -u
export LC_ALL=C
unit=$1 agent=$2 source_dir=$3 write=${4-}
list=$source_dir/collector/rules.d/delivered.yaml
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

fail() {
	cat "$dir/log" >&2
	echo "FAIL: $*" >&2
	exit 1
}

# collect OS SETTINGS KINDS TEST...: one key a line, a metric, or the metric with the label that tells series of a kind apart.
collect() {
	os=$1 settings=$2 kinds=$3
	shift 3
	: >"$dir/raw"
	for test; do
		HIWAT_DELIVERED=$dir/raw "$unit/test_$test" >"$dir/log" 2>&1 || fail "test_$test"
	done
	for kind in $kinds; do
		for file in "$source_dir/tests/corpus/$kind--$os"-*.txt; do
			"$agent" parse --os "$os" "$kind" "$file" >>"$dir/raw" 2>"$dir/log" || fail "parse $file"
		done
	done
	sed -n 's/^\t"\([a-z][a-z0-9_.]*\.[a-z0-9_.-]*\)",$/hiwat_sysctl{name="\1"} 1/p' "$source_dir/agent/samplers/$settings" \
		>>"$dir/raw"
	sed -n -e '/^#/d' \
		-e 's/^\(hiwat_sysctl\){.*\(name="[^"]*"\).*/\1{\2}/p' -e 's/^\(hiwat_setting_text\){.*\(name="[^"]*"\).*/\1{\2}/p' \
		-e 's/^\(hiwat_sockets[a-z_]*\){.*\(state="[^"]*"\).*/\1{\2}/p' \
		-e '/^hiwat_s\(ysctl\|etting_text\|ockets\)/!s/^\(hiwat_[a-z0-9_]*\).*/\1/p' "$dir/raw" | sort -u >"$dir/$os"
}

collect linux settings_linux.c 'kernel-log zpool-status' samplers_linux tcp_linux kernel_log_sampler ethtool
collect freebsd settings_bsd.c 'kernel-log zpool-status netstat-m netstat-m-json pfctl-info pfctl-memory pfctl-timeouts' samplers_freebsd
collect openbsd settings_bsd.c 'kernel-log netstat-m pfctl-memory pfctl-timeouts' samplers_openbsd
{
	echo "# What samplers deliver on each system, for rules list --evaluable; written by tests/delivered.sh --write; on"
	echo "# the BSDs a setting may be one that only another of them has. Resolvers are the same everywhere and not listed."
	echo "delivers:"
	for os in freebsd linux openbsd; do
		echo "  - os: $os"
		echo "    series:"
		sed "s/.*/      - '&'/" "$dir/$os"
	done
} >"$dir/list"
if [ "$write" = --write ]; then
	cp "$dir/list" "$list"
else
	diff "$list" "$dir/list" >"$dir/diff" || cat "$dir/diff"
	# The tests of Linux also look at this machine, which may have more than others.
	if sed -n '/- os: linux/,/- os: openbsd/d; p' "$list" >"$dir/bsd" &&
		sed -n '/- os: linux/,/- os: openbsd/d; p' "$dir/list" | cmp -s - "$dir/bsd" && ! grep -q '^<' "$dir/diff"; then
		exit 0
	fi
	echo "FAIL: what samplers deliver (>) is not what $list says (<): tests/delivered.sh --write" >&2
	exit 1
fi
