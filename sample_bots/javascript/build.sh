#!/bin/sh
# Makes bot.mjs ready to run: the two npm packages of the lock file and what they need, in node_modules.
set -eu
cd "$(dirname "$0")"

missing=""
lacks() { missing="$missing${missing:+, }$1"; }
old='parseInt(process.versions.node) < 18'
[ "$(node -p "$old" 2> /dev/null)" = false ] || lacks "node 18 or newer (apt install nodejs)"
here=node_modules/.package-lock.json  # which npm writes when it is done
if [ ! -e "$here" ] || [ -n "$(find package-lock.json -newer "$here")" ]; then
    if ! command -v npm > /dev/null; then
        lacks "npm (apt install npm)"
    elif [ -z "$missing" ]; then
        npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1 >&2 ||
            lacks "the npm packages (npm ci --ignore-scripts, where there is a network)"
    fi
fi
if [ -n "$missing" ]; then
    echo "missing: $missing" >&2
    exit 69
fi
