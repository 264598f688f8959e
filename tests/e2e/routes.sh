#!/bin/sh
# Where incidents would go, and a test that arrives.
# usage: routes.sh BUILD_DIRECTORY
# shellcheck disable=SC2154,SC2119,SC2034 # lib.sh reads and sets variables
set -eu

BUILD=$1
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
trap 'end_all; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
collector=$BUILD/collector/hiwat-collector

start_receiver -t 60
printf 'route: {receiver: none}\nreceivers: [{name: none}]\n' >"$work/alertmanager.yaml"
start alertmanager prometheus-alertmanager --config.file="$work/alertmanager.yaml" --storage.path="$work/alertmanager" \
	--web.listen-address=127.0.0.1:0 --cluster.listen-address=
until_true 30 has_port alertmanager address=127.0.0.1 || fail "Alertmanager did not start"
am_port=$(port_of alertmanager address=127.0.0.1)
start mail /usr/bin/python3 "$source_dir/tests/lib/mail_server.py" plain - - "$work/mails"
until_true 30 grep -q '^[0-9]' "$work/mail.log" || fail "the mail server did not start"
mail_port=$(cat "$work/mail.log")
cat >"$work/collector.yaml" <<EOF
routes:
  - {name: all, url: 'http://127.0.0.1:$receiver_port/', secret_file: $work/secret}
  - {name: mail, url: 'http://127.0.0.1:$receiver_port/', min_level: critical, match: [role=mail, 'rule=~mbuf-.*']}
  - {name: office, url: 'http://127.0.0.1:$receiver_port/', hours: ['mon-fri 08:00-18:00'], time_zone: Europe/Berlin}
  - {name: am, sink: alertmanager, urls: ['http://127.0.0.1:$am_port/', 'http://127.0.0.1:1'], match: ['host=nobody']}
  - {name: mail-ops, sink: email, url: 'smtp://127.0.0.1:$mail_port', starttls: false, from: hiwat@example.org,
     to: [ops@example.org], match: ['host=nobody']}
  - {name: nobody, url: 'http://127.0.0.1:1/', match: ['host=nobody'], timeout: 1s}
EOF

# expect STATUS WANTED ARGUMENT...: the routes that are taken, in order.
expect() {
	status=$1 wanted=$2
	shift 2
	got=0
	"$collector" routes -c "$work/collector.yaml" "$@" >"$work/out" 2>"$work/err" || got=$?
	[ "$got" -eq "$status" ] || fail "status $got, not $status: routes $* ($(cat "$work/err"))"
	taken=$(awk '$3 == "yes" { printf "%s ", $1 }' "$work/out")
	[ "$taken" = "$wanted" ] || fail "taken: '$taken', not '$wanted': routes $*"
}

expect 0 "all mail office " test --at 2026-12-01T07:00:00Z role=mail rule=mbuf-denied
expect 0 "all mail " test --at 2026-12-01T06:59:59Z role=mail rule=mbuf-denied
grep -q '^office .*not within its hours' "$work/out" || fail "no reason: $(cat "$work/out")"
expect 0 "all office " test --at 1796122800 level=warning role=mail rule=mbuf-denied host=db1
expect 0 "all " test --at 2026-12-05T12:00:00Z role=web
grep -q '^mail .*role=mail does not hold; rule=~mbuf-.\* does not hold' "$work/out" || fail "no reason: $(cat "$work/out")"
expect 2 "" test level=advice
expect 2 "" test role
expect 2 "" test --at yesterday role=mail
expect 2 "" send-test nowhere
grep -q 'no route nowhere' "$work/err" || fail "$(cat "$work/err")"

expect 0 "" send-test all
[ "$(wc -l <"$work/pages")" -eq 2 ] || fail "arrived: $(cat "$work/pages")"
grep -q '"event":"trigger".*Test of a route' "$work/pages" || fail "no trigger: $(cat "$work/pages")"
grep -q '"event":"resolve".*"status":"resolved"' "$work/pages" || fail "no end: $(cat "$work/pages")"
expect 0 "" send-test am
grep -q 'not everywhere: http://127.0.0.1:1: ' "$work/out" || fail "no word of the other member: $(cat "$work/out")"
curl -fsS "http://127.0.0.1:$am_port/metrics" >"$work/am.metrics"
for status in firing resolved; do
	grep -q "^alertmanager_alerts_received_total{status=\"$status\",version=\"v2\"} 1\$" "$work/am.metrics" ||
		fail "not $status: $(grep received_total "$work/am.metrics")"
done
expect 0 "" send-test mail-ops
[ "$(grep -c 'Test of a route: nothing is wrong' "$work/mails")" -eq 2 ] || fail "mails: $(cat "$work/mails")"
: >"$work/pages"
printf '0123456789abcdefABCDEF0123456789\n' >"$work/key"
printf 'http://127.0.0.1:%s/open/services/T0/B0/xxxx\n' "$receiver_port" >"$work/address"
cat >>"$work/collector.yaml" <<EOF
  - {name: duty, sink: pagerduty, url: 'http://127.0.0.1:$receiver_port/open/v2/enqueue', secret_file: $work/key}
  - {name: chat, sink: slack, secret_file: $work/address}
web:
  public_url: https://hiwat.example.org
rules_dir: $source_dir/collector/rules.d
EOF
expect 0 "" send-test duty
grep -q '"event_action":"trigger".*Test of a route.*"https://hiwat.example.org/api/v1/alerts/' "$work/pages" ||
	fail "no trigger: $(cat "$work/pages")"
grep -q '"event_action":"resolve"' "$work/pages" || fail "no end: $(cat "$work/pages")"
expect 0 "" send-test chat
grep -q '"text":"WARNING .*: Test of a route: nothing is wrong"' "$work/pages" || fail "no message: $(cat "$work/pages")"
grep -q '"text":"RESOLVED .*: Test of a route: nothing is wrong"' "$work/pages" || fail "no end: $(cat "$work/pages")"
"$collector" check-config -c "$work/collector.yaml" >"$work/out" 2>"$work/err" || fail "check-config: $(cat "$work/err")"
grep -q ', 8 routes' "$work/out" || fail "check-config: $(cat "$work/out")"
printf 'short\n' >"$work/key"
expect 2 "" send-test duty
grep -q 'a routing key has 32 letters and digits' "$work/err" || fail "$(cat "$work/err")"

expect 1 "" send-test nobody
grep -q 'route nobody: ' "$work/err" || fail "$(cat "$work/err")"

printf 'routes:\n  - {name: a, url: "http://x/", match: [role], hours: [lunch], time_zone: Moon/Base}\n' >"$work/collector.yaml"
expect 2 "" test role=mail
for place in :2:41 :2:56 :2:75; do
	grep -q "yaml$place" "$work/err" || fail "no mistake at $place: $(cat "$work/err")"
done
say "routes: ok"
