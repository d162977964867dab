"""`cutpurse awards`, for a ladder between two dates and for a tournament that is over."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import Result

from cutpurse.leaderboard import events, tournaments
from cutpurse.leaderboard.events import FINISHED, EventEntry
from cutpurse.leaderboard.formats.brackets import ELIMINATION
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.parts.events.tournament_rules import TournamentPlan
from tests.server.awarded_matches import MATCHES, put_matches
from tests.server.league_world import league_world
from tests.typed import run

BOTS = (Identity("ann", "sneak", "1"), Identity("bob", "thug", "2"))


def awards(*words: object) -> Result:
    return run("awards", *words)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "league.db"
    with Store(path) as store:
        store.write(ensure_ladder, Ladder("duel", "greed", 2).kept)
        for bot in BOTS:
            store.write(ensure_version, *bot)
        put_matches(store, "duel", BOTS)
    return path


def test_awards_of_a_ladder_between_two_dates(database: Path) -> None:
    done = awards("duel", "--db", database)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["award", "bot", "for", "match", "at"]
    assert lines[-1].split() == ["calmest", "clock", "ann/sneak:1", "slowest", "answer", "9", "ms", "ad0000ac"]
    assert done.stderr == "from 3 matches\n"
    document = json.loads(awards("duel", "--db", database, "--json").stdout)
    assert document["matches"] == 3
    clock = document["awards"][-1]
    assert clock == {
        "award": "calmest_clock",
        "bot": "ann/sneak:1",
        "value": 9,
        "unit": "ms",
        "match": "ad0000ac",
        "at": None,
    }
    newest = json.loads(awards("duel", "--db", database, "--json", "--limit", 1).stdout)
    assert newest["matches"] == 1
    assert {award["match"] for award in newest["awards"]} <= {MATCHES[-1]}
    none = awards("duel", "--db", database, "--until", "2020-01-01")
    assert (none.exit_code, none.stdout) == (4, "")
    assert "there are no finished matches that count" in none.stderr


def test_a_tournament_has_awards_when_it_is_over(database: Path) -> None:
    plan = TournamentPlan("duel", ELIMINATION, 1, BOTS)
    with Store(database) as store:
        store.write(tournaments.start, EventEntry("0123456789ab", "duel", "root", plan.text, datetime.now(UTC)), 9)
        store.write(tournaments.put_board, "0123456789ab", TournamentBoardEntry(0, 0, MATCHES[1], "10"))
    early = awards("--tournament", "0123456789ab", "--db", database)
    assert (early.exit_code, early.stdout) == (2, "")
    assert "is being played: it has awards when it is over" in early.stderr
    with Store(database) as store:
        store.write(events.end, "0123456789ab", FINISHED, datetime.now(UTC))
    document = json.loads(awards("--tournament", "0123456789ab", "--db", database, "--json").stdout)
    assert document["matches"] == 1
    assert {award["match"] for award in document["awards"]} <= {MATCHES[1]}


async def test_who_may_not_see_results_gets_no_awards(tmp_path: Path) -> None:
    async with league_world(tmp_path) as world:
        seen = await world.typed("awards hidden", "cid")
        assert (seen.exit_code, "from 4 matches" in seen.stderr) == (0, True)
        assert "4 matches without a record that can be replayed here" in seen.stderr
        assert "no ladder is called" in (await world.typed("awards hidden", "bob")).stderr
        until = datetime.now(UTC) + timedelta(hours=1)
        terms = {"owners": ["ann", "cid"], "private": True, "results_hidden_until_ms": int(until.timestamp() * 1_000)}
        await world.ask("ChangeLadder", "root", ladder="hidden", terms=terms)
        for who in ("cid", "bob"):
            refused = await world.typed("awards hidden", who)
            assert (refused.exit_code > 0, refused.stdout) == (True, "")
        assert "results of hidden are hidden until" in (await world.typed("awards hidden", "cid")).stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("", "name a ladder, or a tournament with --tournament ID: one of them"),
        ("duel --tournament 0123456789ab", "one of them"),
        ("--tournament 0123456789ab --since 7d", "--since, --until and --limit are for a ladder"),
        ("run.jsonl", "awards of a ladder or tournament, not of a file: run.jsonl"),
        ("duel --since never", "--since is 'never'"),
    ],
)
def test_what_does_not_belong_together_is_refused_in_one_line(words: str, text: str) -> None:
    done = awards(*words.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1
