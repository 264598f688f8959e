#!/bin/sh
# check.sh AGENT COLLECTOR RULES CORPUS: the command line of hiwat-collector check, and verdicts that join several files.
set -u
agent=$1 collector=$2 rules=$3 corpus=$4
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

fail() {
	echo "FAIL: $*" >&2
	failures=$((failures + 1))
}

# judge STATUS OPTION...: check of $dir/values.
judge() {
	want=$1
	shift
	"$collector" check -r "$rules" "$@" <"$dir/values" >"$dir/out" 2>"$dir/err"
	got=$?
	[ "$got" -eq "$want" ] || fail "status $got, not $want: check $* ($(head -n 1 "$dir/out" "$dir/err"))"
}

prints() {
	grep -qF -- "$1" "$dir/out" || fail "standard output lacks '$1': $(cat "$dir/out")"
}

lacks() {
	grep -qF -- "$1" "$dir/out" && fail "standard output has '$1': $(cat "$dir/out")"
}

says() {
	grep -qF -- "$1" "$dir/err" || fail "standard error does not say '$1' but '$(cat "$dir/err")'"
}

# A healthy host is one line.
"$agent" parse netstat-m "$corpus/netstat-m--freebsd-4.11--healthy--05.txt" >"$dir/values"
judge 0
[ "$(cat "$dir/out")" = 'OK: 5 rules judged, 4 not (-v says why)' ] || fail "a healthy host: $(cat "$dir/out")"
judge 0 -v
prints 'not judged: mbuf-oversized: lacks hiwat_memory_bytes'
prints 'not judged: mbuf-pool-exhaustion-soon{pool="mbuf"}: compares this sample with a later one'

# The worst first, remedies in the words of the system that parse was told, once each.
"$agent" parse --os freebsd netstat-m "$corpus/netstat-m--freebsd-9.1--cluster-wrapped-below-zero--16.txt" >"$dir/values"
judge 2
head -n 1 "$dir/out" | grep -q '^CRITICAL: 1 critical, 13 warnings; ' || fail "first line: $(head -n 1 "$dir/out")"
sed -n 2p "$dir/out" | grep -q '^critical: mbuf-pool-exhausted{pool="jumbo_page"}: .* 12800 of 12800 ' ||
	fail "second line: $(sed -n 2p "$dir/out")"
prints 'mbuf-denied{pool="packet"}: Network buffers are refused (pool packet): 9211 times, since boot'
[ "$(grep -c 'do: sysctl kern.ipc.nmbjumbop=32768' "$dir/out")" -eq 1 ] || fail "a remedy is told twice, or not at all"
lacks unknown
prints 'not judged, since they compare samples: mbuf-pool-exhaustion-soon'
prints 'not judged, since they lack values, -v says which: mbuf-memory-filling, mbuf-undersized, mbuf-oversized'
judge 2 -v
prints '    why: '
judge 2 -o json
python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
first = d["findings"][0]
assert d["verdict"] == "CRITICAL" and d["judged"] == 6, d
assert first["rule"] == "mbuf-pool-exhausted" and first["labels"] == {"pool": "jumbo_page"}, first
assert first["value"] == 1 and first["threshold"] == 0.9 and first["limit"] == 12800 and not first["since_boot"], first
assert any(g["why"] == "series" and g["missing"] == "hiwat_mbuf_bytes_limit" for g in d["not_judged"]), d["not_judged"]
' "$dir/out" || fail "not the JSON that was expected: $(cat "$dir/out")"

# A counter of which only a later sample tells more: nothing judged, but said.
"$agent" parse kernel-log "$corpus/kernel-log--freebsd-7.2--ata-retries-then-failure--03.txt" >"$dir/values"
judge 3
prints 'UNKNOWN: nothing could be judged'
prints 'not judged: disk-failure{device="ad4"}: Disk ad4: commands were given up once; only a later sample'
says 'nothing could be judged from a single sample'

# Times.
"$agent" parse zpool-status "$corpus/zpool-status--linux-openzfs2.1--status-text-with-tabs--05.txt" >"$dir/values"
judge 0 -v
prints 'zpool-scrub-overdue{pool="pool1"}: counts from a time'
judge 0 --at 2023-03-01
lacks zpool-scrub-overdue
judge 1 --at 2023-03-20T12:00:00Z
prints 'Pool pool1 was last scrubbed 36 days ago'
judge 1 --at 1679313600
judge 1 --at now
for wrong in yesterday 2023-13-01 2023-03-01T25:00:00 2023-03-01x 0 -1 99999999999999999999; do
	judge 3 --at "$wrong"
	says "time '$wrong' is none of"
done
judge 3 -o xml
says "format 'xml' is neither text nor json"

# Nothing, not ours, no values, not there.
: >"$dir/values"
judge 3
says 'standard input: no values in it'
echo 'node_load1 0.5' >"$dir/values"
judge 3
echo 'what is this?' >"$dir/values"
judge 3
says 'standard input:1: not Prometheus text'
judge 3 "$dir/none"
says "$dir/none: No such file"
judge 3 -r "$dir/none"
judge 3 a b
says "unexpected argument 'b'"
judge 3 -x

# Files of one host together: jumbo frames with the default pool; clusters against connections and their buffers.
mkdir "$dir/host"
cp "$corpus/netstat-m--freebsd-7.2--web-server--04.txt" "$dir/host/netstat-m.txt"
cat >"$dir/host/ifconfig.txt" <<'EOF'
ix0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 9000
	ether 00:1b:21:00:00:01
	media: Ethernet autoselect (10Gbase-LR <full-duplex>)
	status: active
lo0: flags=8049<UP,LOOPBACK,RUNNING,MULTICAST> metric 0 mtu 16384
	inet 127.0.0.1 netmask 0xff000000
EOF
cat >"$dir/host/sysctl.txt" <<'EOF'
kern.ipc.nmbclusters: 25600
kern.ipc.nmbjumbo9: 6400
net.inet.tcp.sendspace: 32768
net.inet.tcp.recvspace: 65536
hw.physmem: 4294967296
EOF
cat >"$dir/host/netstat-s.txt" <<'EOF'
tcp:
	100 packets sent
TCP connection count by state:
	3 connections in LISTEN state
	267 connections in ESTABLISHED state
EOF
"$agent" parse --os freebsd bundle "$dir/host" >"$dir/values" 2>/dev/null || fail 'the bundle cannot be read'
judge 1
prints 'warning: mbuf-jumbo-default{interface="ix0"}: '
prints 'do: sysctl kern.ipc.nmbjumbo9=48000'
prints 'advice: mbuf-undersized{pool="cluster"}: Cluster limit 25600 cannot hold the socket buffers of the peak, 32768 '
prints 'do: sysctl kern.ipc.nmbclusters=32768'
lacks lo0
sed -i 's/267/266/; s/65536/16384/' "$dir"/host/*.txt
"$agent" parse --os freebsd bundle "$dir/host" >"$dir/values" 2>/dev/null
judge 1
lacks 'advice: mbuf'
sed -i 's/6400/48000/' "$dir/host/sysctl.txt"
"$agent" parse --os freebsd bundle "$dir/host" >"$dir/values" 2>/dev/null
judge 0
lacks mbuf-jumbo-default

# One side of "or" does not need the other: a full table of connections, whatever its counters do.
cat >"$dir/values" <<'EOF'
# os linux
hiwat_conntrack_entries 63000
hiwat_conntrack_limit 65536
hiwat_conntrack_events_total{event="drop"} 5
EOF
judge 2
prints 'critical: conntrack-filling: Connection tracking is 96 % full: 63000 of 65536'
prints 'do: sysctl -w net.netfilter.nf_conntrack_max=131072'
prints 'not judged: conntrack-filling{event="drop"}: Connection tracking counts drop 5 times (63000 of 65536 entries); only'

# A remedy never lowers what it does not know.
"$agent" parse --os linux kernel-log "$corpus/kernel-log--linux-3.13--conntrack-full-rsyslog-repeats--41.txt" >"$dir/values"
judge 1
prints 'do: sysctl -w fs.file-max=AT_LEAST_65536'
prints 'net.ipv4.tcp_max_orphans=A_HIGHER_VALUE, '

[ "$failures" -eq 0 ] || exit 1
echo ok
