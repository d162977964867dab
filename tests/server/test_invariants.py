"""A match that is not as it must be counts for nothing, and the log says which invariant it broke."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import code_pb2

from cutpurse.engine.match import EndCause, Match, MatchResult
from cutpurse.games import GAMES
from cutpurse.leaderboard import result_writer as leaderboard_ledger
from cutpurse.server import errors
from cutpurse.server.errors import REASONS, CallStatus, call_status
from cutpurse.server.invariants import (
    CardsLost,
    DecisionsUncounted,
    FaultsWrong,
    PlacesWrong,
    QueueOverflow,
    ReasonUnknown,
    SeatTaken,
    SeedEarly,
    check_ended,
    check_queue_limit,
    check_seats,
    check_settled,
)
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.matchmaking import Pairing
from cutpurse.server.streams.link import Link
from cutpurse.server.streams.server_session import SessionTable
from cutpurse.server.streams.session_stages import SessionStage
from cutpurse.v1 import arena_pb2
from tests.server.arenas import RunningArena, running_arena
from tests.server.raw_bot import Ended, RawBot, others
from tests.server.small_world import World
from tests.server.toys import ToySeat


def played(game: str = "greed", seats: int = 3) -> Match:
    match = Match(GAMES[game], ["ann", "bob", "cid", "dan"][:seats], bytes(32))
    while decision := match.decision():
        match.answer(decision.seat, decision.number, 0)
    return match


@pytest.mark.parametrize("game", GAMES)
def test_a_match_as_it_should_be_breaks_nothing(game: str) -> None:
    match = played(game)
    check_ended(match, match.result())


def lose_a_card(match: Match) -> None:
    zone = next(zone for zone in match.game.zones() if zone.cards)
    zone.cards.pop()


def forget_a_choice(match: Match) -> None:
    match.choices.pop()


@pytest.mark.parametrize(("harm", "broken"), [(lose_a_card, CardsLost), (forget_a_choice, DecisionsUncounted)])
def test_a_match_that_was_harmed_breaks_one(harm: Callable[[Match], None], broken: type[Exception]) -> None:
    match = played()
    result = match.result()
    harm(match)
    with pytest.raises(broken):
        check_ended(match, result)


def test_places_and_causes_must_fit() -> None:
    match = played()
    result = match.result()
    for places in ((1, 1, 2), (2, 3, 3), (1, 2)):
        with pytest.raises(PlacesWrong):
            check_ended(match, replace(result, places=places))
    with pytest.raises(FaultsWrong):
        check_ended(match, replace(result, end_causes=(EndCause.TIMEOUT, *result.end_causes[1:])))


@pytest.mark.parametrize("game", GAMES)
def test_a_seat_that_was_taken_over_must_come_last(game: str) -> None:
    for cause in (EndCause.CRASHED, EndCause.DISCONNECTED):
        match = Match(GAMES[game], ["a", "b", "c"], bytes(32), log=True)
        match.take_over(1, EndCause.CRASHED, "it could not start")
        while decision := match.decision():
            if decision.seat == 2:
                match.fault(2, decision.number, cause, "")
            else:
                match.answer(decision.seat, decision.number, 0)
        result = match.result()
        assert result.places == (1, 2, 2)
        check_ended(match, result)
        for places in ((1, 2, 3), (2, 1, 3), tuple(match.game.places())):
            if places != result.places:
                with pytest.raises(PlacesWrong):
                    check_ended(match, replace(result, places=places))
        with pytest.raises(FaultsWrong):
            check_ended(match, replace(result, end_causes=(EndCause.NORMAL,) * 3))


def test_it_is_void_with_a_number_and_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    true = Match.result

    def wrong(self: Match) -> MatchResult:
        result = true(self)
        return result if result.voided else replace(result, places=(2, 2))

    monkeypatch.setattr(Match, "result", wrong)
    world = World([Ladder("it", "greed", 2)])
    bots = [world.bot(name) for name in ("ann", "bob")]
    world.run(lambda: all(bot.done for bot in bots))
    ended = bots[0].done[0].ended
    assert ended is not None
    assert ended.voided
    assert not ended.rated
    (said, *_) = world.log.errors()
    assert said["error"] == "PlacesWrong"
    assert said["number"]


# -- of seats, streams and sessions
def broken(server: RunningArena) -> list[tuple[str, str]]:
    """The incidents in the log: the number and the invariant."""
    lines = [json.loads(line) for line in server.log.splitlines()]
    return [(line.get("incident") or line["number"], line["error"]) for line in lines if line["level"] == "error"]


def tells_nothing(server: RunningArena, *texts: str) -> None:
    """No secret of anybody is told or logged."""
    for session in server.opened.arena.sessions._by_id.values():
        assert session.secret.hex() not in server.log
        assert all(session.secret.hex() not in text for text in texts)
    assert "seed" not in server.log


def test_everybody_sits_at_a_table_once(monkeypatch: pytest.MonkeyPatch) -> None:
    check_seats(["ann", "bob"])
    with pytest.raises(SeatTaken):
        check_seats(["ann", "bob", "ann"])
    true = Pairing._start

    def start(self: Pairing, books: Any, entries: Any, house: Any, does: str) -> Any:
        return true(self, books, [entries[0], *entries[:-1]], house, does)

    monkeypatch.setattr(Pairing, "_start", start)
    world = World([Ladder("it", "greed", 2)])
    bots = [world.bot(name) for name in ("ann", "bob")]
    world.lobby.tick(world.now)
    assert all(not bot.sat for bot in bots)
    (said, *_) = world.log.errors()
    assert said["error"] == "SeatTaken"
    assert said["number"]


async def test_a_stream_that_lost_its_session_decides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true = Link.close

    def close(self: Link, how: CallStatus, now: float) -> None:
        if how is not errors.OVERTAKEN:
            true(self, how, now)

    monkeypatch.setattr(Link, "close", close)
    async with running_arena(tmp_path, [Ladder("greed", "greed", 2, matches_wanted=1)]) as server:
        (other,) = await others(server.address, 1)
        async with RawBot(server.address) as old, RawBot(server.address) as new:
            welcome = await old.hello("ann")
            asked = await old.decision()
            resume = arena_pb2.Resume(session=welcome.session, secret=welcome.resume_secret)
            await new.hello("ann", resume=resume)
            again = await new.decision()
            await old.answer(asked, 1)
            with pytest.raises(Ended) as told:
                await old.read()
            assert (told.value.code, told.value.reason) == (grpc.StatusCode.INTERNAL, "INCIDENT")
            await new.answer(again)
            assert (await new.play_on()).rated  # and its own answer was the first
        await other
        ((number, what),) = broken(server)
        assert what == "SeatTaken"
        assert number in told.value.text
        tells_nothing(server, told.value.text)
        assert not any(new.waiting["refusals"])


async def test_a_reason_that_nobody_knows_is_an_incident(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def strike(self: Link, text: str, now: float) -> None:
        self.tell("WHO_KNOWS", text)

    monkeypatch.setattr(Link, "strike", strike)
    async with running_arena(tmp_path) as server:
        async with RawBot(server.address) as bot:
            await bot.hello("ann")
            await bot.send(received=99)
            with pytest.raises(Ended) as told:
                await bot.read()
        ((number, what),) = broken(server)
        assert (what, told.value.reason) == ("ReasonUnknown", "INCIDENT")
        assert number in told.value.text


def test_a_call_ends_for_reasons_of_the_protocol_only() -> None:
    known = {name.removeprefix("ERROR_REASON_") for name in arena_pb2.ErrorReason.keys()}  # noqa: SIM118 # no mapping
    assert known - {"UNSPECIFIED"} == set(REASONS)
    for reason in REASONS:
        assert call_status(reason, "why").reason == reason
    with pytest.raises(ReasonUnknown):
        call_status("WHO_KNOWS", "why")
    with pytest.raises(ReasonUnknown):
        CallStatus(code_pb2.OK, "HELLO", "why")


async def test_a_session_with_too_much_waiting_is_ended_and_no_other(tmp_path: Path) -> None:
    check_queue_limit(7, 7)
    with pytest.raises(QueueOverflow):
        check_queue_limit(8, 7)
    async with running_arena(tmp_path) as server:
        async with RawBot(server.address) as ann, RawBot(server.address) as bob:
            await bob.hello("bob")
            await ann.hello("ann")
            by_bot = {one.identity.bot: one for one in server.opened.arena.sessions._by_id.values()}
            for table in range(1, 130):
                by_bot["ann"].places[table] = SessionTable(ToySeat(by_bot["ann"]))
            with pytest.raises(Ended) as told:
                await ann.read()
            assert by_bot["bob"].link is not None
            assert by_bot["ann"].stage is SessionStage.FORGOTTEN
        ((number, what),) = broken(server)
        assert (what, told.value.reason) == ("QueueOverflow", "INCIDENT")
        assert number in told.value.text
        tells_nothing(server, told.value.text)


# -- of what is told and what is stored
def test_nobody_is_told_a_seed_before_the_store_has_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: Future[None] = Future()
    fails: Future[None] = Future()
    fails.set_exception(ValueError())
    done: Future[None] = Future()
    done.set_result(None)
    check_settled(False, done)
    check_settled(True, fails)
    for future in (waits, fails):
        with pytest.raises(SeedEarly):
            check_settled(False, future)

    def finish(self: Lobby, entry: Any) -> None:
        result = entry.table.finish(entry.started, self._utc())
        self._storing.close(entry, result, 1_000.0, self._store.submit(result))

    monkeypatch.setattr(Lobby, "_finish", finish)
    world = World([Ladder("it", "greed", 2, matches_wanted=1)])
    world.store.takes_s = 0.5
    bots = [world.bot(name) for name in ("ann", "bob")]
    world.run(lambda: bool(world.log.errors()))
    assert not any(bot.done for bot in bots)
    world.run(lambda: all(bot.done for bot in bots))
    (said,) = world.log.errors()
    assert said["error"] == "SeedEarly"
    assert said["number"]
    ((_, result),) = world.store.kept.items()
    for bot in bots:
        ended = bot.done[0].ended
        assert ended is not None
        assert ended.rated
        assert ended.opening.seed == result.deal.seed
        assert result.deal.seed.hex() not in str(world.log.lines)
    assert world.lobby.is_idle


async def test_a_broken_ledger_stores_nothing_and_no_match_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = leaderboard_ledger._rate

    def rate(result: Any, course: Any, bots: Any, rows: Any) -> Any:
        course.sequence += course.sequence == 1
        return true(result, course, bots, rows)

    monkeypatch.setattr(leaderboard_ledger, "_rate", rate)
    async with running_arena(tmp_path, [Ladder("greed", "greed", 2)]) as server:
        async with RawBot(server.address) as ann, RawBot(server.address) as bob:
            await asyncio.gather(ann.hello("ann"), bob.hello("bob"))
            first, _ = await asyncio.gather(ann.play_on(), bob.play_on())
            second, _ = await asyncio.gather(ann.play_on(), bob.play_on())
            assert (first.rated, second.rated, second.voided) == (True, False, True)
            while not ann.waiting["problems"]:
                await ann._take()
            assert ann.waiting["problems"][0].reason == arena_pb2.ERROR_REASON_STORAGE
        lobby = server.opened.arena._matches
        assert not lobby.is_storing
        assert lobby.next_event_at() is None  # it does not ask again and again
        assert {what for _, what in broken(server)} == {"StoreCorrupt"}
        assert "the ledger of greed is broken" in server.log
        assert "cutpurse db verify" in server.log
        tells_nothing(server)
