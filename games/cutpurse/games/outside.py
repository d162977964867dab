"""Games that other installed packages bring, by the entry points `cutpurse.games`.

A package names its game and where the class is: `kuhn_poker = "kuhn_poker:KuhnPoker"`. A game that cannot be played is
left out, and a line says why. This module knows no game.
"""

from __future__ import annotations

from collections.abc import Container
from functools import cache
from typing import TYPE_CHECKING, Final

from cutpurse.engine.game import ENGINE_API, Game
from cutpurse.engine.words import Words

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GROUP", "ImportFailed", "Unplayable", "find_games", "import_entry", "load_game"]

GROUP: Final = "cutpurse.games"


class Unplayable(Exception):
    """A game of another package cannot be played; the text says why in one line."""


class ImportFailed(Exception):
    """Code of another package raised at import; the text says what in one line."""


def find_games(built_in: Container[str]) -> tuple[dict[str, EntryPoint], dict[str, str]]:
    """Find the games of other packages, without importing them.

    Args:
        built_in: Names that no other package can use.

    Returns:
        Entry points by the name of the game, and why others cannot be played, by a name and its package.
    """
    from importlib.metadata import entry_points  # most bots do without

    entries: dict[str, EntryPoint] = {}
    problems: dict[str, str] = {}
    for entry in sorted(set(entry_points(group=GROUP)), key=lambda entry: (entry.name, _package(entry))):
        name, package = entry.name, _package(entry)
        if name in built_in:
            problems[f"{name} of {package}"] = (
                f"{_called(entry)} cannot be played: a built-in game has that name; give it another one"
            )
        elif name in problems or (name in entries and entries[name].value != entry.value):
            others = _package(entries.pop(name)) if name in entries else "others"
            problems[name] = (
                f"{_called(entry)} cannot be played: {others} brings a game of that name, too; uninstall one of them"
            )
        else:
            entries[name] = entry
    return entries, problems


def load_game(entry: EntryPoint, prefixes: Container[str]) -> type[Game]:
    """Import a game of another package.

    Args:
        entry: What `find_games` found.
        prefixes: Prefixes of rule numbers that other games have.

    Raises:
        Unplayable: If it raises at import, is no game, or was written for another engine.
    """
    try:
        game = import_entry(entry)
    except ImportFailed as failed:
        raise Unplayable(f"{_called(entry)} cannot be played: {failed}") from failed
    if not (isinstance(game, type) and issubclass(game, Game)):
        raise Unplayable(f"{_called(entry)} cannot be played: {entry.value} is not a class that extends Game")
    problem = _problem(game, entry.name, prefixes)
    if problem:
        raise Unplayable(f"{_called(entry)} cannot be played: {problem}")
    return game


def import_entry(entry: EntryPoint) -> object:
    """Import what an entry point names.

    Raises:
        ImportFailed: Whatever the code of the package raises.
    """
    try:
        return entry.load()
    except (Exception, SystemExit) as error:
        text = " ".join(str(error).split())[:200]
        raise ImportFailed(f"{type(error).__name__} at import: {text}") from error


def _problem(game: type[Game], name: str, prefixes: Container[str]) -> str:
    api = game.engine_api
    if api != ENGINE_API:
        if not api:
            return f"it does not say for which engine it was written; add engine_api = {ENGINE_API} to its class"
        newer = "cutpurse" if api > ENGINE_API else "the game"
        return f"it was written for engine API {api}, and this cutpurse has {ENGINE_API}; upgrade {newer}"
    if not isinstance(getattr(game, "words", None), Words):
        return "its class has no words; add words = Words(...)"
    if game.words.game != name:
        return f"its words call it {game.words.game!r}; use one name in both places"
    if game.words.prefix in prefixes:
        return f"its rule numbers begin with {game.words.prefix}-, as those of another game; choose another prefix"
    if game.usual_seats not in game.words.seats:
        least, most = game.words.seats[0], game.words.seats[-1]
        return f"usual_seats is {game.usual_seats}, and {least} to {most} can play; choose a number of these"
    return ""


def _called(entry: EntryPoint) -> str:
    return f"game {entry.name!r} of the package {_package(entry)}"


@cache
def _package(entry: EntryPoint) -> str:
    return str(entry.dist.name) if entry.dist is not None else "an unknown package"
