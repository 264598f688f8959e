#!/bin/sh
# parse.sh AGENT CORPUS: the command line of hiwat-agent parse: exit statuses, standard input, bundles, messages.
set -u
agent=$1 corpus=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

fail() {
	echo "FAIL: $*" >&2
	failures=$((failures + 1))
}

# expect STATUS COMMAND...: runs it with standard input, keeps $dir/out and $dir/err.
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
	grep -qF -- "$1" "$dir/out" || fail "standard output lacks '$1'"
}

silent() {
	[ ! -s "$dir/out" ] || fail "standard output is not empty: $(head -n 1 "$dir/out")"
}

memory=$corpus/pfctl-memory--openbsd-5.2--defaults--01.txt
timeouts=$corpus/pfctl-timeouts--freebsd-13--aggressive--02.txt

expect 0 "$agent" parse pfctl-memory "$memory"
prints 'hiwat_pf_limit{pool="states"} 10000'
prints '# TYPE hiwat_pf_limit gauge'
[ ! -s "$dir/err" ] || fail "a good parse says something"
expect 0 "$agent" parse --os openbsd --page-size 4096 --hz 100 --tz -0500 pfctl-memory "$memory"
expect 0 "$agent" parse pfctl-memory <"$memory"
prints 'hiwat_pf_limit{pool="frags"} 5000'
expect 0 "$agent" parse pfctl-memory - <"$memory"
expect 0 "$agent" parse auto "$memory"
says 'taken as pfctl-memory'
expect 0 "$agent" parse list
prints 'pfctl-memory'
expect 0 "$agent" help parse
prints 'exit status'
expect 0 "$agent" parse --help
expect 0 "$agent" --help
expect 0 "$agent" version
expect 0 "$agent" --version

# Wrong usage.
for arguments in '' 'parse' 'frob' 'parse frob' 'parse --os plan9 pfctl-memory' 'parse --os' 'parse --frob list' \
    'parse --tz Mars pfctl-memory' 'parse --tz +2500 pfctl-memory' 'parse --hz 0 pfctl-memory' 'parse --page-size x list' \
    'parse pfctl-memory a b' 'parse list x' 'parse bundle' 'help frob' 'version x'; do
	# shellcheck disable=SC2086 # the words are meant
	expect 2 "$agent" $arguments </dev/null
	[ -s "$dir/err" ] || fail "no message for '$arguments'"
	silent
done

# Unusable input.
expect 3 "$agent" parse pfctl-memory "$dir/none"
says "$dir/none: No such file"
expect 3 "$agent" parse pfctl-memory "$dir"
says 'directory'
: >"$dir/empty"
expect 3 "$agent" parse pfctl-memory "$dir/empty"
says "$dir/empty: empty"
expect 3 "$agent" parse pfctl-memory </dev/null
says 'standard input: empty'
expect 3 "$agent" parse auto </dev/null
printf '\177ELF\000\001\002' >"$dir/binary"
expect 3 "$agent" parse pfctl-memory "$dir/binary"
says 'binary'
expect 3 "$agent" parse auto "$dir/binary"
says 'binary'
expect 3 "$agent" parse pfctl-info "$memory"
says 'pfctl -s info'
silent
expect 3 "$agent" parse auto /etc/passwd
says 'no known kind'
echo 'pfctl: /dev/pf: Permission denied' >"$dir/denied"
expect 3 "$agent" parse pfctl-info "$dir/denied"
says 'not permitted'
head -c 67108865 /dev/zero >"$dir/large"
expect 3 "$agent" parse pfctl-memory "$dir/large"
says 'larger than 64 MiB'
rm "$dir/large"
if [ -e /dev/full ]; then
	"$agent" parse pfctl-memory "$memory" >/dev/full 2>"$dir/err"
	[ $? -eq 3 ] || fail "a full disk goes unnoticed"
	says 'standard output'
fi

# Bundles: the first of two files that differ is kept, the other one named; unknown and empty files are named.
mkdir "$dir/bundle" "$dir/bundle/deep"
cp "$memory" "$dir/bundle/a.txt"
sed 's/10000/20000/' "$memory" >"$dir/bundle/b.txt"
cp "$timeouts" "$dir/bundle/deep/pfctl-timeouts"
echo 'frobs' >"$dir/bundle/c.txt"
: >"$dir/bundle/d.txt"
ln -s "$dir/bundle" "$dir/bundle/loop"
expect 0 "$agent" parse bundle "$dir/bundle"
prints 'hiwat_pf_limit{pool="states"} 10000'
prints 'hiwat_pf_timeout_seconds{timeout="tcp.first"} 30'
[ "$(grep -c '^hiwat_pf_limit{pool="states"}' "$dir/out")" -eq 1 ] || fail "a series is printed twice"
says 'b.txt: hiwat_pf_limit{pool="states"} is 20000 here, 10000 in .*a.txt, which is kept'
says 'c.txt: of no known kind'
says 'd.txt: empty'
cp "$dir/out" "$dir/out.directory"
rm "$dir/bundle/loop"
(cd "$dir" && tar --format=ustar --sort=name -cf bundle.tar bundle)
expect 0 "$agent" parse bundle "$dir/bundle.tar"
cmp -s "$dir/out" "$dir/out.directory" || fail "an archive reads differently than its directory"
expect 0 "$agent" parse bundle - <"$dir/bundle.tar"
cmp -s "$dir/out" "$dir/out.directory" || fail "an archive from standard input reads differently"
head -c 1600 "$dir/bundle.tar" >"$dir/cut.tar"
expect 0 "$agent" parse bundle "$dir/cut.tar"
says 'cut.tar: input ended early'
expect 3 "$agent" parse bundle "$dir/bundle/c.txt"
says 'neither a directory nor'
mkdir "$dir/hollow"
expect 3 "$agent" parse bundle "$dir/hollow"
says 'no file could be used'
expect 3 "$agent" parse bundle "$dir/none"
says 'No such file'

[ "$failures" -eq 0 ] || exit 1
echo ok
