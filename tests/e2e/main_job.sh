#!/bin/sh
# The main job, nothing mocked: a real overflow of an accept queue on this host becomes one alert at a webhook, with both
# programs killed at the worst moments in between; nothing is lost and nothing is told twice.
# usage: main_job.sh BUILD_DIRECTORY
# shellcheck disable=SC2154,SC2119 # lib.sh: start NAME sets pid_NAME
set -eu

BUILD=$1
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
trap 'end_all; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

triggers() { [ -f "$work/pages" ] && grep '"event":"trigger"' "$work/pages" | grep -c 'listen-overflow'; }
# Batches by what became of them, as the agent's disk has it.
agent_ledger() { "$BUILD/agent/hiwat-agent" ledger -c "$work/agent.yaml"; }
fate() { agent_ledger | awk -v fate="$1" '$1 == fate { print $2 }'; }
# Batches that the collector took, and those that it says will never come.
collector_ledger() { "$BUILD/collector/hiwat-collector" ledger -u "$web" | awk -v host="$host" -v n="$1" '$1 == host { print $n }'; }

make_certificates
start_receiver -t 300
configure_collector 0
start_collector
port=$ingest_port
configure_collector "$port"
configure_agent
start_agent
until_true 20 has_resources || fail "no record arrived"

say "kill -9 of the agent, then of the collector"
end agent KILL
start_agent
sleep 1
end collector KILL
start_collector
until_true 20 has_resources || fail "the collector forgot the host, or the agent did not come back"
sleep 3

say "overflow, and kill -9 of the collector in the middle of it"
"$BUILD/tests/tools/hiwat-test-overflow" -s 5 &
overflow=$!
sleep 2
end collector KILL
start_collector
wait "$overflow"
until_true 40 has_page '"event":"trigger".*listen-overflow' || fail "no alert arrived"

say "kill -9 of the agent, then of the collector, after the alert"
end agent KILL
end collector KILL
start_collector
start_agent
sleep 5
end agent TERM

produced=$(fate produced)
acknowledged=$(fate acknowledged)
in_spool=$(fate in_spool)
lost=0
for why in dropped_full dropped_corrupt rejected; do
	lost=$((lost + $(fate $why)))
done
[ "$produced" -gt 5 ] || fail "only $produced batches were produced"
[ "$produced" -eq $((acknowledged + in_spool + lost)) ] ||
	fail "ledger: produced $produced, acknowledged $acknowledged, in the spool $in_spool, lost $lost"
[ "$lost" -eq 0 ] || fail "$lost batches were lost"
[ "$(collector_ledger 6)" -eq "$produced" ] || fail "produced $produced, the collector took $(collector_ledger 6)"
[ "$(collector_ledger 8)" -eq 0 ] || fail "the collector says that $(collector_ledger 8) are lost"

# The settings of this host are held against the profiles that its role and its links select.
advice() { "$BUILD/collector/hiwat-collector" advice -u "$web" "$@" 2>&1; }
advice "$host" >"$work/advice" || fail "advice: exit status $?, $(cat "$work/advice")"
grep -q ' settings compared$' "$work/advice" || fail "advice: $(cat "$work/advice")"
! advice no-such-host >"$work/advice" || fail "advice on a host that is not there: $(cat "$work/advice")"
[ "$(triggers)" -eq 1 ] || fail "$(triggers) alerts instead of one: $(cat "$work/pages")"
say "ok: $produced batches produced, all received, one alert"
