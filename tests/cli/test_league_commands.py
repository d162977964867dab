"""A league is steered and asked on the command line while its server runs: the same answers as from its file."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection
from typer.testing import Result

from cutpurse.cli.commands import ladder_admin
from cutpurse.cli.league_options import ladder_named
from cutpurse.engine.errors import UsageError
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import StoreError
from cutpurse.leaderboard.ladders import NewLadder, change_ladder, create_ladders, ensure_ladder
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.matches.request_status import requested
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league import steering
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.errors import NotFound
from cutpurse.wire.league import League, league_at
from tests.server.arenas import RunningArena, running_arena
from tests.server.dialling import house
from tests.server.raw_bot import Ended, RawBot
from tests.server.tokens import tokens_in
from tests.typed import run as run_here
from tests.typed import run_beside

LADDERS = [Ladder("duel", "greed", 2)]
SEED = "5e" * 32


@pytest.fixture
def tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tokens_in(tmp_path / "test.db", "ann", "bob", root=("admin",))


@pytest.fixture
async def arena(tokens: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RunningArena]:
    async with running_arena(tmp_path, LADDERS) as running:
        monkeypatch.setenv("CUTPURSE_SERVER", running.address)
        yield running


async def cutpurse(*arguments: object, token: str = "") -> Result:
    return await run_beside(*arguments, **({"CUTPURSE_TOKEN": token} if token else {}))


def wants(*ladders: str) -> list[arena_pb2.GameWanted]:
    return [arena_pb2.GameWanted(game="greed", ladders=ladders)]


async def play(arena: RunningArena, tokens: dict[str, str], ladder: str) -> None:
    """A match of ann against bob on this ladder."""
    async with RawBot(arena.address, tokens["ann"]) as ann, RawBot(arena.address, tokens["bob"]) as bob:
        await asyncio.gather(ann.hello("sneak", games=wants(ladder)), bob.hello("thug", games=wants(ladder)))
        await asyncio.gather(ann.play_on(), bob.play_on())


async def test_a_ladder_is_made_played_on_frozen_and_opened(arena: RunningArena, tokens: dict[str, str]) -> None:
    root = tokens["root"]
    run = await cutpurse("ladder", "create", "class", "--game", "greed", "--seats", 2, "--base-ms", 700, token=root)
    assert (run.exit_code, run.stderr) == (0, "ladder class is made\n")
    await play(arena, tokens, "class")
    listed = json.loads((await cutpurse("ladder", "list", "--json")).stdout)
    assert {row["ladder"]: (row["matches"], row["clock"]["base_ms"]) for row in listed} == {
        "class": (1, 700),
        "duel": (0, 1_000),
    }
    assert "ann/sneak:1" in (await cutpurse("ladder", "rankings", "class")).stdout
    assert (await cutpurse("ladder", "change", "class", "--freeze", "now", token=root)).exit_code == 0
    async with RawBot(arena.address, tokens["ann"]) as bot:
        with pytest.raises(Ended) as ended:
            await bot.hello("sneak", games=wants("class"))
        assert ended.value.reason == "FROZEN"
    (row,) = [row for row in json.loads((await cutpurse("ladder", "list", "--json")).stdout) if row["is_frozen"]]
    assert (row["ladder"], datetime.fromisoformat(row["frozen"]) <= datetime.now(UTC)) == ("class", True)
    assert (await cutpurse("ladder", "change", "class", "--unfreeze", token=root)).exit_code == 0
    await play(arena, tokens, "class")
    made = [line for line in map(json.loads, arena.log.splitlines()) if line["event"].startswith("ladder ")]
    assert [(line["event"], line["ladder"], line["by"]) for line in made] == [
        ("ladder made", "class", "root"),
        ("ladder changed", "class", "root"),
        ("ladder changed", "class", "root"),
    ]


async def test_a_ladder_that_this_server_does_not_play_is_changed_and_still_not_played(
    arena: RunningArena, tokens: dict[str, str]
) -> None:
    """As with `serve --game greed`, on a database that has ladders of other games."""
    store, lobby = arena.opened.store, arena.opened.lobby
    store.write(create_ladders, [Ladder("other", "szmal", 2).kept], datetime.now(UTC))
    run = await cutpurse("ladder", "change", "other", "--max-bots", 5, token=tokens["root"])
    assert (run.exit_code, run.stderr) == (0, "ladder other is changed\n")
    assert {entry.name: entry.terms.most_bots for entry in store.run(queries.ladders)} == {"duel": 0, "other": 5}
    assert lobby.ladders() == {"greed": ["duel"]}


async def test_a_ladder_made_by_mistake_is_deleted_and_its_name_is_free(
    arena: RunningArena, tokens: dict[str, str]
) -> None:
    root, lobby = tokens["root"], arena.opened.lobby
    assert (await cutpurse("ladder", "create", "clas", "--game", "szmal", token=root)).exit_code == 0
    run = await cutpurse("ladder", "delete", "clas", token=tokens["ann"])
    assert run.exit_code == 6
    async with RawBot(arena.address, tokens["ann"]) as ann:
        await ann.hello("sneak", games=[arena_pb2.GameWanted(game="szmal", ladders=["clas"])])
        run = await cutpurse("ladder", "delete", "clas", token=root)
        assert (run.exit_code, run.stderr) == (0, "ladder clas is deleted\n")
        (problem,) = (await ann.read()).problems
        assert problem.reason == arena_pb2.ERROR_REASON_NOT_YOURS
    assert lobby.ladders() == {"greed": ["duel"]}
    run = await cutpurse("ladder", "delete", "clas", token=root)
    assert run.exit_code == 4
    assert "no ladder is called 'clas' here; there are: duel" in run.stderr
    run = await cutpurse("ladder", "create", "clas", "--game", "greed", "--seats", 2, token=root)
    assert run.exit_code == 0
    await play(arena, tokens, "clas")  # another game than before, by the same name
    run = await cutpurse("ladder", "delete", "clas", token=root)
    assert run.exit_code == 2
    assert "ladder clas has matches, and those are kept: freeze it instead" in run.stderr
    await play(arena, tokens, "clas")
    (line,) = [line for line in map(json.loads, arena.log.splitlines()) if line["event"] == "ladder deleted"]
    assert (line["ladder"], line["game"], line["by"]) == ("clas", "szmal", "root")


async def test_of_two_who_delete_a_ladder_one_is_told_that_it_is_not_there(
    arena: RunningArena, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUTPURSE_TOKEN", tokens["root"])
    assert (await cutpurse("ladder", "create", "clas", "--game", "szmal")).exit_code == 0

    def delete() -> str:
        with league_at(arena.address) as league:
            try:
                return league.DeleteLadder(ladder_pb2.DeleteLadderRequest(ladder="clas")).ladder.defined.name
            except NotFound:
                return "not there"

    told = await asyncio.gather(asyncio.to_thread(delete), asyncio.to_thread(delete))
    assert sorted(told) == ["clas", "not there"]
    assert arena.opened.lobby.ladders() == {"greed": ["duel"]}


async def test_what_is_refused_by_the_database_leaves_the_ladder_where_it_was(
    arena: RunningArena, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(connection: Connection, name: str) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(steering, "delete_ladder", full)
    run = await cutpurse("ladder", "delete", "duel", token=tokens["root"])
    assert run.exit_code == 1
    assert arena.opened.lobby.ladders() == {"greed": ["duel"]}
    await play(arena, tokens, "duel")


async def test_a_ladder_of_a_file_is_deleted_too(tmp_path: Path, tokens: dict[str, str]) -> None:
    file = tmp_path / "test.db"
    for name in ("class", "clas"):
        run = await cutpurse("ladder", "create", name, "--game", "greed", "--db", file)
        assert run.exit_code == 0
    run = await cutpurse("ladder", "delete", "clas", "--db", file, "--json")
    assert (run.exit_code, json.loads(run.stdout)["ladder"]) == (0, "clas")
    run = await cutpurse("ladder", "list", "--db", file, "--json")
    assert [row["ladder"] for row in json.loads(run.stdout)] == ["class"]


async def test_terms_change_one_by_one(arena: RunningArena, tokens: dict[str, str]) -> None:
    for words, expected in (
        (["--owner", "ann", "--owner", "bob", "--private"], (["ann", "bob"], True, 0, [])),
        (
            ["--max-bots", "3", "--house", "random,greedy", "--house", "search"],
            (["ann", "bob"], True, 3, ["random", "greedy", "search"]),
        ),
        (
            ["--add-owner", "cid", "--add-owner", "ann"],
            (["ann", "bob", "cid"], True, 3, ["random", "greedy", "search"]),
        ),
        (["--remove-owner", "bob", "--no-house", "--add-owner", "dan"], (["ann", "cid", "dan"], True, 3, [])),
        (["--any-owner", "--public", "--max-bots", "0"], ([], False, 0, [])),
        (["--max-per-owner", "2"], ([], False, 0, [])),
        (["--pause-failed", "2", "--pause-window", "5"], ([], False, 0, [])),
    ):
        run = await cutpurse("ladder", "change", "duel", *words, "--json", token=tokens["root"])
        row = json.loads(run.stdout)
        assert (row["owners"], row["private"], row["max_bots"], row["house"]) == expected
        assert json.loads((await cutpurse("ladder", "show", "duel", "--json", token=tokens["ann"])).stdout) == row
    assert row["max_per_owner"] == 2
    shown = await cutpurse("ladder", "show", "duel", token=tokens["ann"])
    assert "max bots    no limit, 2 per owner\n" in shown.stdout
    assert (row["pause_failed"], row["pause_window"]) == (2, 5)
    assert "pause       taken over in 2 of the last 5 rated matches\n" in shown.stdout
    refused = await cutpurse("ladder", "change", "duel", "--pause-failed", "6", token=tokens["root"])
    assert refused.exit_code == 2
    assert refused.stderr.endswith("pause_failed is 6: it is 0 (never pause) to pause_window, which is 5\n")
    assert len(refused.stderr.splitlines()) == 1


async def test_a_change_that_comes_between_is_kept(
    arena: RunningArena, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else changes the ladder after this command has asked for its terms: neither undoes the other."""
    root = tokens["root"]
    await cutpurse("ladder", "change", "duel", "--owner", "ann", token=root)
    others = [["ann", "bob"], ["ann", "bob", "cid"]]

    def overtaken(league: League, ladder: str) -> ladder_pb2.LadderShown:
        shown = ladder_named(league, ladder)
        if others:
            terms = ladder_pb2.LadderTerms(owners=others.pop(0), most_bots=7, frozen_ms=4_000_000_000_123)
            league.ChangeLadder(ladder_pb2.ChangeLadderRequest(ladder=ladder, terms=terms))
        return shown

    monkeypatch.setattr(ladder_admin, "ladder_named", overtaken)
    run = await cutpurse("ladder", "change", "duel", "--add-owner", "dan", "--private", "--json", token=root)
    row = json.loads(run.stdout)
    assert (row["owners"], row["max_bots"], row["private"], row["frozen"]) == (
        ["ann", "bob", "cid", "dan"],
        7,
        True,
        "2096-10-02T07:06:40.123+00:00",
    )
    entry = arena.opened.store.run(queries.ladders)[0]
    assert (entry.terms.owners, entry.terms.most_bots) == (("ann", "bob", "cid", "dan"), 7)


async def test_terms_that_are_not_those_expected_are_left_as_they_are(
    arena: RunningArena, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUTPURSE_TOKEN", tokens["root"])

    def change() -> None:
        with league_at(arena.address) as league:
            wanted = ladder_pb2.ChangeLadderRequest(ladder="duel", terms=ladder_pb2.LadderTerms(owners=["ann"]))
            wanted.expected.most_bots = 3
            with pytest.raises(UsageError, match="the terms of ladder duel are not those expected; ask for them again"):
                league.ChangeLadder(wanted)
            wanted.expected.Clear()  # open to everybody, as it is
            league.ChangeLadder(wanted)
            with pytest.raises(UsageError, match="not those expected"):
                league.ChangeLadder(wanted)

    await asyncio.to_thread(change)
    assert arena.opened.store.run(queries.ladders)[0].terms == LadderTerms(owners=("ann",))


@pytest.mark.parametrize(
    ("before", "words", "code", "said"),
    [
        (["--any-owner"], ["--add-owner", "ann"], 2, "every owner may play on duel; use --owner"),
        (["--owner", "ann"], ["--remove-owner", "bob"], 4, "duel is not open to bob; it is to ann"),
        (
            ["--owner", "ann"],
            ["--remove-owner", "ann"],
            2,
            "no owner would be left on duel, which would open it to every owner",
        ),
        (["--owner", "ann"], ["--owner", "ann", "--add-owner", "bob"], 2, "one of them"),
    ],
)
async def test_a_change_of_owners_that_would_open_or_close_a_ladder_by_mistake_is_refused(
    arena: RunningArena, tokens: dict[str, str], before: list[str], words: list[str], code: int, said: str
) -> None:
    await cutpurse("ladder", "change", "duel", *before, token=tokens["root"])
    run = await cutpurse("ladder", "change", "duel", *words, token=tokens["root"])
    assert (run.exit_code, said in run.stderr) == (code, True), run.stderr
    row = json.loads((await cutpurse("ladder", "show", "duel", "--json", token=tokens["ann"])).stdout)
    assert row["owners"] == ([] if "--any-owner" in before else ["ann"])


async def test_house_bots_are_those_that_there_are(arena: RunningArena, tokens: dict[str, str], tmp_path: Path) -> None:
    root, said = tokens["root"], "there is no house bot 'rando'; there are: random, greedy, search, expert"
    file = tmp_path / "ladders.toml"
    file.write_text('[[ladder]]\nname = "one"\ngame = "greed"\nhouse = ["rando"]\n', encoding="utf-8")
    assert (await cutpurse("ladder", "create", "old", "--game", "greed", "--db", tmp_path / "old.db")).exit_code == 0
    for words in (
        ["create", "one", "--game", "greed", "--house", "rando"],
        ["create", "--from", file],
        ["create", "one", "--game", "greed", "--house", "random,rando", "--db", tmp_path / "new.db"],
        ["create", "--from", file, "--db", tmp_path / "new.db"],
        ["change", "duel", "--house", "rando"],
        ["change", "old", "--house", "rando", "--db", tmp_path / "old.db"],
    ):
        run = await cutpurse("ladder", *words, token=root)
        assert (run.exit_code, said in run.stderr, run.stdout) == (2, True, ""), run.stderr
    assert not (tmp_path / "new.db").exists()


async def test_a_ladder_that_has_a_name_of_no_house_bot_can_be_changed(
    arena: RunningArena, tokens: dict[str, str]
) -> None:
    arena.opened.store.write(change_ladder, "duel", LadderTerms(house=("rando",)))
    for words in (
        ["change", "duel", "--freeze", "now"],
        ["change", "duel", "--house", "rando,greedy"],
        ["change", "duel", "--no-house"],
    ):
        run = await cutpurse("ladder", *words, token=tokens["root"])
        assert run.exit_code == 0, run.stderr
    run = await cutpurse("ladder", "change", "duel", "--house", "rando", token=tokens["root"])
    assert run.exit_code == 2


async def test_house_bots_that_the_server_does_not_run_are_named(arena: RunningArena, tokens: dict[str, str]) -> None:
    line = "the server does not run all of its house bots: start it with cutpurse serve --house random,greedy\n"
    create = ("ladder", "create", "new", "--game", "greed", "--house", "random,greedy")
    run = await cutpurse(*create, token=tokens["root"])
    assert (run.exit_code, run.stderr) == (0, f"ladder new is made\n{line}")
    run = await cutpurse("ladder", "change", "duel", "--house", "random,greedy", "--json", token=tokens["root"])
    assert (run.exit_code, run.stderr) == (0, line)
    run = await cutpurse("ladder", "change", "duel", "--max-bots", 9, token=tokens["root"])
    assert (run.exit_code, run.stderr) == (0, "ladder duel is changed\n")


async def test_ladders_of_a_file_are_made_all_or_none(
    arena: RunningArena, tokens: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "ladders.toml"
    one = '[[ladder]]\nname = "one"\ngame = "greed"\nowners = ["ann"]\nfrozen = 2030-01-31T18:00:00+01:00\n'
    file.write_text(one + '[[ladder]]\nname = "duel"\ngame = "szmal"\n', encoding="utf-8")
    run = await cutpurse("ladder", "create", "--from", file, token=tokens["root"])
    assert (run.exit_code, "there is a ladder duel already" in run.stderr) == (2, True)
    file.write_text(one + '[[ladder]]\nname = "two"\ngame = "szmal"\nclock = { bank_ms = 0 }\n', encoding="utf-8")
    run = await cutpurse("ladder", "create", "--from", file, "--json", token=tokens["root"])
    rows = json.loads(run.stdout)
    assert [(row["ladder"], row["owners"], row["frozen"], row["clock"]["bank_ms"]) for row in rows] == [
        ("one", ["ann"], "2030-01-31T17:00:00.000+00:00", 10_000),
        ("two", [], None, 0),
    ]


async def test_what_is_read_is_the_same_from_the_server_and_from_its_file(
    tokens: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_arena(tmp_path, [Ladder("duel", "greed", 2, matches_wanted=2)]) as arena:
        monkeypatch.setenv("CUTPURSE_SERVER", arena.address)
        async with RawBot(arena.address, tokens["ann"]) as ann, RawBot(arena.address, tokens["bob"]) as bob:
            await asyncio.gather(ann.hello("sneak"), bob.hello("thug"))
            for _ in range(2):
                await asyncio.gather(ann.play_on(), bob.play_on())
        while arena.opened.lobby.here():
            await asyncio.sleep(0)
        await same_from_both(tokens["root"], tmp_path / "test.db", arena.opened.store.run(queries.matches)[0].match)


async def same_from_both(token: str, file: Path, newest: str) -> None:
    """Every command that reads prints the same from a server as from its file."""
    for words in (
        ["ladder", "list"],
        ["ladder", "show", "duel"],
        ["ladder", "rankings", "duel"],
        ["ladder", "rankings", "duel", "--csv"],
        ["ladder", "rankings", "duel", "--every-version"],
        ["ladder", "history", "duel", "ann/sneak"],
        ["ladder", "history", "duel", "bob/thug:1", "--opponents"],
        ["match", "list", "--bot", "ann/sneak", "--since", "1h"],
        ["match", "show", newest[:8]],
        ["bot", "list"],
        ["bot", "list", "--ladder", "duel", "--owner", "bob"],
    ):
        forms: tuple[list[str], ...] = ([], ["--json"]) if "--csv" not in words else ([],)
        for form in forms:
            told = await cutpurse(*words, *form, token=token)
            read = await cutpurse(*words, *form, "--db", file)
            assert (told.exit_code, read.exit_code) == (0, 0), told.stderr + read.stderr
            assert told.stdout == read.stdout != "", words


async def test_a_file_that_a_server_has_open_is_not_written(arena: RunningArena, tmp_path: Path) -> None:
    file = tmp_path / "test.db"
    for words in (["create", "new", "--game", "greed"], ["change", "duel", "--freeze", "now"]):
        run = await cutpurse("ladder", *words, "--db", file)
        assert run.exit_code == 1
        assert f"(process {os.getpid()}) has {file} open, and only one process may write it" in run.stderr
    assert [entry.name for entry in arena.opened.store.run(queries.ladders)] == ["duel"]


async def test_what_takes_a_server_is_not_asked_of_a_file(arena: RunningArena, tmp_path: Path) -> None:
    from cutpurse.engine.errors import CutpurseError
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import league_at

    with (
        league_at(db=tmp_path / "test.db") as league,
        pytest.raises(CutpurseError, match="that takes a server that runs; ask one with --server"),
    ):
        league.ListOpenMatches(ladder_pb2.ListOpenMatchesRequest())


async def test_only_an_admin_steers(arena: RunningArena, tokens: dict[str, str]) -> None:
    for words in (
        ["create", "new", "--game", "greed"],
        ["change", "duel", "--freeze", "now"],
        ["change", "duel", "--private"],
    ):
        run = await cutpurse("ladder", *words, token=tokens["ann"])
        assert (run.exit_code, "good for play, read, not for admin" in run.stderr) == (6, True), run.stderr
        run = await cutpurse("ladder", *words)
        assert (run.exit_code, "put it into CUTPURSE_TOKEN" in run.stderr) == (6, True), run.stderr


# -- matches on request
async def test_a_match_is_asked_for_and_waited_for(
    arena: RunningArena, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, is_seen = asyncio.get_running_loop(), asyncio.Event()

    def looked_at(league: League, name: str) -> Any:
        now = requested(league, name)
        if now.state == "open":
            loop.call_soon_threadsafe(is_seen.set)
        return now

    async def played(token: str, name: str) -> Any:
        async with RawBot(arena.address, token) as bot:
            await bot.hello(name, games=wants("duel"))
            await is_seen.wait()  # else it may be over before anybody has looked
            return await bot.play_on()

    monkeypatch.setattr("cutpurse.sdk.matches.request_status.requested", looked_at)

    both = [asyncio.create_task(played(tokens["ann"], name)) for name in ("sneak", "fox")]
    while len(arena.opened.lobby.here()) < 2:
        await asyncio.sleep(0)
    words = ["match", "request", "duel", "fox", "ann/sneak:1", "--seed", SEED, "--wait"]
    run = await cutpurse(*words, "--json", token=tokens["ann"])
    assert run.exit_code == 0, run.stderr
    row = json.loads(run.stdout)
    assert [seat["bot"] for seat in row["seats"]] == ["fox", "sneak"]
    assert (row["requested_by"], row["rated_number"], row["void_cause"]) == ("ann", None, None)
    assert "is being played" in run.stderr
    assert [end.rated for end in await asyncio.gather(*both)] == [False, False]
    assert arena.opened.store.run(queries.rankings, "duel") == []
    listed = await cutpurse("match", "list", "--bot", "ann/fox")
    assert "unrated, asked for by ann" in listed.stdout
    shown = await cutpurse("match", "show", row["match"])
    assert "for no rating: asked for by ann" in shown.stdout
    assert "pairing skill" not in shown.stderr


async def test_a_match_whose_bots_have_no_table_is_not_played(
    arena: RunningArena, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutpurse.server.matches.lobby.WAITS_S", 0.3)
    async with RawBot(arena.address, tokens["ann"]) as ann, RawBot(arena.address, tokens["bob"]) as bob:
        await asyncio.gather(ann.hello("sneak"), bob.hello("thug", max_tables=2))
        await ann.decision() if ann.waiting["decisions"] else await ann.read()  # sneak is at its only table
        run = await cutpurse("match", "request", "duel", "sneak", "bob/thug", "--wait", token=tokens["ann"])
    assert (run.exit_code, run.stdout) == (1, "")
    assert "waits for its bots" in run.stderr
    assert "was not played: its bots did not have a free table at the same time" in run.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["duel", "sneak"], 4, "'ann/sneak' is not there to play on ladder duel; there are: none"),
        (["dule", "sneak"], 4, "no ladder is called 'dule' here (did you mean 'duel'?); there are: duel"),
        (["duel", "sneak", "--seed", "12"], 2, "--seed '12': it must be 32 bytes: 64 characters 0-9 and a-f"),
        (["duel", "a/b/c"], 2, "'a/b/c' names no bot"),
    ],
)
async def test_a_request_that_makes_no_sense(
    arena: RunningArena, tokens: dict[str, str], words: list[str], code: int, said: str
) -> None:
    run = await cutpurse("match", "request", *words, token=tokens["ann"])
    assert (run.exit_code, said in run.stderr, run.stdout) == (code, True, ""), run.stderr


async def test_an_open_server_is_steered_by_whoever_is_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUTPURSE_TOKEN", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    async with running_arena(tmp_path, LADDERS) as arena:
        at = ["--server", arena.address]
        assert (await cutpurse("ladder", "create", "new", "--game", "szmal", "--private", *at)).exit_code == 0
        assert "private" in (await cutpurse("ladder", "list", *at)).stdout
        async with RawBot(arena.address) as ann, RawBot(arena.address) as bob:
            await asyncio.gather(ann.hello("sneak", games=wants("duel")), bob.hello("thug", games=wants("duel")))
            await asyncio.gather(ann.play_on(), bob.play_on())
            listed = await cutpurse("bot", "list", *at)
        assert [line.split()[:2] for line in listed.stdout.splitlines()[1:]] == [
            ["sneak:1", "here"],
            ["thug:1", "here"],
        ]


# -- servers that do not answer
async def test_a_server_that_is_not_there_or_knows_no_league(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CUTPURSE_TOKEN", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    run = await cutpurse("ladder", "list", "--server", "127.0.0.1:1")
    assert (run.exit_code, run.stderr) == (5, "cutpurse: the server at 127.0.0.1:1: Connection refused\n")
    async with house() as without:
        run = await cutpurse("ladder", "list", "--server", without.address)
        assert (run.exit_code, "tells nothing of its league" in run.stderr) == (1, True), run.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["ladder", "create"], 2, "name one ladder, or a file of them with --from FILE"),
        (["ladder", "create", "x"], 2, "--game GAME: a ladder is of one game"),
        (["ladder", "create", "x", "--game", "greed", "--base-ms", "-1"], 2, "--base-ms -1: it is a number from 0"),
        (
            ["ladder", "create", "x", "--game", "greed", "--freeze", "soon"],
            2,
            "--freeze is 'soon'; it is as",
        ),
        (["ladder", "create", "x", "--game", "greed", "--set", "a"], 2, "--set a: a setting is given as NAME=VALUE"),
        (["ladder", "create", "x", "--game", "gred"], 4, "ladder 'x': "),
        (["ladder", "create", "X", "--game", "greed"], 2, "a ladder cannot be called 'X'"),
        (
            ["ladder", "create", "x", "--game", "greed", "--set", "no=1"],
            2,
            "no setting is called 'no'; there are:",
        ),
        (["ladder", "create", "x", "--game", "greed", "--seats", "99"], 2, "ladder 'x': "),
        (["ladder", "change", "x"], 2, "nothing is to be changed"),
        (
            ["ladder", "change", "x", "--owner", "a", "--any-owner"],
            2,
            "--owner or --class, --any-owner, or --add-owner and --remove-owner: one of them",
        ),
        (["ladder", "change", "x", "--freeze", "1960-01-01"], 2, "--freeze is 1960-01-01; it is a date after 1970"),
        *(
            (
                ["ladder", "create", "x", "--game", "greed", option, "2020-01-01T12:00+00:00"],
                2,
                f"ladder 'x': {words} 2020-01-01 12:00 UTC: that is in the past; name a later time",
            )
            for option, words in (
                ("--names-hidden-until", "names hidden until"),
                ("--results-hidden-until", "results hidden until"),
                ("--freeze", "frozen"),
            )
        ),
        (["ladder", "change", "x", "--unfreeze"], 4, "no database"),
        (["ladder", "change", "x", "--freeze", "now", "--unfreeze"], 2, "--freeze and --unfreeze: name one of them"),
        (["ladder", "rankings", "x", "y"], 2, "several ladders are ranked together with --overall"),
        (["ladder", "rankings", "x", "--matches", "3"], 2, "--matches is for --overall"),
        (["ladder", "rankings", "x", "--overall", "--csv"], 2, "--overall goes only with --matches and --json"),
        (["ladder", "history", "x", "a/b", "--opponents", "--explain"], 2, "--opponents counts all matches"),
        (["bot", "change", "a", "--retire", "--play"], 2, "--publish, --withdraw, or settings of the bot: one of them"),
        (["match", "list", "--since", "yesterday"], 2, "+01:00, or so long ago, as 7d or 12h"),
        (["match", "list", "--bot", "/x"], 2, "'/x' names no bot"),
        (["match", "list", "--before", "0"], 2, "--before 0: it is a number from 1"),
        (["match", "show", "none"], 4, "no database"),
        (["ladder", "history", "x", "ann/a", "--limit", "1000000000000"], 2, "it is a number from 1 to 4,294,967,295"),
    ],
)
def test_what_is_wrong_with_a_command(tmp_path: Path, arguments: list[str], code: int, said: str) -> None:
    words = [*arguments, "--db", str(tmp_path / "none.db")]
    run = run_here(*words)
    assert (run.exit_code, run.stdout) == (code, "")
    assert said in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


# -- what every command has
@pytest.mark.parametrize(
    "command",
    [
        "ladder",
        *(f"ladder {one}" for one in ("list", "show", "rankings", "history")),
        *(f"ladder {one}" for one in ("create", "change")),
        *(f"match {one}" for one in ("list", "show", "request")),
        "bot list",
    ],
)
def test_every_command_has_help_with_an_example(command: str) -> None:
    run = run_here(*command.split(), "--help")
    assert run.exit_code == 0
    assert f"Example: cutpurse {command}" in run.stdout
    if command != "ladder":
        assert "--json" in run.stdout
        assert "--server" in run.stdout


def test_the_shell_completes_ladders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    from cutpurse.cli.completion import complete_ladders
    from tests.leaderboard.sample_results import RATING

    with Store(tmp_path / "test.db") as store:
        for name in ("duel", "four"):
            store.write(ensure_ladder, NewLadder(name, game="greed", seats=2, rating=RATING))
    context: Any = SimpleNamespace(params={"db": tmp_path / "test.db"})
    assert complete_ladders(context) == ["duel", "four"]
    monkeypatch.setenv("CUTPURSE_SERVER", "127.0.0.1:1")
    context.params = {}
    assert complete_ladders(context) == []
