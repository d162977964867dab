#!/usr/bin/env bash
# Installs the wheel as a bot's author would, once beside the oldest gRPC and protobuf that it allows and once beside the
# newest, and imports and uses the stubs in each, with warnings as errors.
# usage: scripts/protobuf_range.sh WHEEL
set -euo pipefail

wheel=$(realpath "${1:?usage: scripts/protobuf_range.sh WHEEL}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

try() {
    local name=$1
    shift
    "${PYTHON:-python3}" -m venv "$name"
    "$name/bin/python" -m pip --disable-pip-version-check -qq install "$wheel" "$@"
    "$name/bin/python" -W error - <<'PYTHON'
from importlib.metadata import version

from cutpurse.v1 import arena_pb2, arena_pb2_grpc, game_pb2, game_pb2_grpc

card = game_pb2.Act(verb=2, cards=[1, 2], seat=0)
envelope = arena_pb2.PlayResponse(envelope=1, decisions=[arena_pb2.Decision(table=1, options=[card])])
again = arena_pb2.PlayResponse.FromString(envelope.SerializeToString())
assert again == envelope and again.decisions[0].options[0].HasField("seat")
assert arena_pb2_grpc.ArenaServiceStub and game_pb2_grpc.GameServiceStub
print(f"the stubs run on protobuf {version('protobuf')} with grpcio {version('grpcio')}")
PYTHON
    "$name/bin/cutpurse" play greed random random random --matches 1 > /dev/null
}

if "${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info >= (3, 14))'; then
    try oldest 'protobuf==6.30.*' 'grpcio==1.72.*'
else
    echo "skipped: the oldest gRPC is built for Python 3.13 and older; set PYTHON=" >&2
fi
try newest --upgrade --upgrade-strategy eager
