"""The build of the site: all pages and files, rendered by the templates of the page.

Every page has the policy of its content in it, as a file server may send no headers; the service worker of the site
sends it as one. This module knows no command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.page.documents import INDEX, LIST, WHOLE, document, documents_folder, names, text_file
from cutpurse.page.guided_matches import GUIDED
from cutpurse.page.language.game_words import game_title
from cutpurse.page.language.speaking import gettext
from cutpurse.page.match_view.drawing import symbols
from cutpurse.page.pages.docs import game_context, rules_context
from cutpurse.page.pages.guided import guided_context
from cutpurse.page.rendering import Rendering, StaticFile
from cutpurse.page.seat.introductions import FIRST, introduce
from cutpurse.page.seat.opponents import beginners, house_opponents
from cutpurse.page.site.addresses import LEAGUE, file_of, with_relative_links, without_dead_links
from cutpurse.page.site.league_pages import LeaguePages, LeagueSource, fetch_league
from cutpurse.page.site.packages import HERE, PACKAGES, PYODIDE, editor_files, pyodide_files
from cutpurse.page.site.python_archive import python_archive
from cutpurse.page.site.tab_table import HOUSE
from cutpurse.sdk.starter import templates
from cutpurse.wire.errors import NotFound
from cutpurse.wire.person_names import seat_counts
from cutpurse.wire.version import VERSION

__all__ = ["SiteSize", "build_site"]

SCRIPTS: Final = HERE / "scripts"
MAX_FILE_MB: Final = 64  # a match of Szmal with all its notes has less than 1
LIST_OF_FILES: Final = "site.json"  # what a later build may replace
NEW_LIST: Final = "site.json.part"  # until it is whole
EDITOR: Final = "editor.js"  # in a folder with its packages
WORKER: Final = "service_worker.js"
POLICY: Final = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'"
)


@dataclass(frozen=True, slots=True)
class SiteSize:
    """What a build has written."""

    files: int
    bytes: int
    engine_bytes: int  # that a tab loads before the first match
    matches: int = 0  # of a league
    new_matches: int = 0  # that the site did not have
    removed_matches: int = 0


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What a folder has of an earlier site."""

    files: list[str]
    matches: Mapping[str, str] = field(default_factory=dict)  # as in `LeaguePages`


def build_site(into: Path, packages: Path = PACKAGES, league: LeagueSource | None = None) -> SiteSize:
    """Write the site into a folder: a new or empty one, or one that has nothing but an earlier site.

    Args:
        into: The folder.
        packages: Folder of the npm packages, in the versions of `package-lock.json`.
        league: A league to show. Matches that the earlier site has are not fetched again.

    Raises:
        UsageError: If the folder has other files, or a package is missing or of another version.
        NotFound: If the folder cannot be written.
        ServerUnreachable: If the league is away; the earlier site stays.
    """
    earlier = _earlier_site(into)
    python = {f"static/{PYODIDE}/{name}": file for name, file in pyodide_files(packages).items()}
    modules = editor_files(packages, SCRIPTS / EDITOR)
    folder = f"static/editor-{sha256(b''.join(modules[name] for name in sorted(modules))).hexdigest()[:12]}"
    files: dict[str, bytes] = {**python, **{f"{folder}/{name}": file for name, file in modules.items()}}
    rendering = Rendering(live=False, has_seats=True, site_scripts=SCRIPTS)
    archive = python_archive()
    address = f"/static/python.{sha256(archive).hexdigest()[:12]}.zip"
    static = {name: file for name, file in rendering.static.items() if name not in (WORKER, EDITOR)}
    static |= {"python.zip": StaticFile(address, "application/zip", archive)}
    engine_bytes = len(archive) + sum(len(python[name]) for name in python if not name.endswith(".js"))
    rendering.environment.globals |= {
        "static": lambda name: static[name].address,
        "pyodide": f"/static/{PYODIDE}",
        "editor": f"/{folder}/{EDITOR}",
        "engine_bytes": engine_bytes,
    }
    for file in static.values():
        content = file.content.replace(b"url(/static/", b"url(") if file.address.endswith(".css") else file.content
        files[file.address.removeprefix("/")] = content
    fetched = LeaguePages()
    if league is not None:
        rendering.environment.globals |= {"has_league": True, "has_feeds": bool(league.address)}
        maker = sha256("".join([address, *sorted(file.address for file in static.values())]).encode()).hexdigest()
        fetched = fetch_league(league, rendering, maker, earlier.matches, earlier.files)
    pages = [*_pages(fetched.home)]
    for page, template, context in pages:
        html = rendering.html(template, **context, here=page, site="", away_since_ms=0)
        files[_file(page)] = _page(page, fetched.with_usual_ladders(html))
    files |= {_file(page): _page(page, html) for page, html in fetched.pages.items()} | fetched.files
    for picture in (documents_folder() / "pictures").iterdir():
        files[f"docs/pictures/{picture.name}"] = picture.read_bytes()
    for name in (LIST, WHOLE):
        files[f"docs/{name}"] = text_file(name).encode()
    first = [_file(page) for page, *_ in pages if not page.startswith("/docs/")]
    first += [file.address.removeprefix("/") for file in static.values()]
    fresh = sorted(LEAGUE | {"index"}) if league is not None else []
    files[WORKER] = _service_worker(files, [name for name in first if not name.endswith(".zip")], fresh)
    return _write(into, earlier, files, fetched, engine_bytes)


def _write(
    into: Path, earlier: _Earlier, files: Mapping[str, bytes], fetched: LeaguePages, engine_bytes: int
) -> SiteSize:
    """Write the files of a site and count them.  Raises NotFound if the folder cannot be written."""
    try:
        size = _replace(into, earlier, files, fetched)
    except OSError as problem:
        raise NotFound(f"{into} cannot be written: {problem.strerror}; try again, or name another folder") from None
    matches, before = fetched.matches.keys(), earlier.matches.keys()
    count = len(files) + len(fetched.old_files) + 1
    return SiteSize(count, size, engine_bytes, len(matches), len(matches - before), len(before - matches))


def _replace(into: Path, earlier: _Earlier, files: Mapping[str, bytes], fetched: LeaguePages) -> int:
    """Replace an earlier site by files and those that are kept; return the number of bytes of all.

    The list of files is there throughout, so that a site half written can be replaced. Files that stay as they are
    are not written.
    """
    there = {*earlier.files} - {LIST_OF_FILES, NEW_LIST}
    names = {*files, *fetched.old_files}
    into.mkdir(parents=True, exist_ok=True)
    if not names <= there:
        _write_list(into, names | there, {})
    size = 0
    for name in sorted(names):
        path = into / name
        content = before = path.read_bytes() if name in there else None
        content = files.get(name, content or b"")
        if name.endswith(".html"):
            content = without_dead_links(content.decode(), name, names).encode()
        if content != before:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        size += len(content)
    for name in there - names:
        gone = into / name
        gone.unlink()
        while not any((gone := gone.parent).iterdir()):
            gone.rmdir()
    _write_list(into, names, fetched.matches)
    return size


def _write_list(into: Path, names: set[str], matches: Mapping[str, str]) -> None:
    """Write the list of files, if it is another one."""
    content = json.dumps({"cutpurse": VERSION, "files": sorted(names), "matches": matches}, indent=0).encode()
    if not (into / LIST_OF_FILES).exists() or (into / LIST_OF_FILES).read_bytes() != content:
        (into / NEW_LIST).write_bytes(content)
        (into / NEW_LIST).replace(into / LIST_OF_FILES)


def _earlier_site(into: Path) -> _Earlier:
    """Return the files and matches of an earlier site in a folder.  Raises UsageError if it has other files."""
    there = sorted(path.relative_to(into).as_posix() for path in into.rglob("*") if not path.is_dir())
    if into.exists() and not into.is_dir():
        raise UsageError(f"{into} is no folder: name one for the site")
    earlier = {NEW_LIST}
    matches: Mapping[str, str] = {}
    if LIST_OF_FILES in there:
        try:
            listed = json.loads((into / LIST_OF_FILES).read_bytes())
            earlier |= {LIST_OF_FILES, *listed["files"]}
            matches = dict(listed.get("matches", {}))
        except (ValueError, LookupError, TypeError):
            raise UsageError(f"{into / LIST_OF_FILES} is not of an earlier site: name an empty folder") from None
    if others := [name for name in there if name not in earlier]:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        raise UsageError(f"{into} has files that are not of a site ({others[0]}{more}): name a new or empty folder")
    return _Earlier(there, matches)


# -- pages
def _pages(home: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the address of each page, its template and the variables of that; `home` has those of a league."""
    games = {name: introduce(name) for name in sorted(GAMES, key=lambda name: name != FIRST)}
    counts = {name: seat_counts(name, HOUSE) for name in games}
    nobody: dict[str, Any] = {"person": None, "symbols": symbols()}
    yield "/", "site_home.html", {"games": games.values(), "symbols": symbols(), **home}
    weakest = beginners(HOUSE, counts[FIRST])
    offers = [(game, counts[name]) for name, game in games.items()]
    yield "/play", "play.html", {"games": offers, "first": FIRST, "beginners": weakest, **nobody}
    for name, game in games.items():
        yield f"/play/{name}", "play_game.html", _opponents(game.name, counts[name]) | {"game": game} | nobody
        title = game_title(name)
        table = {"title": title, "game": name, "moment": "", "where": "", "is_over": False, "rated_on": ""}
        yield f"/table/{name}", "site_table.html", table | {"symbols": symbols()}
        yield f"/rules/{name}", "game.html", game_context(name)
        if name in GUIDED:
            yield f"/rules/{name}/guided", "guided.html", guided_context(name, is_whole=True)
    yield "/rules", "rules.html", rules_context()
    starters = [(name, game.title, templates.template(name)) for name, game in games.items()]
    yield "/workshop", "site_workshop.html", {"starters": starters, "bots": house_opponents(HOUSE, ())}
    yield "/match", "site_match.html", {"max_mb": MAX_FILE_MB}
    yield "/docs", "document.html", {"written": document(INDEX), "name": INDEX}
    for name in names():
        if name != INDEX:
            yield f"/docs/{name}", "document.html", {"written": document(name), "name": name}


def _opponents(game: str, counts: list[int]) -> dict[str, Any]:
    return {
        "players": counts,
        "counts": [count - 1 for count in counts],
        "bots": house_opponents(HOUSE, beginners(HOUSE, counts)),
        "league_bots": (),
        "is_away": False,
        "own_name": "",
    }


def _file(address: str) -> str:
    """Return the file of a page.  Raises NotFound if the site does not have it."""
    file = file_of(address)
    if file is None:
        raise NotFound(gettext("There is no such document."))
    return file


def _page(address: str, html: str) -> bytes:
    """Return the file of a page: with the policy, and with links to files."""
    policy = f'<head>\n  <meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    return with_relative_links(html, _file(address)).replace("<head>", policy, 1).encode()


def _service_worker(files: Mapping[str, bytes], first: list[str], fresh: list[str]) -> bytes:
    """Return the service worker, which changes with any file whose name does not begin with one of `fresh`."""
    digest = sha256()
    for name in sorted(name for name in files if re.split("[/.]", name)[0] not in fresh):
        digest.update(name.encode() + sha256(files[name]).digest())
    constants = {"PAGES": sorted(first), "POLICY": POLICY, "FRESH": fresh}
    lines = [f"const {name} = {json.dumps(value)};" for name, value in constants.items()]
    version = f"const VERSION = `${{registration.scope}} {digest.hexdigest()[:12]}`;"
    return "\n".join([version, *lines, (SCRIPTS / WORKER).read_text(encoding="utf-8")]).encode()
