#!/bin/sh
# Installs what the tests need, builds with gcc, clang and the sanitizers, and runs all quick tests.
# usage: tests/run.sh [CONFIGURATION...]   dev, clang, asan, fuzz; all of them when none is named
# The last line says how many passed and failed. BUILD_DIR of each configuration: build/CONFIGURATION.
set -u

cd "$(dirname "$0")/.." || exit 1
sh deploy/ci/install.sh test || exit 1
sh deploy/cross/install.sh build/zig >/dev/null || echo "no cross compiler: what is of FreeBSD and OpenBSD is not compiled"
passed=0
failed=0
[ $# -gt 0 ] || set -- dev clang asan fuzz

for preset; do
	echo "== $preset"
	if ! cmake --preset "$preset" >"/tmp/hiwat-configure.$$" 2>&1; then
		cat "/tmp/hiwat-configure.$$"
		failed=$((failed + 1))
		continue
	fi
	if ! cmake --build --preset "$preset" >"/tmp/hiwat-build.$$" 2>&1; then
		tail -n 60 "/tmp/hiwat-build.$$"
		failed=$((failed + 1))
		continue
	fi
	junit=$PWD/build/$preset/ctest.xml
	rm -f "$junit"
	ctest --preset "$preset" -j 2 --output-junit "$junit"
	tests=$(sed -n 's/.*[[:space:]]tests="\([0-9]*\)".*/\1/p' "$junit" | head -n 1)
	bad=$(sed -n 's/.*[[:space:]]failures="\([0-9]*\)".*/\1/p' "$junit" | head -n 1)
	if [ "${tests:-0}" -eq 0 ]; then # no test ran: that is a failure, not a success
		tests=1
		bad=1
	fi
	passed=$((passed + tests - bad))
	failed=$((failed + bad))
done
rm -f "/tmp/hiwat-configure.$$" "/tmp/hiwat-build.$$"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
