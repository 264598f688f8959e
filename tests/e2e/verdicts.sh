#!/bin/sh
# verdicts.sh AGENT COLLECTOR RULES CORPUS: what check says of every saved output of the corpus, held against
# CORPUS/verdicts. A line of it is a file, the exit status, what fires as LEVEL:RULE{LABELS}, with "since" behind it
# where it was counted since boot, and what counted something but takes a later sample to judge as open:RULE{LABELS}; "-"
# where there is neither.
set -u
agent=$1 collector=$2 rules=$3 corpus=$4
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

for file in "$corpus"/*.txt; do
	name=${file##*/}
	name=${name%.txt}
	version=${name#*--}
	os=${version%%-*}
	case $os in darwin | solaris) os=freebsd ;; esac
	"$agent" parse --os "$os" "${name%%--*}" "$file" 2>/dev/null >"$dir/values"
	"$collector" check -r "$rules" "$dir/values" >"$dir/verdict" 2>"$dir/why"
	status=$?
	[ "$status" -ne 3 ] || [ -s "$dir/why" ] || echo "$name: status 3 without a reason"
	echo "== $name $status"
	cat "$dir/verdict"
done >"$dir/all"
awk '
	function put() { if (file != "") print file, (found == "" ? "-" : substr(found, 2)) }
	/^== / { put(); file = $2 " " $3; found = ""; next }
	/^(critical|warning|advice): / || /^not judged: .*only a later sample tells/ {
		level = $1 == "not" ? "open:" : $1
		sub(/^(not )?[a-z]*: /, "")
		rule = $0
		match(rule, /^[a-z0-9-]*(\{[^}]*\})?/)
		found = found " " level substr(rule, 1, RLENGTH) (/, since boot$/ ? " since" : "")
		next
	}
	/: status 3 without a reason$/ { print }
	END { put() }' "$dir/all" >"$dir/verdicts"
grep -v '^#' "$corpus/verdicts" | diff - "$dir/verdicts" >"$dir/diff" || {
	echo "expected (<) and found (>):"
	cat "$dir/diff"
	exit 1
}
n=$(wc -l <"$dir/verdicts")
[ "$n" -eq "$(find "$corpus" -name '*.expect' | wc -l)" ] || {
	echo "$n verdicts, but another number of saved outputs"
	exit 1
}
echo "$n verdicts as expected"
