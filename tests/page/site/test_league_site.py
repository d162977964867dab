"""The pages of a league in the site: whole, only what is public now, and brought up to date by the same command."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager, suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from google.protobuf.message import Message

from cutpurse.engine.errors import RecordError
from cutpurse.page.site import build as site_build
from cutpurse.page.site.addresses import LEAGUE
from cutpurse.page.site.build import SiteSize, build_site
from cutpurse.page.site.league_pages import DAY_MS, LeagueSource
from cutpurse.sdk.matches.match_file import check, read_matches
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import ServerUnreachable
from cutpurse.wire.league import League, league_at
from tests.faults.processes import server
from tests.page.leagues import HOSTILE, PRIVATE, league_file
from tests.page.site.conftest import some_packages
from tests.page.site.test_site import check_links, links_of
from tests.page.test_hidden_results import SECRETS
from tests.server.hidden_results import HiddenLeague, hidden_league
from tests.typed import run, run_beside

PUBLIC = {"ListLadders", "ListRankings", "ListHistory", "ListOpponents", "ListBots", "ListMatches", "GetMatch"}
PUBLIC |= {"GetRecord", "ListEvents", "GetEvent"}  # nothing of what is being played
ADDRESS = "https://ann.example/some/league"
AGES = 36_500.0  # days


class Counted:
    """The calls of a league, counted; from the call with number `ends` on, it does not answer."""

    def __init__(self, league: League, ends: float = float("inf")) -> None:
        self.calls: Counter[str] = Counter()
        self.records: list[str] = []
        self._league, self._ends = league, ends

    def ask(self, name: str, request: Message) -> Any:
        self.calls[name] += 1
        if self.calls.total() >= self._ends:
            raise ServerUnreachable("the server does not answer")
        if name == "GetRecord":
            self.records.append(request.match)  # type: ignore[attr-defined]
        return getattr(self._league, name)(request)


@contextmanager
def counted(database: Path, ends: float = float("inf")) -> Iterator[Counted]:
    with league_at(db=database, as_stranger=True) as league:
        yield Counted(league, ends)


def build(into: Path, database: Path, days: float = AGES, address: str = "") -> tuple[SiteSize, Counted]:
    """Build the site of a database as of the end of its last match."""
    with counted(database) as league:
        source = LeagueSource(League(league.ask), days, address, ended_ms(database)[0])
        return build_site(into, into.parent / "packages", source), league


def ended_ms(database: Path) -> list[int]:
    """Return when the public matches ended, the last one first."""
    with league_at(db=database, as_stranger=True) as league:
        page = league.ListMatches(pages := _request())
        assert pages.limit >= len(page.matches)
        return sorted((match.finished_ms for match in page.matches), reverse=True)


def _request() -> ladder_pb2.ListMatchesRequest:
    return ladder_pb2.ListMatchesRequest(limit=500)


def files_of(site: Path) -> dict[str, bytes]:
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in site.rglob("*") if path.is_file()}


def matches_of(site: Path) -> set[str]:
    return {path.stem for path in (site / "matches").glob("*.jsonl")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    some_packages(tmp_path / "packages")
    return tmp_path


@pytest.fixture(scope="module")
def league_site(tmp_path_factory: pytest.TempPathFactory, few: Path) -> Path:
    folder = tmp_path_factory.mktemp("league_site")
    some_packages(folder / "packages")
    build(folder / "public", few, address=ADDRESS)
    return folder / "public"


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a database with a few matches on each of two days."""
    return league_file(tmp_path_factory.mktemp("few") / "league.db", matches=1)


@pytest.fixture
def lean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out documents and code, which are the same in each build and take seconds."""
    monkeypatch.setattr(site_build, "names", lambda: ())
    monkeypatch.setattr(site_build, "python_archive", lambda: b"code")


class Attributes(HTMLParser):
    """The tags and the names of the attributes of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


# -- what is in it
def test_the_site_of_a_league_is_whole_and_names_of_players_are_text(league_site: Path, few: Path) -> None:
    assert check_links(league_site) > 200
    for name, content in files_of(league_site).items():
        assert re.fullmatch(r"[a-z0-9_/-]+\.[a-z]+", name) or re.split("[/.]", name)[0] not in LEAGUE, name
        if name.endswith(".html"):
            tags = Attributes(content.decode()).tags
            assert [attrs for _, attrs in tags if any(key == "style" or key.startswith("on") for key in attrs)] == []
            assert [
                attrs for tag, attrs in tags if tag == "script" and "src" not in attrs and "type" not in attrs
            ] == []
            links = [attrs["href"] or "" for _, attrs in tags if "href" in attrs]
            assert [link for link in links if link.startswith(("/", "javascript:", "http://site.invalid"))] == []
    ladder = (league_site / "ladders" / "greed.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in ladder
    assert all(name not in path for name in HOSTILE for path in files_of(league_site))
    verified = 0
    for match in matches_of(league_site):
        with suppress(RecordError):  # names that no server lets in are written otherwise in records
            check(next(read_matches((league_site / "matches" / f"{match}.jsonl").read_bytes())))
            verified += 1
        html = (league_site / "matches" / f"{match}.html").read_text(encoding="utf-8")
        assert f'match.html?match={match}"' in html or "Void:" in html
    assert verified > 10
    assert len([*(league_site / "matches").glob("*.svg")]) == 5  # a picture of a table of each game


def test_what_needs_a_server_is_not_shown(league_site: Path) -> None:
    heads = ("index", "ladders", "bots", "matches", "events", "overall")
    for name, content in files_of(league_site).items():
        if name.endswith(".html") and re.split("[/.]", name)[0] in heads:
            html = content.decode()
            assert "<form" not in html, name
            assert "site.invalid" not in html, name
            assert not re.search(
                r"data-(?:events|awaits|pending|address)=|Badge for your|How does it play|lang=de", html
            )
    home = (league_site / "index.html").read_text(encoding="utf-8")
    assert {"ladders.html", "bots.html", "matches.html", "ladders/greed.html"} <= {*links_of(home)}
    assert "Newest matches" in home


def test_no_file_has_anything_of_a_private_ladder(league_site: Path, few: Path) -> None:
    with closing(sqlite3.connect(few)) as database:
        sql = "SELECT matches.id FROM matches JOIN ladders ON ladders.id = ladder_id WHERE ladders.name = ?"
        private = [match for (match,) in database.execute(sql, (PRIVATE,))]
    assert private
    for name, content in files_of(league_site).items():
        if not name.startswith(("static/", "docs/")):
            assert [text for text in (PRIVATE, *private) if text.encode() in content] == [], name


def test_feeds_name_the_files_of_the_site(league_site: Path) -> None:
    feeds = [*(league_site / "feeds").rglob("*.xml")]
    assert len(feeds) > 20
    for path in feeds:
        links = [link.get("href") or "" for link in ElementTree.parse(path).iter("{http://www.w3.org/2005/Atom}link")]
        assert len(links) > 2 or "bots" in path.parts
        for link in links:
            assert link.startswith(f"{ADDRESS}/")
            assert (league_site / link.removeprefix(f"{ADDRESS}/")).is_file(), link
    assert 'type="application/atom+xml"' in (league_site / "ladders" / "greed.html").read_text(encoding="utf-8")


# -- the next build
def test_the_same_build_again_fetches_no_match_and_writes_nothing(folder: Path, few: Path, lean: None) -> None:
    public = folder / "public"
    size, first = build(public, few)
    assert size.new_matches == size.matches == len(ended_ms(few))
    assert {*first.records} == matches_of(public)
    assert {*first.calls} <= PUBLIC
    assert not (public / "feeds").exists()  # without an address of the site
    assert "atom+xml" not in (public / "ladders" / "greed.html").read_text(encoding="utf-8")
    written = {path: path.stat().st_mtime_ns for path in public.rglob("*") if path.is_file()}
    size, again = build(public, few)
    assert (size.new_matches, size.removed_matches, size.files) == (0, 0, len(written))
    assert len({*again.records}) <= 6  # those with a picture on the first page
    assert {path: path.stat().st_mtime_ns for path in public.rglob("*") if path.is_file()} == written


def test_matches_come_and_go_with_the_days(folder: Path, few: Path, lean: None) -> None:
    public, times = folder / "public", ended_ms(few)
    build(public, few)
    every = matches_of(public)
    size, _ = build(public, few, days=0.25)
    expected = sum(times[0] - ms <= DAY_MS // 4 for ms in times)
    assert (size.matches, size.removed_matches) == (expected, len(times) - expected)
    check_links(public)
    assert 0 < len(matches_of(public)) <= expected
    assert matches_of(public) < every
    size, again = build(public, few)
    assert size.new_matches == len(times) - expected
    assert not {*again.records} >= every
    check_links(public)
    assert matches_of(public) == every


def test_a_league_that_goes_away_is_a_line_and_the_earlier_site_stays(folder: Path, few: Path, lean: None) -> None:
    public = folder / "public"
    build(public, few, days=0.25)
    before = files_of(public)
    for ends in (1, 2, 9, 30, 100):
        with counted(few, ends) as league, pytest.raises(ServerUnreachable, match="does not answer"):
            build_site(public, folder / "packages", LeagueSource(League(league.ask), AGES))
        assert files_of(public) == before
    command = ("site", "build", "--into", public, "--packages", folder / "packages", "--league")
    away = run(*command, "127.0.0.1:9")
    assert (away.exit_code, len(away.stderr.splitlines())) == (5, 1)
    assert "127.0.0.1:9" in away.stderr
    missing = run(*command, folder / "none.db")
    assert (missing.exit_code, len(missing.stderr.splitlines())) == (4, 1)
    assert run(*command, few, "--address", "javascript:alert(1)").exit_code == 2
    assert files_of(public) == before
    (public / "mine.txt").touch()
    other = run(*command, few)
    assert (other.exit_code, other.stderr.strip().endswith("(mine.txt): name a new or empty folder")) == (2, True)
    assert files_of(public) == {**before, "mine.txt": b""}


# -- a server
def test_the_command_says_what_is_new_in_the_league_of_a_server(folder: Path, few: Path, lean: None) -> None:
    shutil.copy(few, folder / "league.db")
    command = ("site", "build", "--into", folder / "public", "--packages", folder / "packages", "--days", "36500")
    with server(folder) as arena:
        built = run(*command, "--league", arena.address)
    count = len(ended_ms(few))
    line = f"{folder / 'public'}: {count} new matches, 0 removed, {count} in all"
    assert (built.exit_code, built.stdout.splitlines()[-1]) == (0, line)
    again = run(*command, "--league", folder / "league.db")
    assert again.stdout.splitlines()[-1].endswith(f"0 new matches, 0 removed, {count} in all")


@pytest.fixture
async def hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[HiddenLeague]:
    async with hidden_league(tmp_path, monkeypatch) as league:
        yield league


@pytest.mark.full
async def test_hidden_results_are_in_no_file_until_they_are_public_and_leave_it_again(
    hidden: HiddenLeague, folder: Path, lean: None
) -> None:
    public, address = folder / "public", hidden.world.arena.address
    command = ("site", "build", "--into", public, "--packages", folder / "packages", "--league", address)

    async def secrets() -> list[str]:
        built = await run_beside(*command)
        assert built.exit_code == 0, built.stderr
        check_links(public)
        names = ("static/", "docs/", "rules", "play", "table")
        texts = [name.encode() + content for name, content in files_of(public).items() if not name.startswith(names)]
        return [secret for text in texts for secret in SECRETS.findall(text.decode("utf-8", "replace"))]

    assert await secrets() == []
    assert "are hidden until" in (public / "index.html").read_text(encoding="utf-8")
    hidden.is_over = True
    assert "match0000" in await secrets()
    hidden.is_over = False
    assert await secrets() == []
