#!/bin/sh
# Shows hiwat at work on this host: builds it, starts a collector and an agent on loopback with mutual TLS, shows the host
# live, then lets the accept queue of a listener overflow and shows the alert arriving at a webhook.
# usage: demo.sh [--keep]   --keep leaves it running and says how to stop it
# Needs root only to install packages that are missing; works without a network once they are there. Can be run twice.
# shellcheck disable=SC2154,SC2119 # lib.sh: start NAME sets pid_NAME
set -eu

keep=no
case "${1:-}" in
'') ;;
--keep) keep=yes ;;
*)
	echo "usage: demo.sh [--keep]" >&2
	exit 2
	;;
esac
cd "$(dirname "$0")/../.."
sh deploy/ci/install.sh demo
cmake --preset release -DBUILD_TESTING=OFF -DHIWAT_TOOLS=ON >/dev/null
cmake --build --preset release
BUILD=$PWD/build/release
export BUILD

. ./tests/e2e/lib.sh
finish() {
	status=$?
	trap - EXIT INT TERM
	if [ "$keep" = yes ] && [ $status = 0 ]; then
		say
		say "Still running. Look: $BUILD/collector/hiwat-collector top -u $web"
		say "and $web/metrics, $web/metrics/hosts, $web/api/v1/hosts, $web/api/v1/alerts"
		say "Stop: kill$pids; sleep 4; rm -r $work"
		exit 0
	fi
	end_all
	rm -rf "$work"
	exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

say "== A throw-away certificate authority, a webhook receiver, a collector, an agent"
make_certificates
start_receiver -t 86400
configure_collector 0
start_collector
configure_agent
start_agent
until_true 20 has_resources || fail "no record of the agent arrived"
sleep 8 # a trend needs a few samples

say
say "== This host, live: what has the least headroom"
top_of -n 15
say
say "== The accept queue of a listener on loopback overflows"
"$BUILD/tests/tools/hiwat-test-overflow" -s 4
until_true 30 has_page '"event":"trigger".*listen' || fail "no alert arrived"
say
say "== The alert, as the webhook received it (signature verified)"
grep '"event":"trigger".*listen' "$work/pages" | tail -n 1 |
	sed 's/\(,\)"\(event\|key\|level\|cause\|summary\|opened\|lines\|reason\|remedy\|document\|description\)"/\1\n  "\2"/g'
