#!/usr/bin/env bash
# The numeric tests on modules built for AddressSanitizer with UndefinedBehaviorSanitizer, for ThreadSanitizer and for
# Valgrind, then 10,000 calls of every function and of every refusal: tools/test_sanitized.sh PYTHON
#
# Left out: the tests that count instructions (Valgrind within a sanitizer), that spread work over processes (they find
# the module that was installed), and that signal and fork (after a fork of many threads GCC's AddressSanitizer can lock
# up, and ThreadSanitizer lets no thread be started).
set -euo pipefail
cd "$(dirname "$0")/.."
python="$1"
numeric=(-P -m pytest -q --capture=sys tests/numeric) # a report is not captured: it is seen when the process ends by it
for module in instructions examples interrupts leaks; do
    numeric+=(--ignore "tests/numeric/test_$module.py")
done

# build NAME FLAGS...: the module in build/sanitized/NAME
build() {
    echo "== the numeric tests: $1" >&2
    tools/sanitized_module.sh "$python" "build/sanitized/$1" "${@:2}"
}

library() {
    "${CC:-cc}" -print-file-name="lib$1.so"
}

# Python itself keeps memory at its end, so leaks are not looked for here; test_leaks.py counts them.
build address -fsanitize=address,undefined -fno-sanitize-recover=undefined
LD_PRELOAD="$(library asan)" ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
    PYTHONPATH=build/sanitized/address "$python" "${numeric[@]}"

build thread -fsanitize=thread
LD_PRELOAD="$(library tsan)" TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1 \
    PYTHONPATH=build/sanitized/thread "$python" "${numeric[@]}"

# Left out here: tests that are nearly all NumPy's work, or SciPy's, which takes forty times as long under Valgrind
build valgrind
for module in deform laws judges_openusd judges_scipy; do
    numeric+=(--ignore "tests/numeric/test_$module.py")
done
PYTHONMALLOC=malloc PYTHONPATH=build/sanitized/valgrind valgrind -q --error-exitcode=99 \
    --suppressions=tools/valgrind.supp "$python" "${numeric[@]}"

echo "== 10,000 calls of every function, and of every refusal" >&2
TPS_CALLS=10000 "$python" -P -m pytest -q tests/numeric/test_leaks.py
