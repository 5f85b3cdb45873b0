#!/usr/bin/env bash
# Builds the core's own tests and runs them: tools/test_core.sh [plain|address|thread|valgrind|all]
#
# plain: the system's compiler, optimised as the extension is. address: AddressSanitizer and UndefinedBehaviorSanitizer.
# thread: ThreadSanitizer. valgrind: the plain program under Valgrind, which has no AVX-512 and so takes the other kernels.
set -euo pipefail
cd "$(dirname "$0")/.."

# build NAME VARIABLE=VALUE...: the programs in build/core/NAME; see csrc/Makefile
build() {
    make -s -C csrc -j "$(getconf _NPROCESSORS_ONLN)" BUILD="../build/core/$1" test replay example "${@:2}" >&2
}

# test_with NAME COMMAND...: what was built, run by a command if one is given
test_with() {
    local folder="build/core/$1"
    shift
    "$@" "$folder/test"
    "$@" "$folder/replay" fuzz/corpus/core.txt
    "$@" "$folder/example" | diff -u examples/bend.txt -
}

plain() {
    build plain
    test_with plain
    # Every name that a linker sees begins with tps_ (or _tps_, as macOS has it).
    if nm -g build/core/plain/libtps.a 2>/dev/null | awk 'NF == 3 && $3 !~ /^_?tps_/ { print; wrong = 1 } END { exit !wrong }'; then
        echo "libtps.a: these names do not begin with tps_" >&2
        return 1
    fi
}

address() {
    build address OPTIMISE="-O1 -g -fno-omit-frame-pointer" CHECKS="-fsanitize=address,undefined -fno-sanitize-recover=all"
    test_with address
}

thread() {
    build thread OPTIMISE="-O1 -g" CHECKS=-fsanitize=thread
    test_with thread env TSAN_OPTIONS=halt_on_error=1
}

valgrind_() {
    build valgrind OPTIMISE="-O1 -g"
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
