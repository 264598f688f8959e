#!/bin/sh
# Engine and Prometheus on the same series: agree.sh AGREE COLLECTOR PROMTOOL SOURCE some|all. "all" takes minutes and wants
# each alert to have fired on both sides.
set -eu
agree=$1 collector=$2 promtool=$3 source=$4 much=$5
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
rules=$source/collector/rules.d

run()
{
	mkdir "$dir/$1"
	"$agree" "$rules" "$source/tests/prometheus/$1.txt" "$2" "$3" "$dir/$1" "$promtool" "$dir/fired"
}

if [ "$much" = some ]; then
	run hours 10 110
	echo "$(sort -u "$dir/fired" | wc -l) alerts fired"
	[ "$(sort -u "$dir/fired" | wc -l)" -ge 45 ]
	exit
fi
run hours 10 1080
run sizing 10 500
run weeks 3600 1000

# Those that the collector itself judges are no matter of the engine's.
"$collector" rules -r "$rules" export --prometheus | awk '
	/^      - alert: / { passed_on = 0 }
	/hiwat_alert_firing|hiwat_collector_info/ { passed_on = 1 }
	/^          severity: / { severity = $2 }
	/^          rule: / && !passed_on { print $2, severity }' | sort -u >"$dir/wanted"
sort -u "$dir/fired" >"$dir/fired.sorted"
if ! comm -23 "$dir/wanted" "$dir/fired.sorted" | awk '{ print "never fired: " $0 } END { exit NR > 0 }'; then
	exit 1
fi
echo "$(wc -l <"$dir/wanted") alerts fired and ended alike"
