#!/bin/sh
# The arrows between folders hold: a file of one folder cannot include a header of a folder it must not know, and can
# include one that it may. Compiles with the flags that the build uses for a file of that folder.
# usage: arrows.sh BUILD_DIRECTORY
set -eu

commands=$1/compile_commands.json
[ -f "$commands" ] || { echo "no $commands"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# includes FILE HEADER: whether a neighbour of FILE could include HEADER.
includes() {
	flags=$(sed -n "s|.*\"command\": \"\(.*\) -o .* -c .*/$1\".*|\1|p" "$commands" | head -n 1)
	[ -n "$flags" ] || { echo "$1 is not built"; exit 1; }
	# The compiler's own name comes first; -MD and its like have nothing to do here.
	printf '#include "%s"\n' "$2" >"$scratch/try.c"
	flags=$(printf '%s' "$flags" | sed 's|\\\\\\"|"|g; s|\\"||g; s| -MD.*||')
	# shellcheck disable=SC2086 # flags are words
	$flags -w -fsyntax-only "$scratch/try.c" 2>/dev/null
}

may() { includes "$1" "$2" || { echo "$1 should be able to include $2"; failed=$((failed + 1)); }; }
must_not() {
	if includes "$1" "$2"; then
		echo "$1 can include $2, against the arrows"
		failed=$((failed + 1))
	fi
}

may proto/base/scan.c buf.h
must_not proto/base/scan.c catalogue.h
must_not proto/base/scan.c hiwat.pb-c.h
may proto/codec.c arena.h
must_not proto/codec.c parse.h
must_not proto/codec.c hosts.h

may agent/parse/proc_percpu.c record.h
must_not agent/parse/proc_percpu.c fetch.h
must_not agent/parse/proc_percpu.c sampler.h
must_not agent/parse/proc_percpu.c spool.h
may agent/os/fetch.c scan.h
must_not agent/os/fetch.c sampler.h
must_not agent/os/fetch.c spool.h
may agent/samplers/runner.c parse.h
must_not agent/samplers/runner.c spool.h
must_not agent/samplers/runner.c hosts.h
must_not agent/sinks/https.c sampler.h
must_not agent/sinks/https.c spool.h
must_not agent/sinks/https.c config.h
may agent/sinks/https.c codec.h
must_not agent/run.c hosts.h

may collector/model/hosts.c catalogue.h
must_not collector/model/hosts.c rule.h
may collector/rules/eval.c view.h
must_not collector/rules/eval.c alert.h
must_not collector/rules/eval.c store.h
must_not collector/rules/eval.c http.h
may collector/alert/alerts.c rule.h
must_not collector/alert/alerts.c notify.h
must_not collector/alert/alerts.c http.h
must_not collector/store/store.c rule.h
must_not collector/store/store.c notify.h
must_not collector/store/store.c http.h
must_not collector/notify/webhook.c rule.h
must_not collector/ingest/http_mhd.c hosts.h
must_not collector/ingest/http_mhd.c store.h
must_not collector/ingest/http_mhd.c catalogue.h
may collector/pipeline.c http.h
must_not collector/pipeline.c kernel_log.h
must_not collector/pipeline.c spool.h

[ $failed -eq 0 ] && echo "the arrows hold"
exit $failed
