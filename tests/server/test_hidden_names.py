"""Matches on a ladder that hides names: what a bot receives does not depend on whom it plays against."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from cutpurse.engine.commitment import commitment
from cutpurse.engine.errors import RecordError
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.match_file_writer import match_file
from cutpurse.leaderboard.results import FinishedMatch, Identity, LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.matches import match_file as reading
from cutpurse.sdk.matches.match_file import check, read_matches
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.deals import dealt_for_all
from cutpurse.server.parts.workers.match_task import MatchTask, TaskSeat
from cutpurse.v1 import arena_pb2
from tests.server.small_world import BotThere, World, entropy_of

BEGINS: Final = datetime(2026, 1, 1, 0, 16, 40, tzinfo=UTC)  # the time of day at which a `World` begins
HIDDEN: Final = LadderTerms(names_hidden_until=BEGINS + timedelta(days=1))
OTHERS: Final = [("bob", "thug"), ("cid", "miser"), ("dan", "magpie")]
TWINS: Final = [("eve", "a_very_long_name_for_a_bot"), ("flo", "x"), ("gus", "greedy")]
SENTENCE: Final = "the names of the bots were hidden then: who sat where is the server's word alone"


def ladder(boards: str = "plain", seats: int = 2, terms: LadderTerms = HIDDEN) -> Ladder:
    return Ladder("secret", "greed", seats, terms=terms, boards=boards)


def play(wanted: Ladder, others: list[tuple[str, str]], matches: int) -> tuple[World, BotThere]:
    """Play until ann's bot has played some matches against these bots, which act alike under any name."""
    world = World([wanted])
    bots = []
    for number, (owner, name) in enumerate([("ann", "sneak"), *others]):
        bot = BotThere(world, name, 4, owner=owner)
        bot.random = Random(number)
        bot.sends_nonces = True
        bot.is_forgetful = wanted.boards == "rotation"
        world.bots.append(bot)
        world.lobby.enter(bot)
        bots.append(bot)
    world.run(lambda: len(bots[0].done) >= matches)
    return world, bots[0]


def received(bot: BotThere) -> list[bytes]:
    """Everything that a bot was sent in the matches that it has finished, in order."""
    sent = [body for played in bot.done for body in (played.seat_at.started(), *played.told)]
    return [*sent, *(opened.SerializeToString() for opened in bot.opened_boards)]


@pytest.mark.parametrize(
    ("boards", "seats", "count"), [("plain", 2, 1), ("plain", 4, 3), ("rotation", 3, 2), ("duplicate", 2, 3)]
)
def test_a_seat_receives_the_same_bytes_under_any_names_of_the_others(boards: str, seats: int, count: int) -> None:
    matches = 4
    here, there = (play(ladder(boards, seats), names[:count], matches)[1] for names in (OTHERS, TWINS))
    assert received(here) == received(there)
    assert len(here.done) >= matches
    names = [name.encode() for pair in (*OTHERS, *TWINS) for name in pair if len(name) > 1]
    assert not [name for body in received(here) for name in names if name in body]
    for played in here.done:
        started = played.started
        expected = [arena_pb2.SeatTaken(bot=f"seat-{seat}") for seat in range(seats)]
        expected[started.seat] = arena_pb2.SeatTaken(owner="ann", bot="sneak", version="1")
        assert list(started.seats) == expected
    shown = play(ladder(boards, seats, LadderTerms()), OTHERS[:count], 1)[1]
    assert any(b"thug" in body or b"miser" in body or b"magpie" in body for body in received(shown))


def test_a_match_that_is_dealt_from_the_time_on_shows_names() -> None:
    terms = LadderTerms(names_hidden_until=BEGINS + timedelta(seconds=2))
    world, bot = play(ladder(terms=terms), OTHERS[:1], 1)
    world.run(lambda: all(seat.owner for seat in bot.done[-1].started.seats), most_steps=20_000)
    owners = [[seat.owner for seat in played.started.seats] for played in bot.done]
    assert sorted(owners[0]) == ["", "ann"]
    assert sorted(owners[-1]) == ["ann", "bob"]
    for played in bot.done:
        assert played.ended is not None
        is_hidden = b'"bot":"bot-0","owner":""' in played.ended.opening.params
        assert is_hidden == (not all(seat.owner for seat in played.started.seats))


def test_new_terms_count_for_the_next_deal() -> None:
    world, bot = play(ladder(terms=LadderTerms()), OTHERS[:1], 1)
    world.lobby.set_ladder(ladder())
    known = set(bot.open) | {played.started.table for played in bot.done}
    world.run(lambda: sum(played.started.table not in known for played in bot.done) >= 3)
    newest = max(bot.done, key=lambda played: played.started.table)
    assert [seat.owner for seat in newest.started.seats if seat.owner != "ann"] == [""]


# -- what is checked afterwards
def stored(folder: Path, wanted: Ladder, results: list[FinishedMatch]) -> list[str]:
    """The files of matches, from a leaderboard that has stored them."""
    with Store(folder / "cutpurse.db") as store:
        store.write(ensure_ladder, wanted.kept)
        for result in results:
            store.submit(result).result(240)
        return [
            match_file(store.run(queries.match, result.match), store.run(queries.record, result.match))
            for result in results
        ]


@pytest.mark.parametrize(("boards", "seats", "count"), [("plain", 3, 2), ("rotation", 3, 2), ("duplicate", 2, 3)])
def test_the_deal_is_checked_though_it_names_no_bot(tmp_path: Path, boards: str, seats: int, count: int) -> None:
    wanted = ladder(boards, seats)
    world, _ = play(wanted, OTHERS[:count], 3)
    for content in stored(tmp_path, wanted, list(world.store.kept.values())[:3]):
        (filed,) = read_matches(content.encode())
        assert filed.head is not None
        assert b"ann" not in filed.head.params.encode()
        assert any(name in str(filed.text) for _, name in OTHERS)
        assert SENTENCE in check(filed).checked


def forged(head: reading.Head, **changed: Any) -> reading.Head:
    """A head whose settled facts are changed, and fit its commitment again."""
    params = json.dumps({**json.loads(head.params), **changed}, separators=(",", ":"), sort_keys=True)
    return replace(head, params=params, commitment=commitment(head.seed, params.encode()))


def hidden(*names: str) -> list[dict[str, str]]:
    return [{"bot": name, "owner": "", "version": ""} for name in names]


def test_hidden_seats_that_do_not_fit_the_head_are_found(tmp_path: Path) -> None:
    wanted = ladder(seats=3)
    world, _ = play(wanted, OTHERS[:2], 1)
    (content,) = stored(tmp_path, wanted, list(world.store.kept.values())[:1])
    (filed,) = read_matches(content.encode())
    assert filed.head is not None
    for seats in (hidden("bot-0", "bot-1"), hidden("bot-0", "bot-1", "bot-0"), hidden(*"abcd")):
        with pytest.raises(RecordError, match="hides names, and has other seats than the head"):
            reading._check_the_deal(forged(filed.head, seats=seats), [])
    half = [*hidden("bot-0", "bot-1"), {"bot": "sneak", "owner": "ann", "version": "1"}]
    with pytest.raises(RecordError, match="has other seats than the head"):
        reading._check_the_deal(forged(filed.head, seats=half), [])


def test_a_bot_has_one_hidden_name_on_all_of_a_board() -> None:
    ann, bob = Identity("ann", "sneak", "1"), Identity("bob", "thug", "2")
    tables = {"first": (bob, ann), "second": (ann, bob)}
    deal = dealt_for_all(ladder("rotation"), tables, entropy_of("deal"), hides_names=True)
    assert json.loads(deal.params)["tables"] == [
        {"match": "first", "seats": hidden("bot-0", "bot-1")},
        {"match": "second", "seats": hidden("bot-1", "bot-0")},
    ]


def test_a_task_for_a_worker_says_that_names_are_hidden() -> None:
    seats = (TaskSeat(Identity("ann", "sneak", "1")), TaskSeat(Identity("bob", "thug", "2")))
    task = MatchTask("m", "secret", "greed", "1", {}, {}, "b", b"c", b"{}", BEGINS, "", seats, hides_names=True)
    assert MatchTask.from_json(task.to_json()) == task
    older = {name: value for name, value in json.loads(task.to_json()).items() if name != "hides_names"}
    assert MatchTask.from_json(json.dumps(older)) == replace(task, hides_names=False)
