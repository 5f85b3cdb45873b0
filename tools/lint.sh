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
run "$bin/mypy" --strict two_phase_skinning
run "$bin/clang-format" --dry-run --Werror $(git ls-files --cached --others --exclude-standard 'csrc/*.c' 'csrc/*.h')
exit "$failed"
