"""The systems that the wheels are built for, and what differs between them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    platform: str  # as Blender calls it
    triple: str  # as zig calls it, with the oldest glibc or macOS that the binary is for
    wheel_tag: str
    module: str = "_core.abi3.so"
    link: tuple[str, ...] = ()


# The install name stands in for the file's: nothing links against the module, but a library must have one.
MACOS = ("-undefined", "dynamic_lookup", "-Wl,-install_name,@rpath/_core.abi3.so")

TARGETS = {
    target.platform: target
    for target in (
        Target("linux-x64", "x86_64-linux-gnu.2.28", "manylinux_2_28_x86_64"),
        Target("windows-x64", "x86_64-windows-gnu", "win_amd64", module="_core.pyd"),
        Target("macos-x64", "x86_64-macos.11.0", "macosx_11_0_x86_64", link=MACOS),
        Target("macos-arm64", "aarch64-macos.11.0", "macosx_11_0_arm64", link=MACOS),
    )
}
