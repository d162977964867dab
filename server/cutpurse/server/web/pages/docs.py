"""The pages of the project's documents: the rules of the games and the handbook.

They need no server and run on the event loop, so they answer even while all threads wait for the server.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from cutpurse.games import GAMES
from cutpurse.sdk.rule_book import rule_book
from cutpurse.server.web.documents import INDEX, document, names, picture, rulings, sheet
from cutpurse.server.web.rendering import show

__all__ = ["router"]

_READ = ["GET", "HEAD"]

router = APIRouter(include_in_schema=False)


@router.api_route("/rules", methods=_READ)
async def games(request: Request) -> Response:
    """Show the list of games, and the rules that all games share."""
    return show(request, "rules.html", games=[_game(name) for name in GAMES], written=sheet(INDEX))


@router.api_route("/rules/{game}", methods=_READ)
async def rules(request: Request, game: str) -> Response:
    """Show the rules of a game, its rulings and its cards."""
    if game == INDEX:
        return RedirectResponse("/rules", 308)
    written = sheet(game)  # first, because it raises NotFound for an unknown game
    return show(
        request,
        "game.html",
        game=_game(game),
        written=written,
        rulings=rulings(game),
        book=rule_book(GAMES[game]),
    )


@router.api_route("/docs", methods=_READ)
async def index() -> Response:
    """Redirect to the list of documents."""
    return RedirectResponse(f"/docs/{INDEX}", 308)


@router.api_route("/docs/pictures/{name}.png", methods=_READ)
async def pictured(name: str) -> Response:
    """Respond with a picture of the documents."""
    return Response(picture(name), media_type="image/png", headers={"Cache-Control": "public, max-age=3600"})


@router.api_route("/docs/{name}", methods=_READ)
async def written_document(request: Request, name: str) -> Response:
    """Show a document; redirect from the name of its file to its address."""
    if (hyphened := name.removesuffix(".md").replace("_", "-")) != name and hyphened in names():
        return RedirectResponse(f"/docs/{hyphened}", 308)
    return show(request, "document.html", written=document(name), name=name)


def _game(name: str) -> dict[str, Any]:
    words = GAMES[name].words
    return {
        "name": name,
        "title": words.title,
        "version": words.version,
        "players": words.seats,
        "usual": GAMES[name].usual_seats,
    }
