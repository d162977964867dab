#!/bin/sh
# Makes out/bot of what Debian ships, without a network; needs what debian.txt names, and the .proto files: of
# $CUTPURSE_PROTO, of ./proto, or of the checkout that this folder lies in. With crates.io: cargo build --release.
set -eu
cd "$(dirname "$0")"

proto=${CUTPURSE_PROTO:-}
[ -n "$proto" ] || for proto in proto ../../proto; do [ ! -d "$proto/cutpurse" ] || break; done
crates=/usr/share/cargo/registry

missing=
lacks() { missing="$missing${missing:+, }$1"; }
for program in cargo rustc; do
    command -v $program > /dev/null || lacks "$program (apt install $program)"
done
command -v protoc > /dev/null || lacks "protoc (apt install protobuf-compiler)"
for crate in bytes h2 http prost-build prost prost-types tokio tokio-native-tls; do
    ls -d $crates/$crate-[0-9]* > /dev/null 2>&1 || lacks "the crate $crate (apt install librust-$crate-dev)"
done
[ -f "$proto/cutpurse/v1/arena.proto" ] || lacks "cutpurse/v1/arena.proto (CUTPURSE_PROTO is the folder that holds it)"
if [ -n "$missing" ]; then
    echo "missing: $missing" >&2
    exit 69
fi

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
cp -R Cargo.toml build.rs src "$made" # so that neither a Cargo.lock nor anything else is left here
export CUTPURSE_PROTO="$(cd "$proto" && pwd)" CARGO_HOME="$made/home" CARGO_TARGET_DIR="$made/target"
export RUSTFLAGS="${RUSTFLAGS:-} -C strip=symbols" # of what is made on the way, too: else that is half a GiB
cargo build --release --offline --quiet --manifest-path "$made/Cargo.toml" \
    --config 'source.crates-io.replace-with = "debian"' --config "source.debian.directory = '$crates'"
mkdir -p out
cp "$made/target/release/bot" out/bot
