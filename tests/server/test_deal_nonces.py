"""Nonces of deals: what bots add after the commitment goes into the key, and nothing that they send stops a match."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc.aio
import pytest

from cutpurse.engine.clocks import AnswerOutcome, OutcomeKind, TimeControl
from cutpurse.engine.commitment import board_key, commitment
from cutpurse.engine.errors import RecordError
from cutpurse.engine.match import EndCause
from cutpurse.games import GAMES
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.match_file_writer import match_file
from cutpurse.leaderboard.results import FinishedMatch, MatchAnnouncement, Nonces
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.matches.match_file import MatchFileCheck, check, read_matches
from cutpurse.sdk.online.bot_pool import PlayedMatch
from cutpurse.sdk.run import connect
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.deal_nonces import WAITS_S, DealNonces
from cutpurse.server.matches.lobby import MatchRequest
from cutpurse.v1 import arena_pb2
from tests.engine.toy import Toy
from tests.server.arenas import running_arena
from tests.server.dialling import Bot, Ended
from tests.server.small_world import BotThere, World
from tests.server.stores import match_of
from tests.server.test_match_file import line_of

CONTROL = TimeControl(base_ms=200, bank_ms=1_000, grace_ms=50, poll_floor_ms=20, handover_ms=100)
NONCE = bytes(range(32))
OTHER = bytes(range(32, 64))


# -- the nonces of one deal
def asked(*seats: bool) -> DealNonces:
    nonces = DealNonces()
    nonces.ask("m1", seats, 10.0)
    return nonces


def kind(outcome: AnswerOutcome) -> OutcomeKind:
    return outcome.kind


def test_the_nonces_are_settled_with_the_last_one_that_is_awaited() -> None:
    nonces = asked(True, False, True)
    at: list[float] = []
    nonces.on_settled.append(at.append)
    assert kind(nonces.take("m1", 2, OTHER, 10.1)) is OutcomeKind.ACCEPTED
    assert (nonces.is_settled, nonces.settled, nonces.awaits("m1", 0), nonces.awaits("m1", 2)) == (
        False,
        None,
        True,
        False,
    )
    assert kind(nonces.take("m1", 0, NONCE, 10.2)) is OutcomeKind.ACCEPTED
    assert nonces.settled == Nonces("m1", (NONCE, b"", OTHER))
    assert at == [10.2]


def test_nobody_waits_if_no_seat_is_asked() -> None:
    nonces = asked(False, False)
    assert nonces.is_settled
    assert nonces.settled is None


@pytest.mark.parametrize("wrong", [b"", NONCE[:-1], NONCE + b"x", bytes(60_000)])
def test_a_nonce_of_a_wrong_length_gets_one_answer_and_delays_nothing(wrong: bytes) -> None:
    nonces = asked(True, True)
    assert kind(nonces.take("m1", 0, wrong, 10.1)) is OutcomeKind.ILLEGAL_CLOSED
    assert kind(nonces.take("m1", 0, NONCE, 10.1)) is OutcomeKind.ALREADY_DECIDED  # only the first is read
    nonces.take("m1", 1, OTHER, 10.2)
    assert nonces.settled == Nonces("m1", (b"", OTHER))


def test_of_two_nonces_the_first_counts() -> None:
    nonces = asked(True, True)
    nonces.take("m1", 0, NONCE, 10.1)
    assert kind(nonces.take("m1", 0, OTHER, 10.2)) is OutcomeKind.ALREADY_DECIDED
    nonces.take("m1", 1, OTHER, 10.3)
    assert kind(nonces.take("m1", 1, NONCE, 10.4)) is OutcomeKind.ALREADY_DECIDED
    assert nonces.settled == Nonces("m1", (NONCE, OTHER))


def test_a_late_nonce_does_not_count_even_if_nobody_ticked() -> None:
    nonces = asked(True, True)
    nonces.take("m1", 0, NONCE, 10.1)
    late = nonces.take("m1", 1, OTHER, 10.0 + WAITS_S + 0.0123)
    assert (late.kind, late.late_by_ms) == (OutcomeKind.TOO_LATE, 13)
    assert nonces.settled == Nonces("m1", (NONCE, b""))
    assert kind(nonces.take("m1", 1, OTHER, 12.0)) is OutcomeKind.ALREADY_DECIDED


def test_at_the_end_of_the_wait_the_deal_is_made_without_what_is_missing() -> None:
    nonces = asked(True, True)
    at: list[float] = []
    nonces.on_settled.append(at.append)
    nonces.tick(10.0 + WAITS_S - 0.001)
    assert not nonces.is_settled
    nonces.tick(10.0 + WAITS_S)
    assert (nonces.is_settled, nonces.settled, at) == (True, None, [10.0 + WAITS_S])


def test_a_seat_that_is_not_asked_adds_nothing() -> None:
    nonces = asked(True, False)
    assert kind(nonces.take("m1", 1, NONCE, 10.1)) is OutcomeKind.UNKNOWN_DECISION
    assert kind(nonces.take("m2", 0, NONCE, 10.1)) is OutcomeKind.UNKNOWN_DECISION  # a later match of the board
    assert nonces.awaits("m1", 0)
    assert not nonces.awaits("m2", 0)


def test_a_stall_of_the_server_is_credited() -> None:
    nonces = asked(True)
    nonces.credit(5.0)
    nonces.tick(10.0 + WAITS_S)
    assert kind(nonces.take("m1", 0, NONCE, 15.0)) is OutcomeKind.ACCEPTED


# -- matches
@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES, "toy", Toy)


def world_of(*nonce_after_s: float | None, kind: str = "plain", seats: int = 2, matches: int = 1) -> World:
    """A world in which each bot adds a nonce after this time; None: it knows of none."""
    settings = {"rounds": "3"}
    world = World([Ladder("it", "toy", seats, settings, CONTROL, boards=kind, matches_wanted=matches)])
    for number, after_s in enumerate(nonce_after_s):
        bot = BotThere(world, f"bot{number}", 4, owner=f"owner{number}")
        bot.sends_nonces, bot.nonce_after_s, bot.is_forgetful = after_s is not None, after_s or 0.0, kind == "rotation"
        world.bots.append(bot)
        world.lobby.enter(bot)
    return world


def only(world: World) -> FinishedMatch:
    world.run(lambda: world.lobby.is_complete and not any(bot.sat for bot in world.bots))
    (result,) = world.store.kept.values()
    return result


def stored(world: World) -> FinishedMatch:
    """The only match, once its bots know its end."""
    world.run(lambda: bool(world.store.kept) and not any(bot.sat for bot in world.bots), most_steps=10_000)
    (result,) = world.store.kept.values()
    return result


def announced(world: World) -> MatchAnnouncement:
    (match,) = world.store.announced.values()
    return match


def nonces_of(world: World, result: FinishedMatch) -> tuple[bytes, ...]:
    """The nonces that the bots in the seats of a match sent."""
    by_bot = {bot.identity: bot.nonces.get(result.match, b"") for bot in world.bots}
    return tuple(by_bot[player] for player in result.players)


def test_the_key_follows_from_the_seed_and_all_nonces() -> None:
    world = world_of(0.05, 0.1, None, seats=3)
    result = only(world)
    nonces = nonces_of(world, result)
    assert sorted(map(len, nonces)) == [0, 32, 32]
    assert result.deal == announced(world).deal._replace(nonces=Nonces(result.match, nonces))
    assert match_of(result).key == board_key(result.deal.seed, result.deal.params, nonces)
    assert match_of(result).key != board_key(result.deal.seed, result.deal.params)
    for bot in world.bots:
        (played,) = bot.done
        assert played.started.nonce_ms == (1_000 if bot.sends_nonces else 0)
        assert played.started.commitment == commitment(result.deal.seed, result.deal.params)
        assert played.ended is not None
        assert tuple(played.ended.opening.nonces) == nonces
        assert played.ended.opening.nonces_match == result.match
        assert [one.kind for one in bot.nonce_outcomes] == [OutcomeKind.ACCEPTED] * bot.sends_nonces


def test_bots_that_know_of_no_nonces_play_as_before() -> None:
    world = world_of(None, None)
    world.run(lambda: bool(world.bots[0].open))
    began = world.now
    result = only(world)
    assert result.deal == announced(world).deal
    assert match_of(result).key == board_key(result.deal.seed, result.deal.params)
    assert world.bots[0].done[0].started.nonce_ms == 0
    assert began == 1_000.0


def test_a_match_waits_for_nonces_no_longer_than_it_says() -> None:
    world = world_of(0.02, 5.0)
    world.run(lambda: any(played.decisions for bot in world.bots for played in bot.open.values()))
    assert world.now == pytest.approx(1_000.0 + WAITS_S, abs=0.01)
    result = only(world)
    quick, slow = world.bots
    world.run(lambda: bool(slow.nonce_outcomes))
    assert [one.kind for one in slow.nonce_outcomes] in ([OutcomeKind.TOO_LATE], [OutcomeKind.STALE])
    assert set(result.deal.by_seat) == {b"", quick.nonces[result.match]}
    assert match_of(result).key == board_key(result.deal.seed, result.deal.params, result.deal.by_seat)
    assert not any(seat.faults for seat in result.seats)


def test_no_time_runs_and_nothing_can_be_answered_before_the_deal() -> None:
    world = world_of(0.5, 0.9)
    world.run(lambda: all(bot.open for bot in world.bots))
    for bot in world.bots:
        (played,) = bot.open.values()
        seat = played.seat_at
        assert (seat.has_decision(), seat.decision(world.now), seat.ended()) == (False, None, None)
        assert seat.answer(0, 0, world.now).kind is OutcomeKind.UNKNOWN_DECISION
        assert seat.give_up(0, "", world.now, whole_match=True).kind is OutcomeKind.UNKNOWN_DECISION
        assert not seat.note(1, "of a decision that is not there yet", 100)
    assert world.lobby.open_matches() == []  # nobody can watch it yet
    result = only(world)
    assert not any(seat.faults for seat in result.seats)
    assert max(seat.thinking_ms for seat in result.seats) < 200


def test_a_bot_that_is_lost_before_the_deal_loses_no_more_than_its_seat() -> None:
    world = world_of(0.02, 5.0)
    quick, lost = world.bots
    world.run(lambda: all(bot.open for bot in world.bots))
    lost.lose_stream(None)
    world.run(lambda: bool(world.store.kept))
    (result,) = world.store.kept.values()
    causes = {seat.player: seat.end_cause for seat in result.seats}
    assert causes == {quick.identity: "normal", lost.identity: EndCause.DISCONNECTED.value}


def test_a_nonce_that_may_be_lost_with_its_stream_is_asked_for_again() -> None:
    world = world_of(0.0, 0.4)
    quick, lost = world.bots
    world.run(lambda: bool(quick.nonce_outcomes))
    lost.lose_stream(0.1)
    (seat,) = lost.sat.values()
    (other,) = quick.sat.values()
    assert arena_pb2.MatchStarted.FromString(seat.started()).nonce_ms > 0
    assert arena_pb2.MatchStarted.FromString(other.started()).nonce_ms == 0  # the server has it
    assert sorted(map(len, only(world).deal.by_seat)) == [32, 32]


def test_a_stall_of_the_server_takes_no_bot_its_nonce() -> None:
    world = world_of(0.02, 1.5)
    world.run(lambda: all(bot.open for bot in world.bots))
    world.lobby.credit(1.0)
    assert sorted(map(len, only(world).deal.by_seat)) == [32, 32]


def test_a_match_that_is_void_before_the_deal_has_no_record_and_shows_no_card() -> None:
    world = world_of(0.5, 0.5)
    world.run(lambda: all(bot.open for bot in world.bots))
    world.lobby.drain(world.now)
    world.lobby.void_all()
    result = stored(world)
    assert (result.void_cause, result.record(), result.deal.nonces) == (EndCause.VOID_SERVER.value, "", None)
    for bot in world.bots:
        (played,) = bot.done
        assert played.events == []
        assert not bot.sat
    world.run(lambda: all(bot.nonce_outcomes for bot in world.bots))
    assert {one.kind for bot in world.bots for one in bot.nonce_outcomes} == {OutcomeKind.STALE}


def test_rules_that_fail_with_the_nonces_void_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_of(0.1, 0.1)
    world.run(lambda: all(bot.open for bot in world.bots))

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a hidden card")

    monkeypatch.setattr("cutpurse.server.matches.server_match.Match", fail)
    world.lobby.drain(world.now)
    result = stored(world)
    assert result.void_cause == EndCause.VOID_SERVER.value
    assert all(played.seat_at.incident for bot in world.bots for played in bot.done)


def test_a_chosen_seed_deals_the_same_cards_whatever_bots_add() -> None:
    world = world_of(0.02, 0.02, matches=1)
    bots = tuple(bot.identity for bot in world.bots)
    world.lobby.request(MatchRequest("it", bots, NONCE, by="owner0"), world.now)
    world.run(lambda: any(result.requested_by for result in world.store.kept.values()))
    (result,) = [result for result in world.store.kept.values() if result.requested_by]
    started = [played.started for bot in world.bots for played in (*bot.done, *bot.open.values())]
    assert [one.nonce_ms for one in started if one.match == result.match] == [0, 0]
    assert match_of(result).key == board_key(NONCE, result.deal.params)


# -- boards of several matches
@pytest.mark.parametrize("kind", ["duplicate", "rotation"])
def test_a_board_is_dealt_from_the_nonces_of_its_first_match(kind: str) -> None:
    bots = 4 if kind == "duplicate" else 2
    world = world_of(*[0.05, 0.3, 0.02, None][:bots], kind=kind, matches=2)
    world.run(lambda: len(world.store.kept) >= 2 and not any(bot.sat for bot in world.bots))
    first, *_ = boards = [result for result in world.store.kept.values() if result.board_matches > 1]
    assert len(boards) == 2
    nonces = first.deal.nonces
    assert nonces is not None
    assert {result.deal.nonces for result in boards} == {nonces}
    asking = {bot.identity.bot: list(bot.nonces) for bot in world.bots if bot.nonces}
    assert {match for matches in asking.values() for match in matches} == {nonces.match}  # no other one asks
    assert {match_of(result).key for result in boards} == {
        board_key(first.deal.seed, first.deal.params, nonces.by_seat)
    }
    for bot in world.bots:
        openings = [played.ended.opening for played in bot.done if played.ended and played.ended.HasField("opening")]
        openings += [one.opening for one in bot.opened_boards]
        assert {tuple(opening.nonces) for opening in openings} == {nonces.by_seat}


# -- files
def files_of(result: FinishedMatch, folder: Path, *, is_announced: bool = True) -> str:
    with Store(folder / "cutpurse.db") as store:
        store.write(ensure_ladder, Ladder(result.ladder, "toy", len(result.seats), {"rounds": "3"}, CONTROL).kept)
        if is_announced:
            announcement = MatchAnnouncement(
                result.match, result.ladder, result.rules, result.deal.announced, result.started, result.players
            )
            store.announce(announcement).result(240)
        store.submit(result).result(240)
        entry = store.run(queries.match, result.match)
        assert entry.deal == result.deal
        return match_file(entry, store.run(queries.record, result.match))


def checked(content: str) -> MatchFileCheck:
    (match,) = read_matches(content.encode())
    return check(match)


@pytest.mark.parametrize("is_announced", [True, False])
def test_a_file_has_the_nonces_and_is_checked_with_them(tmp_path: Path, is_announced: bool) -> None:
    lines = checked(files_of(only(world_of(0.1, 0.2)), tmp_path, is_announced=is_announced))
    assert "after the commitment, these added a nonce to the deal: seat 0, seat 1" in lines.checked
    assert (
        "the cards were dealt from that seed and the nonces: the record has the key that follows from them"
        in lines.checked
    )
    assert any(line.startswith("that bots sent these nonces, and no others") for line in lines.not_checked)


def test_a_file_without_nonces_is_written_as_before(tmp_path: Path) -> None:
    content = files_of(only(world_of(None, None)), tmp_path)
    assert json.loads(content.splitlines()[0])["schema"] == "match/1"
    assert any("no seat added a nonce" in line for line in checked(content).not_checked)


def other_nonce(head: dict[str, Any]) -> None:
    head["nonces"][0] = OTHER.hex()


def other_order(head: dict[str, Any]) -> None:
    head["nonces"].reverse()


def no_nonce(head: dict[str, Any]) -> None:
    head["nonces"][1] = ""


def none_at_all(head: dict[str, Any]) -> None:
    del head["nonces"], head["nonces_match"]
    head["schema"] = "match/1"


def other_seed(head: dict[str, Any]) -> None:
    head["seed"] = OTHER.hex()
    head["commitment"] = commitment(OTHER, head["params"].encode()).hex()


def other_match(head: dict[str, Any]) -> None:
    head["nonces_match"] = "0" * 32


def empty_ones(head: dict[str, Any]) -> None:
    head["nonces"] = ["", ""]


def too_many(head: dict[str, Any]) -> None:
    head["nonces"].append("")


def short_one(head: dict[str, Any]) -> None:
    head["nonces"][0] = head["nonces"][0][:-2]


@pytest.mark.parametrize(
    ("alter", "why"),
    [
        (other_nonce, "not dealt from the seed that was promised and the nonces"),
        (other_order, "not dealt from the seed that was promised and the nonces"),
        (no_nonce, "not dealt from the seed that was promised and the nonces"),
        (none_at_all, "not dealt from the seed that was promised"),
        (other_seed, "not dealt from the seed that was promised and the nonces"),
        (other_match, "which is not on this board"),
        (empty_ones, "each of them is empty"),
        (too_many, "the deal has 3 nonces"),
        (short_one, "a nonce is 32 bytes as hex, or empty"),
    ],
)
def test_altered_nonces_are_found(alter: Any, why: str, tmp_path: Path) -> None:
    first, record = files_of(only(world_of(0.1, 0.2)), tmp_path).splitlines()
    head = json.loads(first)
    alter(head)
    with pytest.raises(RecordError, match=why):
        checked(f"{line_of(head)}\n{record}\n")


def test_a_nonce_of_a_house_bot_is_refused(tmp_path: Path) -> None:
    result = only(world_of(0.1, 0.2))
    settled = json.loads(result.deal.params)
    settled["seats"][0]["owner"] = "house"
    params = json.dumps(settled, separators=(",", ":"), sort_keys=True).encode()
    deal = result.deal._replace(params=params, commitment=commitment(result.deal.seed, params))
    seats = (replace(result.seats[0], player=result.seats[0].player._replace(owner="house")), *result.seats[1:])
    with pytest.raises(RecordError, match="a nonce of a house bot, which the server itself runs"):
        checked(files_of(replace(result, deal=deal, seats=seats), tmp_path))


# -- a real server
async def with_nonce(address: str, nonce: bytes) -> list[arena_pb2.Refusal]:
    """Play a match as a bot in another language that sends its nonce twice; return the refusals of nonces."""
    refusals: list[arena_pb2.Refusal] = []
    async with grpc.aio.insecure_channel(address) as channel:
        bot = Bot(channel)
        await bot.say_hello("raw", max_tables=1, features=["nonces"] if nonce else [])
        with suppress(Ended):
            while True:
                response = await bot.read()
                refusals += [one for one in response.refusals if not one.decision]
                asked_at = [one.table for one in response.starts if one.nonce_ms]
                nonces = [arena_pb2.Nonce(table=table, nonce=nonce) for table in asked_at for _ in range(2)]
                await bot.answer_all(response, nonces=nonces, leaving=bool(response.ends))
    return refusals


@pytest.mark.parametrize("nonce", [NONCE, b""], ids=["adds one", "knows of none"])
async def test_the_sdk_and_a_bot_of_another_language_add_to_one_deal(nonce: bytes, tmp_path: Path) -> None:
    mine: list[PlayedMatch] = []
    async with running_arena(tmp_path, [Ladder("greed", "greed", 2, matches_wanted=1)]) as arena:
        other = asyncio.create_task(with_nonce(arena.address, nonce))
        await connect("first_option", "greed", server=arena.address, matches=1, quiet=True, on_match=mine.append)
        refusals = await asyncio.wait_for(other, 240)
        (played,) = mine
        entry = arena.opened.store.run(queries.match, played.match)
        content = match_file(entry, arena.opened.store.run(queries.record, played.match))
    seats = ["raw" if seat.bot == "raw" else "sdk" for seat in entry.seats]
    assert dict(zip(seats, entry.deal.by_seat, strict=True)) == {"raw": nonce, "sdk": bytes.fromhex(played.nonce)}
    assert len(played.nonce) == 64
    assert [one.reason for one in refusals] == [arena_pb2.REFUSAL_REASON_ALREADY_DECIDED] * bool(nonce)
    assert any(line.startswith("after the commitment, these added a nonce") for line in checked(content).checked)
