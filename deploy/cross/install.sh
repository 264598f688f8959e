#!/bin/sh
# Fetches the cross compiler with the headers of the BSDs, some 100 MB, from Python's package index: install.sh DIRECTORY.
# Prints the path of its program, for HIWAT_ZIG. Nothing of it becomes part of hiwat.
set -eu

version=0.17.1
[ $# = 1 ] || { echo "usage: install.sh DIRECTORY" >&2; exit 2; }
zig=$1/ziglang/zig
if [ ! -x "$zig" ] || [ "$("$zig" version)" != "$version" ]; then
	python3 -m pip install --quiet --no-deps --upgrade --target "$1" "ziglang==$version" >&2
fi
echo "$zig"
