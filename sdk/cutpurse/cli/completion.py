"""Shell completion of games, bots, ladders and settings.

A shell waits for it at every key press, so it must be fast. Only the named game is imported, and a league has a second
to answer. Errors are never shown: nothing is offered then.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import fields
from typing import TYPE_CHECKING, Final

import typer

from cutpurse.games import GAMES

if TYPE_CHECKING:
    from cutpurse.wire.league import League

__all__ = [
    "complete_bot_lists",
    "complete_bots",
    "complete_databases",
    "complete_games",
    "complete_ladders",
    "complete_ranked_bots",
    "complete_settings",
    "whole_words_of_bash",
]

ANSWER_S: Final = 1.0  # seconds to wait for a league
_SEPARATORS: Final = "=:"  # characters at which bash splits words


def complete_games() -> list[str]:
    """Return the names of the games."""
    return list(GAMES)


def complete_bots(incomplete: str) -> list[str]:
    """Return the bots that can be named: installed ones, then files and folders with this beginning."""
    from importlib.metadata import entry_points

    names = sorted(point.name for point in entry_points(group="cutpurse.bots"))
    return [*names, *_files(incomplete, ".py")]


def complete_databases(incomplete: str) -> list[str]:
    """Return files and folders with this beginning."""
    return _files(incomplete, "")


def _files(incomplete: str, suffix: str) -> list[str]:
    """Return the files with this suffix, and the folders, in the folder of `incomplete`."""
    folder, slash, stem = incomplete.rpartition("/")
    try:
        there = sorted(os.scandir(f"{folder}/" if slash else "."), key=lambda entry: entry.name)
    except OSError:
        there = []
    entries = [entry for entry in there if stem or not entry.name.startswith(("_", "."))]
    folders = [f"{folder}{slash}{entry.name}/" for entry in entries if entry.is_dir()]
    files = [entry.name for entry in entries if entry.name.endswith(suffix) and not entry.is_dir()]
    return [*[f"{folder}{slash}{name}" for name in files], *folders]


def complete_bot_lists(incomplete: str) -> list[str]:
    """Return bots for the last name of a comma-separated list."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{bot}" for bot in complete_bots(last)]


def complete_settings(context: typer.Context) -> list[str]:
    """Return the settings of the named game, each with every value, or a number with its default."""
    # After an option without its value, earlier arguments are not parsed yet.
    named = [context.params.get("game"), *context.args]
    game = next((word for word in named if isinstance(word, str) and word in GAMES), None)
    if game is None:
        return []
    settings = GAMES[game].settings_type
    defaults = {field.name: field.default for field in fields(settings)}
    offered = []
    for name, kind in settings.kinds().items():
        values = [*kind.values, *kind.names] + ([str(defaults[name])] if kind.least is not None else [])
        offered += [f"{name}={value}" for value in dict.fromkeys(values)] or [f"{name}="]
    return offered


def complete_ladders(context: typer.Context) -> list[str]:
    """Return the ladders of the named league."""
    return _of_league(context, _ladders)


def complete_ranked_bots(context: typer.Context) -> list[str]:
    """Return the bots of the named league, on the named ladder if there is one."""
    ladder = context.params.get("ladder")
    return _of_league(context, lambda league: _bots(league, ladder if isinstance(ladder, str) else ""))


def _of_league(context: typer.Context, names: Callable[[League], list[str]]) -> list[str]:
    from cutpurse.wire.league import league_at

    given = context.params
    db = given.get("db") or given.get("database")
    try:
        with league_at(given.get("server"), given.get("ca"), db, ANSWER_S) as league:
            return names(league)
    except Exception:  # no server, token or file: the command itself reports it
        return []


def _ladders(league: League) -> list[str]:
    from cutpurse.v1 import ladder_pb2

    return [entry.defined.name for entry in league.ListLadders(ladder_pb2.ListLaddersRequest()).ladders]


def _bots(league: League, ladder: str) -> list[str]:
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import format_bot_name

    bots = [entry.bot for entry in league.ListBots(ladder_pb2.ListBotsRequest(ladder=ladder)).bots]
    return list(dict.fromkeys(format_bot_name(ladder_pb2.BotName(owner=bot.owner, bot=bot.bot)) for bot in bots))


# -- bash
@contextmanager
def whole_words_of_bash(environment: MutableMapping[str, str]) -> Iterator[None]:
    """Complete words such as mode=single or my_bot.py:Bot as a whole, although bash passes them in pieces.

    Bash replaces only the last piece, so the output of the block loses the pieces before it.
    """
    words, place = environment.get("COMP_WORDS", "").split("\n"), environment.get("COMP_CWORD", "")
    if not place.isdigit() or int(place) >= len(words):
        yield
        return
    whole, number, before = _joined(words, int(place))
    environment["COMP_WORDS"], environment["COMP_CWORD"] = "\n".join(whole), str(number)
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            yield
    finally:
        value = before.partition("=")[2] if before.startswith("-") else before  # --set=mode= is offered mode=single
        sys.stdout.write("".join([line.removeprefix(value) for line in printed.getvalue().splitlines(keepends=True)]))
        sys.stdout.flush()


def _joined(words: Sequence[str], place: int) -> tuple[list[str], int, str]:
    """Join the pieces of each word.

    Returns:
        The words, the index of the one to complete, and its text before the last piece.
    """
    whole: list[str] = []
    before = ""
    for at, word in enumerate(words[: place + 1]):
        is_separator = bool(word) and not word.strip(_SEPARATORS)
        goes_on = at > 1 and (is_separator or (bool(word) and words[at - 1] and not words[at - 1].strip(_SEPARATORS)))
        before = (whole[-1] + word if is_separator else whole[-1]) if goes_on else ""
        if goes_on:
            whole[-1] += word
        else:
            whole.append(word)
    return whole, len(whole) - 1, before
