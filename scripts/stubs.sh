#!/usr/bin/env bash
# Makes the Python stubs of the .proto files anew; with --check only says whether those committed are what would be made.
# usage: scripts/stubs.sh [--check]
set -euo pipefail
cd "$(dirname "$0")/.."

tools=.venv/generator
if ! cmp -s proto/generator.lock "$tools/made-from"; then
    if ! "${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info >= (3, 14))'; then
        echo "skipped: the stubs' generator, grpcio-tools of proto/generator.in, is built for Python 3.13 and older; set PYTHON=" >&2
        [[ ${1:-} == --check ]]
        exit
    fi
    "${PYTHON:-python3}" -m venv --clear "$tools"
    "$tools/bin/python" -m pip --disable-pip-version-check -q install --require-hashes -r proto/generator.lock
    cp proto/generator.lock "$tools/made-from"
fi

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
PATH="$PWD/$tools/bin:$PATH" "$tools/bin/python" -W ignore -m grpc_tools.protoc -Iproto \
    --python_out="$made" --grpc_python_out="$made" --mypy_out=quiet:"$made" --mypy_grpc_out=quiet:"$made" \
    proto/cutpurse/v1/*.proto

if [[ ${1:-} == --check ]]; then
    diff -r -q "$made/cutpurse/v1" proto/cutpurse/v1 -x '*.proto' -x py.typed -x __pycache__ \
        || { echo "the stubs in proto/cutpurse/v1 are not those of the .proto files: run 'make stubs'" >&2; exit 1; }
    echo "the stubs are those of the .proto files"
else
    cp "$made"/cutpurse/v1/* proto/cutpurse/v1/
fi
