"""Inner ladders, on which people on the page play with house bots: nothing names them unless they are asked for."""

from __future__ import annotations

import json
from pathlib import Path

from fastapi.testclient import TestClient

from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE
from cutpurse.page.app import create_app
from cutpurse.page.league_client import Asking
from cutpurse.server.inner_ladders import is_inner, is_inner_bot
from cutpurse.server.parts.people.people_ladders import people_ladders
from cutpurse.wire.league import league_at
from tests.cli.hosted_league import Hosted, hosted, league

__all__ = ["hosted"]  # the fixture

INNER = ("people.", "person-1")
PRIVATE = "(a private one needs a token)"
UNKNOWN = [  # commands that name a ladder that is not there, and whether they need a token
    ("ladder rankings nope", False),
    ("ladder show nope", False),
    ("ladder history nope ann/sneak", False),
    ("ladder history nope ann/sneak --opponents", False),
    ("match list --ladder nope", False),
    ("match watch --ladder nope", False),
    ("bot list --ladder nope", False),
    ("export --ladder nope --to FOLDER/data", False),
    ("awards nope", False),
    ("bot run random --ladder nope", False),
    ("ladder change nope --public", True),
    ("ladder delete nope", True),
    ("ladder change nope --freeze now", True),
    ("match request nope ann/sneak", True),
    ("event start nope sneak:1 sneak:2 --format test", True),
    ("event start nope --top 3", True),
    ("bot run random --ladder nope --debug", True),
]


def named(text: str) -> list[str]:
    """Return the inner names in a text."""
    return [name for name in INNER if name in text]


async def test_an_unknown_ladder_is_answered_with_those_that_are_meant(hosted: Hosted) -> None:
    for line, needs_token in UNKNOWN:
        for who in ("root",) if needs_token else ("root", ""):
            run = await hosted.typed(line, who)
            text = run.stdout + run.stderr + str(run.exception or "")
            assert run.exit_code != 0, line
            assert named(text) == [], line
            assert "'nope'" in text, (line, text)
            assert ("there are: " in text) == ("watch" not in line), (line, text)
            assert (PRIVATE in text) == (who == ""), (line, text)


async def test_an_unknown_bot_is_answered_with_those_that_are_meant(hosted: Hosted) -> None:
    for line in (
        "match list --bot nobody/no",
        "ladder history duel nobody/no",
        "ladder history duel nobody/no --opponents",
    ):
        run = await hosted.typed(line, "root")
        assert (run.exit_code, named(run.stderr)) == (4, []), line
        assert run.stderr.endswith("; there are: ann/sneak, bob/thug\n"), line


async def test_lists_leave_inner_ladders_bots_and_matches_out(hosted: Hosted) -> None:
    for line, inner in (
        ("ladder list", "people.greed.2"),
        ("match list", "people.greed.2"),
        ("bot list", "people/person-1:1"),
    ):
        for more in ("", " --json"):
            run = await hosted.typed(line + more, "root")
            assert (run.exit_code, named(run.stdout + run.stderr)) == (0, []), line
            run = await hosted.typed(f"{line} --all{more}", "root")
            assert run.exit_code == 0
            assert inner.rpartition("/")[2].partition(":")[0] in run.stdout
    rows = json.loads((await hosted.typed("ladder list --all --json", "root")).stdout)
    assert [row["ladder"] for row in rows if row["is_inner"]] == ["people.greed.2", "people.greed.3"]
    assert (await hosted.typed("status --json", "root")).exit_code == 0
    # what is named is shown
    assert "people.greed.2" in (await hosted.typed("ladder show people.greed.2", "root")).stdout
    assert "match0001" in (await hosted.typed("match list --ladder people.greed.2", "root")).stdout
    assert "person-1" in (await hosted.typed("bot list --owner people", "root")).stdout


def test_so_do_the_page_and_its_api(tmp_path: Path) -> None:
    league(tmp_path)
    with league_at(db=tmp_path / "test.db", as_stranger=True) as answers:
        page = TestClient(create_app(Asking(answers, live=False, keep_s=0.0), live=False))
        for path in ("/", "/ladders", "/matches", "/bots", "/overall", *(f"/api/v1/{name}" for name in LISTS)):
            answer = page.get(path)
            assert (answer.status_code, named(answer.text)) == (200, []), path
        assert page.get("/ladders/people.greed.2").status_code == 200
        assert page.get("/api/v1/matches?ladder=people.greed.2").json()["matches"][0]["match"] == "match0001"


LISTS = ("ladders", "matches", "bots", "open-matches")


async def test_matches_of_two_bots_are_those_in_which_both_sat(hosted: Hosted) -> None:
    both = await hosted.typed("match list --bot ann/sneak --bot bob/thug", "root")
    assert "match0000" in both.stdout
    one = await hosted.typed("match list --bot ann/sneak --bot people/person-1 --all --json", "root")
    assert json.loads(one.stdout)["matches"] == []
    none = await hosted.typed("match list --bot ann/sneak --bot bob/none", "root")
    assert (none.exit_code, "there is no bot 'bob/none' here" in none.stderr) == (4, True)


def test_one_function_decides_what_is_inner() -> None:
    ladders = people_ladders(("random",), ["greed"])
    assert [is_inner(ladder.terms) for ladder in ladders] == [True]
    assert not is_inner(LadderTerms(owners=("ann", "bob")))
    assert [is_inner_bot(*name) for name in ((PEOPLE, "person-1"), (HOUSE, "people.random"))] == [True, True]
    assert not any(is_inner_bot(*name) for name in ((HOUSE, "random"), ("ann", "people.random"), ("dora", "person")))
