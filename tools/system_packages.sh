#!/usr/bin/env bash
# Install from Debian or Ubuntu what `make` cannot install by itself, if it is missing: tools/system_packages.sh [foreign] [window]
#
#   foreign   also what `make test-foreign` runs programs of other systems with
#   window    also what `make test-gui` makes a Debian with
set -euo pipefail
cd "$(dirname "$0")/.."

absent() {
    command -v make >/dev/null || echo make
    command -v cc >/dev/null || echo gcc libc6-dev
    command -v git >/dev/null || echo git
    command -v valgrind >/dev/null || echo valgrind # counts instructions for a test
    local package
    while read -r package; do # the libraries that Blender expects
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done <tools/blender-libraries.txt
    local version python found=
    for version in 3.13 3.11; do
        python="$(tools/setup.sh --find "$version")" || continue
        found=yes
        "$python" -c 'import ensurepip, venv' 2>/dev/null || echo "python$version-venv"
        [ -f "$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h" ] || echo "python$version-dev"
    done
    [ -n "$found" ] || echo python3 python3-venv python3-dev
    if [[ " $* " == *" foreign "* ]]; then
        command -v wine >/dev/null || echo wine wine64
        command -v qemu-aarch64-static >/dev/null || echo qemu-user-static
    fi
    if [[ " $* " == *" window "* ]]; then command -v debootstrap >/dev/null || echo debootstrap; fi
}

command -v apt-get >/dev/null || exit 0
packages="$(absent "$@" | tr '\n' ' ')"
[ -n "${packages// /}" ] || exit 0
as_root=(env DEBIAN_FRONTEND=noninteractive)
[ "$(id -u)" = 0 ] || as_root=(sudo "${as_root[@]}")
"${as_root[@]}" apt-get update -q
# shellcheck disable=SC2086  # one word, one package
"${as_root[@]}" apt-get install -y -q --no-install-recommends $packages
