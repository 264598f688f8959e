#!/bin/sh
# Installs what hiwat needs on Debian: install.sh build | demo | test. What is there already is left alone, and when all
# of it is, nothing is asked of the network.
set -eu

build="gcc libc6-dev cmake ninja-build pkg-config protobuf-compiler protobuf-c-compiler libprotobuf-c-dev
libcurl4-openssl-dev libyaml-dev libjansson-dev libzstd-dev libmicrohttpd-dev libgnutls28-dev libsqlite3-dev"
demo="$build openssl"
test="$demo tzdata check clang-14 clang-format-14 libclang-rt-14-dev llvm-14 unbound bind9 dnsmasq-base procps curl shellcheck mandoc python3-pip prometheus prometheus-alertmanager python3-aiosmtpd ca-certificates"

case "${1:-}" in
build) wanted=$build ;;
demo) wanted=$demo ;;
test) wanted=$test ;;
*)
	echo "usage: install.sh build|demo|test" >&2
	exit 2
	;;
esac

missing=
for package in $wanted; do
	# Another package may stand in for libcurl's development files.
	case $package in
	libcurl4-*-dev) dpkg-query -W -f '${db:Status-Status}\n' 'libcurl4-*-dev' 2>/dev/null | grep -qx installed && continue ;;
	esac
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
	echo "install.sh: as root: apt-get install$missing" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q

# The tests start their resolvers themselves: no package may start one as a service. policy-rc.d says what is allowed.
policy=/usr/sbin/policy-rc.d
kept=
restore()
{
	rm -f "$policy"
	[ -z "$kept" ] || mv "$kept" "$policy"
}
if [ -e "$policy" ] || [ -L "$policy" ]; then
	kept=$policy.hiwat
	mv "$policy" "$kept"
fi
trap restore EXIT
trap 'exit 1' HUP INT TERM
printf '#!/bin/sh\nexit 101\n' >"$policy"
chmod 755 "$policy"
# shellcheck disable=SC2086 # a list of words
apt-get install -q -y --no-install-recommends $missing
