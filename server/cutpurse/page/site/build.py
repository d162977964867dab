"""The build of the site: all pages and files, rendered by the templates of the page.

Every page has the policy of its content in it, as a file server may send no headers; the service worker of the site
sends it as one. This module knows no command.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
from cutpurse.page.site.addresses import file_of, with_relative_links
from cutpurse.page.site.python_archive import python_archive
from cutpurse.page.site.tab_table import HOUSE
from cutpurse.wire.errors import NotFound
from cutpurse.wire.person_names import seat_counts
from cutpurse.wire.version import VERSION

__all__ = ["PYODIDE", "SiteSize", "build_site"]

HERE: Final = Path(__file__).parent
SCRIPTS: Final = HERE / "scripts"
PYODIDE: Final = HERE / "node_modules" / "pyodide"  # where `npm ci` puts it
MAX_FILE_MB: Final = 64  # a match of Szmal with all its notes has less than 1
LIST_OF_FILES: Final = "site.json"  # what a later build may replace
NEW_LIST: Final = "site.json.part"  # until it is whole
WORKER: Final = "service_worker.js"
POLICY: Final = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'"
)
# Files of Pyodide with their names here: hosts know the media type of .js, and some do not know that of .mjs.
_PYODIDE_FILES: Final = {
    "pyodide.mjs": "pyodide.js",
    "pyodide.asm.mjs": "pyodide.asm.js",
    "pyodide.asm.wasm": "pyodide.asm.wasm",
    "python_stdlib.zip": "python_stdlib.zip",
    "pyodide-lock.json": "pyodide-lock.json",
}


@dataclass(frozen=True, slots=True)
class SiteSize:
    """What a build has written."""

    files: int
    bytes: int
    engine_bytes: int  # that a tab loads before the first match


def build_site(into: Path, pyodide: Path = PYODIDE) -> SiteSize:
    """Write the site into a folder: a new or empty one, or one that has nothing but an earlier site.

    Args:
        into: The folder.
        pyodide: Folder of the npm package `pyodide`, in the version of `package.json`.

    Raises:
        UsageError: If the folder has other files, or the package is missing or of another version.
        NotFound: If the folder cannot be written.
    """
    earlier = _earlier_files(into)
    python = {f"static/{_pyodide_name()}/{name}": file for name, file in _pyodide_files(pyodide).items()}
    files: dict[str, bytes] = {**python}
    rendering = Rendering(live=False, has_seats=True, site_scripts=SCRIPTS)
    archive = python_archive()
    address = f"/static/python.{sha256(archive).hexdigest()[:12]}.zip"
    static = {name: file for name, file in rendering.static.items() if name != WORKER}  # it has a place of its own
    static |= {"python.zip": StaticFile(address, "application/zip", archive)}
    engine_bytes = len(archive) + sum(len(python[name]) for name in python if not name.endswith(".js"))
    rendering.environment.globals |= {
        "static": lambda name: static[name].address,
        "pyodide": f"/static/{_pyodide_name()}",
        "engine_bytes": engine_bytes,
    }
    for file in static.values():
        content = file.content.replace(b"url(/static/", b"url(") if file.address.endswith(".css") else file.content
        files[file.address.removeprefix("/")] = content
    pages = [*_pages()]
    for page, template, context in pages:
        files[_file(page)] = _page(rendering, page, template, context)
    for picture in (documents_folder() / "pictures").iterdir():
        files[f"docs/pictures/{picture.name}"] = picture.read_bytes()
    for name in (LIST, WHOLE):
        files[f"docs/{name}"] = text_file(name).encode()
    first = [_file(page) for page, *_ in pages if not page.startswith("/docs/")]
    first += [name for name in files if name.startswith("static/") and name not in python]
    files[WORKER] = _service_worker(files, [name for name in first if not name.endswith(".zip")])
    files[LIST_OF_FILES] = json.dumps({"cutpurse": VERSION, "files": sorted(files)}, indent=0).encode()
    try:
        _replace(into, earlier, files)
    except OSError as problem:
        raise NotFound(f"{into} cannot be written: {problem.strerror}; try again, or name another folder") from None
    return SiteSize(len(files), sum(map(len, files.values())), engine_bytes)


def _replace(into: Path, earlier: list[str], files: Mapping[str, bytes]) -> None:
    """Replace an earlier site.  The list of files is there throughout, so that a site half written can be replaced."""
    for name in earlier:
        if name != LIST_OF_FILES:
            (into / name).unlink()
    into.mkdir(parents=True, exist_ok=True)
    (into / NEW_LIST).write_bytes(files[LIST_OF_FILES])
    (into / NEW_LIST).replace(into / LIST_OF_FILES)
    for name in [name for name in files if name != LIST_OF_FILES]:
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        (into / name).write_bytes(files[name])


def _earlier_files(into: Path) -> list[str]:
    """Return the files of an earlier site in a folder.  Raises UsageError if it has other files."""
    there = sorted(path.relative_to(into).as_posix() for path in into.rglob("*") if not path.is_dir())
    if into.exists() and not into.is_dir():
        raise UsageError(f"{into} is no folder: name one for the site")
    earlier = {NEW_LIST}
    if LIST_OF_FILES in there:
        try:
            earlier |= {LIST_OF_FILES, *json.loads((into / LIST_OF_FILES).read_bytes())["files"]}
        except (ValueError, LookupError, TypeError):
            raise UsageError(f"{into / LIST_OF_FILES} is not of an earlier site: name an empty folder") from None
    if others := [name for name in there if name not in earlier]:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        raise UsageError(f"{into} has files that are not of a site ({others[0]}{more}): name a new or empty folder")
    return there


def _pyodide_name() -> str:
    return f"pyodide-{_pyodide_version()}"


def _pyodide_version() -> str:
    return str(json.loads((HERE / "package.json").read_bytes())["dependencies"]["pyodide"])


def _pyodide_files(folder: Path) -> dict[str, bytes]:
    """Read the files of Pyodide, by their names in the site.  Raises UsageError if they are missing or others."""
    version = _pyodide_version()
    how = f"get it with `npm install pyodide@{version}`, and name its folder with --pyodide"
    if folder == PYODIDE:
        how = f"get it with `npm ci --prefix {HERE} --ignore-scripts`"
    try:
        there = json.loads((folder / "package.json").read_bytes())["version"]
        if there != version:
            raise UsageError(f"the site is made with Pyodide {version}, and {folder} has {there}: {how}")
        return {name: (folder / file).read_bytes() for file, name in _PYODIDE_FILES.items()}
    except (OSError, ValueError, LookupError, TypeError):
        raise UsageError(f"Pyodide, which plays the games in a browser, is not in {folder}: {how}") from None


# -- pages
def _pages() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the address of each page, its template and the variables of that."""
    games = {name: introduce(name) for name in sorted(GAMES, key=lambda name: name != FIRST)}
    counts = {name: seat_counts(name, HOUSE) for name in games}
    nobody: dict[str, Any] = {"person": None, "symbols": symbols()}
    yield "/", "site_home.html", {"games": games.values(), "symbols": symbols()}
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


def _page(rendering: Rendering, address: str, template: str, context: Mapping[str, Any]) -> bytes:
    html = rendering.html(template, **context, here=address, site="", away_since_ms=0)
    policy = f'<head>\n  <meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    return with_relative_links(html, _file(address)).replace("<head>", policy, 1).encode()


def _service_worker(files: Mapping[str, bytes], first: list[str]) -> bytes:
    """Return the service worker, which changes with any file."""
    digest = sha256()
    for name in sorted(files):
        digest.update(name.encode() + sha256(files[name]).digest())
    constants = {"PAGES": sorted(first), "POLICY": POLICY}
    lines = [f"const {name} = {json.dumps(value)};" for name, value in constants.items()]
    version = f"const VERSION = `${{registration.scope}} {digest.hexdigest()[:12]}`;"
    return "\n".join([version, *lines, (SCRIPTS / WORKER).read_text(encoding="utf-8")]).encode()
