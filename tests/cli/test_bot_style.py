"""`cutpurse bot style`: from files, from a folder, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.local import play
from cutpurse.server.ladder_config import Ladder
from tests.server.awarded_matches import MATCHES, put_matches
from tests.typed import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    play("greed", ["greedy", "random", "random"], matches=9, record=tmp_path / "runs" / "a.jsonl")
    play("szmal", ["greedy", "random"], matches=1, record=tmp_path / "runs" / "b.jsonl")
    return tmp_path / "runs"


def test_a_folder_gives_a_style_for_each_game(folder: Path) -> None:
    done = run("bot", "style", "greedy", folder, "--json")
    assert (done.exit_code, json.loads(done.stdout)["bot"]) == (0, "greedy")
    greed, szmal = json.loads(done.stdout)["games"]
    assert (greed["game"], greed["seats"], greed["matches"]) == ("greed", 3, 9)
    assert greed["alike"][0]["bot"] == "greedy"
    assert all(row["interval"][0] <= row["mean"] <= row["interval"][1] for row in greed["habits"] if row["interval"])
    assert (szmal["matches"], szmal["alike"]) == (1, [])
    text = run("bot", "style", "greedy", folder).stdout
    assert "plays most like: greedy (" in text
    assert "szmal, 2 seats, 1 match\n" in text
    assert "plays most like: too few matches" in text


def test_a_record_that_is_damaged_is_named_and_the_others_count(folder: Path) -> None:
    (folder / "c.jsonl").write_text("no record\n")
    done = run("bot", "style", "greedy", folder, "--json")
    assert done.exit_code == 0
    assert "left out: the rest of " in done.stderr
    assert json.loads(done.stdout)["games"][0]["matches"] == 9


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("nobody FOLDER", 4, "no record of a finished match of nobody; there is nothing to count"),
        ("greedy none.jsonl", 4, "no record none.jsonl: there is no such file"),
        ("greedy FOLDER --ladder greed", 2, "--ladder, --limit, --server, --ca and --db are for a server or database"),
        ("greedy --limit 501 --db none.db", 2, "--limit"),
    ],
)
def test_each_mistake_is_a_line(given: str, code: int, said: str, folder: Path) -> None:
    done = run("bot", "style", *given.replace("FOLDER", str(folder)).split())
    assert (done.exit_code, done.stdout) == (code, "")
    assert done.stderr.splitlines()[-1].startswith(f"cutpurse bot style: {said}") or said in done.stderr


def test_a_league_gives_the_newest_matches_with_times(tmp_path: Path) -> None:
    path = tmp_path / "league.db"
    bots = (Identity("ann", "sneak", "1"), Identity("bob", "thug", "2"))
    with Store(path) as store:
        store.write(ensure_ladder, Ladder("duel", "greed", 2).kept)
        for bot in bots:
            store.write(ensure_version, *bot)
        put_matches(store, "duel", bots)
    done = run("bot", "style", "ann/sneak", "--ladder", "duel", "--db", path, "--json")
    assert done.exit_code == 0, done.stderr
    (greed,) = json.loads(done.stdout)["games"]
    assert (greed["game"], greed["seats"], greed["matches"]) == ("greed", 2, len(MATCHES))
    times = next(row for row in greed["habits"] if row["habit"] == "seconds a decision")
    assert times["mean"] > 0
    newest = run("bot", "style", "ann/sneak:1", "--limit", 1, "--db", path, "--json")
    assert json.loads(newest.stdout)["games"][0]["matches"] == 1
    other = run("bot", "style", "ann/sneak:9", "--db", path)
    assert (other.exit_code, other.stdout) == (4, "")
