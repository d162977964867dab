"""`cutpurse ladder rankings --overall`: bots of several ladders of a league in one table."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import Result

pytest.importorskip("choix")

from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.server.ladder_config import Ladder
from tests.leaderboard.sample_results import result
from tests.typed import run

ANN, BOB, CID = (Identity(owner, "bot", "1") for owner in ("ann", "bob", "cid"))


def overall(*words: object) -> Result:
    return run("ladder", "rankings", "--overall", *words)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "league.db"
    with Store(path) as store:
        for ladder in ("one", "two", "empty"):
            store.write(ensure_ladder, Ladder(ladder, "greed", 2).kept)
        for bot in (ANN, BOB, CID):
            store.write(ensure_version, *bot)
        for number in range(6):
            store.submit(result(f"one{number:05}", [ANN, BOB], ladder="one")).result()
            store.submit(result(f"two{number:05}", [ANN, BOB], [number > 2, 1], ladder="two")).result()
        store.submit(result("cid00000", [BOB, CID], ladder="one")).result()
        store.submit(result("asked000", [CID, ANN], ladder="two", is_rated=False)).result()
    return path


def test_bots_of_two_ladders_are_ranked_by_their_rated_matches(database: Path) -> None:
    document = json.loads(overall("one", "two", "--db", database, "--json").stdout)
    assert (document["ladders"], document["matches"]) == (["one", "two"], 13)
    ann, bob, cid = document["bots"]
    assert [(row["rank"], row["bot"]) for row in (ann, bob, cid)] == [(1, "ann/bot"), (2, "bob/bot"), (None, "cid/bot")]
    assert (ann["matches"], cid["matches"]) == ({"one": 6, "two": 6}, {"one": 1})
    assert all(row["low"] < row["elo"] < row["high"] for row in document["bots"])
    table = overall("one", "two", "--db", database)
    assert "Elo is one strength over all these ladders; the rating on one ladder is in" in table.stderr
    lines = table.stdout.splitlines()
    assert lines[0].split() == ["rank", "bot", "Elo", "95", "%", "one", "two"]
    assert lines[1].split()[:2] == ["1", "ann/bot"]
    newest = json.loads(overall("one", "two", "--matches", 2, "--db", database, "--json").stdout)
    assert newest["matches"] == 4


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("one", "one"), 2, "a ladder is named twice"),
        (("one", "nowhere"), 4, "nowhere"),
        (("one", "empty"), 4, "ladder empty has no rated matches yet"),
    ],
)
def test_what_cannot_be_ranked_is_refused_in_one_line(
    database: Path, words: tuple[str, ...], code: int, text: str
) -> None:
    refused = overall(*words, "--db", database)
    assert (refused.exit_code, refused.stdout) == (code, "")
    assert text in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_without_the_extra_the_line_that_installs_it_is_shown(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "choix", None)
    refused = overall("one", "--db", database)
    assert "pip install '.[overall]'" in refused.stderr
