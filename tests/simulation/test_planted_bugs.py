"""Faults planted into the real server, the engine and the leaderboard, some of each kind: the simulation finds them.

A simulation that finds nothing proves nothing, unless it is known what it would find. Every fault is a small patch of
one function; the worlds are those of `test_seeds.py`, from the first seed on, or first the one that found it before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cutpurse.engine import match as match_module
from cutpurse.engine.clocks import AnswerOutcome, Closed, OutcomeKind, TimedMatch
from cutpurse.leaderboard import result_writer as ledger_module
from cutpurse.leaderboard.comparisons import Comparison
from cutpurse.leaderboard.rating_state import RatingState
from cutpurse.leaderboard.rating_state import step as true_step
from cutpurse.leaderboard.write_state import BoardState
from cutpurse.server.hosting.stall_monitor import Pulse
from cutpurse.server.matches import roster as books_module
from cutpurse.server.matches import storing as storing_module
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.matchmaking import Pairing
from cutpurse.server.matches.server_match import ServerMatch, _MatchSeat
from cutpurse.server.streams.link import Link
from cutpurse.server.streams.server_session import ServerSession
from cutpurse.server.streams.sessions import Sessions
from cutpurse.v1 import arena_pb2
from cutpurse.wire.encode import MatchEncoder
from cutpurse.wire.wire_format import field
from tests.simulation.world import Broken, World

MOST_WORLDS = 1_000
# The first worlds that found a fault that few find. Where one no longer does, all are played from the first on.
FOUND_IN = {
    "a_resume_forgets_what_was_asked": 36,
    "a_session_is_resumed_without_its_secret": 23,
    "the_store_is_not_sure_and_not_asked_again": 185,
}

Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], None]
PLANTS: dict[str, Plant] = {}

# Those that the server finds itself, by what stays on in production; the others are found by the watch.
INVARIANTS = {
    "a_bot_sits_at_a_table_twice": "SeatTaken",
    "a_number_of_the_ledger_is_left_out": "StoreCorrupt",
    "an_end_is_told_before_it_is_stored": "SeedEarly",
}


def plant(do: Plant) -> Plant:
    """A fault, by the name of the function that plants it."""
    PLANTS[do.__name__] = do
    return do


# -- the clocks
@plant
def a_clock_runs_while_the_server_stands_still(patch: Patch) -> None:
    patch.setattr(Pulse, "beat", lambda self, now: 0.0)


@plant
def the_bank_is_not_charged(patch: Patch) -> None:
    true = TimedMatch._stop

    def stop(self: TimedMatch, clock: Any, at: int, is_late: bool = False) -> None:
        bank = self._bank[:]
        true(self, clock, at, is_late)
        self._bank = bank

    patch.setattr(TimedMatch, "_stop", stop)


@plant
def a_decision_is_closed_too_early(patch: Patch) -> None:
    true = TimedMatch.tick

    def tick(self: TimedMatch, now: float) -> list[Closed]:
        return true(self, now + 0.05)

    patch.setattr(TimedMatch, "tick", tick)


# -- answers
@plant
def an_answer_is_accepted_and_forgotten(patch: Patch) -> None:
    true = TimedMatch.answer

    def answer(self: TimedMatch, seat: int, number: int, option: int | None, now: float) -> AnswerOutcome:
        if number % 5 == 4 and self._clock(seat, number) is not None:
            return AnswerOutcome(OutcomeKind.ACCEPTED)
        return true(self, seat, number, option, now)

    patch.setattr(TimedMatch, "answer", answer)


@plant
def another_option_is_taken(patch: Patch) -> None:
    true = TimedMatch.answer

    def answer(self: TimedMatch, seat: int, number: int, option: int | None, now: float) -> AnswerOutcome:
        return true(self, seat, number, 0 if number == 3 and option else option, now)

    patch.setattr(TimedMatch, "answer", answer)


@plant
def faults_are_not_counted(patch: Patch) -> None:
    patch.setattr(match_module, "FAULTS", 99)


# -- what seats are told
@plant
def a_seat_sees_what_another_sees(patch: Patch) -> None:
    true = _MatchSeat.decision
    told = MatchEncoder.observation_of

    def decision(self: _MatchSeat, now: float) -> bytes | None:
        with pytest.MonkeyPatch.context() as wrong:
            wrong.setattr(
                MatchEncoder,
                "observation_of",
                lambda encoder, game, seat, agenda: told(encoder, game, (seat + 1) % game.n, agenda),
            )
            return true(self, now)

    patch.setattr(_MatchSeat, "decision", decision)


@plant
def an_event_is_told_twice(patch: Patch) -> None:
    true = _MatchSeat.decision

    def decision(self: _MatchSeat, now: float) -> bytes | None:
        body = true(self, now)
        if body is not None and self._told > 3:
            self._told -= 1
        return body

    patch.setattr(_MatchSeat, "decision", decision)


@plant
def the_seed_is_told_at_the_start(patch: Patch) -> None:
    true = ServerMatch.started
    patch.setattr(
        ServerMatch, "started", lambda self, seat, number: true(self, seat, number) + field(15, self.deal.seed)
    )


@plant
def an_end_is_told_before_it_is_stored(patch: Patch) -> None:
    def finish(self: Lobby, entry: Any) -> None:
        result = entry.table.finish(entry.started, self._utc())
        self._storing.close(entry, result, 1_000.0, self._store.submit(result))

    patch.setattr(Lobby, "_finish", finish)


# -- sessions and streams
@plant
def a_resume_forgets_what_was_asked(patch: Patch) -> None:
    true = ServerSession.connect

    def connect(self: ServerSession, link: Link) -> None:
        true(self, link)
        self.ready_places.clear()

    patch.setattr(ServerSession, "connect", connect)


@plant
def a_session_is_resumed_without_its_secret(patch: Patch) -> None:
    true = Sessions._resumed

    def resumed(self: Sessions, resume: arena_pb2.Resume, told: Any, now: float) -> ServerSession:
        session = self._by_id.get(resume.session)
        if session is not None:
            told = type(told)(**{name: getattr(told, name) for name in told.__slots__} | {"identity": session.identity})
            resume = arena_pb2.Resume(session=resume.session, secret=session.secret)
        return true(self, resume, told, now)

    patch.setattr(Sessions, "_resumed", resumed)


@plant
def a_bot_is_not_woken(patch: Patch) -> None:
    patch.setattr(Link, "ready", lambda self: None)


# -- the lobby
@plant
def a_bot_sits_at_a_table_twice(patch: Patch) -> None:
    true = Pairing._start

    def start(self: Pairing, books: Any, entries: Any, house: Any, does: str) -> Any:
        return true(self, books, [entries[0], *entries[:-1]], house, does)

    patch.setattr(Pairing, "_start", start)


@plant
def the_store_is_not_sure_and_not_asked_again(patch: Patch) -> None:
    patch.setattr(storing_module, "Unsure", type("Never", (Exception,), {}))


# -- the league
@plant
def bots_of_one_owner_meet(patch: Patch) -> None:
    patch.setattr(books_module, "side_of", lambda identity: identity)


# -- boards
@plant
def the_cards_of_a_board_are_told_too_early(patch: Patch) -> None:
    true = ServerMatch.close
    patch.setattr(ServerMatch, "close", lambda self, ending, is_rated, is_opened=True: true(self, ending, is_rated))


@plant
def a_void_match_does_not_void_its_board(patch: Patch) -> None:
    def counts(self: BoardState) -> list[Comparison]:
        return [one for one in self.over if one is not None] if self.is_over else []

    patch.setattr(BoardState, "counts", counts)


# -- the leaderboard
@plant
def everybody_is_rated_as_a_newcomer(patch: Patch) -> None:
    def step(before: Any, places: Any, faults: Any, settings: Any, sequence: int) -> Any:
        return true_step([RatingState(settings.newcomer) for _ in before], places, faults, settings, sequence)

    patch.setattr(ledger_module, "step", step)


@plant
def a_number_of_the_ledger_is_left_out(patch: Patch) -> None:
    true = ledger_module._rate

    def rate(result: Any, course: Any, bots: Any, rows: Any) -> Any:
        course.sequence += course.sequence == 2
        return true(result, course, bots, rows)

    patch.setattr(ledger_module, "_rate", rate)


@pytest.mark.parametrize("name", PLANTS)
def test_it_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = None
    with monkeypatch.context() as patch:
        PLANTS[name](patch)
        for seed in (FOUND_IN.get(name, 1), *range(1, MOST_WORLDS + 1)):
            try:
                World(seed).run()
            except Broken as problem:
                found = seed, str(problem).partition("\n\n")[2].partition("\n")[0]
                break
    assert found is not None, f"nothing found in {MOST_WORLDS} worlds"
    seed, said = found
    print(f"{name}: {said}")  # noqa: T201 # with -s, for whoever wants to know
    assert "the simulation itself" not in said
    assert INVARIANTS.get(name, "") in said
    World(seed).run()  # and without the fault it is whole
