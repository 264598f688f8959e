#!/bin/sh
# The tests that take long, by hand; results go into tests/LONG.md. Resumable: what was done is kept in build/long.done,
# one line a part, and is not done again until that file is removed.
# usage: tests/long.sh [SECONDS-PER-FUZZ-TARGET]   600 when not given
set -u

cd "$(dirname "$0")/.." || exit 1
seconds=${1:-600}
done_file=build/long.done
mkdir -p build
touch "$done_file"
passed=0
failed=0

# part NAME COMMAND...: runs it unless it is done, and notes the result.
part() {
	name=$1
	shift
	if grep -q "^ok $name " "$done_file"; then
		echo "-- $name: done before"
		passed=$((passed + 1))
		return
	fi
	began=$(date +%s)
	if "$@" >"build/long.$name.log" 2>&1; then
		echo "ok $name $(date -u +%Y-%m-%dT%H:%MZ) $(($(date +%s) - began)) s" | tee -a "$done_file"
		passed=$((passed + 1))
	else
		echo "FAILED $name, see build/long.$name.log"
		failed=$((failed + 1))
	fi
}

cmake --preset dev >/dev/null && cmake --build --preset dev >/dev/null || exit 1
cmake --preset fuzz >/dev/null && cmake --build --preset fuzz >/dev/null || exit 1

i=1
while [ $i -le 20 ]; do
	part "main_job.$i" tests/e2e/main_job.sh "$PWD/build/dev"
	i=$((i + 1))
done
if promtool=$(command -v promtool); then
	part prometheus tests/prometheus/agree.sh "$PWD/build/dev/tests/agree" "$PWD/build/dev/collector/hiwat-collector" \
		"$promtool" "$PWD" all
fi
for target in build/fuzz/tests/fuzz/fuzz_*; do
	if [ ! -x "$target" ] || [ -d "$target" ]; then
		continue
	fi
	name=$(basename "$target")
	what=${name#fuzz_}
	seeds=build/fuzz/tests/fuzz/seeds/${what#parse_}
	part "$name" "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=65536 \
		-artifact_prefix="build/long.$name-" "$seeds"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
