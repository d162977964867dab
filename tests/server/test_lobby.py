"""Whole matches of all games between bots of every manner, in virtual time."""

from __future__ import annotations

import gc
import weakref
from hashlib import sha256
from random import Random

import pytest

from cutpurse.engine.clocks import OutcomeKind, TimeControl
from cutpurse.engine.commitment import board_key, commitment
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import read_record, verify
from cutpurse.games import GAMES
from cutpurse.leaderboard.errors import StoreError
from cutpurse.leaderboard.results import NORMAL, FinishedMatch
from cutpurse.server.ladder_config import Ladder, default_ladders
from cutpurse.v1 import arena_pb2, game_pb2
from cutpurse.wire.phrase_cache import PhraseCache
from tests.server.small_world import BotThere, Manner, Played, World
from tests.server.stores import Taken, match_of

EVERY_GAME = list(GAMES)
QUICK = TimeControl(base_ms=100, bank_ms=500, grace_ms=20, handover_ms=50)


def told_of(result: FinishedMatch, seat: int) -> list[game_pb2.Event]:
    """All events of a match as this seat may hear of them."""
    game = match_of(result).game
    phrases = PhraseCache(match_of(result).rules, game.n)
    return [game_pb2.Event.FromString(phrases.event(event, seat)) for event in game.log or ()]


def check(world: World, played: Played) -> FinishedMatch:
    """What holds of every match, whatever its bots did; its result."""
    started, ended = played.started, played.ended
    assert ended is not None
    result = world.store.kept[started.match]
    assert [one.place for one in ended.seats] == [one.place or 0 for one in result.seats]
    assert [one.score for one in ended.seats] == [one.score or 0 for one in result.seats]
    assert ended.voided is result.is_void
    assert ended.rated is not result.is_void
    opening = ended.opening
    assert commitment(opening.seed, opening.params) == started.commitment == result.deal.commitment
    record = read_record(result.record())
    assert record.key == board_key(opening.seed, opening.params)
    assert record.seats == tuple(f"{one.bot} {one.version}" for one in started.seats)
    assert started.board.encode() in opening.params
    events = told_of(result, started.seat) if played.wants_events else []
    if played.has_gap:
        told = [(mine, whole) for mine, whole in zip(played.events, events, strict=True) if mine.ByteSize()]
        assert all(mine == whole for mine, whole in told)
    else:
        assert played.events == events
    return result


def settle(world: World, matches: int) -> list[tuple[Played, FinishedMatch]]:
    """Play so many matches and then the open ones; every seat of each."""
    world.run(lambda: len(world.store.kept) >= matches)
    world.lobby.drain(world.now)
    world.run(lambda: world.lobby.is_idle and not any(bot.sat for bot in world.bots))
    told = [(played, check(world, played)) for bot in world.bots for played in bot.done]
    assert len(told) == sum(len(result.seats) for result in world.store.kept.values())
    return told


@pytest.mark.parametrize(
    ("game", "seats"),
    [
        pytest.param(name, seats, marks=() if seats == game.usual_seats else pytest.mark.full)
        for name, game in GAMES.items()
        for seats in game.words.seats
    ],
)
def test_a_match_is_played_told_and_stored(game: str, seats: int) -> None:
    world = World([Ladder("it", game, seats, matches_wanted=1)], seed=f"{game}/{seats}")
    for at in range(seats):
        world.bot(f"bot{at}", events=at != 1, agenda=at == 0)
    world.run(lambda: world.lobby.is_complete and all(bot.done for bot in world.bots))
    (result,) = world.store.kept.values()
    assert not result.is_void
    assert {one.end_cause for one in result.seats} == {NORMAL}
    assert verify(result.record(), GAMES[game])
    for bot in world.bots:
        (played,) = bot.done
        assert check(world, played) is result
        assert all(outcome.kind is OutcomeKind.ACCEPTED for outcome in played.outcomes)
    asked = [decision for bot in world.bots for decision in bot.done[0].decisions.values()]
    assert result.decisions == sum(len(decision.options) > 1 for decision in asked)


def test_the_start_tells_what_is_played_for_and_with_whom() -> None:
    control = TimeControl(base_ms=700, bank_ms=9_000, grace_ms=80, poll_floor_ms=30, handover_ms=400)
    world = World([Ladder("long_greed", "greed", 3, {"mode": "tournament"}, control)])
    for name in ("ann", "bob", "cid"):
        world.bot(name, version="2.0")
    world.run(lambda: bool(world.bots[0].open))
    played = next(iter(world.bots[0].open.values()))
    started = played.started
    assert (started.game, started.ladder, started.rules_version) == (
        "greed",
        "long_greed",
        GAMES["greed"].words.version,
    )
    assert [(one.name, one.value) for one in started.settings] == [("mode", "tournament")]
    assert sorted((one.bot, one.version) for one in started.seats) == [("ann", "2.0"), ("bob", "2.0"), ("cid", "2.0")]
    assert started.seats[started.seat].bot == "ann"
    assert started.clock == arena_pb2.Clock(
        base_ms=700, bank_ms=9_000, grace_ms=80, corrections=2, max_faults=3, poll_floor_ms=30, handover_ms=400
    )
    assert len(started.commitment) == 32
    assert len(started.catalogue_digest) == 64


def test_ids_tell_no_time_and_are_never_used_twice() -> None:
    world = World([Ladder("it", "greed", 2)])
    for name in ("ann", "bob"):
        world.bot(name)
    told = settle(world, 20)
    matches = {played.started.match for played, _ in told}
    boards = {played.started.board for played, _ in told}
    seeds = {result.deal.seed for _, result in told}
    assert len(matches) == len(boards) == len(seeds) == len(world.store.kept)
    assert all(len(name) == 32 and int(name, 16) for name in matches | boards)


MANNERS = {
    "slow": Manner(least_s=0.0, most_s=0.4),
    "illegal": Manner(illegal=0.3),
    "never": Manner(never=1.0),
    "gives_up": Manner(gives_up=0.05),
    "repeats": Manner(repeats=0.5),
    "flaky": Manner(loses_stream=0.1, away_s=0.4),
    "good": Manner(),
    "quick": Manner(most_s=0.0001),
}


@pytest.mark.full
@pytest.mark.parametrize("game", EVERY_GAME)
def test_bots_of_every_manner_never_stop_a_match(game: str) -> None:
    seats = min(4, GAMES[game].words.seats[-1])
    world = World([Ladder("it", game, seats, {}, QUICK)], seed=game)
    for name, manner in MANNERS.items():
        world.bot(name, tables=2, manner=manner)
    told = settle(world, 5)
    causes: dict[str, set[EndCause]] = {name: set() for name in MANNERS}
    for _, result in told:
        assert not result.is_void
        assert verify(result.record(), GAMES[game])
        for seat in result.seats:
            causes[seat.player.bot].add(EndCause(seat.end_cause))
            if seat.end_cause == EndCause.DISCONNECTED.value:
                assert seat.faults >= 1
            else:
                assert (seat.faults >= 3) == seat.is_taken_over
            if seat.is_taken_over:
                assert seat.place == 1 + sum(not other.is_taken_over for other in result.seats)
    assert causes["good"] == causes["quick"] == causes["repeats"] == {EndCause.NORMAL}
    assert causes["never"] <= {EndCause.TIMEOUT, EndCause.NORMAL}  # normal: it was asked twice at most
    assert EndCause.TIMEOUT in causes["never"]
    assert causes["illegal"] <= {EndCause.ILLEGAL, EndCause.NORMAL}
    assert causes["flaky"] <= {EndCause.DISCONNECTED, EndCause.TIMEOUT, EndCause.NORMAL}
    kinds = {
        bot.identity.bot: {outcome.kind for played in bot.done for outcome in played.outcomes} for bot in world.bots
    }
    assert kinds["good"] == {OutcomeKind.ACCEPTED}
    assert OutcomeKind.ALREADY_DECIDED in kinds["repeats"]
    assert {OutcomeKind.ILLEGAL, OutcomeKind.ILLEGAL_CLOSED} <= kinds["illegal"]


def test_a_seat_that_comes_back_is_sent_the_same_decision_with_the_same_events() -> None:
    world = World([Ladder("it", "greed", 2)])
    ann = world.bot("ann", tables=1)
    world.bot("bob", tables=1)
    world.run(lambda: bool(ann.open) and len(next(iter(ann.open.values())).decisions) == 3)
    played = next(iter(ann.open.values()))
    before = played.told[-1]
    ann.lose_stream(None)
    ann.is_there = True
    again = played.seat_at.decision(world.now)
    assert again == before  # no time has passed, so it is the same to the byte
    first, second = (arena_pb2.Decision.FromString(body) for body in (played.told[-2], played.told[-1]))
    assert second.first_event == first.first_event + len(first.events)


def test_the_clock_runs_on_while_a_bot_is_away() -> None:
    world = World([Ladder("it", "greed", 2, {}, QUICK)])
    ann = world.bot("ann", tables=1)
    bob = world.bot("bob", tables=1)
    world.run(lambda: bool(ann.open) and bool(next(iter(ann.open.values())).decisions))
    ann.lose_stream(None)
    world.run(lambda: bool(bob.done))
    result = world.store.kept[bob.done[0].started.match]
    causes = {seat.player.bot: seat.end_cause for seat in result.seats}
    assert causes == {"ann": EndCause.DISCONNECTED.value, "bob": NORMAL}
    ann.resume()
    world.run(lambda: bool(ann.done))
    assert check(world, ann.done[0]) is result


def test_who_came_back_and_does_not_answer_is_late_and_not_away() -> None:
    world = World([Ladder("it", "greed", 2, {}, QUICK)])
    ann = world.bot("ann", tables=1, manner=Manner(never=1.0))
    bob = world.bot("bob", tables=1)
    world.run(lambda: bool(ann.open) and bool(next(iter(ann.open.values())).decisions))
    ann.lose_stream(0.0)
    world.run(lambda: bool(bob.done))
    result = world.store.kept[bob.done[0].started.match]
    assert {fault.cause for fault in match_of(result).faults} == {EndCause.TIMEOUT}
    assert {fault.seat for fault in match_of(result).faults} == {[one.player.bot for one in result.seats].index("ann")}


def test_a_match_is_told_as_over_only_once_it_is_stored() -> None:
    world = World([Ladder("it", "szmal", 2, matches_wanted=1)])
    world.store.takes_s = 5.0
    bots = [world.bot(name) for name in ("ann", "bob")]
    world.run(lambda: world.store.offered == 1)
    seats = [seat for bot in bots for seat in bot.sat.values()]
    assert [seat.ended() for seat in seats] == [None, None]
    assert [seat.has_decision() for seat in seats] == [False, False]
    assert not world.lobby.is_complete
    began = world.now
    world.run(lambda: world.lobby.is_complete and all(bot.done for bot in bots))
    assert world.now == began + 5.0
    for bot in bots:
        assert not check(world, bot.done[0]).is_void


def test_a_store_that_fails_voids_the_match_and_stops_new_ones_until_it_heals() -> None:
    world = World([Ladder("it", "greed", 2)])
    bots = [world.bot(name, tables=2) for name in ("ann", "bob")]
    world.store.is_broken = True
    world.run(lambda: all(len(bot.done) == 2 for bot in bots))
    for bot in bots:
        for played in bot.done:
            assert played.ended is not None
            assert (played.ended.voided, played.ended.rated) == (True, False)
            assert {one.end_cause for one in played.ended.seats} == {arena_pb2.END_CAUSE_VOID_SERVER}
            assert {(one.place, one.score) for one in played.ended.seats} == {(0, 0)}
    assert (world.lobby.tables, world.lobby.is_storing, world.lobby.is_idle) == (0, False, False)
    offered, then = world.store.offered, world.now
    world.run(lambda: world.store.offered == offered + 3)
    assert 2.0 <= world.now - then <= 4.0  # a try a second, and nothing else happens
    assert world.lobby.tables == 0
    world.store.is_broken = False
    world.run(lambda: world.lobby.is_storing)
    assert [result.void_cause for result in world.store.kept.values()] == [EndCause.VOID_SERVER.value] * 2
    world.run(lambda: len(world.store.kept) >= 5)
    assert [result.void_cause for result in world.store.kept.values()][2:] == [None] * 3
    text = str(world.log.lines)
    assert "disk full" not in text  # the store's words may quote a record
    assert [facts["error"] for facts in world.log.errors()][:2] == ["StoreBroke", "StoreBroke"]


def test_a_store_that_raises_is_a_store_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World([Ladder("it", "greed", 2)])
    ann, _ = (world.bot(name, tables=1) for name in ("ann", "bob"))

    def submit(result: FinishedMatch) -> None:
        raise OSError("no such file: /tmp/secret")

    monkeypatch.setattr(world.store, "submit", submit)
    world.run(lambda: bool(ann.done))
    assert ann.done[0].ended is not None
    assert ann.done[0].ended.voided
    assert "secret" not in str(world.log.lines)


def test_drain_lets_open_matches_end_and_starts_no_other() -> None:
    world = World(default_ladders())
    for name in ("ann", "bob", "cid", "dan"):
        world.bot(name, tables=3)
    world.run(lambda: world.lobby.tables == 3)
    for bot in world.bots:
        bot.fetch()
    world.lobby.drain(world.now)
    open_then = {played.started.match for bot in world.bots for played in bot.open.values()}
    assert len(open_then) == 3
    world.run(lambda: world.lobby.is_idle)
    assert world.store.kept.keys() == open_then
    assert all(not result.is_void for result in world.store.kept.values())


def test_what_is_open_when_the_time_is_over_is_void() -> None:
    world = World([Ladder("it", "greed", 2)])
    bots = [world.bot(name, tables=2, manner=Manner(least_s=0.2, most_s=0.3)) for name in ("ann", "bob")]
    world.run(lambda: all(len(bot.open) == 2 for bot in bots))
    world.lobby.drain(world.now)
    world.lobby.void_all()
    world.run(lambda: world.lobby.is_idle and all(len(bot.done) == 2 for bot in bots))
    for bot in bots:
        for played in bot.done:
            assert check(world, played).void_cause == EndCause.VOID_SERVER.value
            assert played.seat_at.answer(0, 0, world.now).kind is not OutcomeKind.ACCEPTED


def test_the_platforms_own_stall_is_nobodys_fault() -> None:
    causes = {}
    for credit in (0.0, 1.0):
        world = World([Ladder("it", "greed", 2, {}, QUICK)])
        ann, bob = (world.bot(name, tables=1, manner=Manner(least_s=0.01)) for name in ("ann", "bob"))
        world.run(lambda bots=(ann, bob): any(p.decisions for b in bots for p in b.open.values()))  # type: ignore[misc]
        world.now += 1.0  # the loop stood still
        world.lobby.credit(credit)
        world.run(lambda bot=ann: bool(bot.done))  # type: ignore[misc]
        result = world.store.kept[ann.done[0].started.match]
        causes[credit] = sum(seat.faults for seat in result.seats)
    assert causes == {0.0: 1, 1.0: 0}


def test_a_delay_of_a_bots_machine_is_nobodys_fault() -> None:
    world = World([Ladder("it", "greed", 2, {}, QUICK)])
    ann, bob = (world.bot(name, tables=1, manner=Manner(least_s=0.01)) for name in ("ann", "bob"))
    world.run(lambda: any(played.decisions for bot in (ann, bob) for played in bot.open.values()))
    for _ in range(9):  # as often as the machine is found silent
        world.now += 0.1
        world.lobby.delay([ann.identity], 0.1)
    world.run(lambda: bool(ann.done))
    result = world.store.kept[ann.done[0].started.match]
    assert (result.void_cause, [seat.faults for seat in result.seats]) == (None, [0, 0])


def test_a_match_that_a_machine_delays_for_more_than_a_second_is_void_and_no_other_is() -> None:
    world = World([Ladder("it", "greed", 2)])
    bots = [world.bot(name, tables=1, manner=Manner(least_s=0.2, most_s=0.3)) for name in ("ann", "bob", "cid", "dan")]
    world.run(lambda: all(len(bot.open) == 1 for bot in bots))
    ann = bots[0]
    (delayed,) = [match for match in world.lobby.open_matches() if ann.identity in match.seats]
    (other,) = [match for match in world.lobby.open_matches() if ann.identity not in match.seats]
    for _ in range(11):
        world.lobby.delay([ann.identity], 0.1)
    world.run(lambda: {delayed.name, other.name} <= world.store.kept.keys())
    assert world.store.kept[delayed.name].void_cause == EndCause.VOID_SERVER.value
    assert not world.store.kept[other.name].is_void


def test_a_lost_machine_voids_the_matches_of_its_bots_and_gets_no_more() -> None:
    world = World([Ladder("it", "greed", 2)])
    bots = [world.bot(name, tables=1, manner=Manner(least_s=0.2, most_s=0.3)) for name in ("ann", "bob", "cid")]
    world.run(lambda: sum(len(bot.open) for bot in bots) == 2)
    (match,) = world.lobby.open_matches()
    lost = match.seats[0]
    world.lobby.lose([lost], "a place was lost")
    world.run(lambda: len(world.store.kept) == 5)
    assert world.store.kept[match.name].void_cause == EndCause.VOID_SERVER.value
    later = [result for name, result in world.store.kept.items() if name != match.name]
    assert all(not result.is_void and lost not in [seat.player for seat in result.seats] for result in later)


def test_time_that_others_took_on_a_bots_machine_is_credited_and_voids_nothing() -> None:
    world = World([Ladder("it", "greed", 2, {}, QUICK)])
    ann, bob = (world.bot(name, tables=1, manner=Manner(least_s=0.01)) for name in ("ann", "bob"))
    world.run(lambda: any(played.decisions for bot in (ann, bob) for played in bot.open.values()))
    for _ in range(20):
        world.now += 0.1
        world.lobby.credit_to([ann.identity], 0.1)
    world.run(lambda: bool(ann.done))
    result = world.store.kept[ann.done[0].started.match]
    assert (result.void_cause, [seat.faults for seat in result.seats]) == (None, [0, 0])


def test_a_bot_that_parts_ends_its_match_and_gets_no_more() -> None:
    world = World([Ladder("it", "greed", 2)])
    bots = [world.bot(name, tables=1, manner=Manner(least_s=0.2, most_s=0.3)) for name in ("ann", "bob", "cid")]
    world.run(lambda: sum(len(bot.open) for bot in bots) == 2)
    (match,) = world.lobby.open_matches()
    parting = match.seats[0]
    assert {*world.lobby.part([parting])} == {parting}
    world.run(lambda: len(world.store.kept) == 5)
    assert {*world.lobby.part([parting])} == set()
    with_it = [name for name, result in world.store.kept.items() if parting in [seat.player for seat in result.seats]]
    assert with_it == [match.name]
    assert not world.store.kept[match.name].is_void


@pytest.mark.full
def test_two_hundred_and_fifty_six_tables_at_once() -> None:
    world = World([Ladder("it", "szmal", 2)])
    for at in range(8):
        world.bot(f"bot{at}", tables=64)
    world.run(lambda: world.lobby.tables == 256)
    assert [bot.free_tables for bot in world.bots] == [0] * 8
    world.run(lambda: len(world.store.kept) == 20)
    assert world.most_open == 256
    world.lobby.drain(world.now)
    world.lobby.void_all()
    world.run(lambda: world.lobby.is_idle and not any(bot.sat for bot in world.bots))
    told = [check(world, played) for bot in world.bots for played in bot.done]
    assert len(told) == 2 * len(world.store.kept)
    assert sum(not result.is_void for result in world.store.kept.values()) == 20
    assert len(world.store.kept) >= 256


def test_there_are_never_more_tables_than_the_server_has() -> None:
    world = World([Ladder("it", "greed", 2)], most_tables=3)
    for name in ("ann", "bob"):
        world.bot(name, tables=10)
    world.run(lambda: len(world.store.kept) >= 10)
    assert world.most_open == 3


def test_a_ladder_has_the_matches_that_are_wanted_and_no_more() -> None:
    world = World(default_ladders(matches_wanted=3))
    for name in ("ann", "bob", "cid", "dan", "eve"):
        world.bot(name)
    world.run(lambda: world.lobby.is_complete)
    played = [result.ladder for result in world.store.kept.values()]
    assert {ladder: played.count(ladder) for ladder in GAMES} == dict.fromkeys(GAMES, 3)


def test_whoever_drives_a_lobby_is_woken_by_what_others_tell_it() -> None:
    """Its store has answered, or the house has withdrawn a bot: both on threads of their own."""
    world = World([Ladder("it", "greed", 2)])
    woken: list[float | None] = []
    world.lobby.wake = lambda: woken.append(world.lobby.next_event_at())
    ann, _ = (world.bot(name, 1) for name in ("ann", "bob"))
    world.store.takes_s = 5.0
    world.run(lambda: any(entry.is_over for entry in world.lobby._matches._open.values()))
    woken.clear()
    world.run(lambda: bool(world.store.kept))
    assert woken == [0.0]  # at once: else bots would hear of the end when something else happens
    world.lobby.tick(world.now)
    woken.clear()
    world.lobby.withdrawn(ann.identity)
    assert woken == [0.0]


def test_nothing_keeps_a_match_that_is_over_and_told() -> None:
    """Neither the lobby's queue, in which its moments are still to come, nor a circle for the garbage collector."""
    played: list[weakref.ref[Match]] = []

    class Forgetful(Taken):
        def take(self, result: FinishedMatch) -> None:
            played.append(weakref.ref(match_of(result)))

    world = World([Ladder("it", "greed", 2)], store=Forgetful())
    bots = [world.bot(name, tables=2) for name in ("ann", "bob")]
    gc.collect()
    gc.disable()
    try:
        world.run(lambda: all(len(bot.done) == 6 for bot in bots))
        for bot in bots:
            bot.done.clear()
        world.run(lambda: all(bot.done for bot in bots))  # what waited in virtual time holds some of its own
        for bot in bots:
            bot.done.clear()
        assert len(played) >= 6
        assert [match() for match in played[:6]] == [None] * 6
    finally:
        gc.enable()


def test_the_same_entropy_and_answers_give_the_same_matches() -> None:
    def digest() -> str:
        world = World(default_ladders(matches_wanted=2), seed="again")
        for name in ("ann", "bob", "cid", "dan", "eve"):
            world.bot(name)
        world.run(lambda: world.lobby.is_complete)
        told = [body for bot in world.bots for played in bot.done for body in played.told]
        return sha256(b"".join(told)).hexdigest()

    assert digest() == digest()


def test_a_match_of_which_nobody_reads_events_can_be_verified() -> None:
    world = World([Ladder("it", "greed", 3, matches_wanted=1)])
    bots = [world.bot(name, tables=1, events=False) for name in ("ann", "bob", "cid")]
    world.run(lambda: world.lobby.is_complete and all(bot.done for bot in bots))
    (result,) = world.store.kept.values()
    assert verify(result.record(), GAMES["greed"])


def test_a_bot_that_leaves_for_good_is_seated_no_more() -> None:
    world = World([Ladder("it", "greed", 2, {}, QUICK)])
    ann, _, _ = (world.bot(name, tables=1) for name in ("ann", "bob", "cid"))
    world.run(lambda: len(world.store.kept) >= 3)
    ann.lose_stream(None)
    before = len(world.store.kept)
    world.run(lambda: len(world.store.kept) >= before + 6)
    last = [{seat.player.bot for seat in result.seats} for result in list(world.store.kept.values())[-4:]]
    assert last == [{"bob", "cid"}] * 4


@pytest.mark.parametrize("seed", range(4))
def test_after_a_storm_everything_comes_to_its_end(seed: int, soak: bool) -> None:
    """The store fails and is slow, bots come and go, the loop stalls; then all is calm, and nothing is left open."""
    for storm in range(seed * 50, seed * 50 + (50 if soak else 1)):
        random = Random(storm)
        ladders = [Ladder(game, game, 3, {}, QUICK) for game in ("greed", "szmal", "steal_and_plunder")]
        world = World(ladders, seed=f"storm/{storm}", most_tables=12)
        for name, manner in MANNERS.items():
            world.bot(name, tables=random.randint(1, 4), manner=manner)
        for _ in range(2_500):
            world.step()
            dice = random.random()
            if dice < 0.004:
                world.store.is_broken = not world.store.is_broken
            elif dice < 0.006:
                world.store.takes_s = random.choice([0.0, 0.05, 2.0])
            elif dice < 0.01:
                world.now += (stall := random.uniform(0, 0.3))
                world.lobby.credit(stall)
            elif dice < 0.02 and (bot := random.choice(world.bots)).is_there:
                bot.lose_stream(random.uniform(0, 2.0))
            elif dice < 0.025:
                bot = random.choice(world.bots)
                bot.max_tables = random.randint(0, 4)
                world.lobby.changed(bot)
        world.store.is_broken, world.store.takes_s = False, 0.0
        world.lobby.drain(world.now)
        calm_at = world.now

        def is_over(world: World = world) -> bool:  # and a bot that lost its stream at the end is back
            return world.lobby.is_idle and all(bot.is_there and not bot.sat for bot in world.bots)

        world.run(is_over)
        assert world.now - calm_at < 60.0
        told = [(played, check(world, played)) for bot in world.bots for played in bot.done]
        assert len(told) == sum(len(result.seats) for result in world.store.kept.values())
        assert len({(played.started.match, played.started.seat) for played, _ in told}) == len(told)
        assert len(told) > 9
        assert {facts["error"] for facts in world.log.errors()} <= {"StoreBroke"}


def test_of_a_result_that_may_be_stored_nobody_is_told_before_it_is_known() -> None:
    world = World([Ladder("it", "greed", 2, matches_wanted=1)])
    world.store.is_unsure = True
    for name in ("ann", "bob"):
        world.bot(name)
    world.run(lambda: world.store.offered == 3)
    assert not any(bot.done for bot in world.bots)  # though it is stored: the store has not said so
    assert not world.lobby.is_storing
    world.store.is_unsure = False
    world.run(lambda: all(bot.done for bot in world.bots))
    for bot in world.bots:
        assert not check(world, bot.done[0]).is_void
    assert len(world.store.kept) == 1
    assert world.lobby.is_storing


# -- a match is told only once it is stored that it was dealt
def dealt_and_not_announced() -> tuple[World, BotThere, BotThere]:
    """A world in which two bots were seated, and the store has not said yet that it has their match."""
    world = World([Ladder("it", "greed", 2, matches_wanted=1)])
    world.store.announces_later = True
    ann, bob = world.bot("ann", 1), world.bot("bob", 1)
    world.run(lambda: bool(world.store.announcing))
    world.run()
    return world, ann, bob


def test_nobody_is_told_of_a_match_before_the_store_has_it() -> None:
    world, ann, bob = dealt_and_not_announced()
    assert [bot.free_tables for bot in (ann, bob)] == [0, 0]
    assert (ann.open, bob.open, world.lobby.open_matches(), world.log.lines) == ({}, {}, [], [])
    world.now += 60.0  # longer than any clock of the match
    ((announced, stored),) = world.store.announcing
    stored.set_result(None)
    world.run()
    assert world.store.kept.keys() == {announced.match}
    assert [bot.done[0].started.match for bot in (ann, bob)] == [announced.match] * 2
    assert [seat.faults for seat in world.store.kept[announced.match].seats] == [0, 0]


def test_a_match_that_the_store_could_not_take_is_void_and_was_never_told() -> None:
    world, ann, bob = dealt_and_not_announced()
    ((announced, stored),) = world.store.announcing
    world.store.announces_later = False
    stored.set_exception(StoreError("disk full"))
    world.run(lambda: len(world.store.kept) == 2)  # another one is played in its place
    assert world.store.kept[announced.match].void_cause == EndCause.VOID_SERVER.value
    assert announced.match not in {one.started.match for bot in (ann, bob) for one in (*bot.open.values(), *bot.done)}


def test_a_match_that_was_not_told_when_the_server_stops_is_void_and_its_bots_never_hear_of_it() -> None:
    world, ann, bob = dealt_and_not_announced()
    ((announced, stored),) = world.store.announcing
    world.lobby.drain(world.now)
    stored.set_result(None)
    world.run(lambda: world.lobby.is_idle)
    assert world.store.kept[announced.match].void_cause == EndCause.VOID_SERVER.value
    assert (ann.open, ann.done, bob.open, bob.done) == ({}, [], {}, [])
    assert [bot.free_tables for bot in (ann, bob)] == [1, 1]
