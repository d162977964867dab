#!/usr/bin/env bash
# Where the compiled and the pure wheel lie side by side, pip takes the compiled one if it fits, and the pure one for
# another Python or another machine.
# usage: scripts/wheel_choice.sh PURE_WHEEL COMPILED_WHEEL
set -euo pipefail

pure=$(realpath "${1:?usage: scripts/wheel_choice.sh PURE_WHEEL COMPILED_WHEEL}")
compiled=$(realpath "${2:?usage: scripts/wheel_choice.sh PURE_WHEEL COMPILED_WHEEL}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$pure" "$compiled" "$folder"

taken() {  # the name of the wheel that pip takes
    "${PYTHON:-python3}" -m pip --disable-pip-version-check -q download --no-index --no-deps --only-binary :all: \
        --find-links "$folder" --dest "$folder/taken" "$@" cutpurse
    basename "$folder"/taken/*.whl
    rm -rf "$folder/taken"
}

expect() {
    [[ $2 == "$3" ]] || { echo "pip takes $2 $1, not $3"; exit 1; }
    echo "pip takes $2 $1"
}

expect "here" "$(taken)" "$(basename "$compiled")"
expect "for another Python" "$(taken --python-version 3.99)" "$(basename "$pure")"
expect "for another machine" "$(taken --platform any)" "$(basename "$pure")"
