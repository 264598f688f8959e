#!/bin/sh
# audit.sh AGENT COLLECTOR SOURCE: saved settings through hiwat-agent parse and hiwat-collector check, as people type it; and
# explain, with the figures that hold for a host.
set -u
agent=$1 collector=$2 source_dir=$3
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

fail() {
	echo "FAIL: $*" >&2
	failures=$((failures + 1))
}

# audit KIND FILE OPTION...: exit status 0, whatever deviates.
audit() {
	kind=$1 file=$2
	shift 2
	"$agent" parse "$kind" "$file" >"$dir/values" || fail "parse $kind"
	"$collector" check -r "$source_dir/collector/rules.d" "$@" "$dir/values" >"$dir/out" 2>"$dir/err" ||
		fail "check $kind $*: status $?, $(cat "$dir/err")"
}

prints() {
	grep -qF -- "$1" "$dir/out" || fail "no '$1' in: $(cat "$dir/out")"
}

lacks() {
	! grep -qF -- "$1" "$dir/out" || fail "'$1' in: $(cat "$dir/out")"
}

cat >"$dir/sysctl.txt" <<'END'
kern.ostype: FreeBSD
kern.osrelease: 12.1-RELEASE-p3
kern.ipc.somaxconn: 128
kern.ipc.nmbclusters: 503956
net.inet.tcp.sendspace: 65535
kern.coredump: 1
END
audit sysctl "$dir/sysctl.txt" -l role=nas
prints "advice: nas: kern.ipc.somaxconn is 128, FREENAS says at least 8192: sysctl kern.ipc.somaxconn=8192,"
prints "advice: nas: kern.coredump is 1, FREENAS says 0:"
prints "hw.ata.to no longer exists"
lacks "nmbclusters"
lacks "sendspace"
prints "4 settings compared"
audit sysctl "$dir/sysctl.txt" -l role=nas -p flood
prints "advice: flood: kern.ipc.somaxconn is 128, DOS says at least 32768:"
lacks "FREENAS says at least 8192"
# The release of the text stands unless another is given.
audit sysctl "$dir/sysctl.txt" -l role=nas --os freebsd-8.2
lacks "hw.ata.to no longer exists"

cat >"$dir/named.conf" <<'END'
options {
	directory "/var/named";
	recursive-clients 2000;
	max-cache-ttl 60;
	max-cache-size 102400;
};
END
audit named-conf "$dir/named.conf" -p resolver
prints "advice: resolver: recursive-clients is 2000, RECURSIVE says at least 1000000: in named.conf"
prints "advice: resolver: max-cache-size is 102400 ("
prints "version is not set"
lacks "max-cache-ttl is"

printf '%s\r\n' 'Windows Registry Editor Version 5.00' '' \
	'[HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters]' '"TcpTimedWaitDelay"=dword:000000f0' \
	>"$dir/tcpip.reg"
audit registry "$dir/tcpip.reg" -p flood
prints "TcpTimedWaitDelay is 240"

"$collector" check -r "$source_dir/collector/rules.d" -p fload "$dir/values" >"$dir/out" 2>"$dir/err"
[ $? -eq 3 ] || fail "an unknown profile is taken"
grep -q "no profile fload; rules list prints all" "$dir/err" || fail "unknown profile: $(cat "$dir/err")"

cat >"$dir/collector.yaml" <<END
rules_dir: $source_dir/collector/rules.d
overrides:
  - {rule: nas/kern.ipc.somaxconn, set: {value: 4096}, label: role=nas}
  - {rule: listen-overflow, set: {per_second: 7}, host: db1}
  - {rule: swap-filling, off: true, host: db1}
END
explain() {
	"$collector" rules -c "$dir/collector.yaml" explain "$@" >"$dir/out" 2>"$dir/err" || fail "explain $*: $(cat "$dir/err")"
}
explain nas/kern.ipc.somaxconn -l role=nas
prints "at least 8192, on such a host 4096"
explain nas/kern.ipc.somaxconn -l role=web
lacks 4096
explain listen-overflow --host db1
prints "per_second: 100, on db1 7"
explain listen-overflow --host db2
lacks "on db2"
explain swap-filling -n db1
prints "switched off on db1"
! "$collector" rules -c "$dir/collector.yaml" explain nas/nothing 2>"$dir/err" || fail "an unknown row is explained"

unfed() {
	"$collector" rules -r "$source_dir/collector/rules.d" list --evaluable "$1" >"$dir/out" 2>"$dir/err"
}
unfed linux || fail "list --evaluable linux: $(cat "$dir/err")"
prints "pf-memory                    lacks hiwat_pf_counter_total"
prints "mbuf-jumbo-default           lacks hiwat_sysctl{name=\"kern.ipc.nmbjumbo9\"}"
lacks "listen-overflow"
lacks "dns-servfail"
unfed freebsd || fail "list --evaluable freebsd: $(cat "$dir/err")"
prints "conntrack-filling"
lacks "mbuf-pool-filling"
! unfed plan9 || fail "a list of what plan9 delivers"

[ $failures -eq 0 ]
