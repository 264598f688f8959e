#!/bin/sh
# Compiles the agent for another system and links it against that system's C library: build.sh TARGET GENERATED BUILD.
# TARGET: as zig.cmake has it. GENERATED: proto/gen of a build for this machine. BUILD: a directory for what is made.
# The third-party libraries are not there: each function of theirs is an empty one, so that what remains undefined is
# missing in the system. The program that comes out is of no other use. HIWAT_ZIG in the environment: what install.sh printed;
# exit status 77 without it.
set -eu

[ $# = 3 ] || { echo "usage: build.sh TARGET GENERATED BUILD" >&2; exit 2; }
target=$1 generated=$2 build=$3
here=$(cd "$(dirname "$0")" && pwd)

[ -x "${HIWAT_ZIG:-}" ] || { echo "build.sh: HIWAT_ZIG names no program: see install.sh" >&2; exit 77; }
export HIWAT_ZIG
export ZIG_GLOBAL_CACHE_DIR="$build/../zig-cache"
mkdir -p "$build"

[ -f "$build/build.ninja" ] || cmake -G Ninja -S "$here" -B "$build" -DCMAKE_TOOLCHAIN_FILE="$here/zig.cmake" \
	-DHIWAT_CROSS_TARGET="$target" -DHIWAT_GENERATED="$generated" >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cmake --build "$build" --target everything

# As many empty functions as the libraries' own names are asked for; weak, since hiwat has a yaml_tree_load() itself.
find "$build" -name 'libhiwat_*.a' >"$build/parts"
find "$build" -name 'main.c.o' >>"$build/parts"
xargs nm -u <"$build/parts" 2>/dev/null |
	sed -n 's/^ *U \(\(protobuf_c\|ZSTD\|yaml\|json\|curl\)_[A-Za-z0-9_]*\)$/\1/p' | sort -u |
	sed 's/.*/__attribute__((weak)) void &(void); void &(void) {}/' >"$build/stand_ins.c"
xargs "$HIWAT_ZIG" cc -target "$target" -o "$build/hiwat-agent" "$build/stand_ins.c" -lpthread -lm -Wl,--whole-archive <"$build/parts"
echo "$target: the agent compiles, and links but for the third-party libraries"
