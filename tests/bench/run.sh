#!/bin/sh
# Prints the figures of the README: tests/bench/run.sh [agent|collector|all]. Builds the release configuration; takes
# about three minutes. Peers are measured in the same run: prometheus-node-exporter and collectd of Debian when installed.
# Numbers are CPU time; the machine should be idle otherwise.
# shellcheck disable=SC2154,SC2119 # lib.sh: start NAME sets pid_NAME
set -eu

cd "$(dirname "$0")/../.."
what=${1:-all}
cmake --preset release -DBUILD_TESTING=ON >/dev/null
cmake --build --preset release >/dev/null
BUILD=$PWD/build/release
export BUILD
. ./tests/e2e/lib.sh
trap 'end_all; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; } # clock ticks of CPU time used so far
hertz=$(getconf CLK_TCK)

# per_cycle NAME PID TICKS-BEFORE CYCLES
per_cycle() {
	awk -v name="$1" -v t="$(ticks "$2")" -v b="$3" -v n="$4" -v hz="$hertz" \
		'BEGIN { printf "  %-44s %7.2f ms of CPU a cycle (%d cycles)\n", name, 1000 * (t - b) / hz / n, n }'
}

agent() {
	say "== One cycle of samples"
	"$BUILD/tests/bench/hiwat-bench-sample" 2000 | sed 's/^/  /'
	if command -v prometheus-node-exporter >/dev/null; then
		start exporter prometheus-node-exporter --web.listen-address=127.0.0.1:19100 --web.disable-exporter-metrics \
			--collector.disable-defaults --collector.interrupts --collector.stat --collector.cpu --collector.conntrack \
			--collector.diskstats --collector.filefd --collector.filesystem --collector.loadavg --collector.meminfo \
			--collector.netclass --collector.netdev --collector.netstat --collector.sockstat --collector.softnet
		sleep 2
		before=$(ticks "$pid_exporter")
		n=0
		while [ $n -lt 300 ]; do
			wget -q -O /dev/null http://127.0.0.1:19100/metrics || fail "no answer of prometheus-node-exporter"
			n=$((n + 1))
		done
		per_cycle "prometheus-node-exporter, nearest collectors" "$pid_exporter" "$before" $n
		end exporter TERM
	fi
	if command -v collectd >/dev/null; then
		mkdir -p "$work/collectd"
		{
			printf 'BaseDir "%s"\nPIDFile "%s/pid"\nInterval 0.1\nReadThreads 1\nWriteThreads 1\n' "$work/collectd" "$work/collectd"
			for plugin in conntrack cpu df disk interface irq load memory processes protocols swap tcpconns; do
				echo "LoadPlugin $plugin"
			done
			printf 'LoadPlugin csv\n<Plugin csv>\nDataDir "%s/collectd/csv"\n</Plugin>\n' "$work"
		} >"$work/collectd.conf"
		start collectd collectd -f -C "$work/collectd.conf"
		sleep 3
		before=$(ticks "$pid_collectd")
		sleep 20
		per_cycle "collectd, nearest plugins, csv" "$pid_collectd" "$before" 200
		end collectd TERM
	fi

	say "== The agent, running with mutual TLS and one CA file, 1 s interval"
	make_certificates
	start_receiver
	configure_collector 0
	start_collector
	configure_agent
	start_agent
	until_true 20 has_resources || fail "no record arrived"
	sleep 20
	before=$(ticks "$pid_agent")
	sleep 30
	per_cycle "hiwat-agent: sample, spool, deliver" "$pid_agent" "$before" 30
	awk '/^(Rss|Pss|Private_Dirty):/ { printf "  %s %.1f MB\n", $1, $2 / 1024 }' "/proc/$pid_agent/smaps_rollup"
	end agent TERM
	end collector TERM
	end receiver TERM
}

collector() {
	say "== The rules alone: batches of a server with pf, and of larger ones"
	"$BUILD/tests/bench/hiwat-bench-rules" "$source_dir/collector/rules.d" | sed 's/^/  /'
	say "== The collector: 200 hosts on kept-alive connections, plain, all rules; collector on one core, load on the other"
	start_receiver
	for values in 125 600 2500; do
		rm -rf "$work/collector"
		cat >"$work/collector.yaml" <<EOF
ingest: {port: 0}
web: {port: 0}
state_dir: $work/collector
rules_dir: $source_dir/collector/rules.d
EOF
		: >"$work/collector.log"
		start collector taskset -c 0 "$BUILD/collector/hiwat-collector" run -c "$work/collector.yaml"
		until_true 20 has_port collector 'web: listening on 127.0.0.1 port' || fail "the collector did not start"
		taskset -c 1 "$BUILD/tests/bench/hiwat-bench-load" -s 20 -h 200 -v $values \
			-p "$(port_of collector 'ingest: listening on 127.0.0.1 port')" \
			-w "$(port_of collector 'web: listening on 127.0.0.1 port')" || fail "load"
		end collector TERM
	done
	end receiver TERM

	say "== Replay: 1,000 hosts that speak every 10 seconds, all rules, one core"
	for values in 125 600; do
		rm -rf "$work/recording"
		taskset -c 0 "$BUILD/tests/bench/hiwat-bench-record" "$work/recording" 1000 $((7500 / values)) $values \
			"$BUILD/collector/hiwat-collector" replay -r "$source_dir/collector/rules.d" | sed "s/^/  $values values: /"
	done
	rm -rf "$work/recording"
}

case $what in
agent) agent ;;
collector) collector ;;
all)
	agent
	collector
	;;
*)
	echo "usage: tests/bench/run.sh [agent|collector|all]" >&2
	exit 2
	;;
esac
