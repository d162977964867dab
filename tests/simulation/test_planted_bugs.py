"""Faults planted into the real server, the engine and the leaderboard: the simulation finds each of them.

A simulation that finds nothing proves nothing, unless it is known what it would find. Every fault is a small patch of
one function; the worlds are those of `test_seeds.py`, from the first seed on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cutpurse.engine import match as match_module
from cutpurse.engine.clocks import AnswerOutcome, Closed, OutcomeKind, TimedMatch
from cutpurse.leaderboard import result_writer as ledger_module
from cutpurse.leaderboard import write_state as state_module
from cutpurse.leaderboard.comparisons import BoardMatch
from cutpurse.leaderboard.rating_state import RatingState
from cutpurse.leaderboard.rating_state import step as true_step
from cutpurse.leaderboard.results import CompletedMatch
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.write_state import BoardState
from cutpurse.sdk.wire.encode import MatchEncoder
from cutpurse.sdk.wire.wire_format import field
from cutpurse.server.errors import OVERTAKEN, CallStatus
from cutpurse.server.finished_match import FinishedMatch
from cutpurse.server.hosting.stall_monitor import Pulse
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches import deals as deals_module
from cutpurse.server.matches import match_start as dealing_module
from cutpurse.server.matches import roster as books_module
from cutpurse.server.matches import storing as storing_module
from cutpurse.server.matches.admission import BotAdmission
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.matchmaking import Pairing
from cutpurse.server.matches.open_boards import OpenBoard
from cutpurse.server.matches.requests import Requests
from cutpurse.server.matches.roster import LadderRoster
from cutpurse.server.matches.server_match import ServerMatch, _MatchSeat
from cutpurse.server.matches.storing import Storing
from cutpurse.server.streams.link import Link
from cutpurse.server.streams.server_session import ServerSession
from cutpurse.server.streams.sessions import Sessions
from cutpurse.v1 import arena_pb2
from tests.simulation.world import Broken, World

MOST_WORLDS = 1_000
FIRST_WORLD = {
    # The worlds before it that show the fault take minutes to do so: nobody plays, and everybody waits.
    "tables_that_are_kept_are_kept_for_ever": 10,
    # One world in some four hundred shows it: the store must keep a result and not be sure of it.
    "a_match_is_stored_twice": 1_250,
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
def a_stall_is_credited_twice(patch: Patch) -> None:
    true = TimedMatch.credit
    patch.setattr(TimedMatch, "credit", lambda self, seconds: true(self, 2 * seconds))


@plant
def the_bank_is_not_charged(patch: Patch) -> None:
    true = TimedMatch._stop

    def stop(self: TimedMatch, clock: Any, at: int, is_late: bool = False) -> None:
        bank = self._bank[:]
        true(self, clock, at, is_late)
        self._bank = bank

    patch.setattr(TimedMatch, "_stop", stop)


@plant
def the_grace_is_charged(patch: Patch) -> None:
    true = TimedMatch._stop

    def stop(self: TimedMatch, clock: Any, at: int, is_late: bool = False) -> None:
        grace, self._grace = self._grace, 0
        true(self, clock, at, is_late)
        self._grace = grace

    patch.setattr(TimedMatch, "_stop", stop)


@plant
def a_resume_starts_the_clock_anew(patch: Patch) -> None:
    def handed_over(self: TimedMatch, seat: int, number: int, now: float) -> None:
        clock = self._clock(seat, number)
        if clock is not None:
            clock.deadline = round(now * 1e6) + clock.allowed

    patch.setattr(TimedMatch, "handed_over", handed_over)


@plant
def a_window_shuts_at_once(patch: Patch) -> None:
    true = TimedMatch._go_on

    def go_on(self: TimedMatch, at: int = 0) -> None:
        true(self, at)
        if self.match.held:
            self.match.release()
            true(self, at)

    patch.setattr(TimedMatch, "_go_on", go_on)


@plant
def a_decision_is_closed_too_early(patch: Patch) -> None:
    true = TimedMatch.tick

    def tick(self: TimedMatch, now: float) -> list[Closed]:
        return true(self, now + 0.05)

    patch.setattr(TimedMatch, "tick", tick)


@plant
def a_table_is_looked_at_too_late(patch: Patch) -> None:
    true = TimedMatch._go_on

    def go_on(timed: TimedMatch, at: int = 0) -> None:
        true(timed, at)
        timed.none_ends_before = 1e9

    patch.setattr(TimedMatch, "_go_on", go_on)


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
def an_answer_is_lost_on_its_way(patch: Patch) -> None:
    true = Link._take_answers

    def take(self: Link, request: arena_pb2.PlayRequest, now: float) -> None:
        if request.answers and request.answers[0].decision == 4:
            del request.answers[0]
        true(self, request, now)

    patch.setattr(Link, "_take_answers", take)


@plant
def another_option_is_taken(patch: Patch) -> None:
    true = TimedMatch.answer

    def answer(self: TimedMatch, seat: int, number: int, option: int | None, now: float) -> AnswerOutcome:
        return true(self, seat, number, 0 if number == 3 and option else option, now)

    patch.setattr(TimedMatch, "answer", answer)


@plant
def an_answer_counts_for_another_seat(patch: Patch) -> None:
    true = _MatchSeat.answer

    def answer(self: _MatchSeat, decision: int, option: int | None, now: float) -> AnswerOutcome:
        other = (self.seat + 1) % len(self._table.seats)
        theirs = self._table.match.decision(other)
        if theirs is not None and theirs.number == decision:
            return self._table.seats[other]._table.timed.answer(other, decision, option, now)
        return true(self, decision, option, now)

    patch.setattr(_MatchSeat, "answer", answer)


@plant
def an_answer_counts_at_another_table(patch: Patch) -> None:
    true = Link._take_answers

    def take(self: Link, request: arena_pb2.PlayRequest, now: float) -> None:
        for answer in request.answers:
            answer.table = min(self.session.places, default=answer.table)
        true(self, request, now)

    patch.setattr(Link, "_take_answers", take)


@plant
def corrections_are_counted_wrong(patch: Patch) -> None:
    patch.setattr(match_module, "CORRECTIONS", 3)


@plant
def faults_are_not_counted(patch: Patch) -> None:
    patch.setattr(match_module, "FAULTS", 99)


@plant
def a_seat_that_was_taken_over_keeps_the_place_of_its_cards(patch: Patch) -> None:
    patch.setattr(match_module, "final_places", lambda places, taken_over: places)


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


@plant
def a_seat_is_told_another_place(patch: Patch) -> None:
    true = ServerMatch.ended

    def ended(self: ServerMatch, seat: int, number: int, told: int, wants_events: bool) -> bytes | None:
        body = true(self, seat, number, told, wants_events)
        if body is None or seat == 0:
            return body
        message = arena_pb2.MatchEnded.FromString(body)
        message.seats[seat].place = 1
        return message.SerializeToString()

    patch.setattr(ServerMatch, "ended", ended)


# -- sessions and streams
@plant
def a_resume_forgets_what_was_asked(patch: Patch) -> None:
    true = ServerSession.connect

    def connect(self: ServerSession, link: Link) -> None:
        true(self, link)
        self.ready_places.clear()

    patch.setattr(ServerSession, "connect", connect)


@plant
def an_end_is_told_again_after_a_resume(patch: Patch) -> None:
    def end_heard(self: ServerSession, tables: Any) -> None:
        pass

    patch.setattr(ServerSession, "end_heard", end_heard)


@plant
def a_table_that_is_over_is_not_free(patch: Patch) -> None:
    def end_told(self: ServerSession, place: Any) -> None:
        place.is_end_told = True

    patch.setattr(ServerSession, "end_told", end_told)


@plant
def a_table_is_free_too_often(patch: Patch) -> None:
    true = ServerSession.end_told

    def end_told(self: ServerSession, place: Any) -> None:
        true(self, place)
        self._over += 1

    patch.setattr(ServerSession, "end_told", end_told)


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
def a_stale_stream_may_still_decide(patch: Patch) -> None:
    true = Link.close

    def close(self: Link, ending: CallStatus, now: float) -> None:
        if ending.reason != "SUPERSEDED" and ending is not OVERTAKEN:
            true(self, ending, now)

    patch.setattr(Link, "close", close)


@plant
def a_bot_that_is_away_is_paired(patch: Patch) -> None:
    patch.setattr(Lobby, "leave", lambda self, session: None)
    patch.setattr(ServerSession, "free_tables", property(lambda self: max(0, self.max_tables - len(self.places))))


@plant
def envelopes_do_not_wait_for_each_other(patch: Patch) -> None:
    true = Link.next_envelope

    def next_envelope(self: Link, now: float) -> bytes | None:
        self._is_unread = False
        return true(self, now)

    patch.setattr(Link, "next_envelope", next_envelope)


@plant
def strikes_are_not_counted(patch: Patch) -> None:
    patch.setattr(Link, "strike", lambda self, text, now: self.tell("BAD_MESSAGE", text))


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
def a_match_begins_though_the_server_drains(patch: Patch) -> None:
    patch.setattr(Lobby, "drain", lambda self, now: None)


@plant
def the_store_is_not_sure_and_not_asked_again(patch: Patch) -> None:
    patch.setattr(storing_module, "StoreUnsure", type("Never", (Exception,), {}))


@plant
def a_result_that_was_not_stored_is_no_void(patch: Patch) -> None:
    patch.setattr(FinishedMatch, "voided", lambda self: self)


@plant
def a_void_match_is_not_offered_again(patch: Patch) -> None:
    true = Storing.take

    def take(self: Storing[Any], now: float) -> None:
        true(self, now)
        self._unstored.clear()

    patch.setattr(Storing, "take", take)


# -- the league
@plant
def a_pause_is_ignored(patch: Patch) -> None:
    patch.setattr(BotAdmission, "pause", lambda self, identity: None)


@plant
def bots_of_one_owner_meet(patch: Patch) -> None:
    patch.setattr(books_module, "_side", lambda identity: identity)


@plant
def a_frozen_ladder_is_played(patch: Patch) -> None:
    patch.setattr(Ladder, "is_frozen", lambda self, at: False)


@plant
def new_terms_are_for_those_who_come_later(patch: Patch) -> None:
    def change(self: LadderRoster, ladder: Ladder, there: Any) -> None:
        self.ladder = ladder

    patch.setattr(LadderRoster, "change", change)


@plant
def a_match_on_request_is_rated(patch: Patch) -> None:
    true = ServerMatch.finish
    patch.setattr(ServerMatch, "finish", lambda self, *moments: replace(true(self, *moments), is_rated=True))


@plant
def who_sits_where_on_request_is_left_to_chance(patch: Patch) -> None:
    true: Callable[..., Any] = Requests.next

    def next_one(self: Requests, *asked: Any) -> Any:
        found = true(self, *asked)
        return found and (found[0], found[1][::-1])

    patch.setattr(Requests, "next", next_one)


@plant
def tables_that_are_kept_are_kept_for_ever(patch: Patch) -> None:
    true = Pairing.keep

    def keep(self: Pairing, players: Any) -> None:
        true(self, {*self._kept, *players})

    patch.setattr(Pairing, "keep", keep)


@plant
def house_bots_play_among_themselves(patch: Patch) -> None:
    true = LadderRoster.free

    def free(self: LadderRoster, free: Any, kept: Any = ()) -> Any:
        return [*true(self, free, kept), *(self.house[player] for player in free if player in self.house)]

    patch.setattr(LadderRoster, "free", free)


@plant
def what_was_cut_off_is_left_open(patch: Patch) -> None:
    patch.setattr(Store, "void_unfinished", lambda self, now: [])


# -- boards
@plant
def the_cards_of_a_board_are_told_too_early(patch: Patch) -> None:
    true = ServerMatch.close
    patch.setattr(ServerMatch, "close", lambda self, ending, is_rated, is_opened=True: true(self, ending, is_rated))


@plant
def a_deal_is_dealt_again(patch: Patch) -> None:
    true = deals_module.dealt_for_all
    patch.setattr(dealing_module, "dealt_for_all", lambda *about: true(*about)._replace(seed=bytes(32)))


@plant
def a_board_is_told_as_rated_though_a_match_is_void(patch: Patch) -> None:
    true = OpenBoard.ended
    patch.setattr(OpenBoard, "ended", lambda self, table, now, is_void: true(self, table, now, is_void=False))


@plant
def a_void_match_does_not_void_its_board(patch: Patch) -> None:
    def counts(self: BoardState) -> list[BoardMatch]:
        return [one for one in self.over if one is not None] if self.is_over else []

    patch.setattr(BoardState, "counts", counts)


# -- the leaderboard
@plant
def a_match_is_stored_twice(patch: Patch) -> None:
    patch.setattr(state_module, "stored", lambda connection, matches: {})


@plant
def a_void_match_is_rated(patch: Patch) -> None:
    true = ledger_module._store

    def store(result: CompletedMatch, world: Any, rows: Any) -> Any:
        if result.void:
            seats = tuple(replace(seat, place=1, score=0) for seat in result.seats)
            result = replace(result, void_cause=None, seats=seats)
        return true(result, world, rows)

    patch.setattr(ledger_module, "_store", store)


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
        first = FIRST_WORLD.get(name, 1)
        for seed in range(first, first + MOST_WORLDS):
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
