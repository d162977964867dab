#!/usr/bin/env bash
# Lint and form of the .proto files, and that they break no bot written for those last released (proto/released.binpb).
# usage: scripts/proto_lint.sh [--release]   --release: the present ones become those last released
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v npm > /dev/null; then
    echo "skipped: the .proto files are not linted, since npm is not installed" >&2
    exit 0
fi
version=1.75.0
tools=.venv/buf-$version
if [[ ! -x $tools/node_modules/.bin/buf ]]; then
    npm install --prefix "$tools" --no-save --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error \
        "@bufbuild/buf@$version"
fi
buf=$tools/node_modules/.bin/buf

if [[ ${1:-} == --release ]]; then
    "$buf" build --exclude-source-info -o proto/released.binpb
    exit
fi
"$buf" lint
"$buf" format --diff --exit-code
"$buf" breaking --against proto/released.binpb
echo "the .proto files are linted, formatted, and break nothing that was released"
