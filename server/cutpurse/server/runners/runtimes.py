"""The folders of this machine that programs may read, besides those of the system.

Bots in Python run by the server's interpreter with the packages of its environment, so they need none of their own. A
checkout shows only the source folders that bots use.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

__all__ = ["SYSTEM", "python_runtime", "search_path"]

SYSTEM: Final = Path("/usr")  # every program sees it
_NOT_FOR_BOTS: Final = ("server", "leaderboard")


def python_runtime() -> tuple[Path, ...]:
    """List the folders of our interpreter, its environment, and this package if it is elsewhere.

    The list also has the links by which the environment finds the interpreter, such as uv's links in ~/.local/bin.
    """
    roots = [Path(root) for root in sys.modules[__name__.partition(".")[0]].__path__]
    shown = [Path(sys.base_prefix), Path(sys.prefix)]
    shown += [root for root in roots if not any((root / part).is_dir() for part in _NOT_FOR_BOTS)]
    folders = _outermost([folder.absolute() for folder in shown if folder.is_dir()])
    return (*folders, *_links(Path(sys.prefix, "bin", "python").absolute(), folders))


def search_path(runtimes: Iterable[Path]) -> str:
    """Return the value of PATH: the runtimes' programs, then the system's."""
    own = [str(folder / "bin") for folder in _venvs_first([*runtimes]) if (folder / "bin").is_dir()]
    return os.pathsep.join([*own, "/usr/local/bin", "/usr/bin", "/bin"])


def _links(program: Path, shown: Sequence[Path]) -> Iterator[Path]:
    """Yield the links on the path of a program that are outside `shown`, and needed to find it."""
    while True:
        steps = (*reversed(program.parents), program)
        made = (step for step in steps if not any(folder.is_relative_to(step) for folder in shown))
        link = next((step for step in made if step.is_symlink()), None)
        if link is None:
            return
        if not any(link.is_relative_to(folder) for folder in (SYSTEM, *shown)) and link.parent != Path("/"):
            yield link
        program = Path(os.path.normpath(link.parent / link.readlink() / program.relative_to(link)))


def _venvs_first(runtimes: Sequence[Path]) -> list[Path]:
    """Sort environments before interpreters, whose `python` does not find the environment's packages."""
    return sorted(runtimes, key=lambda folder: not (folder / "pyvenv.cfg").exists())


def _outermost(folders: Sequence[Path]) -> tuple[Path, ...]:
    """Remove duplicates, folders inside other ones, and folders inside the system's."""
    known = [*dict.fromkeys(folders)]
    return tuple(
        folder
        for folder in known
        if not folder.is_relative_to(SYSTEM)
        and not any(folder != other and folder.is_relative_to(other) for other in known)
    )
