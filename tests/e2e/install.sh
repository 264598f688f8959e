#!/bin/sh
# install.sh CMAKE BUILD: installs into a temporary DESTDIR and uses what is there.
set -u
cmake=$1 build=$2
dest=$(mktemp -d) || exit 1
trap 'rm -rf "$dest"' EXIT
failures=0

fail() {
	echo "FAIL: $*" >&2
	failures=$((failures + 1))
}

# path NAME: where the build was told to install, below DESTDIR.
cached() {
	sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}

absolute() {
	case $1 in
	/*) echo "$1" ;;
	*) echo "$prefix/$1" ;;
	esac
}

prefix=$(cached CMAKE_INSTALL_PREFIX)
bin=$(absolute "$(cached CMAKE_INSTALL_BINDIR)")

DESTDIR=$dest "$cmake" --install "$build" >"$dest/log" 2>&1 || {
	cat "$dest/log"
	exit 1
}
agent=$dest$bin/hiwat-agent
collector=$dest$bin/hiwat-collector

case $("$agent" version) in
"hiwat-agent "[0-9]*) ;;
*) fail "hiwat-agent version: $("$agent" version 2>&1)" ;;
esac

# default COMMAND HELP-TOPIC SUFFIX: the path in brackets that the usage names as the default.
default() {
	"$1" help "$2" | sed -n "s|.*(\\(/[^)]*$3\\)).*|\\1|p" | head -n 1
}

rules=$(default "$collector" check /rules.d)
for topic in check rules; do
	[ "$(default "$collector" $topic /rules.d)" = "$rules" ] || fail "help $topic names another directory than $rules"
done
agent_yaml=$(default "$agent" once agent.yaml)
collector_yaml=$(default "$collector" run collector.yaml)

# The samples show every option as the programs know them.
"$agent" check-config --sample | cmp - "$dest$agent_yaml.sample" || fail "agent.yaml.sample is not check-config --sample"
"$collector" check-config --sample | cmp - "$dest$collector_yaml.sample" ||
	fail "collector.yaml.sample is not check-config --sample"

# The sample with its own rules_dir, below DESTDIR: the default is where the rules were installed.
grep -qx "#rules_dir: $rules" "$dest$collector_yaml.sample" || fail "the default of rules_dir is not $rules"
sed "s|^#rules_dir: |rules_dir: $dest|" "$dest$collector_yaml.sample" >"$dest/collector.yaml"
"$collector" check-config -c "$dest/collector.yaml" >"$dest/out" 2>&1 || fail "check-config: $(cat "$dest/out")"
grep -q "ok, [1-9][0-9]* rules from $dest$rules, 0 routes" "$dest/out" || fail "check-config says: $(cat "$dest/out")"

# exists PATTERN: a file below DESTDIR, whose path ends so.
exists() {
	[ -n "$(find "$dest" -path "*$1" -size +0)" ] || fail "nothing is installed as $1"
}

for file in man8/hiwat-agent.8 man8/hiwat-collector.8 man5/hiwat.yaml.5 man5/hiwat-rules.5 man5/hiwat-records.5 \
	hiwat/rules.d/host.yaml hiwat/dashboards/fleet.json hiwat/dashboards/provisioning/hiwat.yaml; do
	exists "/$file"
done
grep -qx "      path: $(dirname "$rules")/dashboards" "$dest$(dirname "$rules")/dashboards/provisioning/hiwat.yaml" ||
	fail "provisioning does not point to the dashboards"
if [ "$(uname -s)" = Linux ]; then
	units=$dest$prefix/lib/systemd/system
	grep -qx "ExecStart=$bin/hiwat-agent run" "$units/hiwat-agent.service" || fail "hiwat-agent.service starts another program"
	grep -qx "ExecStart=$bin/hiwat-collector run -c $collector_yaml" "$units/hiwat-collector.service" ||
		fail "hiwat-collector.service starts another program"
	sed -n 's/^User=//p' "$units"/hiwat-*.service >"$dest/users"
	while read -r user; do
		grep -q "^u $user " "$dest$prefix"/lib/sysusers.d/hiwat-*.conf || fail "nobody makes the user $user"
	done <"$dest/users"
fi

# Every file belongs to a component that a package can take.
: >"$dest/parts"
for part in agent collector dashboards common; do
	DESTDIR=$dest/part "$cmake" --install "$build" --component $part >"$dest/log" 2>&1 || fail "component $part"
	[ -d "$dest/part" ] && (cd "$dest/part" && find . -type f) >>"$dest/parts"
	rm -rf "$dest/part"
done
(cd "$dest" && find ".$prefix" ".$(dirname "$agent_yaml")" -type f) | sort -u >"$dest/all"
sort "$dest/parts" | uniq -d | grep . && fail "two components install the same file"
sort -u "$dest/parts" | diff "$dest/all" - || fail "the components together are not what is installed"

[ "$failures" -eq 0 ]
