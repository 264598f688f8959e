#!/bin/sh
# What a live collector recorded, killed with -9 twice, gives the same incidents when it is replayed, at the same times, and
# the same bytes each time. The agent's own recording can be replayed too.
# usage: replay.sh BUILD_DIRECTORY
# shellcheck disable=SC2154,SC2119,SC2034 # lib.sh reads and sets variables
set -eu

BUILD=$1
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
trap 'end_all; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

replay() { "$BUILD/collector/hiwat-collector" replay -r "$source_dir/collector/rules.d" -c "$work/collector.yaml" "$@"; }
has_incident() { incidents_of_api | grep -q "$1"; }
is_recorded() { curl -sf -m 10 "$web/metrics" | grep -q '^hiwat_collector_recorded_batches_total [1-9]'; }
# One line an incident: key, status, worst level, host, cause, object, opened, ended.
incidents_of_api() {
	curl -sf -m 10 "$web/api/v1/alerts" | python3 -c '
import json, sys
for i in json.load(sys.stdin)["alerts"]:
    print(i["key"], i["status"], i["worst_level"], i["host"]["name"], i["cause"], i["object"], i["opened"], i.get("resolved"))' | sort
}
incidents_of_replay() {
	replay -o json "$@" | python3 -c '
import json, sys
newest = {i["key"]: i for i in json.load(sys.stdin)["verdicts"][0]["incidents"]}
for i in newest.values():
    print(i["key"], i["status"], i["worst_level"], i["host"], i["cause"], i["object"], i["opened"], i.get("ended"))' | sort
}

make_certificates
start_receiver -t 300
silent_after=8s
configure() {
	configure_collector "$1"
	printf 'record: {dir: %s/recording, min_free_bytes: 1}\n' "$work" >>"$work/collector.yaml"
}
configure 0
start_collector
configure "$ingest_port"
configure_agent
printf 'record: {dir: %s/agent-recording, min_free_bytes: 1}\n' "$work" >>"$work/agent.yaml"
start_agent
until_true 20 has_resources || fail "no record arrived"
"$BUILD/tests/tools/hiwat-test-overflow" -s 3 &
overflow=$!
until_true 40 has_incident ' critical .* listen ' || fail "no alert"
wait "$overflow"
until_true 20 is_recorded || fail "nothing is recorded"

say "kill -9 of the collector, then of the agent, then of the collector"
end collector KILL
start_collector
until_true 20 has_resources || fail "the agent did not come back"
sleep 3
end agent KILL
until_true 40 has_incident " open critical $host host " || fail "nobody noticed that the agent is gone"
incidents_of_api >"$work/live"
end collector KILL

incidents_of_replay "$work/recording" >"$work/replayed" || fail "replay"
[ "$(wc -l <"$work/live")" -ge 2 ] || fail "too few incidents: $(cat "$work/live")"
diff "$work/live" "$work/replayed" >&2 || fail "live (<) and replay (>) differ"
replay -v -o text "$work/recording" >"$work/first" || fail "replay as text"
replay -v -o text "$work/recording" >"$work/second" || fail "replay a second time"
cmp "$work/first" "$work/second" || fail "two replays differ"
grep -q '^gaps *1:' "$work/first" || fail "the collector's absence is not known: $(head -n 5 "$work/first")"

# host-silent is a page; the rules without it page less.
replay --noise-budget 0 "$work/recording" >/dev/null && fail "a noise budget of 0 was kept"
cp -r "$source_dir/collector/rules.d" "$work/rules"
awk '/- id: / { off = $3 == "host-silent" } !off' "$source_dir/collector/rules.d/fleet.yaml" >"$work/rules/fleet.yaml"
replay --compare "$work/rules" "$work/recording" >"$work/compared" || fail "replay --compare"
grep -q '^compared .* 1 only by .* 0 only by ' "$work/compared" || fail "compared: $(grep -A3 '^compared' "$work/compared")"

# An end that is torn is no damage; damage in the middle is named.
for file in "$work/recording"/*.rec; do
	printf '\267hw\345torn' >>"$file"
done
replay "$work/recording" >"$work/torn" || fail "a torn end is no damage"
grep -q '^torn ' "$work/torn" || fail "a torn end is not named"
file=$(find "$work/recording" -name '00000001-*.rec')
printf 'xxxxxxxx' | dd of="$file" bs=1 seek=2000 conv=notrunc 2>/dev/null
status=0
replay "$work/recording" >"$work/damaged" || status=$?
[ $status -eq 3 ] || fail "damage gives exit status $status"
grep -q "^damaged  *$file: at least 1 entries" "$work/damaged" || fail "damage is not named: $(cat "$work/damaged")"

replay "$work/agent-recording" >"$work/agent-replay" || fail "replay of the agent's recording"
grep -q '^recording .* 1 hosts' "$work/agent-replay" || fail "the agent's recording: $(cat "$work/agent-replay")"
say "ok: $(wc -l <"$work/live") incidents, the same again"
