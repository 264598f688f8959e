# What end-to-end tests and the demonstration share: a directory of their own, a collector and an agent in it, ends for
# exactly those processes that were started here. Source it; BUILD names the build directory.
# shellcheck shell=sh disable=SC2154,SC2119,SC2120 # start NAME sets pid_NAME; functions take their own arguments

work=$(mktemp -d "${TMPDIR:-/tmp}/hiwat.XXXXXX")
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
host=demo-host
pids=

say() { printf '%s\n' "$*"; }

fail() {
	say "FAILED: $*" >&2
	for log in "$work"/*.log; do
		[ -f "$log" ] && sed "s|^|$(basename "$log"): |" "$log" | tail -n 40 >&2
	done
	exit 1
}

# start NAME COMMAND...: in the background, output to NAME.log, its pid in $pid_NAME.
start() {
	name=$1
	shift
	: >>"$work/$name.log" # at once: whoever waits for a line reads it before the command has begun
	"$@" >>"$work/$name.log" 2>&1 &
	eval "pid_$name=$!"
	pids="$pids $!"
}

# end NAME SIGNAL: and wait until it is gone.
end() {
	eval "pid=\${pid_$1:-}"
	[ -n "$pid" ] || return 0
	kill "-$2" "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	eval "pid_$1="
}

end_all() {
	for pid in $pids; do
		kill -TERM "$pid" 2>/dev/null || true
	done
	for pid in $pids; do
		wait "$pid" 2>/dev/null || true
	done
	pids=
}

# until_true SECONDS COMMAND...: the command's success within that time.
until_true() {
	tries=$(($1 * 10))
	shift
	while [ "$tries" -gt 0 ]; do
		"$@" && return 0
		tries=$((tries - 1))
		sleep 0.1
	done
	return 1
}

# port_of LOG PATTERN: the number that follows PATTERN and a blank or colon in a log.
port_of() { sed -n "s/.*$2[ :]\([0-9][0-9]*\).*/\1/p" "$work/$1.log" | tail -n 1; }
has_port() { [ -n "$(port_of "$1" "$2")" ]; }

make_certificates() { sh "$source_dir/deploy/demo/ca.sh" "$work/tls" "$host"; }

start_receiver() { # ARGUMENTS...
	[ -f "$work/secret" ] || openssl rand -hex 24 >"$work/secret"
	start receiver "$BUILD/tests/tools/hiwat-test-receiver" -o "$work/pages" -s "$work/secret" "$@"
	until_true 10 has_port receiver listening || fail "the receiver did not start"
	receiver_port=$(port_of receiver listening)
}

# configure_collector [INGEST-PORT]: a port once taken stays, so that agents find a restarted collector.
configure_collector() {
	mkdir -p "$work/collector"
	cat >"$work/collector.yaml" <<EOF
ingest:
  port: ${1:-0}
  cert_file: $work/tls/collector.crt
  key_file: $work/tls/collector.key
  client_ca_file: $work/tls/ca.crt
web:
  port: 0
state_dir: $work/collector
rules_dir: ${rules_dir:-$source_dir/collector/rules.d}
snapshot_interval: ${snapshot_interval:-2s}
silent_after: ${silent_after:-60s}
routes:
  - name: demo
    url: http://127.0.0.1:$receiver_port/hook
    secret_file: $work/secret
EOF
}

start_collector() {
	: >"$work/collector.log"
	start collector "$BUILD/collector/hiwat-collector" run -c "$work/collector.yaml"
	until_true 20 has_port collector 'web: listening on 127.0.0.1 port' || fail "the collector did not start"
	ingest_port=$(port_of collector 'ingest: listening on 127.0.0.1 port')
	web_port=$(port_of collector 'web: listening on 127.0.0.1 port')
	web=http://127.0.0.1:$web_port
}

configure_agent() {
	mkdir -p "$work/agent"
	cat >"$work/agent.yaml" <<EOF
collectors: ["https://127.0.0.1:$ingest_port"]
tls:
  ca_file: $work/tls/ca.crt
  cert_file: $work/tls/$host.crt
  key_file: $work/tls/$host.key
name: $host
labels: {role: demo}
state_dir: $work/agent
interval: 1s
EOF
}

start_agent() { start agent "$BUILD/agent/hiwat-agent" run -c "$work/agent.yaml"; }

top_of() { "$BUILD/collector/hiwat-collector" top -u "$web" "$@"; }
has_resources() { top_of -n 0 2>/dev/null | grep -q "^$host "; }
has_page() { [ -f "$work/pages" ] && grep -q "$1" "$work/pages"; }
