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
from cutpurse.games.rule_book import play_markdown
from cutpurse.page.language.languages import Language
from cutpurse.page.language.speaking import gettext, language, pgettext
from cutpurse.page.markdown import RULE, Links, Written, written
from cutpurse.wire.errors import NotFound

__all__ = [
    "INDEX",
    "MOVED",
    "PREFIXES",
    "address_of",
    "document",
    "documents_folder",
    "introduction",
    "names",
    "picture",
    "rulings",
    "sheet",
    "text_file",
    "whole_text",
]

INDEX: Final = "index"  # the page that lists all documents
RULES: Final = "reference/rules"
LIST: Final = "llms.txt"  # the list of all documents for language models; see scripts/reference/llms.py
WHOLE: Final = "llms-full.txt"
INTRODUCTION: Final = "game in a minute"  # context of its blocks in the catalogue
INTRODUCTIONS: Final = "tutorial/games"
RULINGS: Final = "reference/rulings.md"
PACKED: Final = Path(__file__).parent / "docs"
CHECKOUT: Final = Path(__file__).resolve().parents[3] / "docs"
PREFIXES: Final = {  # of rule numbers, with the game of each
    "SP": "steal_and_plunder",
    "ST": "stolen_treasure",
    "SZ": "szmal",
    "GR": "greed",
    "BL": "bag_o_loot",
}
MOVED: Final = {  # earlier names of documents
    "boards": "explanation/boards",
    "containers": "how-to/run-in-containers",
    "design": "explanation/architecture",
    "engine": "explanation/engine",
    "explanation/simulated-ladder": "explanation/ratings",
    "first-bot": "tutorial/first-bot",
    "how-to/add-a-language": "how-to/write-a-bot-in-any-language",
    "how-to/backup-and-upgrade": "how-to/monitor",
    "how-to/compare-versions": "how-to/compare-bots",
    "how-to/debug-a-bot": "how-to/play-on-a-server",
    "how-to/find-agreements-and-copies": "how-to/agreements",
    "how-to/get-notices": "how-to/notices",
    "how-to/host-on-a-rented-machine": "how-to/run-in-containers",
    "how-to/make-a-data-set": "how-to/train-a-learning-agent",
    "how-to/play-matches-on-workers": "how-to/add-machines",
    "how-to/postgresql": "how-to/add-machines",
    "how-to/rate-your-own-results": "how-to/read-the-rankings",
    "how-to/run-a-million-matches": "how-to/play-local-matches",
    "how-to/run-a-tournament": "how-to/compare-bots",
    "how-to/run-bots-on-other-machines": "how-to/add-machines",
    "how-to/run-submitted-bots": "how-to/submissions",
    "how-to/seasons": "how-to/events",
    "how-to/several-servers": "how-to/add-machines",
    "how-to/sign-in-with-openid-connect": "how-to/sign-in",
    "how-to/submit-a-bot": "how-to/submissions",
    "how-to/test-a-version": "how-to/events",
    "how-to/tournaments-on-a-server": "how-to/events",
    "how-to/translate-the-page": "how-to/host-the-web-page",
    "how-to/verify-a-match": "how-to/watch-and-replay",
    "ladder": "explanation/ratings",
    "languages": "how-to/write-a-bot-in-any-language",
    "leaderboard": "explanation/ratings",
    "learning": "how-to/train-a-learning-agent",
    "mass-play": "how-to/play-local-matches",
    "match-files": "reference/match-file",
    "performance": "explanation/performance",
    "playing": "how-to/play-local-matches",
    "protocol": "reference/protocol",
    "README": INDEX,
    "reference/learn-api": "reference/learn",
    "reliability": "explanation/reliability",
    "rulings": "reference/rulings",
    "sandbox": "explanation/sandbox",
    "serving": "how-to/host-a-server",
    "testing": "explanation/test-strategy",
    "tournaments": "how-to/events",
    "web": "how-to/host-the-web-page",
    "writing-a-game": "how-to/add-a-game",
}
_DEFINITION: Final = re.compile(rf"^\s*(?:[-*]|\d+\.)?\s*\*\*({RULE.pattern})\*\*", re.MULTILINE)
_PAGE: Final = re.compile(r"\]\(([\w./-]+\.md)\)")
_PICTURE: Final = re.compile(r"[a-z0-9_-]{1,64}\.(?:png|svg)")
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
    """List the names of all documents except the rules, as used in addresses ("reference/match-file")."""
    return tuple(sorted(_files()))


@cache
def document(name: str) -> Written:
    """Return a document as HTML, by a name from `names`.

    Raises:
        NotFound: If there is no such document.
    """
    if name not in _files():
        raise NotFound(gettext("There is no such document."))
    return _read(_files()[name])


@cache
def sheet(game: str | None = None) -> Written:
    """Return the rule sheet of a game as HTML, or the page about all games.

    A game of another package has no sheet, so its page lists the docstrings of its steps.

    Raises:
        NotFound: If there is no such game.
    """
    if game is None:
        return _read(f"{RULES}/README.md", below=1)  # the page shows it below a list of games
    if game not in GAMES:
        raise NotFound(gettext("There is no such game."))
    if not (documents_folder() / RULES / f"{game}.md").is_file():
        return written(play_markdown(GAMES[game]), _links(f"{RULES}/README.md"))
    return _read(f"{RULES}/{game}.md")


def introduction(game: str) -> Written | None:
    """Return the game in a minute as HTML, for the top of its page; None for a game of another package."""
    return _introduction(game, language())


@cache
def _introduction(game: str, _spoken: Language) -> Written | None:
    blocks = introduction_blocks(game)
    if not blocks:
        return None
    text = "\n\n".join([pgettext(INTRODUCTION, block) for block in blocks])
    return written(text, _links(f"{INTRODUCTIONS}/{game}.md"), below=1)


def introduction_blocks(game: str) -> list[str]:
    """Return the blocks of the game in a minute, which are its messages; none for a game of another package."""
    path = documents_folder() / INTRODUCTIONS / f"{game}.md"
    if game not in GAMES or not path.is_file():
        return []
    return [block.strip("\n") for block in re.split(r"\n{2,}", path.read_text(encoding="utf-8")) if block.strip()]


@cache
def rulings(game: str) -> Written:
    """Return the rulings of a game as HTML, each with the anchor `ruling-NUMBER`.

    Raises:
        NotFound: If there is no such game.
    """
    if game not in GAMES:
        raise NotFound(gettext("There is no such game."))
    text = (documents_folder() / RULINGS).read_text(encoding="utf-8")
    title = GAMES[game].words.title
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    own = dict(zip(parts[1::2], parts[2::2], strict=True)).get(title, "")
    found = written(own, _links(RULINGS), below=1)
    seen: set[str] = set()

    def marked(cell: re.Match[str]) -> str:
        if cell[2] in seen:
            return cell[0]
        seen.add(cell[2])
        return f'<td id="ruling-{cell[2]}">{cell[1]}'

    html = type(found.html)(_FIRST_CELL.sub(marked, found.html))
    return Written(title, html, found.headings, tuple(sorted(seen)))


def picture(name: str) -> bytes:
    """Return a picture of the documents, by the name of its file.

    Raises:
        NotFound: If there is no such picture.
    """
    file = documents_folder() / "pictures" / name
    if not _PICTURE.fullmatch(name) or not file.is_file():
        raise NotFound(gettext("There is no such picture."))
    return file.read_bytes()


def text_file(name: str) -> str:
    """Return a text for language models: the list of all documents, or all documents in one.

    Raises:
        NotFound: If there is no such text.
    """
    if name == WHOLE:
        return whole_text()
    file = documents_folder() / LIST
    if name != LIST or not file.is_file():
        raise NotFound(gettext("There is no such document."))
    return file.read_text(encoding="utf-8")


@cache
def whole_text() -> str:
    """Return all documents in one text, those that the index names first, each below its path."""
    folder = documents_folder()
    index = (folder / f"{INDEX}.md").read_text(encoding="utf-8")
    paths = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.md"))]
    listed = [path for path in _PAGE.findall(index) if path in paths]
    ordered = dict.fromkeys([f"{INDEX}.md", *listed, *paths])
    return "\n".join([f"<!-- docs/{path} -->\n\n{(folder / path).read_text(encoding='utf-8')}" for path in ordered])


def address_of(path: str) -> str | None:
    """Return the page address of a document, by its path below the documents folder; None if it has no page."""
    folder, name = posixpath.split(path)
    stem = name.removesuffix(".md")
    if path.removesuffix("/") in (RULES, f"{RULES}/README.md"):
        return "/rules"
    if folder == RULES and stem in GAMES:
        return f"/rules/{stem}"
    if path == LIST:
        return f"/docs/{LIST}"
    document = _name(path)
    return f"/docs/{document}" if document in names() else None


@cache
def _files() -> dict[str, str]:
    """Map the name of each document except the rules to its path below the documents folder."""
    folder = documents_folder()
    paths = (path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))
    return {_name(path): path for path in paths if posixpath.dirname(path) != RULES}


def _name(path: str) -> str:
    """Return the name in addresses of the document at this path."""
    return path.removesuffix(".md").replace("_", "-")


def _read(path: str, below: int = 0) -> Written:
    return written((documents_folder() / path).read_text(encoding="utf-8"), _links(path), below=below)


@cache
def _defined(game: str) -> frozenset[str]:
    """Return the numbers of the rules that the sheet of a game defines."""
    text = (documents_folder() / RULES / f"{game}.md").read_text(encoding="utf-8")
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
        name = there.removeprefix("pictures/")
        is_there = _PICTURE.fullmatch(name) and (documents_folder() / "pictures" / name).is_file()
        return f"/docs/pictures/{name}" if there == f"pictures/{name}" and is_there else None

    def rule(number: str) -> str | None:
        game = PREFIXES[number[:2]]
        return f"/rules/{game}#{number}" if number in _defined(game) else None

    return Links(page, pictured, rule)


def _below(folder: str, link: str) -> str:
    """Resolve a relative link of a document in this folder; keep a slash at the end."""
    joined = posixpath.normpath(posixpath.join(folder, link))
    return f"{joined}/" if link.endswith("/") else joined
