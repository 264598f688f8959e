#!/bin/sh
# man.sh AGENT COLLECTOR SOURCE BUILD: the manual pages say what the programs take, no more and no less.
set -u
agent=$1 collector=$2 source_dir=$3 build=$4
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

fail() {
	echo "FAIL: $*" >&2
	failures=$((failures + 1))
}

# same WHAT: $dir/program and $dir/page hold the same lines, and some.
same() {
	sort -u "$dir/program" >"$dir/program.sorted"
	sort -u "$dir/page" >"$dir/page.sorted"
	[ -s "$dir/program.sorted" ] || fail "$1: the program names none"
	diff "$dir/program.sorted" "$dir/page.sorted" >"$dir/diff" && return
	fail "$1: the program (<) and its page (>) differ"
	cat "$dir/diff" >&2
}

# options PAGE COMMAND: the flags of a command's section.
options() {
	awk -v want="$2" '
		/^\.S[sh] / { on = $1 == ".Ss" && $2 == want; next }
		on { for (i = 1; i < NF; i++) if ($i == "Fl") print "-" $(i + 1) }' "$1"
}

check_commands() { # PROGRAM PAGE
	name=$(basename "$1")
	"$1" help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' >"$dir/program"
	sed -n 's/^\.Ss //p' "$2" | grep -E '^[a-z-]+$' >"$dir/page"
	same "commands of $name"
	grep -vx -e help -e version "$dir/program.sorted" >"$dir/commands"
	while read -r command; do
		"$1" help "$command" >"$dir/usage"
		# A command without options names none on either side.
		{
			echo "$command"
			grep -oE '(^|[][ (|])--?[a-z][a-z-]*' "$dir/usage" | sed 's/^[^-]*//'
		} >"$dir/program"
		{
			echo "$command"
			options "$2" "$command"
		} >"$dir/page"
		same "options of $name $command"
	done <"$dir/commands"
}

# From a sample file: one "KEY VALUE" a line, sections and lists before the key.
keys_of_sample() {
	"$1" check-config --sample | awk '
		/^ *# / || /^$/ { next }
		{
			indent = match($0, /[^ ]/) - 1
			line = substr($0, indent + 1)
			sub(/^#/, "", line)
			sub(/^- /, "", line)
			colon = index(line, ":")
			key = substr(line, 1, colon - 1)
			value = substr(line, colon + 2)
			if (indent == 0)
				section = key
			else
				key = section "." key
			if ($0 !~ /^[a-z]/) # else a section, no option
				print key, value
		}'
}

# The same from a section of the page; a value that the page leaves open (Ar) is "?".
keys_of_page() { # PAGE SECTION PREFIX
	awk -v want="$2" -v prefix="$3" '
		/^\.S[sh] / { on = substr($0, 5) == want; next }
		on && /^\.It Cm [a-z_.]+ : / { print prefix $3, $5 == "Ar" ? "?" : $NF }
		on && /^\.It/ && !/^\.It Cm [a-z_.]+ : ((Ar|Pa) )?[^ ]+$/ { print "not understood:", $0 }' "$1"
}

check_keys() { # PROGRAM; $dir/page.keys holds what the page says
	keys_of_sample "$1" >"$dir/program.keys"
	sed 's/ .*//' "$dir/program.keys" >"$dir/program"
	sed 's/ .*//' "$dir/page.keys" >"$dir/page"
	same "configuration of $(basename "$1")"
	while read -r key value; do
		[ "$value" = '?' ] || grep -qxF -e "$key $value" "$dir/program.keys" ||
			fail "$key is $value by default, says the page; $(grep -F -e "$key " "$dir/program.keys")"
	done <"$dir/page.keys"
}

check_commands "$agent" "$source_dir/agent/man/hiwat-agent.8"
check_commands "$collector" "$source_dir/collector/man/hiwat-collector.8"

yaml=$build/deploy/installed/hiwat.yaml.5
keys_of_page "$yaml" 'The agent' '' >"$dir/page.keys"
check_keys "$agent"
{
	keys_of_page "$yaml" 'The collector' ''
	keys_of_page "$yaml" Routes routes.
	keys_of_page "$yaml" Overrides overrides.
} >"$dir/page.keys"
check_keys "$collector"

# Samplers of all systems are on the page.
awk '/^\.Sh / { on = $2 == "SAMPLERS" } on && /^\.It/ { for (i = 3; i <= NF; i++) if ($i != ",") print $i }' \
	"$source_dir/agent/man/hiwat-agent.8" >"$dir/page"
awk -F '"' '/^\t\.name = "/ { name = $2 } /^\t\.help = "/ { print name }' "$source_dir"/agent/samplers/*.c >"$dir/program"
"$agent" once list | sed 's/ .*//' >>"$dir/program"
same samplers
# A file that disables any of them serves a fleet.
printf 'samplers:\n  disabled: [%s]\n' "$(paste -s -d , "$dir/page")" >"$dir/agent.yaml"
"$agent" check-config -c "$dir/agent.yaml" >"$dir/out" 2>&1 || fail "samplers on the page: $(cat "$dir/out")"

if command -v mandoc >/dev/null; then
	for page in "$source_dir"/*/man/*.[58]; do
		mandoc -Tlint -W warning "$page" >"$dir/lint" 2>&1 || fail "$(cat "$dir/lint")"
		mandoc -Tmarkdown "$page" >"$dir/text" 2>&1
		grep -q '^# SEE ALSO' "$dir/text" || fail "$page does not render to its end"
	done
	# Pages refer to each other by names that exist.
	sed -n 's/^\.Xr \(hiwat[^ ]*\) \([0-9]\).*/\1.\2/p' "$source_dir"/*/man/*.[58] | sort -u >"$dir/pages"
	while read -r page; do
		ls "$source_dir"/*/man/"$page" >/dev/null 2>&1 || fail "no page $page"
	done <"$dir/pages"
else
	echo "mandoc is not installed: the pages were not checked by it"
fi

[ "$failures" -eq 0 ]
