"""`cutpurse ladder circles` and the head-to-head page, with leagues whose circles are planted."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import Result

pytest.importorskip("scipy")

from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.page.app import create_app
from cutpurse.page.league_client import Asking
from cutpurse.server.ladder_config import Ladder
from cutpurse.wire.league import league_at
from tests.leaderboard.sample_results import result
from tests.typed import run

ROCK, SCISSORS, PAPER, LAST = (Identity(owner, "bot", "1") for owner in ("rock", "scissors", "paper", "last"))
WON = 8  # of 10 matches


def circles(*words: object) -> Result:
    return run("ladder", "circles", *words)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Store a circle at tables of four with a bot that always loses, a line of duels, and a ladder of few matches."""
    path = tmp_path_factory.mktemp("league") / "league.db"
    with Store(path) as store:
        for ladder, seats in (("circle", 3), ("line", 2), ("few", 2), ("empty", 2)):
            store.write(ensure_ladder, Ladder(ladder, "greed", seats).kept)
        for bot in (ROCK, SCISSORS, PAPER, LAST):
            store.write(ensure_version, *bot)
        for number in range(40):
            for better, worse in ((ROCK, SCISSORS), (SCISSORS, PAPER), (PAPER, ROCK)):
                table = [better, worse] if number % 10 < WON else [worse, better]
                name = f"circle{number:02}{better.owner}"
                store.submit(result(name, [*table, LAST], [3, 2, 1], ladder="circle")).result()
            for better, worse in combinations((ROCK, SCISSORS, PAPER), 2):
                table = [better, worse] if number % 10 < WON else [worse, better]
                store.submit(result(f"line{number:02}{better.owner}{worse.owner}", table, ladder="line")).result()
        for better, worse in ((ROCK, SCISSORS), (SCISSORS, PAPER), (PAPER, ROCK), (ROCK, LAST)):
            store.submit(result(f"few{better.owner}{worse.owner}", [better, worse], ladder="few")).result()
    return path


@pytest.fixture
def page(database: Path) -> Iterator[TestClient]:
    with league_at(db=database) as league:
        yield TestClient(create_app(Asking(league, live=False, keep_s=0.0), live=False), base_url="http://arena.test")


def test_a_planted_circle_is_listed_with_its_intervals(database: Path) -> None:
    answer = circles("circle", "--db", database)
    assert answer.exit_code == 0
    summary, _, head, *rows = answer.stdout.splitlines()
    assert summary == "1 sure circle (4 bots, 6 pairs that met, 6 with a sure lead)."
    assert head.split() == ["circle", "bot", "is", "ahead", "of", "ahead", "95", "%", "matches"]
    pairs = {re.split(r" {2,}", row.removeprefix("1").strip())[0]: row for row in rows[:3]}
    assert set(pairs) == {"rock/bot", "scissors/bot", "paper/bot"}
    for row in pairs.values():
        assert re.search(r"80 % +\d\d-\d\d +40$", row)
    document = json.loads(circles("circle", "--db", database, "--json").stdout)
    (circle,) = document["circles"]
    beaten = {(pair["bot"], pair["other"]): pair for pair in document["pairs"]}
    for bot, other in zip(circle, [*circle[1:], circle[0]], strict=True):
        pair = beaten[bot, other]
        assert (pair["matches"], pair["share"], pair["is_sure"]) == (40, 0.8, True)
        assert 0.5 < pair["low"] < 0.8 < pair["high"]
    assert (beaten["rock/bot", "last/bot"]["matches"], beaten["rock/bot", "last/bot"]["share"]) == (80, 1.0)
    weights = {row["bot"]: row for row in document["bots"]}
    for bot in circle:
        assert weights[bot] == {"bot": bot, "alpha_rank": 0.3333, "nash": 0.3333, "against_nash": 0.5}
    assert (weights["last/bot"]["nash"], weights["last/bot"]["alpha_rank"]) == (0, 0)
    assert weights["last/bot"]["against_nash"] < 0.1


def test_a_ladder_without_a_circle_says_so(database: Path) -> None:
    answer = circles("line", "--db", database)
    assert answer.stdout.startswith("No circle is sure (3 bots, 3 pairs that met, 3 with a sure lead).\n")
    document = json.loads(circles("line", "--db", database, "--json").stdout)
    assert document["circles"] == []
    assert [(row["bot"], row["nash"]) for row in document["bots"]] == [
        ("rock/bot", 1),
        ("scissors/bot", 0),
        ("paper/bot", 0),
    ]


def test_a_circle_of_few_matches_is_not_sure_and_who_met_few_is_left_out(database: Path) -> None:
    answer = circles("few", "--db", database)
    assert answer.stdout.startswith("No circle is sure (4 bots, 4 pairs that met, 0 with a sure lead).\n")
    assert "as not all bots above met them: " in answer.stderr
    document = json.loads(circles("few", "--db", database, "--json").stdout)
    assert document["circles"] == []
    assert {row["bot"] for row in document["bots"] if row["nash"] is None} < {"last/bot", "scissors/bot", "paper/bot"}
    two = json.loads(circles("few", "--bots", 2, "--db", database, "--json").stdout)
    assert len(two["bots"]) == 2


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("nowhere",), 4, "no ladder is called 'nowhere' here; there are: circle, empty, few, line"),
        (("empty",), 4, "ladder empty has no two rated bots yet"),
        (("line", "--bots", 1), 2, "--bots"),
    ],
)
def test_what_cannot_be_compared_is_refused(database: Path, words: tuple[str, ...], code: int, text: str) -> None:
    refused = circles(*words, "--db", database)
    assert (refused.exit_code, refused.stdout) == (code, "")
    assert text in refused.stderr


def test_without_the_extra_the_line_that_installs_it_is_shown(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    refused = circles("line", "--db", database)
    assert "pip install '.[overall]'" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_the_page_frames_and_lists_the_circle(page: TestClient) -> None:
    html = page.get("/ladders/circle/head-to-head").text
    assert html.count(" in-circle") == 3
    assert html.count("in a circle:") == 3
    assert "There is 1 sure circle." in html
    (listed,) = re.findall(r'<ol class="circles">(.*?)</ol>', html, re.DOTALL)
    text = re.sub(r"<.*?>", "", listed)
    for better, worse in (("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")):
        assert re.search(rf"{better}/bot ahead of {worse}/bot: 80 % \(\d\d–\d\d %\)", text)


def test_the_page_says_that_there_is_no_circle(page: TestClient) -> None:
    for ladder, pairs, sure in (("line", 3, 3), ("few", 4, 0)):
        html = page.get(f"/ladders/{ladder}/head-to-head").text
        assert "No circle is sure: no three bots are surely ahead of each other in turn." in html
        assert f"Pairs that met: {pairs}; with a sure lead: {sure}." in html
        assert "in-circle" not in html
    assert 'id="circles"' not in page.get("/ladders/empty/head-to-head").text
