#!/bin/sh
# rules_test.sh COLLECTOR AGENT: what `rules test` says of cases that hold, that fail, and of files with mistakes.
set -u
collector=$1 agent=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

cat >"$dir/rules.yaml" <<'EOF'
rules:
  - id: states
    cause: pf
    threshold_source: ours
    reason: because
    expr: hiwat_pf_states / on () hiwat_pf_limit{pool="states"}
    warning: 0.80
    summary: '{{used}} of {{limit}}'
EOF
cat >"$dir/info.txt" <<'EOF'
Status: Enabled for 5 days 03:51:55 Debug: err
State Table                          Total             Rate
  current entries                     7999
  searches                            1000            1.0/s
  inserts                               10            0.0/s
  removals                               1            0.0/s
EOF
printf 'states        hard limit    10000\n' >"$dir/memory.txt"

# says STATUS TEXT: the file of cases on standard input ends with that status and says that.
says() {
	cat >"$dir/cases.yaml"
	# shellcheck disable=SC2086 # options are words
	"$collector" rules -r "$dir/rules.yaml" -a "$agent" ${options:-} test "$dir/cases.yaml" >"$dir/out" 2>&1
	status=$?
	if [ "$status" -ne "$1" ] || ! grep -qF -e "$2" "$dir/out"; then
		echo "FAIL: expected status $1 and '$2'; status $status, said:" >&2
		cat "$dir/out" >&2
		failures=$((failures + 1))
	fi
}

complete='
tests:
  - name: from bytes
    rule: states
    os: openbsd
    input:
      - { sampler: pf, kind: pfctl-info, file: info.txt }
      - { sampler: pf, kind: pfctl-memory, os: openbsd, file: memory.txt }
      - { sampler: pf, at: 20s, kind: pfctl-info, file: info.txt, replace: { "7999": "8000" } }
      - { sampler: pf, at: 40s, verdict: denied }
      - { sampler: pf, at: 60s, verdict: ok }
      - { sampler: pf, at: 60s, kind: pfctl-info, file: info.txt, replace: { "7999": "10" } }
    expect:
      - { at: 10s, status: "", boundary: below }
      - { at: 20s, status: warning, boundary: at, summary: "8000 of 10000" }
      - { at: 40s, status: unknown warning }
      - { at: 120s, status: "" , incidents: { pf: 1 }, pages: 0 }
'
echo "$complete" | says 0 "1 cases, 1 passed, 0 failed"
options=--coverage
echo "$complete" | says 0 "1 rules, 0 lack a case"
echo "$complete" | sed '/40s/d' | says 1 "MISSING"
options=
echo "$complete" | sed 's/8000 of/8001 of/' | says 1 "cases.yaml:15: from bytes: summary: expected \"8001 of 10000\", seen \"8000 of 10000\""
echo "$complete" | sed 's/20s, status: warning/20s, status: ""/' | says 1 "status at 20s: expected \"\", seen \"warning\""
echo "$complete" | sed 's/"8000"/"9000"/' | says 1 "boundary: expected \"a value at the threshold 0.8\", seen \"0.9\""
echo "$complete" | sed 's/pf: 1/pf: 2/' | says 1 "incidents at 120s"
echo "$complete" | sed 's/pages: 0/pages: 1/' | says 1 "pages at 120s: expected \"1\", seen \"0\""
echo "$complete" | sed 's/pages:/page:/' | says 2 "cases.yaml:17:56: unknown key 'page'; allowed: at, status"
echo "$complete" | sed 's/"7999": "8000"/"7998": "8000"/' | says 2 "cases.yaml:9:78: '7998' does not occur in the input"
echo "$complete" | sed 's/"7999": "8000"/"0": "8000"/' | says 2 "occurs more than once"
echo "$complete" | sed 's/memory.txt/no.txt/' | says 2 "no.txt: No such file"
echo "$complete" | sed 's/rule: states/rule: stats/' | says 2 "cases.yaml:4:11: no rule 'stats'"
echo "$complete" | sed 's/at: 10s/at: 11s/' | says 2 "no record at that time; records come every 10s"
echo "$complete" | sed 's/verdict: denied/verdict: no/' | says 2 "no verdict 'no'; allowed: ok, denied"
echo "$complete" | sed 's/kind: pfctl-memory/kind: pfctl-m/' | says 2 "unknown kind 'pfctl-m'"
echo "$complete" | sed 's/file: memory.txt/text: "nothing known"/' | says 1 "input: expected"
echo 'tests: [{name: a, series: ["hiwat_pf_states: 5y"], expect: [{at: 0s, status: ""}]}]' |
	says 2 "cases.yaml:1:28: '5y': values such as 5"
echo 'tests: [{name: a, series: ["hiwat_pf_state: 5"], expect: [{at: 0s, status: ""}]}]' |
	says 2 "no metric 'hiwat_pf_state'"
echo 'tests: [{name: a, input: [{batch: rules.yaml}], expect: [{at: 0s, status: ""}]}]' | says 1 "the decoder"
options=--coverage
# A rule without anything to judge is no quiet one.
echo 'tests: [{name: a, rule: states, series: ["hiwat_files_open: 5"], expect: [{at: 0s, status: "", boundary: below}]}]' |
	says 1 "states                         MISSING   MISSING   MISSING"
options=
echo 'tests: [{name: a, rule: states, hosts: 3, fleet: [{at: 0s, hosts: 2-4}], expect: [{at: 0s, status: ""}]}]' |
	says 2 "'hosts' must be a number or a range such as 2-5, of 1 to 3"
mkdir "$dir/bin"
cp "$collector" "$dir/bin/hiwat-collector"
cp "$agent" "$dir/bin/hiwat-agent"
echo "$complete" >"$dir/cases.yaml"
# Without -a the agent beside the collector is taken.
"$dir/bin/hiwat-collector" rules -r "$dir/rules.yaml" test "$dir/cases.yaml" >"$dir/out" 2>&1 || {
	echo "FAIL: without -a: $(cat "$dir/out")" >&2
	failures=$((failures + 1))
}
agent=$dir/none
echo "$complete" | says 2 "the program cannot be run; -a names it"
"$collector" rules test >"$dir/out" 2>&1
status=$?
if [ $status -ne 2 ] || ! grep -q "test needs a file of cases" "$dir/out"; then
	echo "FAIL: without a file: $(cat "$dir/out")" >&2
	failures=$((failures + 1))
fi

[ "$failures" -eq 0 ]
