#!/usr/bin/env bash
# Builds the core's own tests and runs them: tools/test_core.sh [plain|address|thread|valgrind|all]
#
# plain: the system's compiler, optimised as the extension is. address: AddressSanitizer and UndefinedBehaviorSanitizer.
# thread: ThreadSanitizer. valgrind: the plain program under Valgrind, which has no AVX-512 and so takes the other kernels.
set -euo pipefail
cd "$(dirname "$0")/.."
compiler="${CC:-cc}"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wno-psabi"

# Only the linkers of Linux have --wrap, which lets a test refuse an allocation or a thread.
define=
faults=
if [ "$(uname)" = Linux ]; then
    define=-DTPS_TEST_FAULTS
    faults="-Wl,--wrap=malloc,--wrap=calloc,--wrap=free,--wrap=pthread_create"
fi

# build FOLDER FLAGS...: FOLDER/tests, and FOLDER/replay for the saved corpus of the fuzzer
build() {
    local folder="build/core/$1" file
    shift
    mkdir -p "$folder/csrc" "$folder/tests" "$folder/fuzz"
    for file in csrc/core/*.c tests/core/*.c fuzz/*.c; do
        # shellcheck disable=SC2086  # a list of flags
        echo "$compiler" -std=c11 -ffp-contract=off -fno-math-errno -pthread $warnings $define "$@" -Icsrc/core \
            -c "$file" -o "$folder/${file%%/*}/$(basename "$file" .c).o"
    done | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I{} sh -c '{}'
    # shellcheck disable=SC2086
    "$compiler" "$@" -pthread $faults "$folder"/csrc/*.o "$folder"/tests/*.o -lm -o "$folder/test"
    "$compiler" "$@" -pthread "$folder"/csrc/*.o "$folder"/fuzz/*.o -lm -o "$folder/replay"
}

# test_with FOLDER COMMAND...: what was built, run by a command if one is given
test_with() {
    local folder="build/core/$1"
    shift
    "$@" "$folder/test"
    "$@" "$folder/replay" fuzz/corpus/core.txt
}

plain() {
    build plain -O3
    test_with plain
}

address() {
    build address -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
    test_with address
}

thread() {
    build thread -O1 -g -fsanitize=thread
    test_with thread env TSAN_OPTIONS=halt_on_error=1
}

valgrind_() {
    build valgrind -O1 -g
    test_with valgrind valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all
}

run() {
    echo "== the core's tests: $1" >&2
    case "$1" in
    plain | address | thread) "$1" ;;
    valgrind) valgrind_ ;;
    *) echo "expected plain, address, thread, valgrind or all, not: $1" >&2 && return 2 ;;
    esac
}

if [ "${1:-plain}" = all ]; then
    for each in address thread valgrind; do run "$each"; done
else
    run "${1:-plain}"
fi
