#!/usr/bin/env bash
# Builds the Python module with sanitizers, into a folder for PYTHONPATH: tools/sanitized_module.sh PYTHON FOLDER FLAGS...
set -euo pipefail
cd "$(dirname "$0")/.."
python="$1" folder="$2"
shift 2
# Clang needs many minutes for the kernels with sanitizers: `make sanitize` has GCC do that.
kernels=("KERNEL_CHECKS=$*")
case "${CC:-cc}" in clang*) kernels=(KERNEL_CHECKS=) ;; esac
make -s -C csrc -j "$(getconf _NPROCESSORS_ONLN)" BUILD="../$folder" PYTHON="$python" module \
    OPTIMISE="-O1 -g -fno-omit-frame-pointer" CHECKS="$*" "${kernels[@]}"
cp two_phase_skinning/*.py "$folder/two_phase_skinning/"
