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

# build NAME FLAGS...: the path of the program
build() {
    local folder="build/core/$1" file
    shift
    mkdir -p "$folder"
    for file in csrc/core/*.c tests/core/*.c; do
        # shellcheck disable=SC2086  # a list of flags
        echo "$compiler" -std=c11 -ffp-contract=off -fno-math-errno -pthread $warnings $define "$@" -Icsrc/core \
            -c "$file" -o "$folder/$(basename "$file" .c).o"
    done | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I{} sh -c '{}'
    # shellcheck disable=SC2086
    "$compiler" "$@" -pthread $faults "$folder"/*.o -lm -o "$folder/tests"
    echo "$folder/tests"
}

plain() {
    local program
    program="$(build plain -O3)"
    "$program"
}

address() {
    local program
    program="$(build address -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)"
    "$program"
}

thread() {
    local program
    program="$(build thread -O1 -g -fsanitize=thread)"
    TSAN_OPTIONS=halt_on_error=1 "$program"
}

valgrind_() {
    local program
    program="$(build valgrind -O1 -g)"
    valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all "$program"
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
