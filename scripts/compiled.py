"""The build hook for a wheel with a compiled engine: `CUTPURSE_COMPILED=1 pip install .`, or `make compiled`.

mypyc compiles the rules, the engine and what makes numbers for learning agents as one group, from the types that mypy
checks anyway. The wheel contains the compiled modules beside the Python ones, and works with one version of Python on
one kind of machine. Without the variable, the wheel is pure Python.

As a script it compiles into a folder: python scripts/compiled.py FOLDER.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

__all__ = ["FAILED", "GROUP", "NO_COMPILER", "CompiledBuildHook", "compile_modules", "compiler", "sources"]

CHECKOUT: Final = Path(__file__).resolve().parent.parent
VARIABLE: Final = "CUTPURSE_COMPILED"
NEEDS: Final = ["mypy>=2.4", "setuptools>=77"]
MODULES: Final = (
    "games/cutpurse/engine/*.py",
    "games/cutpurse/games/*/*.py",
    *[f"sdk/cutpurse/learn/{name}.py" for name in ("action_numbers", "event_rows", "planes", "view_numbers")],
)
READ: Final = "sdk/cutpurse/learn/span.py"  # for its types
# Modules that gain nothing, and modules whose classes use features that mypyc does not support: frozen dataclasses with
# metadata.
INTERPRETED: Final = (
    *[f"cutpurse/engine/{name}.py" for name in ("clocks", "commitment", "documents", "errors", "history", "match")],
    *[f"cutpurse/engine/{name}.py" for name in ("native", "placement", "record", "seating", "sentences", "settings")],
    *[f"cutpurse/engine/{name}.py" for name in ("text", "words")],
)
GROUP: Final = "cutpurse"  # the module with the code of all others is cutpurse__mypyc
FAILED: Final = "compiling failed, as it says above; the C compiler needs Python's headers (Debian: python3-dev)"
NO_COMPILER: Final = "no C compiler is here, so nothing can be compiled: install one, or do without CUTPURSE_COMPILED"
SETUP: Final = """
import os, sys
from mypyc.build import mypycify
from setuptools import setup

options = ["--namespace-packages", "--explicit-package-bases", "--no-error-summary", "--cache-dir=" + os.devnull]
files = [*options, *sys.argv[1:]]
modules = mypycify(files, opt_level="3", debug_level="0", multi_file=True, group_name={group!r})
build = ["--quiet", "build_ext", "--inplace", "--parallel", str(os.cpu_count() or 1)]
setup(name="compiled", ext_modules=modules, script_args=build)
"""


def sources() -> list[Path]:
    """List the modules to compile, as paths in the package, such as cutpurse/engine/zones.py."""
    paths = [_in_package(path) for pattern in MODULES for path in sorted(CHECKOUT.glob(pattern))]
    return [path for path in paths if path.name != "__init__.py" and path.as_posix() not in INTERPRETED]


def _in_package(path: Path) -> Path:
    """Return the path of a module of the checkout below the root that it is in."""
    return Path(*path.relative_to(CHECKOUT).parts[1:])


def compiler() -> str | None:
    """Return the C compiler, None if it is not installed."""
    if os.name == "nt" and "CC" not in os.environ:
        return "cl"  # setuptools finds it where it is installed, though it is not on the path
    called = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cl"
    return shutil.which(str(called).split()[0])


def compile_modules(folder: Path) -> list[Path]:
    """Compile the modules into a copy of their packages.

    Args:
        folder: Where to put the copy; created if missing.

    Returns:
        Paths of the compiled files: a small one for each module, and that of the group.

    Raises:
        subprocess.CalledProcessError: If mypyc or the C compiler fails; its message is on stderr.
    """
    ignore = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
    shutil.copytree(CHECKOUT / "games" / "cutpurse", folder / "cutpurse", ignore=ignore, dirs_exist_ok=True)
    (folder / "cutpurse" / "learn").mkdir(exist_ok=True)
    for pattern in (*MODULES, READ):
        for path in CHECKOUT.glob(pattern):
            shutil.copy(path, folder / _in_package(path))
    modules = sources()
    for module in modules:
        path = folder / module
        path.write_text(with_inits(path.read_text(encoding="utf-8")), encoding="utf-8")
    command = [sys.executable, "-c", SETUP.format(group=GROUP), *map(str, modules)]
    subprocess.run(command, cwd=folder, env={**os.environ, "MYPYPATH": str(folder)}, check=True)
    shutil.rmtree(folder / "build")
    made = [path for ending in ("so", "pyd") for path in sorted(folder.rglob(f"*.{ending}"))]
    assert len(made) == len(modules) + 1, f"{len(made)} compiled modules came of {len(modules)} and their group"
    return made


def with_inits(source: str) -> str:
    """Write the `__init__` of each step out that declares fields, as `cutpurse.engine.agenda` makes it.

    mypyc calls one that it compiles without a dict or tuple. Every line keeps its number, for tracebacks.
    """
    lines = source.splitlines()
    for step in ast.walk(ast.parse(source)):
        if not isinstance(step, ast.ClassDef):
            continue
        rules = [s for s in step.body if ast.unparse(s).startswith("rule = ")]
        fields = [s for s in step.body if isinstance(s, ast.AnnAssign) and "ClassVar" not in ast.unparse(s.annotation)]
        if rules and fields:
            shapes = [f'"{ast.unparse(s.target)}": {ast.unparse(s.annotation).partition("[")[0]}' for s in fields]
            lines[rules[0].lineno - 1] += f"; fields = {{{', '.join(shapes)}}}"
            arguments = ", ".join(ast.unparse(s) for s in fields)
            stores = "; ".join(f"self.{ast.unparse(s.target)} = {ast.unparse(s.target)}" for s in fields)
            for s in fields:
                lines[s.lineno - 1] = ""
            init = f"    def __init__(self, seat: int, {arguments}) -> None: super().__init__(seat); {stores}"
            lines[fields[0].lineno - 1] = init
    return "\n".join(["" if line.startswith("@dataclass_transform") else line for line in lines]) + "\n"


class CompiledBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # any configuration of a builder
    """The hook that adds the compiled modules to a wheel, if requested."""

    @property
    def _is_wanted(self) -> bool:
        return os.environ.get(VARIABLE, "0") not in ("", "0") and self.target_name == "wheel"

    def dependencies(self) -> list[str]:
        """Return the requirements of the build."""
        return NEEDS if self._is_wanted else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is built; an editable install stays pure, or edits would have no effect."""
        if not self._is_wanted or version == "editable":
            return
        if compiler() is None:
            self.app.abort(NO_COMPILER)
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        try:
            made = compile_modules(folder)
        except subprocess.CalledProcessError:
            self.app.abort(FAILED)
        build_data["force_include"].update({str(path): path.relative_to(folder).as_posix() for path in made})
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder of compiled files after the wheel is built."""
        if self._is_wanted and version != "editable":
            self._folder.cleanup()


if __name__ == "__main__":
    (target,) = sys.argv[1:]
    try:
        print(*compile_modules(Path(target)), sep="\n")
    except subprocess.CalledProcessError:
        sys.exit(FAILED)
