#!/usr/bin/env bash
# Make (or bring up to date) build/venv-NAME, a virtual environment of its own for one job, and print the path of its python:
#
#   tools/venv.sh NAME PYTHON-VERSION PIP-ARGUMENT...
#
# PYTHON-VERSION may be "3.13 3.11": the first that is here. Nothing is done twice: a stamp holds what it was made from.
set -euo pipefail
cd "$(dirname "$0")/.."

name="$1" versions="$2"
shift 2
python=""
for version in $versions; do
    python="$(tools/setup.sh --find "$version")" && break
done
[ -n "$python" ] || { echo "build/venv-$name needs Python ${versions// / or }" >&2; exit 1; }

venv="build/venv-$name"
bin() { if [ -d "$venv/bin" ]; then echo "$venv/bin"; else echo "$venv/Scripts"; fi; } # the latter on Windows
wanted="$("$python" --version) $*"
for argument in "$@"; do
    if [ -f "$argument" ]; then wanted="$wanted $(cat "$argument")"; fi
done
if [ "$(cat "$venv/.stamp" 2>/dev/null)" != "$wanted" ]; then
    echo "Making $venv ($*)" >&2
    rm -rf "$venv"
    mkdir -p build
    "$python" -m venv "$venv"
    if ! "$(bin)/python" -m pip --disable-pip-version-check install -q "$@" >"build/venv-$name.log" 2>&1; then
        cat "build/venv-$name.log" >&2
        exit 1
    fi
    printf '%s' "$wanted" >"$venv/.stamp"
fi
printf '%s\n' "$PWD/$(bin)/python"
