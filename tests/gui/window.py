"""Drives a real Blender window: steps that wait for it to draw, mouse and keys through X, and pictures of the screen.

A step is a generator that yields the seconds to wait. Blender draws and reads the mouse only while a step waits.
"""

import os
import subprocess
import time
import traceback
from pathlib import Path

import bpy

OUT = Path(os.environ["WINDOW_OUT"])
DRAWN = 0.6  # seconds after which Blender has drawn what was changed
CLICKED = 1.8  # seconds after which it has done what a click asks for


def run(checks):
    """Run checks one after the other from timers; OUT/results.txt then has a line for each, and done is made."""
    results = (OUT / "results.txt").open("w", encoding="utf-8")
    steps = _all(checks, results)

    def tick():
        try:
            return next(steps)
        except StopIteration:
            results.close()
            (OUT / "done").write_text("done\n", encoding="utf-8")
            return None

    bpy.app.timers.register(tick, first_interval=1.0, persistent=True)  # a file that is loaded ends all others


def _all(checks, results):
    for check in checks:
        started = time.monotonic()
        try:
            yield from check()
            outcome = "ok"
        except Exception:
            traceback.print_exc()
            outcome = "FAILED"
            picture(f"failed_{check.__name__}")
        print(f"{outcome:7} {check.__name__} ({time.monotonic() - started:.1f} s)", file=results, flush=True)


def until(condition, seconds=30):
    """Wait until something is so, on a machine that may be busy; fails if it never is."""
    for _ in range(int(seconds / 0.3)):
        if condition():
            break
        yield 0.3
    assert condition()
    yield redraw()


def window():
    return bpy.context.window_manager.windows[0]


def area(kind):
    """The largest area of that type."""
    found = [each for each in window().screen.areas if each.type == kind]
    return max(found, key=lambda each: each.width * each.height)


def region(owner, kind="WINDOW"):
    return next(each for each in owner.regions if each.type == kind)


def context(kind="VIEW_3D"):
    """Blender's context as in that editor; a timer's has no area."""
    owner = area(kind)
    return bpy.context.temp_override(window=window(), area=owner, region=region(owner))


def redraw():
    for each in window().screen.areas:
        each.tag_redraw()
    return DRAWN


def picture(name, of=None):
    """A picture of the whole screen, or of an area or a region, or of a box: left, top, width, height."""
    crop = []
    if of is not None:
        left, top, width, height = of if isinstance(of, tuple) else _box(of)
        crop = ["-crop", f"{width}x{height}+{left}+{top}", "+repage"]
    small = ["-strip", "+dither", "-colors", "200", "-depth", "8"]
    subprocess.run(["import", "-window", "root", *crop, *small, str(OUT / f"{name}.png")], check=True)


def _box(of):
    return of.x, window().height - of.y - of.height, of.width, of.height


def click(of, x, y, button=1):
    """A click at a place of an area or region, from its left and top. Buttons want the pointer to come and to stay."""
    _pointer(of, -200, y)
    there = ["sleep", "0.4", "mousemove_relative", "--", str(int(x) + 200), "0"]
    stay = ["sleep", "0.3", "mousemove_relative", "2", "0", "sleep", "0.3"]
    press = ["mousedown", str(button), "sleep", "0.15", "mouseup", str(button)]
    subprocess.Popen(["xdotool", *there, *stay, *press])
    return CLICKED


def click_until(of, x, y, condition):
    """Click, and once or twice more if the machine is so busy that a click gets lost."""
    for _ in range(3):
        yield click(of, x, y)
        for _ in range(15):
            if condition():
                yield redraw()
                return
            yield 0.3
    raise AssertionError(f"a click at {x}, {y} had no effect")


def move(of, x, y):
    _pointer(of, x, y)
    return 0.3


def _pointer(of, x, y):
    at = int(of.x + x), int(window().height - of.y - of.height + y)
    subprocess.run(["xdotool", "mousemove", *map(str, at)], check=True)


def key(*names):
    subprocess.Popen(["xdotool", "sleep", "0.2", "key", *names])
    return CLICKED


def type_text(text):
    subprocess.Popen(["xdotool", "sleep", "0.2", "type", "--delay", "40", text])
    return 0.5 + 0.05 * len(text) + DRAWN


def show_properties(tab):
    area("PROPERTIES").spaces.active.context = tab
    return redraw()


def show_sidebar(category=""):
    """The sidebar of the 3D view, with that tab if it is there already."""
    view = area("VIEW_3D")
    view.spaces.active.show_region_ui = True
    if category:
        region(view, "UI").active_panel_category = category
    return redraw()
