"""`cutpurse ladder pairs`: from a database, and from a server for hosts only."""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
from itertools import chain, islice
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from cutpurse.engine.chance import match_key
from cutpurse.engine.match import Match
from cutpurse.engine.record import write_record
from cutpurse.games import game_named
from cutpurse.lab.pairs import pair_document
from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.store import Store
from cutpurse.page.account import pair_search
from cutpurse.sdk.playing.seating import play_match
from cutpurse.server.ladder_config import Ladder
from cutpurse.wire.league import league_at, match_pages
from tests.lab.planted_bots import makers_of
from tests.leaderboard.sample_results import add_version, result
from tests.server.arenas import running_arena
from tests.server.tokens import tokens_in
from tests.typed import run as cutpurse

MATCHES = 110


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder of Greed with a pact between ann's and bob's bots, and two matches that must not count."""
    path = tmp_path_factory.mktemp("pairs") / "league.db"
    makers, rules, chance = makers_of("pact", 8), game_named("greed"), Random(1)
    owners = ["ann", "bob", "local", "cid", "dot", "eve", "fay", "house"]
    with Store(path) as store:
        store.write(ensure_ladder, NewLadder("it", game="greed", seats=4, rating=TrueSkill(draw_probability=0.05)))
        store.write(ensure_ladder, NewLadder("duel", game="greed", seats=2, rating=TrueSkill(draw_probability=0.05)))
        versions = {
            maker.name: add_version(store, owner, maker.name, "1") for maker, owner in zip(makers, owners, strict=True)
        }
        for number in range(MATCHES):
            seated = chance.sample(makers, 4)
            match = Match(rules, [maker.name for maker in seated], match_key("pairs", number), {}, log=True)
            places = play_match(match, seated)[0].places
            record = write_record(match) if number else ""  # one has none
            players = [versions[maker.name] for maker in seated]
            other = {"requested_by": "ann"} if number == 1 else {}
            name = f"{number:08x}feed"
            kept = store.submit(
                result(name, players, [-place for place in places], record=record, ladder="it", **other)
            )
        kept.result(240)
    return path


def test_a_pact_is_listed_with_what_is_usual_and_no_accusation(league: Path) -> None:
    run = cutpurse("ladder", "pairs", "it", "--db", league)
    assert run.exit_code == 0, run.stderr
    head, *rows, _ = run.stdout.splitlines()
    assert head.split("  ")[0] == "bots"
    assert rows[0].startswith("ann/north and bob/south")
    assert "raid less, each other" in rows[0]
    assert all(row.startswith(("ann/north and bob/south", "bob/south and ann/north")) for row in rows)
    assert "Worth a look, and no proof" in run.stderr
    assert f"{MATCHES - 1} matches, {MATCHES - 2} of them with records; 21 pairs met often enough" in run.stdout


def test_the_document_names_the_newest_matches_of_both(league: Path) -> None:
    found = json.loads(cutpurse("ladder", "pairs", "it", "--db", league, "--json").stdout)
    assert found["of_one_owner"] == []
    first = found["findings"][0]
    assert first["bots"] == [{"owner": "ann", "bot": "north"}, {"owner": "bob", "bot": "south"}]
    assert (first["kind"], first["verb"], first["is_mutual"], first["seen"]) == ("less", "raid", True, 0)
    assert first["usual"] > 20
    assert len(first["newest"]) == 3
    for match in first["newest"]:
        shown = json.loads(cutpurse("match", "show", match, "--db", league, "--json").stdout)
        assert {"north", "south"} <= {seat["bot"] for seat in shown["seats"]}


def test_the_process_of_the_page_finds_the_same(
    league: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with league_at(db=league) as asked:
        shown = islice(chain.from_iterable(match_pages(asked.ListMatches, "it")), 3_000)
        lines = b"\n".join([pair_search._line(asked, match) for match in shown])
    monkeypatch.setattr(os, "nice", lambda step: step)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(lines)))
    pair_document.main()
    document = json.loads(cutpurse("ladder", "pairs", "it", "--db", league, "--json").stdout)
    assert {"ladder": "it", **json.loads(capsys.readouterr().out)} == document


def test_no_match_has_no_pair() -> None:
    assert pair_document.pairs_of_lines([]) == {
        "matches": 0,
        "with_records": 0,
        "pairs": 0,
        "tests": 0,
        "findings": [],
        "of_one_owner": [],
    }


def test_places_alone_show_no_pact_and_two_seats_cannot(league: Path) -> None:
    run = cutpurse("ladder", "pairs", "it", "--db", league, "--results-only", "--matches", 60)
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout.startswith("60 matches, 0 of them with records; 21 pairs")
    run = cutpurse("ladder", "pairs", "duel", "--db", league)
    assert (run.exit_code, "duel has 2 seats" in run.stderr) == (2, True)
    assert cutpurse("ladder", "pairs", "nowhere", "--db", league).exit_code == 4


async def test_a_server_lists_pairs_for_hosts_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    tokens = tokens_in(tmp_path / "test.db", "ann", root=("admin",))
    async with running_arena(tmp_path, [Ladder("it", "greed", 4)]) as arena:
        codes = {}
        for owner, token in {**tokens, "nobody": ""}.items():
            monkeypatch.setenv("CUTPURSE_TOKEN", token)
            run = await asyncio.to_thread(cutpurse, "ladder", "pairs", "it", "--server", arena.address)
            codes[owner] = run.exit_code
            assert run.exit_code == 0 or run.stdout == ""
            assert (owner == "ann") == ("for hosts: a token with the scope admin" in run.stderr)
        assert codes == {"root": 0, "ann": 6, "nobody": 6}


async def test_on_a_server_without_tokens_everybody_is_its_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("CUTPURSE_TOKEN", raising=False)
    async with running_arena(tmp_path, [Ladder("it", "greed", 4)]) as arena:
        run = await asyncio.to_thread(cutpurse, "ladder", "pairs", "it", "--server", arena.address)
        assert (run.exit_code, run.stdout) == (
            0,
            "0 matches, 0 of them with records; 0 pairs met often enough; 0 tests found 0\n",
        )
