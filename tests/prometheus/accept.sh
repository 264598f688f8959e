#!/bin/sh
# Prometheus accepts what rules export writes, the README tells how much that is, and overrides are in it:
# accept.sh COLLECTOR PROMTOOL SOURCE
set -eu
collector=$1 promtool=$2 source=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail()
{
	echo "accept.sh: $*" >&2
	exit 1
}

"$collector" rules -r "$source/collector/rules.d" export --prometheus >"$dir/hiwat.rules.yml"
"$promtool" check rules "$dir/hiwat.rules.yml" || fail "promtool refuses the rules"
cp "$source/deploy/prometheus/prometheus.yml" "$dir"
"$promtool" check config "$dir/prometheus.yml" || fail "promtool refuses the configuration"

# What is not there is said: in the file and alone.
"$collector" rules -r "$source/collector/rules.d" export --prometheus --list-missing >"$dir/missing"
while read -r line; do
	grep -qxF "#   $line" "$dir/hiwat.rules.yml" || fail "the file's head does not say: $line"
done <"$dir/missing"

# Rules there and not there make all rules (a profile's rows, with a slash, are none); the numbers are those of the README.
all=$("$collector" rules -r "$source/collector/rules.d" list | grep -vc '^[^ ]*/')
there=$(sed -n 's/^          rule: //p' "$dir/hiwat.rules.yml" | grep -vx collector-absent | sort -u | wc -l)
alerts=$(grep -c '^      - alert: ' "$dir/hiwat.rules.yml")
alerts=$((alerts - 1))
sed 's/ .*//' "$dir/missing" | sort -u >"$dir/ids"
missing=0
while read -r id; do
	grep -qx "          rule: $id" "$dir/hiwat.rules.yml" || missing=$((missing + 1))
done <"$dir/ids"
[ $((there + missing)) = "$all" ] || fail "$there rules are there and $missing missing, of $all"
[ "$there" -ge 45 ] || fail "only $there rules"
grep -q "^# $there rules are here, as $alerts alerts\." "$dir/hiwat.rules.yml" || fail "the head has other numbers than $there, $alerts"
said="$there of the $all rules, as $alerts alerts"
tr '\n' ' ' <"$source/README.md" | grep -qF "$said" || fail "README.md does not say: $said"

# Figures that the configuration sets otherwise; names are patterns there, so their dots are escaped.
cat >"$dir/collector.yaml" <<EOF
rules_dir: $source/collector/rules.d
state_dir: $dir
overrides:
  - { rule: files-filling, set: { warning: 0.7 } }
  - { rule: files-filling, host: db1.example.org, set: { warning: 0.85 } }
  - { rule: ports-filling, off: true }
  - { rule: swap-filling, host: db1.example.org, off: true }
  - { rule: vnodes-filling, label: role=nas, set: { warning: 0.99 } }
EOF
"$collector" rules export --prometheus -c "$dir/collector.yaml" >"$dir/overridden.yml"
"$promtool" check rules "$dir/overridden.yml" || fail "promtool refuses the rules with overrides"
for wanted in \
	'hiwat_files_open{host!~"db1\\.example\\.org"} / (hiwat_files_limit{host!~"db1\\.example\\.org"} != 0) >= 0.7' \
	'or hiwat_files_open{host="db1.example.org"} / (hiwat_files_limit{host="db1.example.org"} != 0) >= 0.85' \
	'hiwat_swap_bytes_used{host!~"db1\\.example\\.org"}' \
	'#   ports-filling warning: switched off by an override' \
	'#   vnodes-filling warning: overridden for hosts with role=nas, which is no label of their series'; do
	grep -qF -- "$wanted" "$dir/overridden.yml" || fail "with overrides there is no: $wanted"
done
! grep -q 'swap.*host="db1' "$dir/overridden.yml" || fail "swap-filling is off on db1.example.org, but there"

# Wrong usage.
status=0
"$collector" rules export 2>"$dir/err" || status=$?
[ $status = 2 ] || fail "export without --prometheus: status $status"
