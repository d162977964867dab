#!/bin/sh
# Makes out/bot of bot.go, arena.go and the .proto files, from what Debian ships: debian.txt. Nothing is fetched.
set -eu
cd "$(dirname "$0")"

libraries=/usr/share/gocode # where Debian puts the sources of Go libraries
missing=''
need() { # need WHAT PACKAGE TEST...
    what=$1 package=$2
    shift 2
    "$@" > /dev/null 2>&1 || missing="$missing, $what (apt install $package)"
}
need go golang-go command -v go
need protoc protobuf-compiler command -v protoc
need protoc-gen-go protoc-gen-go command -v protoc-gen-go
need protoc-gen-go-grpc protoc-gen-go-grpc command -v protoc-gen-go-grpc
need grpc-go golang-google-grpc-dev test -d "$libraries/src/google.golang.org/grpc"
# 1.3, of the same name, does not work with what protoc-gen-go makes.
need 'protobuf for Go, 1.5' golang-github-golang-protobuf-1-5-dev \
    test -f "$libraries/src/github.com/golang/protobuf/proto/wire.go"

proto=${CUTPURSE_PROTO:-}
for folder in proto ../../proto; do
    [ -n "$proto" ] || [ ! -f "$folder/cutpurse/v1/arena.proto" ] || proto=$folder
done
[ -f "$proto/cutpurse/v1/arena.proto" ] ||
    missing="$missing, cutpurse/v1/arena.proto (CUTPURSE_PROTO is the folder that holds it)"

if [ -n "$missing" ]; then
    echo "missing: ${missing#, }" >&2
    exit 69
fi

# Go finds a package by its path below src, so the program is put together there.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p out "$work/src/cutpurse"
cp ./*.go "$work/src/cutpurse"
package=Mcutpurse/v1/arena.proto=cutpurse/v1,Mcutpurse/v1/game.proto=cutpurse/v1
protoc -I "$proto" --go_out="$work/src" --go_opt="$package" --go-grpc_out="$work/src" --go-grpc_opt="$package" \
    cutpurse/v1/arena.proto cutpurse/v1/game.proto
out=$PWD/out/bot
cd "$work/src/cutpurse"
# With the usual flags the standard library that Debian has compiled is good; else all of it must be compiled too.
command -v gcc > /dev/null || export CGO_ENABLED=0
GO111MODULE=off GOFLAGS='' GOPATH="$work:$libraries" go build -ldflags='-s -w' -o "$out" .
