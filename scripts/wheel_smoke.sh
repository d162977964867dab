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
pip() { "$folder/venv/bin/python" -m pip --disable-pip-version-check -qq install -c "$folder/versions.txt" "$@"; }
pip "$wheel"

cd "$folder"
unset PYTHONPATH
export XDG_CACHE_HOME=$folder/cache  # the demo installs what the bot in JavaScript needs
venv/bin/python - "$wheel" <<'PYTHON'
"""The wheel holds the package and nothing else, and no part of the namespace hides another."""

import importlib
import re
import sys
import zipfile

names = zipfile.ZipFile(sys.argv[1]).namelist()
strays = [name for name in names if not re.match(r"cutpurse/|cutpurse-[^/]+\.dist-info/", name)]
strays += [name for name in names if name.endswith((".pyc", ".orig", ".rej"))]
strays += [name for name in names if "/." in name and not re.match(r"cutpurse/bots/[a-z]+/\.[a-z-]+$", name)]
assert not strays, f"stray files: {strays}"
made = [name for name in names if re.match(r"cutpurse/bots/[a-z]+/(node_modules|out|target)/", name)]
assert not made, f"made by a build: {made[:5]}"
assert "cutpurse/__init__.py" not in names, "cutpurse/__init__.py would hide the other roots"
parts = sorted({name.split("/")[1] for name in names if name.startswith("cutpurse/")})
assert {"engine", "games", "v1", "wire", "process", "check", "sdk", "lab", "cli", "learn", "llm", "bots", "leaderboard", "server", "page"} <= set(parts), parts
for part in parts:
    assert f"cutpurse/{part}/py.typed" in names, f"cutpurse/{part} has no py.typed"
    if part == "learn":
        continue  # needs an extra
    (found,) = importlib.import_module(f"cutpurse.{part}").__path__
    assert "site-packages" in found, found
print(f"{len(names)} files, parts: {' '.join(parts)}")
PYTHON

venv/bin/cutpurse games
venv/bin/cutpurse play greed greedy random random random --matches 2
for language in python javascript typescript go java cpp rust; do
    venv/bin/cutpurse bot init "my_$language" --language "$language" > /dev/null
done
venv/bin/cutpurse play greed my_python/my_python.py random --matches 2
if (cd my_javascript && sh build.sh) 2> said; then
    venv/bin/cutpurse play greed "exec:node my_javascript/bot.mjs" random --matches 2
else
    cat said  # npm or what it fetches is not to be had
fi

echo "without the extra, a command that needs it says what to install"
if venv/bin/cutpurse demo 2> said; then exit 1; fi
grep -q "pip install '\.\[server\]'" said

if venv/bin/python -c "import cutpurse.learn" 2> said; then exit 1; fi
grep -q "pip install '\.\[learn\]'" said
if venv/bin/cutpurse train greed --out net 2> said; then exit 1; fi
grep -q "pip install '\.\[train\]'" said
pip "$wheel[learn]"
venv/bin/python -c "from cutpurse.learn import Space; print('Greed has', Space('greed', seats=4).actions, 'numbers of options')"

if venv/bin/cutpurse mcp < /dev/null 2> said; then exit 1; fi
grep -q "pip install '\.\[llm\]'" said
pip "$wheel[llm]"
venv/bin/cutpurse mcp < /dev/null

pip "$wheel[server]"
venv/bin/cutpurse serve --help > said
grep -q -e --notify said && grep -q -e --sign-in said  # settings of parts, which are found by entry points
venv/bin/cutpurse demo --matches 2 --folder run
venv/bin/cutpurse db verify run/demo.db
venv/bin/cutpurse match verify run/records/greed.jsonl

if venv/bin/cutpurse web --db run/demo.db 2> said; then exit 1; fi
grep -q "pip install '\.\[web\]'" said
pip "$wheel[server,web]"

echo "the tutorials, as they are printed in the wheel's own documents"
docs=$(venv/bin/python -c "import cutpurse.page as page; print(page.__path__[0] + '/docs')")
PATH=$folder/venv/bin:$PATH venv/bin/python "$checkout/scripts/walk_tutorials.py" "$docs"

echo "the page of what was played, with the documents that came with the wheel"
venv/bin/cutpurse web --db run/demo.db --listen 127.0.0.1:0 2> said &
page=$!
trap 'kill "$page" 2> /dev/null || true; rm -rf "$folder"' EXIT
venv/bin/python - said <<'PYTHON'
"""Pages of the installed package, fetched over HTTP; the process that serves them says where it listens."""

import re
import sys
import time
import urllib.request
from pathlib import Path

until = time.monotonic() + 60
while not (found := re.search(r"http://127\.0\.0\.1:\d+", Path(sys.argv[1]).read_text())):
    assert time.monotonic() < until, Path(sys.argv[1]).read_text()
    time.sleep(0.1)
for path, words in {
    "/": "greed",
    "/matches": "/matches/",
    "/rules/greed": 'id="GR-3.6"',
    "/docs/tutorial/first-bot": "my_bot.py",
    "/api/v1/openapi.json": "3.1.0",
    "/ladders/greed/rankings.csv": "rating",
}.items():
    with urllib.request.urlopen(found[0] + path, timeout=20) as answer:
        assert words in answer.read().decode(), path
print("pages, documents, API and tables are there")
PYTHON
kill "$page"
wait "$page"
