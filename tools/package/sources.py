"""What setup.py says of the package, so that it stands there alone: the version, sources, options, metadata, files."""

import io
import sys
from pathlib import Path

import setuptools

ROOT = Path(__file__).resolve().parents[2]


class Package:
    def __init__(self) -> None:
        sys.path.insert(0, str(ROOT))
        run = setuptools.distutils.core.run_setup
        distribution = run(str(ROOT / "setup.py"), script_args=["--quiet", "build"], stop_after="commandline")
        metadata = distribution.metadata
        (self.extension,) = distribution.ext_modules
        self.version = metadata.version
        self.distribution = metadata.name.replace("-", "_")
        self.import_name = self.extension.name.partition(".")[0]
        self.packages = distribution.packages
        self.entry_points = distribution.entry_points
        text = io.StringIO()
        metadata.write_pkg_file(text)
        self.metadata = text.getvalue()

    @property
    def options(self) -> list[str]:
        """For the compiler of the module."""
        defines = [f"-D{name}={value}" for name, value in self.extension.define_macros]
        return [*self.core_options, *defines, *(f"-I{folder}" for folder in self.extension.include_dirs)]

    @property
    def core_sources(self) -> list[Path]:
        return [ROOT / path for path in self.extension.sources if path.startswith("csrc/core/")]

    @property
    def core_options(self) -> list[str]:
        """For the compiler of the core; without the headers of NumPy, which come last in setup.py's."""
        arguments = list(self.extension.extra_compile_args)
        return arguments[: arguments.index("-isystem")]

    def python_files(self) -> dict[str, Path]:
        """By their names in a wheel, those of the packages within the package too."""
        folders = [ROOT.joinpath(*name.split(".")) for name in self.packages]
        found = sorted(path for folder in folders for path in folder.iterdir())
        wanted = [path for path in found if path.suffix in (".py", ".pyi") or path.name == "py.typed"]
        return {path.relative_to(ROOT).as_posix(): path for path in wanted}
