"""`cutpurse export --ladder`: decisions of a league, of those matches whose cards the caller may see."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cutpurse.cli.commands import export as command
from cutpurse.engine.record import read_record, replay
from cutpurse.games import GAMES
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.results import FinishedMatch, LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.matches.match_file import FiledMatch, read_matches
from cutpurse.server.ladder_config import Ladder
from cutpurse.wire import league
from tests.cli.test_league_commands import cutpurse
from tests.server.small_world import Manner, World
from tests.server.test_watch_service import LADDER, OWNERS, stage


def played(ladder: Ladder, bots: int, seed: str) -> list[FinishedMatch]:
    """Matches of a ladder, in which now and then a bot is illegal, silent or gives up."""
    world = World([ladder], seed=seed)
    for number in range(bots):
        manner = Manner(illegal=0.05, never=0.02, gives_up=0.02)
        world.bot(f"bot{number}", owner=f"owner{number}", manner=manner)
    world.run(lambda: world.lobby.is_complete)
    return list(world.store.kept.values())


def keep(path: Path, ladder: Ladder, *results: FinishedMatch) -> None:
    with Store(path) as store:
        store.write(ensure_ladder, ladder.kept)
        for result in results:
            store.submit(result).result(240)


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


async def test_a_ladder_of_a_database_is_exported_with_its_thinking_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder, other = Ladder("it", "greed", 3, matches_wanted=3), Ladder("other", "greed", 3, matches_wanted=1)
    results = played(ladder, 3, "it")
    keep(tmp_path / "league.db", ladder, *results)
    keep(tmp_path / "league.db", other, *played(other, 3, "other"))
    monkeypatch.setattr(league, "MATCH_PAGE", 2)
    run = await cutpurse("export", "--ladder", "it", "--db", tmp_path / "league.db", "--to", tmp_path / "set", "--json")
    assert (run.exit_code, run.stderr) == (0, "")
    assert json.loads(run.stdout)["matches"] == 3
    found = rows(tmp_path / "set" / "greed-3.parquet")
    assert {row["match"] for row in found} == {result.match for result in results}
    expected = []
    for result in results:
        for match, asked, chosen in replay(read_record(str(result.record())), GAMES["greed"]):
            seat = result.seats[asked.seat]
            if len(asked.options) > 1 and seat.course is not None:
                bot, time = f"{seat.player.owner}/{seat.player.bot}", seat.course.thinking_ms[asked.number]
                expected.append((result.match, len(match.choices), bot, seat.player.version, time, chosen.cause.value))
    names = ("match", "at", "bot", "version", "thought_ms", "cause")
    assert sorted(tuple([row[name] for name in names]) for row in found) == sorted(expected)
    assert {row["cause"] for row in found} > {"normal"}
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    assert "from `ladder it`" in card


async def test_a_file_and_a_ladder_give_the_same_rows(tmp_path: Path) -> None:
    ladder = Ladder("it", "szmal", 3, matches_wanted=1)
    (result,) = played(ladder, 3, "same")
    keep(tmp_path / "league.db", ladder, result)
    db = tmp_path / "league.db"
    assert (await cutpurse("match", "download", result.match, "--db", db, "-o", tmp_path / "a.jsonl")).exit_code == 0
    assert (await cutpurse("export", tmp_path / "a.jsonl", "--to", tmp_path / "a.parquet")).exit_code == 0
    assert (await cutpurse("export", "--ladder", "it", "--db", db, "--to", tmp_path / "b.parquet")).exit_code == 0
    of_file, of_ladder = rows(tmp_path / "a.parquet"), rows(tmp_path / "b.parquet")
    assert [{**row, "thought_ms": None} for row in of_ladder] == of_file
    assert None not in {row["thought_ms"] for row in of_ladder}


async def test_a_match_whose_cards_are_still_played_is_in_no_data_set(tmp_path: Path) -> None:
    ladder = Ladder("dup", "greed", 2, boards="duplicate", matches_wanted=2)
    first, last = played(ladder, 4, "sealed")
    words = ("export", "--ladder", "dup", "--db", tmp_path / "league.db", "--to")
    keep(tmp_path / "league.db", ladder, first)
    run = await cutpurse(*words, tmp_path / "early")
    assert (run.exit_code, run.stderr) == (
        1,
        "cutpurse: no match has a result and a decision with a choice, so there is no data set\n",
    )
    keep(tmp_path / "league.db", ladder, last)
    assert (await cutpurse(*words, tmp_path / "late", "--test-share", 0.5)).exit_code == 0
    (path,) = (tmp_path / "late").glob("*.parquet")  # both matches have the same cards, so they are in one part
    found = rows(path)
    assert {row["match"] for row in found} == {first.match, last.match}
    assert len({row["deal"] for row in found}) == 1


async def test_a_private_ladder_is_exported_by_those_who_play_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    private = replace(LADDER, terms=LadderTerms(owners=OWNERS, is_private=True))
    async with stage(tmp_path, *OWNERS, "eve", ladder=private) as on, AsyncExitStack() as stack:
        match = await on.sit_down(stack)
        await on.play()
        words = ("export", "--ladder", "duel", "--server", on.arena.address, "--to")
        for name, token in (("nobody", ""), ("eve", on.tokens["eve"])):
            run = await cutpurse(*words, tmp_path / name, token=token)
            assert (run.exit_code, "no ladder is called 'duel' here" in run.stderr) == (4, True), run.stderr
            assert not (tmp_path / name).exists()
        run = await cutpurse(*words, tmp_path / "ann", token=on.tokens["ann"])
        assert (run.exit_code, run.stderr) == (0, "")
        assert {row["match"] for row in rows(tmp_path / "ann" / "greed-2.parquet")} == {match}


async def test_a_false_match_of_a_server_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ladder = Ladder("it", "greed", 2, matches_wanted=2)
    results = played(ladder, 2, "false")
    keep(tmp_path / "league.db", ladder, *results)

    def altered(content: bytes) -> list[FiledMatch]:
        return [*read_matches(content.replace(b'"place":1', b'"place":3', int(results[0].match.encode() in content)))]

    monkeypatch.setattr(command, "read_matches", altered)
    run = await cutpurse("export", "--ladder", "it", "--db", tmp_path / "league.db", "--to", tmp_path / "set")
    assert run.exit_code == 1
    assert run.stderr == (
        f"left out: match {results[0].match[:12]}: line 1: the head of the match was altered: its digest does not fit "
        "its bytes\n"
    )
    assert {row["match"] for row in rows(tmp_path / "set" / "greed-2.parquet")} == {results[1].match}
