"""The pages of the project's documents: the rules of the games and the handbook.

They need no server and run on the event loop, so they answer even while all threads wait for the server.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response

from cutpurse.games import GAMES
from cutpurse.games.rule_book import rule_book
from cutpurse.page.documents import (
    INDEX,
    LIST,
    MOVED,
    document,
    introduction,
    names,
    picture,
    rulings,
    sheet,
    text_file,
)
from cutpurse.page.guided_matches import GUIDED
from cutpurse.page.language.game_words import game_title
from cutpurse.page.rendering import show

__all__ = ["game_context", "router", "rules_context"]

_READ = ["GET", "HEAD"]

router = APIRouter(include_in_schema=False)


@router.api_route("/rules", methods=_READ)
async def games(request: Request) -> Response:
    """Show the list of games, and the rules that all games share."""
    return show(request, "rules.html", **rules_context())


@router.api_route("/rules/{game}", methods=_READ)
async def rules(request: Request, game: str) -> Response:
    """Show a game in a minute, then its rules by number, its rulings and its cards."""
    if game == "README":
        return RedirectResponse("/rules", 308)
    return show(request, "game.html", **game_context(game))


@router.api_route("/docs", methods=_READ)
async def index(request: Request) -> Response:
    """Show the list of documents."""
    return show(request, "document.html", written=document(INDEX), name=INDEX)


@router.api_route("/docs/pictures/{name}", methods=_READ)
async def pictured(name: str) -> Response:
    """Respond with a picture of the documents."""
    kind = "image/svg+xml" if name.endswith(".svg") else "image/png"
    return Response(picture(name), media_type=kind, headers={"Cache-Control": "public, max-age=3600"})


@router.api_route("/docs/{name}.txt", methods=_READ)
async def text(name: str) -> Response:
    """Respond with the documents for language models: the list of them, or all in one text."""
    return PlainTextResponse(text_file(f"{name}.txt"))


@router.api_route("/llms.txt", methods=_READ)
async def listed() -> Response:
    """Redirect from the address where language models look first."""
    return RedirectResponse(f"/docs/{LIST}", 308)


@router.api_route("/docs/{name:path}", methods=_READ)
async def written_document(request: Request, name: str) -> Response:
    """Show a document; redirect from the name of its file, and from its name before it had a folder."""
    plain = name.removesuffix(".md").replace("_", "-")
    address = MOVED.get(plain, plain)
    if address == INDEX:
        return RedirectResponse("/docs", 308)
    if address != name and address in names():
        return RedirectResponse(f"/docs/{address}", 308)
    return show(request, "document.html", written=document(name), name=name)


def rules_context() -> dict[str, Any]:
    """Return the variables of `rules.html`."""
    return {"games": [_game(name) for name in GAMES], "written": sheet()}


def game_context(game: str) -> dict[str, Any]:
    """Return the variables of `game.html`.

    Raises:
        NotFound: If there is no such game.
    """
    written = sheet(game)  # first, because it raises NotFound for an unknown game
    return {
        "game": _game(game),
        "introduction": introduction(game),
        "is_guided": game in GUIDED,
        "written": written,
        "rulings": rulings(game),
        "book": rule_book(GAMES[game]),
    }


def _game(name: str) -> dict[str, Any]:
    words = GAMES[name].words
    return {
        "name": name,
        "title": game_title(name),
        "version": words.version,
        "players": words.seats,
        "usual": GAMES[name].usual_seats,
    }
