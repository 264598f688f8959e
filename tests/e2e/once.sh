#!/bin/sh
# once.sh AGENT: the command lines of hiwat-agent once and doctor on this host: statuses, messages, what they print.
set -u
agent=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

fail() {
	echo "FAIL: $*" >&2
	failures=$((failures + 1))
}

# expect STATUS COMMAND...: runs it, keeps $dir/out and $dir/err.
expect() {
	want=$1
	shift
	"$@" >"$dir/out" 2>"$dir/err"
	got=$?
	[ "$got" -eq "$want" ] || fail "status $got, not $want: $* ($(head -n 1 "$dir/err"))"
}

says() {
	grep -q -- "$1" "$dir/err" || fail "standard error does not say '$1' but '$(head -n 1 "$dir/err")'"
}

prints() {
	grep -q -- "$1" "$dir/out" || fail "standard output lacks '$1'"
}

: >"$dir/agent.yaml"
expect 0 "$agent" once -c "$dir/agent.yaml"
prints '^hiwat_cpu_seconds_total{mode="idle"} [0-9]'
prints '^hiwat_files_open [0-9]'
prints '^hiwat_sampler_up{sampler="net"} 1$'
prints '^# TYPE hiwat_netif_packets_total counter$'

expect 0 "$agent" once -c "$dir/agent.yaml" system
prints '^hiwat_files_open [0-9]'
grep -q '^hiwat_cpu_seconds_total' "$dir/out" && fail 'once system prints CPU times'

expect 0 "$agent" once list
prints '^interrupts '
prints '^dns_probe '

expect 2 "$agent" once nonsense
says "unknown sampler 'nonsense'"
expect 2 "$agent" once -z
says "unknown option '-z'"
expect 2 "$agent" once -c
says 'needs a value'
echo 'nonsense: 1' >"$dir/bad.yaml"
expect 2 "$agent" once -c "$dir/bad.yaml"
says 'bad.yaml:1:1'

# Nothing to sample is not success.
printf 'dns:\n  unbound_control_socket: %s/nobody\n' "$dir" >"$dir/nobody.yaml"
expect 3 "$agent" once -c "$dir/nobody.yaml" dns
says 'dns: missing: connect .*/nobody: No such file or directory'
says 'nothing could be sampled'
[ -s "$dir/out" ] && fail 'once prints series of a failed sampler'

# What the configuration disables does not run.
printf 'samplers:\n  disabled: [net]\n' >"$dir/less.yaml"
expect 0 "$agent" once -c "$dir/less.yaml"
grep -q '^hiwat_netif' "$dir/out" && fail 'a disabled sampler ran'

"$agent" doctor -c "$dir/less.yaml" >"$dir/out" 2>"$dir/err"
[ $? -le 1 ] || fail "doctor: $(head -n 1 "$dir/err")"
prints '^as user '
prints '^interrupts (.*): ok, [0-9]* values, [0-9]* us$'
prints '^  read /proc/stat: ok, [0-9]* bytes, [0-9]* us$'
prints '^net (.*): disabled by the configuration$'
expect 1 "$agent" doctor -c "$dir/nobody.yaml"
prints '^dns (.*): missing: connect .*/nobody: No such file or directory$'
expect 2 "$agent" doctor -u no-such-user-here
expect 2 "$agent" doctor extra

# A socket that this user may not use: the grant names its group.
if [ "$(id -u)" -eq 0 ] && id nobody >/dev/null 2>&1 && command -v python3 >/dev/null; then
	group=$(getent group 1 | cut -d: -f1)
	python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])' "$dir/nobody"
	chgrp "$group" "$dir/nobody" && chmod 660 "$dir/nobody" && chmod 755 "$dir" && chmod 644 "$dir/nobody.yaml"
	cp "$agent" "$dir/agent" && chmod 755 "$dir/agent"
	expect 1 "$dir/agent" doctor -c "$dir/nobody.yaml" -u nobody
	prints '^as user nobody$'
	prints '^dns (.*): denied: connect .*/nobody: Permission denied$'
	prints "^    grant: usermod -a -G $group nobody$"
fi

[ "$failures" -eq 0 ]
