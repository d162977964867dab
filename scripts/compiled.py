"""The wheel with its engine in C: `CUTPURSE_COMPILED=1 pip install .`, or `make compiled`.

Modules where a match spends its time are handed to Cython as they are, and what comes of them lies beside them in the
wheel, which then is for one Python on one kind of machine. `.pxd` files beside some of them give the fields that every
move of a card and every decision touch a type in C; Python does not read them. Without the variable the wheel is pure.

A hook of hatchling's build; by hand it compiles into a folder: python scripts/compiled.py FOLDER [MODULE ...].
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

__all__ = ["FAILED", "MODULES", "NO_COMPILER", "ROOTS", "CompiledBuildHook", "compile_modules", "compiler", "sources"]

ROOT: Final = Path(__file__).resolve().parent.parent
VARIABLE: Final = "CUTPURSE_COMPILED"
NEEDS: Final = ["cython>=3.1,<4", "setuptools>=77"]
# Where a decision passes, from the rules to the bytes of the wire. What only awaits gains nothing.
MODULES: Final = (
    "games/cutpurse/engine/*.py",
    "games/cutpurse/games/*/*.py",
    "sdk/cutpurse/sdk/wire/*.py",
    "sdk/cutpurse/sdk/online/client_session.py",
    "server/cutpurse/server/streams/link.py",
    "server/cutpurse/server/streams/server_session.py",
    "server/cutpurse/server/matches/server_match.py",
    "server/cutpurse/server/matches/match_start.py",
    "server/cutpurse/server/matches/lobby.py",
    "server/cutpurse/server/matches/open_matches.py",
)
ROOTS: Final = ("games", "sdk", "server")
FAILED: Final = "the C compiler failed, as it says above; it needs Python's headers (Debian: python3-dev)"
NO_COMPILER: Final = "no C compiler is here, so nothing can be compiled: install one, or do without CUTPURSE_COMPILED"


def sources() -> list[Path]:
    """The modules that are compiled, as paths from the root of their part: cutpurse/engine/zones.py."""
    found = [path.relative_to(ROOT) for pattern in MODULES for path in sorted(ROOT.glob(pattern))]
    return [Path(*path.parts[1:]) for path in found if path.name != "__init__.py"]


def compiler() -> str | None:
    """The C compiler that would be used, None if it is not there."""
    called = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cl"
    return shutil.which(str(called).split()[0])


def compile_modules(folder: Path, modules: list[Path], *, quick: bool = False) -> list[Path]:
    """Compile these modules into a copy of their packages in `folder`; the paths of what was made.

    quick: for tests, with less of the C compiler's work.  Raises subprocess.CalledProcessError if that fails; Cython or
    the C compiler has said why.
    """
    for root in ROOTS:
        ignore = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
        shutil.copytree(ROOT / root / "cutpurse", folder / "cutpurse", ignore=ignore, dirs_exist_ok=True)
    (folder / "cutpurse" / "__init__.py").touch()  # or Cython takes each part for a package of its own
    command = [sys.executable, "-m", "Cython.Build.Cythonize", "--build", "--inplace", "-3", "--quiet"]
    command += ["--parallel", str(os.cpu_count() or 1), "-X", "annotation_typing=False"]
    flags = os.environ.get("CFLAGS", "") + (" -O0" if quick else " -O2") + " -g0 -Wno-array-bounds"
    subprocess.run([*command, *map(str, modules)], cwd=folder, env={**os.environ, "CFLAGS": flags}, check=True)
    (folder / "cutpurse" / "__init__.py").unlink()
    made = [path for ending in ("so", "pyd") for path in sorted(folder.glob(f"cutpurse/**/*.{ending}"))]
    assert len(made) == len(modules), f"{len(made)} compiled modules came of {len(modules)}"
    return made


class CompiledBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # any configuration of a builder
    """Adds the compiled modules to a wheel, if they are asked for."""

    @property
    def _is_wanted(self) -> bool:
        return os.environ.get(VARIABLE, "0") not in ("", "0") and self.target_name == "wheel"

    def dependencies(self) -> list[str]:
        """What the build itself needs."""
        return NEEDS if self._is_wanted else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is put together; an editable install stays pure, or an edit would do nothing."""
        if not self._is_wanted or version == "editable":
            return
        if compiler() is None:
            self.app.abort(NO_COMPILER)
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        try:
            made = compile_modules(folder, sources())
        except subprocess.CalledProcessError:
            self.app.abort(FAILED)
        build_data["force_include"].update({str(path): path.relative_to(folder).as_posix() for path in made})
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The wheel is there."""
        if self._is_wanted and version != "editable":
            self._folder.cleanup()


if __name__ == "__main__":
    target, *named = sys.argv[1:]
    try:
        print(*compile_modules(Path(target), [Path(name) for name in named] or sources()), sep="\n")
    except subprocess.CalledProcessError:
        sys.exit(FAILED)
