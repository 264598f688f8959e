#!/bin/sh
# Few descriptors and many clients: the collector keeps some for itself, so that it still answers and stores.
# usage: few_files.sh BUILD_DIRECTORY
# shellcheck disable=SC2154,SC2119,SC2034,SC3045 # lib.sh reads and sets variables; every sh here knows ulimit -n
set -eu

BUILD=$1
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
trap 'end_all; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

few() {
	ulimit -n 64
	exec "$@"
}
metric() { curl -sf -m 10 "$web/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }
has_snapshots() { [ "$(metric hiwat_collector_snapshots_total)" -ge "$1" ]; }

receiver_port=1
echo unused >"$work/secret"
snapshot_interval=1s
configure_collector 0
sed -i '/_file: .*tls/d' "$work/collector.yaml"
start collector few "$BUILD/collector/hiwat-collector" run -c "$work/collector.yaml"
until_true 20 has_port collector 'web: listening on 127.0.0.1 port' || fail "the collector did not start"
web_port=$(port_of collector 'web: listening on 127.0.0.1 port')
web=http://127.0.0.1:$web_port
start clients "$BUILD/tests/bench/hiwat-bench-load" -p "$(port_of collector 'ingest: listening on 127.0.0.1 port')" \
	-w "$web_port" -h 200 -s 60 -i 1000
sleep 2
# At the first try: later some clients may have been turned away, and there would be room again.
connections=$(metric hiwat_collector_connections)
[ "${connections:-0}" -ge 8 ] || fail "'$connections' connections: no answer, or the clients did not come"
before=$(metric hiwat_collector_snapshots_total)
until_true 20 has_snapshots $((before + 2)) || fail "no snapshot while the clients hold on"
end collector TERM
say "ok: answers and stores with all connections taken"
