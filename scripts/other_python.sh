#!/usr/bin/env bash
# Runs the tests of the engine and the games on another version of Python, with the base install at the locked versions.
# usage: scripts/other_python.sh PYTHON
set -euo pipefail
cd "$(dirname "$0")/.."

python=${1:?usage: scripts/other_python.sh PYTHON}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Versions without hashes: pip would ask for the hash of the project itself otherwise.
sed -nE 's/^([A-Za-z0-9._-]+==[^\\]*[^\\ ]) *\\?$/\1/p' requirements.lock > "$folder/versions.txt"

"$python" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip --disable-pip-version-check -q install -c "$folder/versions.txt" \
    hatchling hypothesis pytest pytest-asyncio pytest-xdist
"$folder/venv/bin/python" -m pip --disable-pip-version-check -q install -c "$folder/versions.txt" --no-build-isolation -e .
"$folder/venv/bin/python" -m pytest -q -p no:cacheprovider -n "${WORKERS:-2}" --quick \
    tests/engine tests/games tests/test_playthroughs.py
