#!/usr/bin/env bash
# The numeric tests on a module built with AddressSanitizer and UndefinedBehaviorSanitizer, then 10,000 calls of every
# function and of every refusal: tools/test_sanitized.sh PYTHON
#
# Left out: the tests that count instructions (Valgrind within a sanitizer), that spread work over processes (they find
# the module that was installed), and that fork (GCC's AddressSanitizer can lock up after a fork of many threads).
set -euo pipefail
cd "$(dirname "$0")/.."
python="$1"
folder=build/sanitized/address
tools/sanitized_module.sh "$python" "$folder" -fsanitize=address,undefined -fno-sanitize-recover=undefined
echo "== the numeric tests under AddressSanitizer and UndefinedBehaviorSanitizer" >&2
# Python itself keeps memory at its end, so leaks are not looked for here; test_leaks.py counts them.
LD_PRELOAD="$("${CC:-cc}" -print-file-name=libasan.so)" ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
    PYTHONPATH="$folder" "$python" -P -m pytest -q tests/numeric --ignore tests/numeric/test_instructions.py \
    --ignore tests/numeric/test_examples.py --ignore tests/numeric/test_interrupts.py \
    --ignore tests/numeric/test_leaks.py
echo "== 10,000 calls of every function, and of every refusal" >&2
TPS_CALLS=10000 "$python" -P -m pytest -q tests/numeric/test_leaks.py
