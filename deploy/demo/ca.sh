#!/bin/sh
# Makes a certificate authority that lasts a week: ca.sh DIRECTORY HOST...
# DIRECTORY gets ca.crt; collector.crt and collector.key for this machine's name, localhost and 127.0.0.1; HOST.crt and
# HOST.key for each host. An authority that is there already signs further hosts.
set -eu

dir=$1
shift
umask 077
mkdir -p "$dir"

new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1" 2>/dev/null; }

sign() { # NAME SUBJECT-ALT-NAME USAGE
	new_key "$dir/$1.key"
	openssl req -new -key "$dir/$1.key" -subj "/CN=$1" -out "$dir/$1.csr"
	printf 'subjectAltName=%s\nextendedKeyUsage=%s\nbasicConstraints=CA:FALSE\n' "$2" "$3" >"$dir/$1.ext"
	openssl x509 -req -in "$dir/$1.csr" -CA "$dir/ca.crt" -CAkey "$dir/ca.key" -CAcreateserial -days 7 \
		-extfile "$dir/$1.ext" -out "$dir/$1.crt" 2>/dev/null
	rm -f "$dir/$1.csr" "$dir/$1.ext"
}

if [ ! -f "$dir/ca.crt" ]; then
	new_key "$dir/ca.key"
	openssl req -x509 -new -key "$dir/ca.key" -subj "/CN=hiwat throw-away authority" -days 7 -out "$dir/ca.crt"
	sign collector "DNS:$(uname -n),DNS:localhost,IP:127.0.0.1" serverAuth
fi
for host; do
	sign "$host" "DNS:$host" clientAuth
done
