"""The project's documents as HTML: the handbook, the rules and the rulings.

A wheel has them in `docs` next to this module; a checkout has them in its own `docs`. They do not change while a
process runs, so each is read once. This module knows no request.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from cutpurse.games import GAMES
from cutpurse.sdk.errors import NotFound
from cutpurse.sdk.rule_book import play_markdown
from cutpurse.server.web.markdown import RULE, Links, Written, written

__all__ = ["INDEX", "PREFIXES", "address_of", "document", "documents_folder", "names", "picture", "rulings", "sheet"]

INDEX: Final = "README"  # the page that lists all documents
PACKED: Final = Path(__file__).parent / "docs"
CHECKOUT: Final = Path(__file__).resolve().parents[4] / "docs"
PREFIXES: Final = {  # of rule numbers, with the game of each
    "SP": "steal_and_plunder",
    "ST": "stolen_treasure",
    "SZ": "szmal",
    "GR": "greed",
    "BL": "bag_o_loot",
}
_DEFINITION: Final = re.compile(rf"^\s*(?:[-*]|\d+\.)?\s*\*\*({RULE.pattern})\*\*", re.MULTILINE)
_FIRST_CELL: Final = re.compile(r"<td>((?:<a [^>]*>)?([A-Z]{2}-[\w.-]+))")


def documents_folder() -> Path:
    """Return the folder of the documents.

    Raises:
        NotFound: If the documents are not installed.
    """
    for folder in (PACKED, CHECKOUT):
        if (folder / f"{INDEX}.md").is_file():
            return folder
    raise NotFound("the documents were not installed with this page")


@cache
def names() -> tuple[str, ...]:
    """List the names of all documents except the rules, as used in addresses ("match-files")."""
    return tuple(sorted(path.stem.replace("_", "-") for path in documents_folder().glob("*.md")))


@cache
def document(name: str) -> Written:
    """Return a document as HTML, by a name from `names`.

    Raises:
        NotFound: If there is no such document.
    """
    if name not in names():
        raise NotFound("There is no such document.")
    return _read(f"{name.replace('-', '_')}.md")


@cache
def sheet(game: str) -> Written:
    """Return the rule sheet of a game as HTML, or the page about all games for "README".

    A game of another package has no sheet, so its page lists the docstrings of its steps.

    Raises:
        NotFound: If there is no such game.
    """
    if game != INDEX and game not in GAMES:
        raise NotFound("There is no such game.")
    if game != INDEX and not (documents_folder() / "rules" / f"{game}.md").is_file():
        return written(play_markdown(GAMES[game]), _links("rules/README.md"))
    return _read(f"rules/{game}.md", below=1 if game == INDEX else 0)  # the page shows README below a list of games


@cache
def rulings(game: str) -> Written:
    """Return the rulings of a game as HTML, each with the anchor `ruling-NUMBER`.

    Raises:
        NotFound: If there is no such game.
    """
    if game not in GAMES:
        raise NotFound("There is no such game.")
    text = (documents_folder() / "rulings.md").read_text(encoding="utf-8")
    title = GAMES[game].words.title
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    own = dict(zip(parts[1::2], parts[2::2], strict=True)).get(title, "")
    found = written(own, _links("rulings.md"), below=1)
    seen: set[str] = set()

    def marked(cell: re.Match[str]) -> str:
        if cell[2] in seen:
            return cell[0]
        seen.add(cell[2])
        return f'<td id="ruling-{cell[2]}">{cell[1]}'

    html = type(found.html)(_FIRST_CELL.sub(marked, found.html))
    return Written(title, html, found.headings, tuple(sorted(seen)))


def picture(name: str) -> bytes:
    """Return a picture of the documents as PNG.

    Raises:
        NotFound: If there is no such picture.
    """
    file = documents_folder() / "pictures" / f"{name}.png"
    if not re.fullmatch(r"[a-z0-9_-]{1,64}", name) or not file.is_file():
        raise NotFound("There is no such picture.")
    return file.read_bytes()


def address_of(path: str) -> str | None:
    """Return the page address of a document, by its path below the documents folder; None if it has no page."""
    folder, name = posixpath.split(path)
    stem = name.removesuffix(".md")
    if folder == "rules" and name in ("", "README.md"):
        return "/rules"
    if folder == "rules" and stem in GAMES:
        return f"/rules/{stem}"
    if folder == "" and name.endswith(".md") and stem.replace("_", "-") in names():
        return f"/docs/{stem.replace('_', '-')}"
    return None


def _read(path: str, below: int = 0) -> Written:
    return written((documents_folder() / path).read_text(encoding="utf-8"), _links(path), below=below)


@cache
def _defined(game: str) -> frozenset[str]:
    """Return the numbers of the rules that the sheet of a game defines."""
    text = (documents_folder() / "rules" / f"{game}.md").read_text(encoding="utf-8")
    return frozenset(_DEFINITION.findall(text))


def _links(path: str) -> Links:
    """Return the link targets for the document at this path."""
    folder = posixpath.dirname(path)

    def page(link: str) -> str | None:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return link if parts.scheme in ("http", "https") else None
        if not parts.path:
            return link
        there = address_of(_below(folder, parts.path))
        return None if there is None else there + (f"#{parts.fragment}" if parts.fragment else "")

    def pictured(link: str) -> str | None:
        there = _below(folder, link)
        stem = there.removeprefix("pictures/").removesuffix(".png")
        is_there = (documents_folder() / "pictures" / f"{stem}.png").is_file()
        return f"/docs/pictures/{stem}.png" if there == f"pictures/{stem}.png" and is_there else None

    def rule(number: str) -> str | None:
        game = PREFIXES[number[:2]]
        return f"/rules/{game}#{number}" if number in _defined(game) else None

    return Links(page, pictured, rule)


def _below(folder: str, link: str) -> str:
    """Resolve a relative link of a document in this folder; keep a slash at the end."""
    joined = posixpath.normpath(posixpath.join(folder, link))
    return f"{joined}/" if link.endswith("/") else joined
