#!/bin/sh
# A Prometheus that runs beside a collector and an agent: all exported rules can be evaluated on what is served, and what
# the agent's host delivers makes an alert: live.sh BUILD_DIRECTORY PROMETHEUS
# shellcheck disable=SC2154,SC2119 # lib.sh reads and sets variables
set -eu

BUILD=$1
prometheus=$2
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
trap 'end_all; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

address() { sed -n 's/.*msg="Listening on" address=\(127[0-9.:]*\).*/\1/p' "$work/prometheus.log" | tail -n 1; }
listens() { [ -n "$(address)" ]; }
# number EXPRESSION: the first value of an instant query; nothing when there is none.
number() {
	curl -sf -m 10 -G --data-urlencode "query=$1" "$url/api/v1/query" | sed -n 's/.*"value":\[[^,]*,"\([^"]*\)"\].*/\1/p'
}
is_one() { [ "$(number "$1")" = 1 ]; }
rules_with() { curl -sf -m 10 "$url/api/v1/rules" | grep -o "\"health\":\"$1\"" | wc -l; }
are_evaluated() { [ "$(rules_with ok)" = "$alerts" ] || [ "$(rules_with err)" -gt 0 ]; }

make_certificates
receiver_port=1
echo unused >"$work/secret"
configure_collector 0
start_collector
configure_agent
start_agent

# An alert that any host gives: more than no open file at all. The rest is as shipped.
cat >>"$work/collector.yaml" <<EOF
overrides:
  - { rule: files-filling, set: { warning: 0.0000001 } }
EOF
"$BUILD/collector/hiwat-collector" rules -c "$work/collector.yaml" export --prometheus >"$work/hiwat.rules.yml"
alerts=$(grep -c '^      - alert: ' "$work/hiwat.rules.yml")
sed "s/127\.0\.0\.1:9781/127.0.0.1:$web_port/; s/\(_interval:\) 10s/\1 1s/" "$source_dir/deploy/prometheus/prometheus.yml" \
	>"$work/prometheus.yml"
start prometheus "$prometheus" --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" \
	--web.listen-address=127.0.0.1:0
until_true 60 listens || fail "Prometheus did not start"
url=http://$(address)
until_true 60 are_evaluated || fail "$(rules_with ok) of $alerts rules were evaluated"
[ "$(rules_with err)" = 0 ] || fail "rules that cannot be evaluated: $(curl -sf "$url/api/v1/rules" | grep -o '"lastError":"[^"]*"' | head -3)"
until_true 60 is_one "count(hiwat_sampler_up{host=\"$host\",sampler=\"settings\"})" ||
	fail "no series of the agent: $(number 'count(hiwat_sampler_up)')"
until_true 60 is_one "count(ALERTS{alertname=\"FilesFilling\",host=\"$host\",severity=\"warning\"})" || fail "no alert"
[ "$(number 'count(ALERTS{alertname="HiwatCollectorAbsent",alertstate="firing"})')" = '' ] || fail "the collector is said to be absent"
say "ok: $alerts rules are evaluated, and one of them is an alert"
