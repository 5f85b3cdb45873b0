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

run "$bin/ruff" check .
run "$bin/ruff" format --check .
run "$bin/mypy"
run "$bin/mypy" --strict tests/numeric/*.py
run "$bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml
run "$bin/clang-format" --dry-run --Werror \
    $(git ls-files --cached --others --exclude-standard csrc tests/core fuzz examples | grep -E '\.(c|h|inl)$')
for compiler in gcc clang; do
    if command -v "$compiler" >/dev/null; then
        run make -s -C csrc lint OPTIMISE=-O2 CC="$compiler" PYTHON="$(cd "$bin" && pwd)/python" # without a warning
    fi
done
exit "$failed"
