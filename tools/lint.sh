#!/usr/bin/env bash
# Look at everything, then fail if anything was found: tools/lint.sh PYTHON
set -uo pipefail
cd "$(dirname "$0")/.."
bin="$(dirname "$1")"
failed=0

run() {
    printf '%s\n' "$*" | cut -c1-120
    "$@" || failed=1
}

# The C sources must compile without a warning, with each compiler that is here.
compile() {
    local include numpy file
    include="$("$bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')"
    numpy="$("$bin/python" -c 'import numpy; print(numpy.get_include())')"
    for file in csrc/core/*.c csrc/module/*.c tests/core/*.c fuzz/*.c; do
        "$1" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wpedantic -Wconversion -Wno-psabi -Werror -c -o /dev/null \
            -DTPS_VERSION='"0"' -DPy_LIMITED_API=0x030B0000 -DNPY_TARGET_VERSION=NPY_1_23_API_VERSION \
            -DNPY_NO_DEPRECATED_API=NPY_1_23_API_VERSION -Icsrc/core -isystem "$include" -isystem "$numpy" "$file" ||
            return 1
    done
}

run "$bin/ruff" check .
run "$bin/ruff" format --check .
run "$bin/mypy"
run "$bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml
run "$bin/clang-format" --dry-run --Werror \
    $(git ls-files --cached --others --exclude-standard csrc tests/core fuzz | grep -E '\.(c|h|inl)$')
for compiler in gcc clang; do
    if command -v "$compiler" >/dev/null; then run compile "$compiler"; fi
done
exit "$failed"
