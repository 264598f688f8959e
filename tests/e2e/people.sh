#!/bin/sh
# What people do to incidents of a running collector: silence, take over, and who may.
# usage: people.sh BUILD_DIRECTORY
# shellcheck disable=SC2154,SC2119,SC2034 # lib.sh reads and sets variables
set -eu

BUILD=$1
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
trap 'end_all; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
collector=$BUILD/collector/hiwat-collector

# expect STATUS COMMAND ARGUMENT...: of the collector, against the one that runs; $work/out and $work/err.
expect() {
	wanted=$1 command=$2
	shift 2
	got=0
	"$collector" "$command" -u "$web" "$@" >"$work/out" 2>"$work/err" || got=$?
	[ "$got" -eq "$wanted" ] || fail "status $got, not $wanted: $command $* ($(cat "$work/err"))"
}
says() { grep -q "$1" "$work/err" || fail "no '$1' but $(cat "$work/err")"; }
prints() { grep -q "$1" "$work/out" || fail "no '$1' but $(cat "$work/out")"; }
request() { curl -s -o "$work/out" -w '%{http_code}' -m 10 "$@"; }
has_incident() { "$collector" alerts -u "$web" | grep -q "$1"; }
pages() { [ ! -f "$work/pages" ] || grep -c "$1" "$work/pages" || true; }

make_certificates
start_receiver -t 120
mkdir "$work/rules"
cat >"$work/rules/own.yaml" <<'EOF'
rules:
  - id: always
    cause: always
    by: []
    threshold_source: ours
    reason: for the test
    warning: hiwat_memory_bytes > 0
    summary: it has memory
  - id: quiet
    cause: quiet
    by: []
    threshold_source: ours
    reason: for the test
    critical: hiwat_memory_bytes > 0
    summary: it has memory, too
EOF
rules_dir=$work/rules
configure_collector 0
printf 'oncall silence 0123456789abcdef0123\n# comment\nboss admin fedcba98765432100123\n' >"$work/tokens"
duty_secret=fedcba98765432100123456789abcdef
printf '%s\n' "$duty_secret" >"$work/duty"
sed -i "s|^web:|web:\n  tokens_file: $work/tokens\n  pagerduty_secret_file: $work/duty|" "$work/collector.yaml"
start_collector
own=$work/collector/admin.token
[ "$(stat -c %a "$own")" = 600 ] || fail "admin.token is of mode $(stat -c %a "$own")"

say "a silence that is there before the incident"
expect 0 silence -t "$own" add --comment 'work on it' --by somebody --for 30s rule=quiet role=demo
prints ' until 20'
id=$(sed 's/ .*//' "$work/out")
expect 0 silence list
prints "^$id  active .* rule=quiet role=demo  somebody (admin): work on it"
port=$ingest_port
sed -i "/^ingest:/,/^web:/s/port: 0/port: $port/" "$work/collector.yaml" # so that the agent finds it again
configure_agent
start_agent
until_true 20 has_page '"event":"trigger".*"cause":"always"' || fail "no page"
until_true 10 has_incident 'it has memory, too (silenced)' || fail "not shown as silenced: $("$collector" alerts -u "$web")"
[ "$(pages '"cause":"quiet"')" -eq 0 ] || fail "told although silenced"

say "taken over"
printf '0123456789abcdef0123\n' >"$work/token"
key=$("$collector" alerts -u "$web" | awk '/it has memory$/ { print $1 }')
expect 0 alerts -t "$work/token" --by me ack "$key"
until_true 5 has_incident 'it has memory (taken over)' || fail "not taken over"
curl -s "$web/api/v1/alerts/$key" | grep -q '"by":"me (oncall)"' || fail "by nobody"
expect 1 alerts -t "$work/token" close "$key"
says 'it ends by itself'
expect 1 alerts -t "$work/token" ack 00000000000000000000000000000000
says 'no incident of this key is open'
expect 2 alerts -t "$work/token" ack "../$key"

say "explained"
expect 0 explain "$key"
prints "^warning on $host: it has memory\$"
prints '^  taken over   me (oncall)'
prints '^always, warning since 20'
prints '^  value        [0-9.e+]*, threshold 0 (ours)'
prints '^  why          for the test'
expect 0 explain "$host"
prints '^critical on .*: it has memory, too$'
prints '^  status       open since .*, silenced$'
expect 1 explain 00000000000000000000000000000000
expect 1 explain nobody
expect 2 explain

say "taken over and given back at PagerDuty"
# duty STATUS ANSWER TYPE KEY [SECRET [TIME]]: one of its webhooks; one of two signatures holds.
duty() {
	printf '{"event":{"event_type":"%s","occurred_at":"%s","agent":{"summary":"on call"},"data":{"incident_key":"%s"}}}' \
		"$3" "${6:-$(date -u +%Y-%m-%dT%H:%M:%SZ)}" "$4" >"$work/event"
	mac=$(openssl dgst -sha256 -hmac "${5:-$duty_secret}" <"$work/event" | sed 's/.* //')
	got=$(request -H "X-PagerDuty-Signature: v1=$(printf '%064d' 0),v1=$mac" --data-binary "@$work/event" \
		"$web/api/v1/pagerduty")
	[ "$got" = "$1" ] || fail "status $got, not $1: duty $* ($(cat "$work/out"))"
	prints "$2"
}
duty 202 'given back' incident.unacknowledged "$key"
has_incident 'it has memory$' || fail "not given back: $("$collector" alerts -u "$web")"
duty 401 'does not hold' incident.acknowledged "$key" another
duty 202 'left alone' incident.acknowledged "$key" "$duty_secret" 2020-01-01T00:00:00.000Z
has_incident 'it has memory$' || fail "taken over by what is not signed, or old"
duty 202 acknowledged incident.acknowledged "$key"
duty 202 'left alone' incident.acknowledged "$key"
duty 202 'left alone' incident.resolved "$key"
duty 202 'left alone' incident.acknowledged '../../etc/passwd'
duty 202 'left alone' pagey.ping ''
duty 400 'no V3 webhook' '' "$key"
curl -s "$web/api/v1/alerts/$key" | grep -q '"status":"open".*"by":"on call (PagerDuty)"' || fail "not by who is on call"
[ "$(request -d '{}' "$web/api/v1/pagerduty")" = 401 ] || fail "without a signature"
[ "$(request -X PUT -d '{}' "$web/api/v1/pagerduty")" = 405 ] || fail "by PUT"
[ "$(request -H 'X-PagerDuty-Signature: v1=,v0=00,,v1=zz' -d '{}' "$web/api/v1/pagerduty")" = 401 ] || fail "nonsense"

say "the silence ends, also over a restart of the collector"
end collector KILL
start_collector
expect 0 silence list
prints "^$id  active"
expect 1 silence -t "$own" expire 0123456789abcdef
says 'no such silence'
expect 0 silence -t "$work/token" expire "$id"
until_true 20 has_page '"event":"trigger".*"cause":"quiet"' || fail "not told after the silence"
expect 0 silence list
[ ! -s "$work/out" ] || fail "still listed: $(cat "$work/out")"
expect 0 silence list -a
prints "^$id  ended"
[ "$(pages '"event":"trigger".*"cause":"always"')" -eq 1 ] || fail "told twice"

say "maintenance from the host"
agent() { "$BUILD/agent/hiwat-agent" "$@" >"$work/out" 2>"$work/err"; }
agent maintenance -c "$work/agent.yaml" 30m 'new "kernel"' || fail "maintenance: $(cat "$work/err")"
prints 'agreed$'
expect 0 silence list
prints ' host_uuid=.*  the host itself: new "kernel"$'
until_true 10 has_incident 'it has memory.*(silenced)' || fail "not silenced: $("$collector" alerts -u "$web")"
agent maintenance -c "$work/agent.yaml" 1h longer || fail "maintenance: $(cat "$work/err")"
expect 0 silence list
[ "$(wc -l <"$work/out")" -eq 1 ] || fail "two at once: $(cat "$work/out")"
agent maintenance -c "$work/agent.yaml" end || fail "maintenance: $(cat "$work/err")"
expect 0 silence list
[ ! -s "$work/out" ] || fail "still listed: $(cat "$work/out")"
for wrong in 9h 0s soon; do
	! agent maintenance -c "$work/agent.yaml" $wrong reason || fail "maintenance for $wrong"
done
sed "s|^state_dir:.*|state_dir: $work/stranger|" "$work/agent.yaml" >"$work/stranger.yaml"
! agent maintenance -c "$work/stranger.yaml" 30m reason || fail "a stranger"
says 'status 404: this host has delivered nothing yet'
uuid=$(cat "$work/agent/uuid")
sh "$source_dir/deploy/demo/ca.sh" "$work/tls" other-host
[ "$(request --cacert "$work/tls/ca.crt" --cert "$work/tls/other-host.crt" --key "$work/tls/other-host.key" \
	"https://127.0.0.1:$ingest_port/v1/maintenance" -d "{\"uuid\":\"$uuid\",\"seconds\":60,\"reason\":\"x\"}")" = 403 ] ||
	fail "for another host: $(cat "$work/out")"

say "who may not"
printf '0123456789abcdef0124\n' >"$work/wrong"
expect 1 silence -t "$work/wrong" add --comment c a=b
says 'this needs a token'
expect 3 silence -t "$work/nothing" add --comment c a=b
says 'No such file'
[ "$(request -X POST "$web/api/v1/silences" -d '{}')" = 401 ] || fail "without a token"
[ "$(request -X DELETE "$web/api/v1/silences/$id")" = 401 ] || fail "without a token"
auth="Authorization: Bearer fedcba98765432100123"
[ "$(request -X POST -H "$auth" "$web/api/v1/silences" -d '{"comment":"c","ends_unix":4000000000}')" = 422 ] || fail "for all"
grep -q 'match: at least one' "$work/out" || fail "$(cat "$work/out")"
[ "$(request -X POST -H "$auth" "$web/api/v1/silences" -d '[')" = 400 ] || fail "no JSON"
[ "$(request -X POST -H "$auth" "$web/api/v1/hosts" -d '{}')" = 405 ] || fail "hosts cannot be written"
grep -rq 'fedcba9876543210\|0123456789abcdef0123' "$work"/*.log && fail "a token in the log"

say "tokens that cannot be"
end collector TERM
printf 'oncall silence short\n' >"$work/tokens"
! "$collector" run -c "$work/collector.yaml" 2>"$work/err" || fail "started"
says "tokens:1: wanted: a token of at least 16 bytes"
printf 'oncall root 0123456789abcdef0123\n' >"$work/tokens"
! "$collector" run -c "$work/collector.yaml" 2>"$work/err" || fail "started"
says "tokens:1: wanted: a role"
say "ok"
