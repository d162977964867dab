"""The installed parts of a server, found by their entry points; this module knows nothing else of them.

A part that does not load is named in one line: `serve` refuses to start, since it would lose what the part writes in
the transactions of others, and commands on a database go on without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_message
from cutpurse.wire.installation import how_to_install

if TYPE_CHECKING:
    from cutpurse.leaderboard.store import Store
    from cutpurse.leaderboard.write_hooks import WriteHooks

__all__ = ["InstalledParts", "call_on_database", "hooks_of_parts", "installed_parts", "write_hooks"]

GROUP: Final = "cutpurse.server_parts"
_OURS: Final = "cutpurse.server.parts."  # parts of this distribution, which win where two have one name


@dataclass(frozen=True, slots=True)
class InstalledParts:
    """The installed parts, each a `hosting.part.PartKind`, and one line for each that does not work."""

    kinds: Sequence[Any]
    problems: Sequence[str] = ()


def installed_parts() -> InstalledParts:
    """Load the kinds of all installed parts, in the order of their names."""
    kinds: dict[str, Any] = {}
    problems = []
    found = entry_points(group=GROUP)
    for entry in sorted(found, key=lambda entry: (entry.name, not entry.value.startswith(_OURS))):
        if entry.name in kinds:
            problems.append(f"a second part is called {entry.name}, that of {_package(entry)}: remove one of the two")
            continue
        try:
            kind = entry.load()
            if kind.name != entry.name:
                raise TypeError(f"it calls itself {kind.name!r:.80}")
        except Exception as problem:
            problems.append(_why_broken(f"{entry.name} of {_package(entry)}", problem))
        else:
            kinds[entry.name] = kind
    for kind in [*kinds.values()]:
        if missing := [name for name in kind.needs if name not in kinds]:
            problems.append(f"part {kind.name} needs part {missing[0]}, which is not installed")
            del kinds[kind.name]
    return InstalledParts([*kinds.values()], problems)


def write_hooks(kinds: Iterable[Any], report: Callable[[str], None]) -> WriteHooks:
    """Return what parts write in the transactions of others, and declare their tables.

    Args:
        kinds: The parts.
        report: Called with one line for a part that does not work.
    """
    from cutpurse.leaderboard.write_hooks import WriteHooks

    hooks = WriteHooks()
    for kind in kinds:
        try:
            kind.listen(hooks)
        except Exception as problem:
            report(_why_broken(kind.name, problem))
    return hooks


def hooks_of_parts() -> WriteHooks:
    """Return what all installed parts write in the transactions of others; name those that do not work on stderr."""
    installed = installed_parts()
    for problem in installed.problems:
        print_message(problem)
    return write_hooks(installed.kinds, print_message)


def call_on_database(name: str) -> Callable[[Store, Any], Any]:
    """Return how a part answers a call from a database without a server.

    Raises:
        UsageError: If no installed part does.
    """
    for kind in installed_parts().kinds:
        if (call := kind.writes().get(name)) is not None:
            found: Callable[[Store, Any], Any] = call
            return found
    raise UsageError(f"no installed part of the server answers {name}; {how_to_install('server')}")


def _why_broken(part: str, problem: Exception) -> str:
    text = " ".join(f"{type(problem).__name__}: {problem}".split())
    return f"part {part} does not load ({text:.200}): install its package again, or remove it"


def _package(entry: EntryPoint) -> str:
    return "an unknown package" if entry.dist is None else entry.dist.name
