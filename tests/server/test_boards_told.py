"""What is told of a board before all its matches are over, by every way there is: nothing that its bots do not know."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cutpurse.cli.ladder_file import read_ladders
from cutpurse.engine.errors import RecordError
from cutpurse.engine.seating import square
from cutpurse.games import GAMES
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.match_file_writer import match_file
from cutpurse.leaderboard.results import FinishedMatch
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.matches import match_file as reading
from cutpurse.sdk.matches.match_file import check, read_matches
from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import Ladder, ladder_defined
from cutpurse.server.league.league_queries import ANYTHING, STRANGER, Answers, Caller
from cutpurse.server.league.presence import Presence
from cutpurse.server.logs import logger
from cutpurse.server.watching.broadcast import Visitor, Watching
from cutpurse.v1 import ladder_pb2
from tests.server.small_world import NOTE, Manner, World
from tests.typed import run

LADDER = Ladder("dup", "greed", 2, boards="duplicate")
OWNER = Caller("owner0", frozenset({"read", "play"}))


@pytest.fixture(scope="module")
def board() -> list[FinishedMatch]:
    """A board of two tables with notes and faults."""
    world = World([Ladder("dup", "greed", 2, boards="duplicate", matches_wanted=2)], seed="told")
    for n in range(4):
        world.bot(f"bot{n}", owner=f"owner{n}", manner=Manner(says=1, illegal=0.1))
    world.run(lambda: world.lobby.is_complete)
    return list(world.store.kept.values())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "test.db") as made:
        yield made


def keep(store: Store, *results: FinishedMatch) -> None:
    store.write(ensure_ladder, LADDER.kept)
    for result in results:
        store.submit(result).result(240)


def told(store: Store, match: str, caller: Caller) -> dict[str, str]:
    """All that a league answers about a ladder, a match and a bot; a refusal is its text."""
    answers = Answers(store, lambda: datetime.now(UTC))
    here = Presence()
    bot = ladder_pb2.BotName(owner="owner0", bot="bot0")
    asked: dict[str, Any] = {
        "ladders": lambda: answers.list_ladders(ladder_pb2.ListLaddersRequest(), caller, here),
        "rankings": lambda: answers.list_rankings(ladder_pb2.ListRankingsRequest(ladder="dup"), caller, here),
        "history": lambda: answers.list_history(ladder_pb2.ListHistoryRequest(ladder="dup", bot=bot), caller, here),
        "opponents": lambda: answers.list_opponents(
            ladder_pb2.ListOpponentsRequest(ladder="dup", bot=bot), caller, here
        ),
        "matches": lambda: answers.list_matches(ladder_pb2.ListMatchesRequest(), caller, here),
        "of a bot": lambda: answers.list_matches(ladder_pb2.ListMatchesRequest(bots=[bot]), caller, here),
        "faulted": lambda: answers.list_matches(ladder_pb2.ListMatchesRequest(faulted=True), caller, here),
        "match": lambda: answers.get_match(ladder_pb2.GetMatchRequest(match=match), caller, here),
        "record": lambda: answers.match_file(ladder_pb2.GetRecordRequest(match=match), caller),
        "logs": lambda: answers.list_logs(ladder_pb2.ListLogsRequest(bot=bot), caller, here),
        "a log": lambda: answers.list_logs(ladder_pb2.ListLogsRequest(bot=bot, match=match), caller, here),
        "bots": lambda: answers.list_bots(ladder_pb2.ListBotsRequest(), caller, here),
    }
    said = {}
    for name, ask in asked.items():
        try:
            said[name] = str(ask())
        except CallRefused as refused:
            said[name] = refused.ending.text.partition("; there are:")[0]  # that a bot is known is no secret
    return said


@pytest.mark.parametrize("caller", [STRANGER, OWNER, ANYTHING], ids=["stranger", "owner", "admin"])
def test_of_a_match_whose_board_is_not_over_nobody_is_told_anything(
    store: Store, board: list[FinishedMatch], caller: Caller
) -> None:
    first, last = board
    keep(store)
    before = told(store, first.match, caller)
    keep(store, first)
    sealed = told(store, first.match, caller)
    wait = f"match {first.match} is over; its result is shown when the other matches with the same cards are over"
    for name, said in sealed.items():
        for secret in (first.deal.seed.hex(), first.deal.board, "place:", "score", NOTE):
            assert secret not in said, (name, said)
        if name in ("match", "record") or (name == "a log" and caller is not STRANGER):
            assert said == wait
        elif name != "bots":  # that a bot is known is no secret
            assert said in (before[name], ""), name
    keep(store, last)
    opened = told(store, first.match, caller)
    assert first.deal.board in opened["match"]
    assert "board_kind: BOARD_KIND_DUPLICATE" in opened["matches"]
    assert all(f'board_matches: "{result.match}"' in opened["matches"] for result in board)
    assert "wins: 1" in opened["rankings"]
    assert "boards: 1" in opened["rankings"]
    assert first.deal.seed.hex() in opened["record"]
    if caller is OWNER:
        assert NOTE in opened["logs"]


def test_spectators_do_not_watch_it_and_an_owner_watches_his_seat() -> None:
    world = World([LADDER, Ladder("it", "greed", 2)], seed="watched")
    for n in range(4):
        world.bot(f"bot{n}", owner=f"owner{n}", tables=8, manner=Manner(least_s=1.0, most_s=1.1))
    watching = Watching(world.lobby, logger(io.StringIO()), delay_s=10.0)
    watching.begin(clock=lambda: world.now, due=lambda: None, incident_number=lambda: "17")
    world.run(lambda: any(one.ladder.name == "dup" for one in world.lobby.open_matches()))
    match = next(one for one in world.lobby.open_matches() if one.ladder.name == "dup")

    def watch(owner: str | None, **asked: Any) -> None:
        visitor = Visitor(owner, "here", lambda ladder: True)
        watching.watch(ladder_pb2.WatchMatchRequest(**asked), visitor, lambda: None)

    for asked in ({"match": match.name}, {"ladder": "dup"}):
        with pytest.raises(CallRefused, match="the same cards are played at other tables") as no:
            watch("owner0", **asked)
        assert no.value.ending.reason == "NOT_YOURS"
    watch(match.seats[1].owner, match=match.name, seat=1)
    with pytest.raises(CallRefused):
        watch(match.seats[0].owner, match=match.name, seat=1)
    watch(None, ladder="it")


def test_a_sealed_match_is_never_said_to_be_watchable(store: Store) -> None:
    keep(store)
    world = World([LADDER], seed="sealed")
    for n in range(4):
        world.bot(f"bot{n}", owner=f"owner{n}")
    world.run(lambda: bool(world.lobby.open_matches()))
    lobby = world.lobby
    presence = Presence(lobby.here(), lobby.open_matches(), lobby.requested, lobby.unstored_matches())
    answers = Answers(store, lambda: datetime.now(UTC))
    for one in answers.list_open_matches(ladder_pb2.ListOpenMatchesRequest(), STRANGER, presence).matches:
        assert one.is_sealed
        with pytest.raises(CallRefused, match="is being played; its result is shown when all matches with") as no:
            answers.get_match(ladder_pb2.GetMatchRequest(match=one.match), STRANGER, presence)
        assert "watched" not in no.value.ending.text


# -- what a match file says of its board
def test_a_match_file_of_a_board_is_verified_with_all_its_tables(store: Store, board: list[FinishedMatch]) -> None:
    keep(store, *board)
    for result in board:
        (one,) = read_matches(
            match_file(store.run(queries.match, result.match), store.run(queries.record, result.match)).encode()
        )
        checked = check(one).checked
        assert "it is a board of kind duplicate: who sat in the other matches of it, 1, was settled too" in checked


def seats(*owners: str) -> list[dict[str, str]]:
    return [{"owner": owner, "bot": "sneak", "version": "1"} for owner in owners]


@pytest.mark.parametrize(
    ("kind", "tables", "said"),
    [
        ("duplicate", [["ann", "bob"], ["cid", "ann"]], "somebody sat at two of its tables"),
        ("duplicate", [["ann", "bob"]], "somebody sat at two"),
        ("rotation", [["ann", "bob"], ["ann", "bob"]], "not everybody had every seat once"),
        ("rotation", [["ann", "bob"], ["cid", "ann"]], "not everybody"),
        ("rotation", [["ann", "bob", "cid"], ["bob", "cid", "ann"]], "not everybody"),
        ("rotation", [["ann", "bob", "cid"], ["bob", "cid", "ann"], ["cid", "bob", "ann"]], "not everybody"),
        ("rotation", [["ann", "ann"], ["ann", "ann"]], "not everybody"),
        ("test", [["ann", "bob"], ["ann", "bob"]], "do not differ in one seat"),
        ("test", [["ann", "bob", "cid"], ["dan", "eve", "cid"]], "do not differ in one seat"),
        ("test", [["ann", "bob"]], "do not differ in one seat"),
        ("round", [["ann", "bob"]], "there are no boards of kind 'round'"),
    ],
)
def test_boards_that_cannot_be_are_found(kind: str, tables: list[list[str]], said: str) -> None:
    written = [{"match": str(at), "seats": seats(*owners)} for at, owners in enumerate(tables)]
    with pytest.raises(RecordError, match=said):
        reading._checked_tables(kind, written)


def test_boards_that_can_be_are_right() -> None:
    owners = ["ann", "bob", "cid", "dan"]
    for kind, tables in (
        ("rotation", [["ann", "bob"], ["bob", "ann"]]),
        ("rotation", [["ann", "bob", "cid"], ["cid", "ann", "bob"], ["bob", "cid", "ann"]]),  # turned by a seat
        ("rotation", [[owners[player] for player in row] for row in square(4, "told", 0)]),
        ("duplicate", [["ann", "bob"], ["cid", "dan"]]),
        ("test", [["ann", "bob"], ["ann", "cid"]]),
    ):
        written = [{"match": str(at), "seats": seats(*owners)} for at, owners in enumerate(tables)]
        assert reading._checked_tables(kind, written)["1"] == seats(*tables[1])


# -- how a ladder says of which kind its boards are
def test_a_ladder_is_made_with_its_kind_of_boards_by_command_and_by_file(tmp_path: Path) -> None:
    db = ("--db", str(tmp_path / "test.db"))
    made = run("ladder", "create", "duel", "--game", "greed", "--seats", "2", "--boards", "duplicate", "--json", *db)
    assert json.loads(made.stdout)["boards"] == "duplicate"
    assert "boards      duplicate" in run("ladder", "show", "duel", *db).stdout
    wrong = run("ladder", "create", "odd", "--game", "greed", "--boards", "round", *db)
    assert wrong.exit_code == 2
    assert "--boards is 'round'; it is one of: plain, rotation, duplicate" in wrong.stderr
    file = tmp_path / "ladders.toml"
    file.write_text('[[ladder]]\nname = "turns"\ngame = "szmal"\nboards = "rotation"\n', encoding="utf-8")
    (defined,) = read_ladders(file)
    assert ladder_defined(defined).boards == "rotation"
    assert {ladder_defined(ladder_pb2.LadderDefined(name=game, game=game)).boards for game in GAMES} == {"plain"}
    for kind in (9, ladder_pb2.BOARD_KIND_TEST):
        with pytest.raises(CallRefused, match=f"has boards of kind {kind}; there are: plain, rotation, duplicate"):
            ladder_defined(ladder_pb2.LadderDefined(name="odd", game="greed", boards=kind))  # type: ignore[arg-type]
