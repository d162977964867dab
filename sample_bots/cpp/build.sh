#!/bin/sh
# Makes out/bot. Needs what debian.txt names, and the .proto files: of $CUTPURSE_PROTO, of ./proto, or of the checkout
# that this folder lies in.
set -eu
cd "$(dirname "$0")"

CXX=${CXX:-g++}
CXXFLAGS=${CXXFLAGS:--O1}
proto=${CUTPURSE_PROTO:-}
[ -n "$proto" ] || for proto in proto ../../proto; do [ -d "$proto/cutpurse" ] && break; done

missing=
lacks() { missing="$missing${missing:+, }$1"; }
command -v "$CXX" > /dev/null || lacks "$CXX (apt install g++)"
command -v protoc > /dev/null || lacks "protoc (apt install protobuf-compiler)"
command -v grpc_cpp_plugin > /dev/null || lacks "grpc_cpp_plugin (apt install protobuf-compiler-grpc)"
if command -v pkg-config > /dev/null; then
    pkg-config --exists grpc++ || lacks "grpc++ (apt install libgrpc++-dev)"
    pkg-config --exists protobuf || lacks "protobuf (apt install libprotobuf-dev)"
else
    lacks "pkg-config (apt install pkg-config)"
fi
[ -f "$proto/cutpurse/v1/arena.proto" ] || lacks "cutpurse/v1/arena.proto (CUTPURSE_PROTO is the folder that holds it)"
if [ -n "$missing" ]; then
    echo "missing: $missing" >&2
    exit 69
fi

made=$(mktemp -d) # generated code and objects
trap 'rm -rf "$made"' EXIT
protoc -I "$proto" --cpp_out="$made" --grpc_out="$made" --plugin=protoc-gen-grpc="$(command -v grpc_cpp_plugin)" \
    cutpurse/v1/arena.proto cutpurse/v1/game.proto

# One after the other, so that it needs the memory of one.
for source in arena.cc bot.cc "$made"/cutpurse/v1/*.cc; do
    # shellcheck disable=SC2046,SC2086 # they are words
    "$CXX" -std=c++17 $CXXFLAGS -Wall -I. -I"$made" $(pkg-config --cflags grpc++ protobuf) -c "$source" \
        -o "$made/$(basename "$source").o"
done
mkdir -p out
# shellcheck disable=SC2046
"$CXX" "$made"/*.o -o out/bot -s -pthread -Wl,--as-needed $(pkg-config --libs grpc++ protobuf)
