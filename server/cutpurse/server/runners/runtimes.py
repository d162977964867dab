"""What a program needs of this machine besides the system's own folders, to be read where it is.

A bot in Python runs by the interpreter of the server, with the packages of its environment: so it needs nothing of its
own. Of a checkout only those roots are shown that hold what bots use.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

__all__ = ["SYSTEM", "python_runtime", "search_path"]

SYSTEM: Final = Path("/usr")  # it is there anyway
_NOT_FOR_BOTS: Final = ("server", "leaderboard")


def python_runtime() -> tuple[Path, ...]:
    """List the folders of our interpreter, of its environment, and of this package if it is elsewhere.

    With them go links by which the environment finds the interpreter, where they lie elsewhere: as those in
    ~/.local/bin that uv makes.
    """
    roots = [Path(root) for root in sys.modules[__name__.partition(".")[0]].__path__]
    shown = [Path(sys.base_prefix), Path(sys.prefix)]
    shown += [root for root in roots if not any((root / part).is_dir() for part in _NOT_FOR_BOTS)]
    folders = _outermost([folder.absolute() for folder in shown if folder.is_dir()])
    return (*folders, *_links(Path(sys.prefix, "bin", "python").absolute(), folders))


def search_path(runtimes: Iterable[Path]) -> str:
    """PATH: the runtimes' programs, then the system's."""
    own = [str(folder / "bin") for folder in _venvs_first([*runtimes]) if (folder / "bin").is_dir()]
    return os.pathsep.join([*own, "/usr/local/bin", "/usr/bin", "/bin"])


def _links(program: Path, shown: Sequence[Path]) -> Iterator[Path]:
    """List the links on the way to a program that would be missing if only these folders were shown."""
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
    """Order folders so that an environment comes before its interpreter, whose `python` does not know it."""
    return sorted(runtimes, key=lambda folder: not (folder / "pyvenv.cfg").exists())


def _outermost(folders: Sequence[Path]) -> tuple[Path, ...]:
    """Each once, and none that lies in another of them or in the system's."""
    known = [*dict.fromkeys(folders)]
    return tuple(
        folder
        for folder in known
        if not folder.is_relative_to(SYSTEM)
        and not any(folder != other and folder.is_relative_to(other) for other in known)
    )
