#!/usr/bin/env bash
# Blender with a real window, where there is no screen: Debian 13's Blender 4.3 in a folder of its own, on a virtual screen,
# drawn by the processor. Needs Linux on x86-64, root and debootstrap.
#
#   tools/window.sh setup                         make that folder (once, 2 GB, some minutes)
#   tools/window.sh run SCRIPT.py OUT [FOLDER...] run a script in Blender's window
#
# run: the script finds OUT in $WINDOW_OUT, has its user's files in OUT/user (empty in a new OUT), and ends the run by making
# the file OUT/done: it has failed if the first line of that starts with FAIL. What Blender prints is in OUT/blender.log, the
# last picture of the screen in OUT/screen.png. This repository, OUT and the FOLDERs are where they are outside; nothing else is.
#
# WINDOW_ROOT=/path    where Debian is, or is to be; build/window by default
# WINDOW_LIMIT=300     seconds that a run may take
set -euo pipefail
here="$(cd "$(dirname "$0")/.." && pwd)"
root="${WINDOW_ROOT:-$here/build/window}"
limit="${WINDOW_LIMIT:-300}"
packages="blender python3-numpy xvfb xdotool imagemagick libgl1-mesa-dri libegl1 libegl-mesa0"

fail() { printf '%s\n' "$@" >&2; exit 1; }

need() {
    [ "$(id -u)" = 0 ] || fail "tools/window.sh must be run as root: it makes a Debian of its own with chroot"
    command -v "$1" >/dev/null || fail "$1 is missing" "  Debian, Ubuntu:  apt install $1"
}

# Each run has mounts and processes of its own, which end with it, however it ends.
apart() { unshare --mount --propagation private --pid --fork --kill-child "$0" "$@"; }

mount_system() {
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount --rbind /dev "$root/dev"
}

setup() {
    [ -f "$root/.two_phase_skin" ] && return
    need debootstrap
    local mirror
    mirror="$(apt-get indextargets --format '$(SITE)' 2>/dev/null | grep -v security | head -n 1 || true)"
    if ! [ -x "$root/usr/bin/apt-get" ]; then
        echo "Making a Debian with Blender in $root (once, some minutes)" >&2
        mkdir -p "$root"
        # shellcheck disable=SC2086  # no mirror: debootstrap knows one
        debootstrap --variant=minbase trixie "$root" $mirror >"$root.log" 2>&1 || fail "$(tail -n 5 "$root.log")"
    fi
    apart inside-setup >>"$root.log" 2>&1 || fail "$(tail -n 5 "$root.log")"
    touch "$root/.two_phase_skin"
}

inside_setup() {
    mount_system
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    # shellcheck disable=SC2086  # a list of packages
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 sh -c \
        'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@" && apt-get clean' sh $packages
}

show() {  # a folder of this machine, at the same place inside
    mkdir -p "$root$1"
    mount --bind "$1" "$root$1"
}

run() {
    [ $# -ge 2 ] || fail "tools/window.sh run SCRIPT.py OUT [FOLDER...]"
    local script out
    script="$(readlink -f "$1")"
    [ -f "$script" ] || fail "there is no script $1"
    mkdir -p "$2/user"
    out="$(readlink -f "$2")"
    rm -f "$out/done" "$out/screen.png"
    setup
    apart inside-run "$script" "$out" "${@:3}" || fail "Blender with a window: $(basename "$script") failed" "$(tail -n 20 "$out/blender.log")"
}

inside_run() {
    local script="$1" out="$2" folder
    mount_system
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    mkdir -p "$root/tmp/.X11-unix" "$root/var/cache/window"
    for folder in "$here" "$out" "${@:3}"; do show "$(readlink -f "$folder")"; done
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/tmp XDG_RUNTIME_DIR=/tmp \
        XDG_CACHE_HOME=/var/cache/window LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=llvmpipe \
        WINDOW_OUT="$out" BLENDER_USER_RESOURCES="$out/user" bash "$here/tools/window.sh" in-window "$script" "$out" "$limit"
}

in_window() {
    local script="$1" out="$2" limit="$3" blender screen code=0 until
    Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp +extension GLX 3>"$XDG_RUNTIME_DIR/display" >"$out/xvfb.log" 2>&1 &
    screen=$!
    until=$((SECONDS + 30))
    until [ -s "$XDG_RUNTIME_DIR/display" ]; do
        kill -0 "$screen" && [ "$SECONDS" -lt "$until" ] || fail "the virtual screen did not start" "$(cat "$out/xvfb.log")"
        sleep 0.1
    done
    DISPLAY=":$(cat "$XDG_RUNTIME_DIR/display")"
    export DISPLAY
    cd "$(dirname "$script")"
    stdbuf -oL -eL blender --window-geometry 0 0 1600 1000 --python-exit-code 3 \
        --python-expr 'import bpy; bpy.context.preferences.view.show_splash = False' \
        --python "$script" >"$out/blender.log" 2>&1 &
    blender=$!
    until=$((SECONDS + limit))
    while [ ! -e "$out/done" ] && kill -0 "$blender" 2>/dev/null && [ "$SECONDS" -lt "$until" ]; do sleep 0.2; done
    import -window root "$out/screen.png" || true
    if [ ! -e "$out/done" ]; then
        code=1
        if kill -0 "$blender" 2>/dev/null; then echo "no end after $limit s" >>"$out/blender.log"; fi
    elif head -n 1 "$out/done" | grep -q '^FAIL'; then
        code=1
        cat "$out/done" >>"$out/blender.log"
    fi
    exit "$code" # all processes in here end with this one
}

case "${1:-}" in
    setup) setup ;;
    run) run "${@:2}" ;;
    inside-setup) inside_setup ;;
    inside-run) inside_run "${@:2}" ;;
    in-window) in_window "${@:2}" ;;
    *) fail "tools/window.sh setup, or run SCRIPT.py OUT [FOLDER...]" ;;
esac
