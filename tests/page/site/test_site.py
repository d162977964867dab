"""The site is whole: each link leads to a file of it, and its archive is all that a tab needs."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from io import BytesIO
from itertools import count
from pathlib import Path
from shutil import rmtree
from typing import Any
from urllib.parse import urlsplit
from zipfile import ZipFile

import pytest

from cutpurse.engine.record import read_record
from cutpurse.page.site.addresses import file_of, with_relative_links
from cutpurse.page.site.build import build_site
from cutpurse.page.site.python_archive import python_archive
from cutpurse.page.site.tab import Tab
from cutpurse.page.site.tab_file import open_file
from cutpurse.page.site.tab_table import SEARCH_S
from cutpurse.sdk import bot_calls
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import league_at
from tests.page.site.conftest import some_packages
from tests.properties.random_play import EVERY_GAME
from tests.typed import run

LINK = re.compile(r' (?:href|src|data-worker|data-python|data-pyodide|data-editor|data-script|action)="([^"]*)"')
ALONE = """
import sys
sys.path[:] = [path for path in sys.path if "site-packages" not in path]
sys.path.insert(0, sys.argv[1])
import json
from cutpurse.page.site.tab import Tab
sent = {}
tab = Tab(sent.__setitem__)
tab.receive(json.dumps({"kind": "begin", "game": "greed", "opponents": ["greedy", "search"], "file": "x.html"}))
number = 0
while "over" not in sent:
    number += 1
    tab.receive(json.dumps({"kind": "answer", "decision": number, "option": 0, "id": number}))
tab.receive(json.dumps({"kind": "end", "id": 0}))
tab.open(sent["record"].encode(), 0)
print(json.loads(sent["opened"])["title"], number > 1)
from cutpurse.sdk.starter.templates import template
for message in (
    {"kind": "run"}, {"kind": "compare", "before": "class Bot: pass"}, {"kind": "pack", "name": "sneak", "forLeague": 0}
):
    tab.receive(json.dumps({"game": "greed", "bot": template("greed"), "opponent": "random", **message}))
print("beats random" in sent["results"], "no method choose" in sent["fault"], "sneak" in sent["packed"])
"""


class Browser:
    """In place of a browser: what a tab has sent, and the table that the person sees."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any]] = []
        self.lines: list[str] = []
        self.record = ""
        self.tab = Tab(self.take)

    def take(self, kind: str, data: str) -> None:
        if kind == "record":
            self.record = data
            return
        message: Any = json.loads(data) if kind != "failed" else data
        self.sent.append((kind, message))
        if kind == "whole":
            self.lines = message["lines"]
        elif kind == "step":
            before, self.lines = self.lines, []
            for part in message["lines"]:
                self.lines += [part] if isinstance(part, str) else before[part[0] : part[1]]

    def begin(self, game: str, *opponents: str) -> None:
        self.tab.receive(
            json.dumps({"kind": "begin", "game": game, "opponents": opponents, "file": f"table/{game}.html"})
        )

    def answer(self, decision: int, option: int = 0) -> str:
        self.tab.receive(json.dumps({"kind": "answer", "decision": decision, "option": option, "id": 1}))
        return next(str(message["text"]) for kind, message in reversed(self.sent) if kind == "answered")

    @property
    def decision(self) -> int:
        """The number of the open decision; 0 for none."""
        number = re.search(r'name="decision" value="(\d+)"', self.html)
        return int(number[1]) if number else 0

    @property
    def html(self) -> str:
        return "\n".join(self.lines)

    @property
    def is_over(self) -> bool:
        return any(kind == "over" for kind, _ in self.sent)


def links_of(html: str) -> Iterator[str]:
    for link in LINK.findall(html):
        if not urlsplit(unescape(link)).scheme:
            yield unescape(link)


def check_links(site: Path) -> int:
    """Check that each link of each page leads to a file, and to a place in it; return the number of pages."""
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    for path, html in pages.items():
        for link in links_of(html):
            parts = urlsplit(link)
            target = (path.parent / parts.path).resolve() if parts.path else path
            assert target.exists(), (path, link)
            if parts.fragment not in ("", "play") and target.suffix == ".html":
                assert f'id="{parts.fragment}"' in pages[site / target.relative_to(site.resolve())], (path, link)
    return len(pages)


def test_each_link_leads_to_a_file_of_the_site_and_to_a_place_in_it(plain_site: Path) -> None:
    assert check_links(plain_site) > 50
    for style in (plain_site / "static").glob("*.css"):
        for name in re.findall(r"url\(([^)]+)\)", style.read_text(encoding="utf-8")):
            assert (style.parent / name).is_file()


def test_no_page_has_a_script_of_its_own_and_each_has_the_policy(plain_site: Path) -> None:
    for path in plain_site.rglob("*.html"):
        html = path.read_text(encoding="utf-8")
        assert "script-src 'self' 'wasm-unsafe-eval'; style-src 'self';" in html
        own = r"<script(?! src=| type=\"text/plain\")[^>]*>|<style|<[a-z][^>]* (?:style|on[a-z]+)="
        assert re.findall(own, html) == []


def test_what_needs_a_server_is_not_shown(plain_site: Path) -> None:
    home = (plain_site / "index.html").read_text(encoding="utf-8")
    assert [link for link in links_of(home) if link.startswith("/")] == []
    assert not re.search(r">(Ladders|Bots|Matches|Your bots)<", home)
    assert "With friends" not in (plain_site / "play" / "greed.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("address", "file"),
    [
        ("/", "index.html"),
        ("/rules/greed?at=3#GR-1", "rules/greed.html"),
        ("/docs/pictures/architecture.svg", "docs/pictures/architecture.svg"),
        ("/static/a.css", "static/a.css"),
        ("/ladders/greed", "ladders/greed.html"),
        ("/ladders/..", "ladders/f60cac994135561c.html"),
        ("/bots/ann/con", "bots/18fa98f4c3600552.html"),
        ("/matches/0a1b/picture.svg", "matches/0a1b.svg"),
        ("/api/v1/matches/0a1b/record", "matches/0a1b.jsonl"),
        ("/api/v1/ladders", None),
        ("/me", None),
        ("/seat/answer", None),
    ],
)
def test_addresses_of_the_page_have_files(address: str, file: str | None) -> None:
    assert file_of(address) == file


def test_links_are_relative_to_the_file_they_stand_in() -> None:
    html = (
        '<a href="/rules/greed#GR-1"><a href="/me"><a href="//host/x"><a href="/matches/tab/replay?at=3">'
        '<a href="/matches/0a1b/replay?at=3&amp;seat=1"><img src="/static/i.svg">'
    )
    assert with_relative_links(html, "table/greed.html") == (
        '<a href="../rules/greed.html#GR-1"><a><a href="//host/x"><a href="../match.html?last&at=3">'
        '<a href="../match.html?match=0a1b&at=3&amp;seat=1"><img src="../static/i.svg">'
    )


# -- the build
def test_an_earlier_site_is_replaced_and_other_files_are_never_lost(tmp_path: Path) -> None:
    packages, public = some_packages(tmp_path / "packages"), tmp_path / "public"
    build_site(public, packages)
    listed = json.loads((public / "site.json").read_bytes())["files"]
    (public / "site.json").write_text(json.dumps({"files": [*listed, "old.html", "old/package/index.js"]}))
    (public / "old.html").touch()
    (public / "old" / "package").mkdir(parents=True)
    (public / "old" / "package" / "index.js").touch()
    build_site(public, packages)
    assert not (public / "old.html").exists()
    assert not (public / "old").exists()
    (public / "mine.txt").touch()
    refused = run("site", "build", "--into", str(public), "--packages", str(packages))
    assert refused.exit_code == 2
    assert refused.stderr.strip().endswith("has files that are not of a site (mine.txt): name a new or empty folder")
    assert (public / "mine.txt").exists()


def test_a_build_that_breaks_off_is_a_line_and_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages, public = some_packages(tmp_path / "packages"), tmp_path / "public"
    command = ("site", "build", "--into", str(public), "--packages", str(packages))
    write_bytes = Path.write_bytes
    for most in (0, 1, 2, 30):  # files that the disk takes; the list of files is the first one
        written = count()

        def until_full(path: Path, content: bytes, most: int = most, written: Iterator[int] = written) -> int:
            if next(written) >= most:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write_bytes(path, content)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "write_bytes", until_full)
            full = run(*command)
        line = f"cutpurse: {public} cannot be written: No space left on device; try again, or name another folder"
        assert (full.exit_code, full.stderr.splitlines()[-1]) == (4, line)
    assert run(*command).exit_code == 0
    listed = json.loads((public / "site.json").read_bytes())["files"]
    there = {path.relative_to(public).as_posix() for path in public.rglob("*") if path.is_file()}
    assert there == {*listed, "site.json"}


@pytest.mark.parametrize("package", ["pyodide", "@lezer/highlight"])
@pytest.mark.parametrize("version", ["0.1", None])
def test_a_missing_or_another_package_is_named(tmp_path: Path, package: str, version: str | None) -> None:
    folder = some_packages(tmp_path / "packages", **{package.rpartition("/")[2]: version or "1"})
    if version is None:
        rmtree(folder / package)
    refused = run("site", "build", "--into", str(tmp_path / "public"), "--packages", str(folder))
    assert refused.exit_code == 2
    reasons = (
        (f"the site is made with {package} ", f"{folder} has 0.1: copy")
        if version
        else (f"{package}, a package of the site, is not in",)
    )
    assert all(reason in refused.stderr for reason in reasons)
    assert not (tmp_path / "public").exists()


def test_modules_of_the_editor_name_files_of_their_folder(plain_site: Path) -> None:
    (folder,) = (plain_site / "static").glob("editor-*")
    script = (folder / "editor.js").read_text(encoding="utf-8")
    named = re.findall(r'^import .* from "([^"]*)";$', script, re.MULTILINE)
    assert len(named) == script.count("\nimport ")
    assert all((folder / name).is_file() for name in named)


def test_the_archive_is_all_that_a_tab_needs(tmp_path: Path) -> None:
    archive = python_archive()
    assert archive == python_archive()
    ZipFile(BytesIO(archive)).extractall(tmp_path)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", ALONE, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout == "Greed True\nTrue True True\n"


# -- a table of the tab
@pytest.mark.parametrize("game", EVERY_GAME)
def test_a_match_is_played_to_its_end_and_its_record_verifies(game: str) -> None:
    browser = Browser()
    browser.begin(game, "greedy", "random")
    while not browser.is_over:
        assert browser.answer(browser.decision) == ""
    assert browser.sent[-1][0] == "answered"
    assert 'class="ends"' in browser.html
    browser.tab.receive(json.dumps({"kind": "end", "id": 2}))
    assert 'id="open-cards"' in browser.sent[-1][1]["html"]
    browser.tab.open(browser.record.encode(), 0)
    kind, opened = browser.sent[-1]
    assert kind == "opened"
    assert "every seat and the spectator were told the same" in opened["checks"]
    assert 'id="moments"' in opened["replay"]
    assert not re.search(r' href="/', browser.html + opened["replay"])
    assert [*read_record(browser.record).seats].count("you") == 1


def test_an_answer_that_is_not_asked_for_is_refused_and_the_table_goes_on() -> None:
    browser = Browser()
    browser.begin("greed", "greedy", "random")
    number = browser.decision
    assert browser.answer(number + 1) == f"Decision {number + 1} is not open."
    assert browser.answer(number, 99).startswith("99 is none of the options; they have the numbers 0 to ")
    before = browser.lines
    browser.tab.receive(json.dumps({"kind": "look"}))
    assert browser.sent[-1][0] == "whole"
    assert browser.lines == before
    assert browser.answer(number) == ""


@pytest.mark.parametrize(("game", "opponents"), [("greed", ["node"]), ("greed", []), ("szmal", ["greedy"] * 9)])
def test_opponents_that_the_game_does_not_have_are_named_in_one_line(game: str, opponents: list[str]) -> None:
    browser = Browser()
    browser.begin(game, *opponents)
    kind, text = browser.sent[-1]
    assert kind == "failed"
    assert "is played here with" in text


def test_search_gets_its_time_for_each_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[float] = []

    def ask(bot: object, view: object, decision: Any, again: bool) -> int:
        left.append(decision.base_left_s)
        return 0

    monkeypatch.setattr(bot_calls, "ask_bot_sync", ask)
    browser = Browser()
    browser.begin("greed", "search", "search")
    while not left:
        browser.answer(browser.decision)
    assert 0 < left[0] <= SEARCH_S


def test_a_file_of_a_league_gets_the_checks_of_match_verify_and_is_seen_by_each_seat(
    league_db: Path, tmp_path: Path
) -> None:
    file = tmp_path / "match.jsonl"
    with league_at(db=league_db, as_stranger=True) as league:
        listed = league.ListMatches(ladder_pb2.ListMatchesRequest(limit=500)).matches
        known = {"ann", "bob", "dan"}  # whose names are plain
        match = next(row for row in listed if not row.void_cause and {seat.bot.owner for seat in row.seats} <= known)
        record = ladder_pb2.GetRecordRequest(match=match.match)
        file.write_bytes(b"".join(part.piece for part in league.GetRecord(record)))
    (verified,) = json.loads(run("match", "verify", file, "--json").stdout)["matches"]
    assert (len(verified["checked"]), len(verified["not_checked"])) == (9, 3)
    for seat in (None, *range(len(match.seats))):
        opened = open_file(file.read_bytes(), 3, seat)
        lines = [unescape(line) for line in re.findall(r'<li lang="en">(.*)</li>', opened.checks)]
        assert lines == [*verified["checked"], *verified["not_checked"]]
        current = re.findall(r'data-viewer="(\d*)" aria-current="true"', opened.replay)
        assert current == ["" if seat is None else str(seat)]
        assert len(re.findall(r"<a [^>]*data-viewer=", opened.replay)) == len(match.seats) + 1
        assert ('class="mine"' in opened.replay) == (seat is not None)
        assert ('id="scores-title"' in opened.replay) == (seat is None)  # all cards are open in it
    browser = Browser()
    browser.tab.open(file.read_bytes(), 0, len(match.seats))
    assert browser.sent[-1][0] == "failed"
    assert f"this match has seats 0 to {len(match.seats) - 1}" in browser.sent[-1][1]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty: it holds no match"),
        (b"\xff\xfe", "it cannot be read as a record"),
        (b"{}\n", "not a whole record"),
    ],
)
def test_a_file_that_is_no_match_is_named_in_one_line(content: bytes, reason: str) -> None:
    browser = Browser()
    browser.tab.open(content, 0)
    kind, text = browser.sent[-1]
    assert kind == "failed"
    assert reason in text
    assert "\n" not in text
