"""The page of results: docs/results/physical_judge.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from judge.compare import BASE, METHODS, Found, mean, ratio
from judge.poses import EDGES, KINDS
from judge.profiles import PROFILES

Rows = dict[str, list[Found]]
CLASSES = [(edges, kind) for edges in EDGES for kind in KINDS]
BENDS, TWISTS = "bends", "twists"
FLESH = "Flesh, before"
CLOSE = ("two-phase after", "two-phase before", "Flesh, before", "Flesh, after")

INTRODUCTION = """# The physical judge

*Made by `make study` (`python study/physical.py`). Do not edit: change the study and run it again.*

What a limb of soft, nearly incompressible flesh around rigid bones does in a pose, and how near each way of skinning
comes to it. The elastic limb is solved with finite elements (trilinear hexahedra of scikit-fem, a neo-Hookean
material with Poisson's ratio {nu}, Newton's method): the bones are a core of {core} radii R that follows the joints'
matrices except within {margin} R of a joint, the rest is free. Where joints scale, the flesh has grown by the joints'
own stretches, blended by harmonic functions of the bones' cores: by no weights of any skin. The solver is checked in
`tests/study` against a stretched block, a bent beam, a twisted and a widened tube. [How Flesh works](../flesh.md) has
the mathematics of what is favoured here.

**Tubes**: {tubes} random poses in nine classes: bend, twist or both; no scale, scale that stops at its joint
(compensated) or that children inherit. Two thirds are straight limbs of two bones (bends of 20 to 80°, twists of 40
to 150°), a third chains of three (15 to 65°, 20 to 100°). Every third pose is *held*: no amount was chosen on it. The
judge found no equilibrium, or one that runs through itself, for {lost} of the {tubes} and {lost_of_body} of the body's
{body} poses; those are left out.

**Numbers** are, if nothing else is said, the distance of the skin from the elastic one, vertex by vertex, as rms over
the surface, divided by that of Preserve Volume with the same weights: geometric means over the poses; below 1 is nearer
to the elastic limb.

![Limbs beside the elastic one](../figures/flesh.png)

*Held poses. The distance to the elastic limb in colour; the number beside R is its mean. Above tubes, below the body's
knee.*
"""

LIMITS = """## Limits

- There is no self-contact, so bends of tubes end at 80°. Beyond, the inner crease is an instability that the mesh
  decides; the elbow is bent by 21° at rest already, so that its pose of 75° is beyond that.
- Of the body an elbow and a knee with automatic weights. No shoulder, for which no equilibrium was found; no painted
  weights.
- Homogeneous flesh: no muscles, no kneecap or elbow to hold the outside out, no gravity.
- How near to the joint the bones hold the flesh is a choice (*Other judges*): it decides how far a twist spreads.
- The rest of a scaled limb is grown flesh; nobody knows how an animator's squash would grow.
- On the body one pose of a class, mostly: the classes' numbers there are anecdotes. The elbow bent with scale that
  stops at its joint is not nearer by Flesh vertex by vertex, only in shape.
- The slide's amount was fitted to this judge. Held poses are of the same family of limbs: they show that it was not
  fitted to single poses, not that real limbs have it.
"""

OTHER_FIGURES = """## Other figures

Held poses. *Largest* distance, *shape* and *girth* (rms of its logarithm against the elastic one's) as ratios to
Preserve Volume. Means of differences from the elastic limb: *volume* in % of the limb's within 1.5 R of its joints,
*bulge* how far the outer side of a bend stands out, *twist's spread* from a tenth to nine tenths of the twist.
"""

OTHER_JUDGES = """## Other judges

One held pose of each class, of a straight limb; each judge changes one thing. An empty cell: no equilibrium was found.
"""

FINER = """## A finer mesh

The rms distance in R with the mesh of these tables, and with a finer one (24 elements around instead of 16, 4 layers
instead of 3, slices 0.14 R apart instead of 0.2 R). The core is held from the first slice beyond the margin, at 0.80 R
and 0.86 R: a part of the difference is that.
"""

BODY = """## The body

An elbow and a knee of the generated character, of tetrahedra of second order, with its automatic weights. All poses are
held. Weights of other joints went to the nearest of the chain. An empty cell: no pose of that class.
"""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def number(value: float, digits: int = 2) -> str:
    return "" if value != value else f"{value:.{digits}f}"


def of_class(found: list[Found], edges: str, kind: str) -> list[Found]:
    return [f for f in found if (f.wanted.edges, f.wanted.kind) == (edges, kind)]


def held(found: list[Found], yes: bool) -> list[Found]:
    return [f for f in found if f.wanted.held == yes]


def by_class(found: list[Found], profile: str, figure: str = "rms") -> str:
    """Methods down, classes across."""
    groups = [of_class(found, *each) for each in CLASSES]
    heads = ["", *(f"{edges}, {kind}" for edges, kind in CLASSES)]
    rows = [
        [method, *(number(ratio(group, method, profile, figure)) for group in groups)]
        for method in METHODS
        if method != BASE
    ]
    rows.append([f"*{BASE}, in R*", *(number(mean(group, BASE, profile, figure), 3) for group in groups)])
    rows.append(["*poses*", *(str(len(group)) for group in groups)])
    return table(heads, rows)


def other_figures(found: list[Found], profile: str) -> str:
    """Of the poses with a bend, and of those that only twist."""
    parts = {
        BENDS: [f for f in found if f.wanted.kind != "twist"],
        TWISTS: [f for f in found if f.wanted.kind == "twist"],
    }
    columns: list[tuple[str, Callable[[str], float], int]] = []
    for part, group in parts.items():
        for figure in ("largest", "shape", "girth"):
            columns.append((f"{figure}, {part}", lambda m, g=group, f=figure: ratio(g, m, profile, f), 2))
        columns.append((f"volume %, {part}", lambda m, g=group: 100 * mean(g, m, profile, "volume"), 1))
    columns.append(("bulge R, bends", lambda m: mean(parts[BENDS], m, profile, "bulge"), 2))
    columns.append(("twist's spread R", lambda m: mean(parts[TWISTS], m, profile, "twist"), 2))
    rows = [[method, *(number(value(method), digits) for _, value, digits in columns)] for method in METHODS]
    return table(["", *(name for name, _, _ in columns)], rows)


def other_judges(judges: Rows, profile: str, methods: Sequence[str]) -> str:
    heads = ["judge", "method", *(f"{edges}, {kind}" for edges, kind in CLASSES)]
    rows = []
    for judge, found in judges.items():
        for method in methods:
            values = [number(ratio(of_class(found, *each), method, profile, "rms")) for each in CLASSES]
            rows.append([judge, method, *values])
    return table(heads, rows)


def fineness(coarse: list[Found], fine: list[Found], profile: str) -> str:
    """The same poses in both meshes: what the figures become."""
    heads = ["class", f"{BASE}, R", "finer", FLESH, "finer"]
    coarse_of = {f.wanted.identity: f for f in coarse}
    rows = []
    for found in fine:
        before = coarse_of.get(found.wanted.identity)
        if before is None:
            continue
        values = [number(f.figures[m, profile]["rms"], 3) for m in (BASE, FLESH) for f in (before, found)]
        rows.append([f"{found.wanted.edges}, {found.wanted.kind}", *values])
    return table(heads, rows)


def readings(judges: Rows, profiles: Sequence[str]) -> str:
    """Where scale is inherited: before and after, with and without Flesh."""
    heads = ["judge", "weights", "poses", *CLOSE]
    rows = []
    for judge, found in judges.items():
        group = [f for f in found if f.wanted.edges == "inherited"]
        for profile in profiles:
            if any((CLOSE[0], profile) not in f.figures for f in group):
                continue
            rows.append([judge, profile, str(len(group)), *(number(ratio(group, m, profile, "rms")) for m in CLOSE)])
    return table(heads, rows)


def span(found: list[Found], profile: str, figure: str, bend: bool) -> str:
    """The best and the worst class of Flesh, those with a bend or those without."""
    groups = [of_class(found, edges, kind) for edges, kind in CLASSES if (kind != "twist") == bend]
    values = [ratio(group, FLESH, profile, figure) for group in groups if group]
    return f"{number(min(values))} to {number(max(values))}"


def in_short(main: list[Found], body: Rows) -> str:
    """How Flesh does on the held poses, class by class."""
    rows = [(f"tubes, {profile}", held(main, True), profile) for profile in PROFILES]
    rows += [(f"{name}, automatic", found, "automatic") for name, found in body.items()]
    heads = ["limbs, weights", *(f"{what}, {of}" for what in ("rms", "shape") for of in ("with a bend", "twists"))]
    lines = [
        [name, *(span(found, profile, figure, bend) for figure in ("rms", "shape") for bend in (True, False))]
        for name, found, profile in rows
    ]
    return "## In short\n\nFlesh on held poses, Preserve Volume = 1: from its best class to its worst.\n\n" + table(
        heads, lines
    )


def tubes_part(found: list[Found]) -> list[str]:
    parts = ["## Tubes, held poses\n\nWeights: smootherstep, over 0.4 of the shorter bone to either side.\n"]
    parts.append(by_class(held(found, True), PROFILES[0]))
    parts.append("The distance to the elastic surface, wherever on it (*shape*):\n")
    parts.append(by_class(held(found, True), PROFILES[0], "shape"))
    parts.append("## Tubes, the poses that amounts were chosen on\n")
    parts.append(by_class(held(found, False), PROFILES[0]))
    parts.append(OTHER_FIGURES)
    parts.append(other_figures(held(found, True), PROFILES[0]))
    parts.append("## Other weights\n\nHeld poses, as ratios to Preserve Volume with the same weights.\n")
    for profile in PROFILES[1:]:
        parts.append(f"*{profile}*:\n\n" + by_class(held(found, True), profile))
    return parts


def page(numbers: dict[str, object], main: list[Found], others: Rows, fine: list[Found], body: Rows) -> str:
    profile = PROFILES[0]
    parts = [INTRODUCTION.format(**numbers), in_short(main, body), *tubes_part(main)]
    if body:
        parts.append(BODY)
        for name, found in body.items():
            parts.append(f"*{name}*:\n\n" + by_class(found, "automatic"))
            parts.append(f"*{name}*, the distance to the elastic surface, wherever on it:\n")
            parts.append(by_class(found, "automatic", "shape"))
    parts.append(OTHER_JUDGES)
    picked = [f for f in main if f.wanted.number in {g.wanted.number for found in others.values() for g in found}]
    parts.append(other_judges({"as above": picked, **others}, profile, ("linear", "two-phase before", FLESH)))
    parts.append("## Before or after\n\nHeld poses with inherited scale, as ratios to Preserve Volume.\n")
    parts.append(readings({"tubes": held(main, True), **others, **body}, (*PROFILES, "automatic")))
    parts.append(FINER)
    parts.append(fineness(main, fine, profile))
    parts.append(LIMITS)
    return "\n".join(parts)
