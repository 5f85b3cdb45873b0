#!/usr/bin/env bash
# Fuzzes the core with libFuzzer, then the Python module with atheris: tools/fuzz.sh PYTHON [core|binding]
#   FUZZ_SECONDS=600   how long each
#   FUZZ_SAVE=1        write what was found new into fuzz/corpus/, as lines of hexadecimal digits
# Needs Clang with its libFuzzer, and from PyPI atheris. A finding ends it, and is left in build/fuzz/.
set -euo pipefail
cd "$(dirname "$0")/.."
python="$1"
seconds="${FUZZ_SECONDS:-600}"
checks="-fsanitize=address,undefined"
# The time limit of a case is by the clock on the wall, which goes on while the process is stopped or waits for others.
options=(-max_len=512 -timeout=300 -max_total_time="$seconds" -print_final_stats=1 -rss_limit_mb=8000
    -malloc_limit_mb=1000000000) # a view that claims terabytes, of the right shape, is for the system to refuse
mkdir -p build/fuzz

# lines_to_files FILE FOLDER, files_to_lines FOLDER FILE
lines_to_files() {
    mkdir -p "$2"
    "$python" - "$@" <<'END'
import pathlib, sys
for number, line in enumerate(pathlib.Path(sys.argv[1]).read_text().split()):
    pathlib.Path(sys.argv[2], f"saved{number}").write_bytes(bytes.fromhex(line))
END
}

files_to_lines() {
    "$python" - "$@" <<'END'
import pathlib, sys
lines = sorted({path.read_bytes().hex() for path in pathlib.Path(sys.argv[1]).iterdir() if path.stat().st_size}, key=lambda line: (len(line), line))
pathlib.Path(sys.argv[2]).write_text("".join(f"{line}\n" for line in lines))
END
}

# fuzz NAME COMMAND...: with the saved corpus and what earlier runs here have found
fuzz() {
    local name="$1"
    shift
    echo "== fuzzing the $name for $seconds s" >&2
    lines_to_files "fuzz/corpus/$name.txt" "build/fuzz/$name"
    "$@" "${options[@]}" -artifact_prefix="build/fuzz/found-$name-" "build/fuzz/$name"
    if [ -n "${FUZZ_SAVE:-}" ]; then
        rm -rf "build/fuzz/$name-least"
        mkdir -p "build/fuzz/$name-least"
        "$@" -merge=1 -set_cover_merge=1 "build/fuzz/$name-least" "build/fuzz/$name"
        files_to_lines "build/fuzz/$name-least" "fuzz/corpus/$name.txt"
    fi
}

fuzz_core() {
    # Clang needs many minutes for the kernels with UndefinedBehaviorSanitizer; `make sanitize` has GCC do that.
    make -s -C csrc -j "$(getconf _NPROCESSORS_ONLN)" BUILD=../build/fuzz/objects CC=clang fuzz OPTIMISE="-O1 -g" \
        CHECKS="$checks,fuzzer-no-link -fno-sanitize-recover=all" KERNEL_CHECKS="-fsanitize=address,fuzzer-no-link"
    fuzz core build/fuzz/objects/fuzz_core
}

fuzz_binding() {
    [ -x build/fuzz/venv/bin/python ] || "$python" -m venv build/fuzz/venv
    build/fuzz/venv/bin/python -m pip --disable-pip-version-check install -qq -r requirements/fuzz.txt
    CC=clang tools/sanitized_module.sh build/fuzz/venv/bin/python build/fuzz/module "$checks,fuzzer-no-link" \
        -fno-sanitize-recover=undefined
    preload="$(build/fuzz/venv/bin/python -c 'import atheris; print(atheris.path())')/asan_with_fuzzer.so"
    fuzz binding env LD_PRELOAD="$preload" ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
        PYTHONPATH=build/fuzz/module build/fuzz/venv/bin/python -P fuzz/binding.py
}

for target in ${2:-core binding}; do "fuzz_$target"; done
