#!/usr/bin/env bash
# Installs the wheel into a new environment outside the checkout, at the locked versions, and runs what a user runs first.
# usage: scripts/wheel_smoke.sh WHEEL
set -euo pipefail

wheel=$(realpath "${1:?usage: scripts/wheel_smoke.sh WHEEL}")
checkout=$(realpath "$(dirname "$0")/..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Versions without hashes: pip would ask for the wheel's own hash otherwise.
sed -nE 's/^([A-Za-z0-9._-]+==[^\\]*[^\\ ]) *\\?$/\1/p' "$checkout/requirements.lock" > "$folder/versions.txt"

"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip --disable-pip-version-check -q install -c "$folder/versions.txt" "$wheel"

cd "$folder"
unset PYTHONPATH
venv/bin/python - "$wheel" <<'PYTHON'
"""The wheel holds the package and nothing else, and no part of the namespace hides another."""

import importlib
import re
import sys
import zipfile

names = zipfile.ZipFile(sys.argv[1]).namelist()
strays = [name for name in names if not re.match(r"cutpurse/|cutpurse-[^/]+\.dist-info/", name)]
strays += [name for name in names if name.endswith((".pyc", ".orig", ".rej")) or "/." in name]
assert not strays, f"stray files: {strays}"
assert "cutpurse/__init__.py" not in names, "cutpurse/__init__.py would hide the other roots"
parts = sorted({name.split("/")[1] for name in names if name.startswith("cutpurse/")})
assert {"engine", "games", "sdk", "bots"} <= set(parts), parts
for part in parts:
    assert f"cutpurse/{part}/py.typed" in names, f"cutpurse/{part} has no py.typed"
    found = importlib.import_module(f"cutpurse.{part}").__file__
    assert found and "site-packages" in found, found
print(f"{len(names)} files, parts: {' '.join(parts)}")
PYTHON

venv/bin/cutpurse games
venv/bin/cutpurse demo --matches 2
