#!/usr/bin/env bash
# Install the packages of a lock file, and this checkout, into a virtual environment: install.sh FOLDER LOCK SIZE
#
# SIZE is said before anything is fetched. A working environment in the folder is kept, so that the next try goes on
# where one was stopped; a broken one, or one that was moved or is of another Python, is made anew.
set -euo pipefail
folder=$1 lock=$2 size=$3
python=${PYTHON:-python3}

fail() {
    echo "install: $1" >&2
    exit 1
}

version_of() {  # version of an environment's Python; nothing if it does not work
    "$1" -c 'import pip, sys; print("%d.%d" % sys.version_info[:2])' 2> /dev/null || true
}

is_working() {
    [[ -n $(version_of "$folder/bin/python") && $(version_of "$folder/bin/python") == "$(version_of "$python")" ]] &&
        head -n 1 "$folder/bin/pip" | grep -qF "$(cd "$folder" && pwd)/bin/"
}

explain() {  # the last error of a command that failed, and what to do
    local error hint="the next try goes on from here"
    error=$(grep -E '^(ERROR|OSError|[Ee]rror)' "$said" | tail -n 1 || true)
    grep -qE 'NewConnectionError|Name or service not known|name resolution|timed out|ProxyError|Connection (refused|reset)|Could not find a version|No matching distribution' "$said" &&
        hint="is there a network? $hint"
    grep -q 'ensurepip' "$said" && error="$python makes no environments" hint="Debian needs the package python3-venv"
    grep -q 'No space left' "$said" && hint="the disk is full: make room, and try again"
    fail "${error:-$(tail -n 1 "$said")} ($hint)"
}

install() {  # pip's own words only if it fails
    "$folder/bin/python" -m pip --disable-pip-version-check -q install "$@" > "$said" 2>&1 || explain
}

copy_of_venv() {  # .venv as this environment, if it has the same packages of the same Python: a minute quicker than pip
    [[ $lock == requirements.lock && $folder != .venv && .venv/installed -nt $lock ]] || return 1
    [[ -n $(version_of .venv/bin/python) && $(version_of .venv/bin/python) == "$(version_of "$python")" ]] || return 1
    rm -rf "$folder" && cp -Rp .venv "$folder" && rm -f "$folder/installed" "$folder/ready" || return 1
    "$python" - "$folder" <<'PYTHON'
"""Let the scripts of the copy start its own Python."""

import sys
from pathlib import Path

folder = Path(sys.argv[1]).resolve()
old, new = bytes(Path(".venv").resolve()), bytes(folder)
for file in (folder / "bin").iterdir():
    if not file.is_symlink() and old in (content := file.read_bytes()):
        file.write_bytes(content.replace(old, new))
PYTHON
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null ||
    fail "Cutpurse needs Python 3.11 or newer, and $python is $("$python" -V 2>&1 || true); give another one: make PYTHON=python3.12"
if [[ -e $folder && ! -e $folder/pyvenv.cfg && -n $(ls -A "$folder") ]]; then
    fail "$folder is there and is no environment of Python: move it away, or give another folder: make BUILD=.venv-2"
fi
said=$(mktemp) || fail "no file can be made in ${TMPDIR:-/tmp}: make room, and try again"
trap 'rm -f "$said"' EXIT
if ! is_working; then
    [[ ! -e $folder/pyvenv.cfg ]] || echo "making $folder anew: it is broken, was moved, or is of another Python than $python"
    copy_of_venv || "$python" -m venv --clear "$folder" > "$said" 2>&1 || explain
fi
echo "installing into $folder: $size"
install --require-hashes -r "$lock"
install --no-build-isolation --no-deps -e .
