"""Builds the wheel compiled where that is possible. hatchling runs this when it makes one, not for an editable install.

The modules that decide and relay are plain Python, and as such they are tested and read. mypyc makes C of the very same
files, and a C compiler makes of that one shared library, beside which each module gets a stub of its own. The wheel
holds both: without its library a module would simply be run from its source. Nothing is written below src/.

What is compiled stands in pyproject.toml. Left out by rule are modules that define a `msgspec.Struct` or a dataclass:
mypyc drops the keywords of a class, `frozen=True` among them, and a dataclass that is compiled has no defaults on its
class. So values have modules of their own where what works on them is hot. Values that are made on the data path and
written nowhere are plain classes; where nothing they refer to leads back to them, they are marked as acyclic.

POINTSMAN_COMPILE says what happens where it cannot be done: "auto", the default, makes a wheel that runs interpreted,
"always" fails, and "never" does not even try.
"""

import ast
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LIBRARY = "pointsman"
"""The shared library is the top-level module `pointsman__mypyc`."""
OPTIMISATION = "2"  # -O3 takes half as long again and gains nothing that can be measured
MYPY = ("--ignore-missing-imports",)  # `scripts/check` is stricter; here not every library is at hand


class CompiledWheel(BuildHookInterface):  # type: ignore[type-arg]
    """hatchling's custom build hook."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the compiled modules to the wheel, and its platform to the wheel's name."""
        wish = os.environ.get("POINTSMAN_COMPILE", "auto")
        if version == "editable" or wish == "never":
            return
        problem = _missing()
        if problem is None:
            self._scratch = TemporaryDirectory(prefix="pointsman-build-")
            problem = self._compile(Path(self._scratch.name), build_data)
        if problem is not None and wish == "always":
            raise RuntimeError(problem)
        if problem is not None:
            self.app.display_warning(f"{problem}: this wheel runs interpreted")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """The wheel is written: what it was made of can go."""
        if hasattr(self, "_scratch"):
            self._scratch.cleanup()

    def _compile(self, scratch: Path, build_data: dict[str, Any]) -> str | None:
        """Compile in `scratch`; what went wrong, if anything did."""
        source = scratch / "src"
        shutil.copytree(Path(self.root, "src"), source, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        modules = list(chosen(source / "pointsman", self.config["compiled"], self.config["interpreted"]))
        command = [sys.executable, __file__, str(scratch / "out"), *map(str, modules)]
        done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"compiling failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}\n"
        for built in sorted((scratch / "out").rglob("*.*")):
            build_data["force_include"][str(built)] = built.relative_to(scratch / "out").as_posix()
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        return None


def _missing() -> str | None:
    """What this machine lacks."""
    if sys.implementation.name != "cpython":
        return "only CPython runs compiled modules"
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    if shutil.which(compiler.split()[0]) is None:
        return f"there is no C compiler ({compiler.split()[0]})"
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        return "the headers of Python (python3-dev) are not there"
    return None


def chosen(package: Path, compiled: list[str], interpreted: list[str]) -> Iterator[Path]:
    """The modules below `package` to be compiled, relative to its parent; the two lists hold glob patterns."""
    left_out = {path for pattern in interpreted for path in package.glob(pattern)}
    for path in sorted({path for pattern in compiled for path in package.glob(pattern)} - left_out):
        if path.name != "__init__.py" and not _defines_values(ast.parse(path.read_text(encoding="utf-8"))):
            yield path.relative_to(package.parent)


def _defines_values(module: ast.Module) -> bool:
    """Whether a class of it is a Struct (by its keywords, or its base) or a dataclass."""
    return any(
        node.keywords
        or any("Struct" in ast.unparse(base) for base in node.bases)
        or any(not ast.unparse(mark).startswith("mypyc_attr(") for mark in node.decorator_list)
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef)
    )


def main(out: str, modules: list[str]) -> None:
    """Compile `modules`, given relative to the working directory, and leave the libraries in `out`."""
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    extensions = mypycify(
        [*MYPY, *modules], opt_level=OPTIMISATION, debug_level="0", multi_file=True, group_name=LIBRARY
    )
    for extension in extensions:
        # Floats are to be worked out as NumPy does it, not with a product and a sum fused into one operation.
        # Symbols are nobody else's concern, and hidden ones are called without the detour by the linker's tables.
        extension.extra_compile_args += ["-ffp-contract=off", "-fvisibility=hidden"]
    command = build_ext(Distribution({"name": LIBRARY, "ext_modules": extensions}))
    command.build_lib, command.build_temp, command.parallel = out, "objects", os.cpu_count()
    command.ensure_finalized()
    command.run()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
