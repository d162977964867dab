#!/bin/sh
# Makes out/bot.mjs: one file, with all it needs but Node.
# The packages come from npm when they are not here yet; the .proto files from $CUTPURSE_PROTO, ./proto or ../../proto.
set -eu
cd "$(dirname "$0")"

missing=""
lacks() { missing="$missing${missing:+, }$1"; }
old='parseInt(process.versions.node) < 18'
[ "$(node -p "$old" 2> /dev/null)" = false ] || lacks "node 18 or newer (apt install nodejs)"
command -v protoc > /dev/null || lacks "protoc (apt install protobuf-compiler)"
proto="${CUTPURSE_PROTO:-}"
for folder in ./proto ../../proto; do
    if [ -z "$proto" ] && [ -e "$folder/cutpurse/v1/arena.proto" ]; then proto="$folder"; fi
done
[ -e "${proto:-.}/cutpurse/v1/arena.proto" ] || lacks "cutpurse/v1/arena.proto (CUTPURSE_PROTO names the folder that holds it)"
here=node_modules/.package-lock.json  # which npm writes when it is done
if [ ! -e "$here" ] || [ -n "$(find package-lock.json -newer "$here")" ]; then
    if ! command -v npm > /dev/null; then
        lacks "npm (apt install npm)"
    elif [ -z "$missing" ]; then
        npm ci --include=dev --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1 >&2 ||
            lacks "the npm packages (npm ci --ignore-scripts, where there is a network)"
    fi
fi
if [ -n "$missing" ]; then
    echo "missing: $missing" >&2
    exit 69
fi

PATH="$PWD/node_modules/.bin:$PATH"
mkdir -p out/gen
protoc -I "$proto" --es_out=out/gen --es_opt=target=ts,import_extension=js cutpurse/v1/arena.proto cutpurse/v1/game.proto
tsc
esbuild src/bot.ts --bundle --platform=node --format=esm --target=node18 --log-level=warning --outfile=out/bot.mjs
