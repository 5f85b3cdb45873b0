#!/usr/bin/env bash
# Builds the Python module with a sanitizer, into a folder for PYTHONPATH: tools/sanitized_module.sh PYTHON FOLDER FLAGS...
set -euo pipefail
cd "$(dirname "$0")/.."
python="$1" folder="$2"
shift 2
include="$("$python" -c 'import numpy, sysconfig; print("-I" + sysconfig.get_paths()["include"], "-I" + numpy.get_include())')"
mkdir -p "$folder/objects" "$folder/two_phase_skinning"
cp two_phase_skinning/*.py "$folder/two_phase_skinning/"
sed -n 's/^version = \(".*"\)/#define TPS_VERSION \1/p' addon/blender_manifest.toml >"$folder/version.h"
for file in csrc/*/*.c; do
    flags="$*"
    # Clang needs many minutes for the kernels with sanitizers: `make sanitize` has GCC do that
    case "${CC:-cc} $file" in clang*kernel_*) flags= ;; esac
    echo "${CC:-cc}" -std=c11 -O1 -g -fPIC -pthread -ffp-contract=off -fno-math-errno -Wno-psabi -fno-omit-frame-pointer $flags \
        -DPy_LIMITED_API=0x030B0000 -DNPY_TARGET_VERSION=NPY_1_23_API_VERSION \
        -DNPY_NO_DEPRECATED_API=NPY_1_23_API_VERSION -Icsrc/core "$include" -include "$folder/version.h" \
        -c "$file" -o "$folder/objects/$(basename "$file" .c).o"
done | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I{} sh -c '{}'
"${CC:-cc}" -shared -pthread "$@" "$folder"/objects/*.o -o "$folder/two_phase_skinning/_core.abi3.so"
