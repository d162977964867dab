"""The page of the names that each game's view adds, made from the view classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from cutpurse.games import GAMES
from cutpurse.sdk import views
from cutpurse.sdk.views import VIEWS
from cutpurse.sdk.views.attributes import Column, CounterAttribute, Flag, OnePile, Piles, SeatOf
from cutpurse.sdk.views.base import GameView
from cutpurse.sdk.views.piles import Pile
from scripts.reference.bot_api import defined
from scripts.reference.page_parts import anchor, code, table

__all__ = ["page"]

_PAGE: Final = """# Views of the games

Look up a name of your game's view: {contents}. Annotate the parameter of `choose` with the view, and your editor
completes these names. `view`, `view.me` and piles also have what [all games](bot_api.md#gameview) have.

{games}"""


def page() -> str:
    """Return the text of the page."""
    games = [game for game in GAMES if VIEWS[game].__module__.startswith(f"{views.__name__}.")]  # ours
    titles = [GAMES[game].words.title for game in games]
    return _PAGE.format(
        contents=", ".join(f"[{title}](#{anchor(title)})" for title in titles),
        games="\n".join(_game(title, VIEWS[game]) for title, game in zip(titles, games, strict=True)),
    )


def _game(title: str, view: type[GameView[Any]]) -> str:
    where = {"view": view, "view.me": view.player_type}
    used = [member for kind in where.values() for of in kind.__mro__ for member in vars(of).values()]
    piles = {member.pile_type for member in used if isinstance(member, OnePile | Piles)} - {Pile}
    where |= {kind.__name__: kind for kind in sorted(piles, key=lambda kind: kind.__name__)}
    names = [(f"{prefix}.{name}", *rest) for prefix, kind in where.items() for name, *rest in _names(kind)]
    plain = ", ".join(code(name) for name, type_, text in names if not text)
    rows = [(code(f"{name}{type_}"), text) for name, type_, text in names if text]
    about = f"`from {view.__module__} import {view.__name__}`\n"
    return "\n".join([f"## {title}\n", about, table(("name", "meaning"), rows), f"Piles: {plain}.\n"])


def _names(kind: type) -> Iterator[tuple[str, str, str]]:
    """Yield the names that a game's own classes add: the name, its type as it is written, and its meaning."""
    for of in reversed(kind.__mro__):
        if of.__module__ in (GameView.__module__, Pile.__module__, "builtins", "typing"):
            continue
        for name, member in vars(of).items():
            if type_ := _type(member):
                yield name, f": {type_}", member.__doc__ or ""
        for form, text in defined(of):
            name = form.partition("(")[0].partition(":")[0]
            yield name, form.removeprefix(name), text


def _type(member: object) -> str:
    match member:
        case OnePile():
            return member.pile_type.__name__
        case Piles():
            return f"tuple[{member.pile_type.__name__}, ...]"
        case Flag():
            return "bool"
        case SeatOf():
            return "int | None"
        case CounterAttribute():
            return "int"
        case Column():
            return "tuple[int, ...]"
    return ""
