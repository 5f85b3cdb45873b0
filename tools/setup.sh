#!/usr/bin/env bash
# Make (or bring up to date) build/venv-3.13 or build/venv-3.11 and print the path of its python.
#
#   tools/setup.sh [blender] [package] [test] [study] [lint]
#     blender   Blender as a module
#     package   that, and this package built from source
#     test      what the tests need
#     study     what the physical judge needs
#     lint      what `make lint` needs
#   tools/setup.sh --find 3.13     only print a Python of that version, or fail
#
# PYTHON=3.13, PYTHON=3.11 or PYTHON=/path chooses the Python. Messages go to the standard error. Nothing is done twice:
# each step leaves a stamp that holds what it was made from.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }
fail() { say "" "$@"; exit 1; }

# A Python counts only if it runs and is what it says: pyenv leaves a python3.13 that fails on the PATH.
version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null </dev/null || true; }

find_python() {  # version -> path
    local candidate
    for candidate in "python$1" python3 python \
        "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1"*/bin/python /opt/homebrew/bin/"python$1" /usr/local/bin/"python$1" \
        "$HOME"/.local/share/uv/python/cpython-"$1".*/bin/"python$1"; do
        candidate="$(command -v "$candidate" 2>/dev/null || true)"
        if [ -n "$candidate" ] && [ "$(version_of "$candidate")" = "$1" ]; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

choose_python() {
    case "${PYTHON:-}" in
        "") find_python 3.13 || find_python 3.11 ;;
        3.13 | 3.11) find_python "$PYTHON" ;;
        *) case "$(version_of "$PYTHON")" in 3.13 | 3.11) command -v "$PYTHON" ;; *) return 1 ;; esac ;;
    esac
}

if [ "${1:-}" = --find ]; then
    find_python "$2"
    exit
fi

# ---- what must be on the machine: everything that is missing is named at once

missing=()
python="$(choose_python)" || python=""
if [ -z "$python" ]; then
    wanted="${PYTHON:-3.13 (or 3.11)}"
    missing+=("Python $wanted
      Debian, Ubuntu:  apt install python3 python3-venv python3-dev   (if that is 3.13 or 3.11; else pyenv install 3.13)
      Fedora:          dnf install python3.13 python3.13-devel
      macOS:           brew install python@3.13
      Windows:         Python 3.13 from the Microsoft Store, and run make in a Git Bash or MSYS2 shell")
else
    "$python" -c 'import ensurepip, venv' 2>/dev/null || missing+=("the venv module of $python
      Debian, Ubuntu:  apt install python$(version_of "$python")-venv")
fi
if [[ " $* " == *" package "* ]]; then
    compiler="${CC:-}"
    [ -n "$compiler" ] || compiler="$([ -n "$python" ] && "$python" -c 'import sysconfig; print(sysconfig.get_config_var("CC") or "")' || true)"
    case "$(uname -s)" in
        MINGW* | MSYS* | CYGWIN*) compiler="${CC:-gcc}" ;;
    esac
    command -v "${compiler%% *}" >/dev/null 2>&1 || compiler=cc
    command -v "${compiler%% *}" >/dev/null 2>&1 || missing+=("a C compiler (looked for ${CC:-cc})
      Debian, Ubuntu:  apt install build-essential
      Fedora:          dnf install gcc
      macOS:           xcode-select --install
      Windows:         GCC or Clang from MSYS2 (Visual Studio's compiler does not know vector extensions)")
    if [ -n "$python" ]; then
        include="$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')"
        [ -f "$include/Python.h" ] || missing+=("Python's headers ($include/Python.h)
      Debian, Ubuntu:  apt install python$(version_of "$python")-dev
      Fedora:          dnf install python$(version_of "$python")-devel")
    fi
fi
if [ ${#missing[@]} -gt 0 ]; then
    say "" "Missing on this machine:"
    for item in "${missing[@]}"; do say "  - $item"; done
    exit 1
fi

# ---- the virtual environment

version="$(version_of "$python")"
venv="build/venv-$version"
if [ -x "$venv/bin/python" ] || [ ! -e "$venv/Scripts/python.exe" ]; then bin="$venv/bin"; else bin="$venv/Scripts"; fi
if [ "$(version_of "$bin/python")" != "$version" ]; then
    say "Making $venv with $python"
    rm -rf "$venv"
    mkdir -p build
    "$python" -m venv "$venv"
    [ -x "$venv/bin/python" ] && bin="$venv/bin" || bin="$venv/Scripts"
fi

# pip, with its progress bar but without the remarks that no newcomer needs; errors stay.
pip() {
    local code=0 log="build/pip-$version.log"
    "$bin/python" -m pip --disable-pip-version-check "$@" 2>"$log" >&2 || code=$?
    grep -vE "^WARNING: (Location .* is ignored|Running pip as the 'root' user)|^$" "$log" >&2 || true
    if [ "$code" -ne 0 ]; then fail "pip failed: python -m pip $*"; fi
}

step() {  # stamp name, what it is made from, message, command...
    local stamp="$venv/.stamp-$1" source="$2"
    [ "$(cat "$stamp" 2>/dev/null)" = "$source" ] && return 0
    say "$3"
    shift 3
    "$@"
    printf '%s' "$source" >"$stamp"
}

install() { step "$1" "$(cat "requirements/$1.txt")" "$2" pip install --progress-bar on -q -r "requirements/$1.txt"; }

install_blender() { install blender "Installing Blender as a Python module (about 350 MB, once)"; }

package_sources() {
    find csrc two_phase_skinning setup.py pyproject.toml MANIFEST.in docs/python.md -type f \
        -not -path '*/__pycache__/*' -not -name '*.so' -not -name '*.pyd' 2>/dev/null |
        LC_ALL=C sort | while IFS= read -r file; do cksum "$file"; done
}

# setuptools' own leftovers go first, since it would pack files from them that no longer exist.
build_package() {
    rm -rf "build/wheel-$version" build/lib.* build/temp.* build/bdist.*
    pip wheel -q --no-deps -w "build/wheel-$version" .
    pip install -q --no-deps --force-reinstall "build/wheel-$version"/*.whl
}

# Blender's module is a shared library that expects a desktop's libraries, window or not; it opens libEGL only to render.
check_libraries() {
    [ "$(uname -s)" = Linux ] && command -v ldd >/dev/null || return 0
    local absent
    absent="$(ldd "$venv"/lib/python*/site-packages/bpy/__init__*.so | awk '/not found/ { print $1 }' | sort -u | tr '\n' ' ')"
    "$bin/python" -c 'import ctypes; ctypes.CDLL("libEGL.so.1")' 2>/dev/null || absent="$absent libEGL.so.1"
    [ -z "$absent" ] || fail "Blender misses shared libraries on this machine: $absent" \
        "  Debian, Ubuntu:  apt install $(tr '\n' ' ' <tools/blender-libraries.txt)" \
        "  Fedora:          dnf install libX11 libXrender libXfixes libXi libxkbcommon libSM libICE mesa-libGL" \
        "                   mesa-libEGL mesa-dri-drivers"
}

for part in "$@"; do
    case "$part" in
        blender) install_blender ;;
        package)
            install_blender
            check_libraries
            step package "$(package_sources)" "Building two_phase_skinning from source" build_package
            ;;
        test) install test "Installing what the tests need" ;;
        study) install study "Installing what the physical judge needs" ;;
        lint) install lint "Installing ruff, mypy and clang-format" ;;
        *) fail "tools/setup.sh: unknown part \"$part\"; expected blender, package, test, study or lint" ;;
    esac
done
printf '%s\n' "$PWD/$bin/python"
