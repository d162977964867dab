"""What holds of every match with clocks, whoever answers when: random drivers of every game, and twin worlds.

The driver has one list of moments at which something happens: decisions arrive, answers come back, streams break, the
tick is due. All of it is drawn from a seed, nothing waits.
"""

from __future__ import annotations

from heapq import heappop, heappush
from random import Random
from typing import Any

import pytest

from cutpurse.engine.agenda import Poll
from cutpurse.engine.clocks import OutcomeKind, TimeControl, TimedMatch
from cutpurse.engine.game import Game
from cutpurse.engine.match import CORRECTIONS, FAULTS, EndCause, Match, OpenDecision
from cutpurse.engine.record import verify, write_record
from cutpurse.games import GAMES
from tests.builds import needs_pure
from tests.properties.random_play import EVERY_GAME, EVERY_TABLE, RandomGame
from tests.properties.who_sees_what import table_of

MATCHES_EACH = 4
PLACES_EACH = 40  # places of a game where two worlds are compared
EVENTS_AT_MOST = 400_000
SLOW_PLACES_EACH = 300  # of all questions, of which few are windows
NEVER = 1e9


class Driver:
    """Plays a match with bots and streams that are drawn at random, and checks every clock on the way."""

    def __init__(self, play: RandomGame, control: TimeControl, random: Random) -> None:
        self.random = random
        self.control = control
        self.names = [f"bot {seat}" for seat in range(play.seats)]
        self.rules = play.rules
        hold_polls, ask_all = random.random() < 0.7, random.random() < 0.7
        match = Match(play.rules, self.names, play.key, play.settings, log=True, hold_polls=hold_polls, ask_all=ask_all)
        self.now = random.choice([0.0, 12345.678])
        self.timed = TimedMatch(match, control, self.now)
        self.events: list[tuple[float, int, str, OpenDecision]] = []
        self.planned = 0
        self.put_at: dict[tuple[int, int], float] = {}
        self.credited: dict[tuple[int, int], float] = {}
        self.outcomes: set[OutcomeKind] = set()
        self.longest = 0.0
        # By seat, how it is: quick, a thinker at the edge of its time, or one that is hardly there.
        self.manner = [random.choice(["quick", "quick", "edge", "absent"]) for _ in self.names]

    def later(self, delay: float, what: str, decision: OpenDecision) -> None:
        self.planned += 1
        heappush(self.events, (self.now + delay, self.planned, what, decision))

    def delay(self, seat: int) -> float:
        """How long a bot takes, in seconds."""
        base, bank = self.control.base_ms / 1000, self.timed.time_left(seat, self.now)[1] / 1000
        match self.manner[seat]:
            case "quick":
                return self.random.random() * base / 20
            case "edge":
                grace = self.control.grace_ms / 1000
                return self.random.choice([base, base + grace, base + bank, base + bank + grace])
        return self.random.choice([base / 2, base * 3 + bank, NEVER])

    def ask(self) -> None:
        for decision in self.timed.opened():
            seat, number = decision.seat, decision.number
            self.put_at[seat, number] = self.now
            if self.random.random() < 0.99:
                self.later(self.random.choice([0.0, 0.0, 0.001, 0.4]), "hand", decision)
            if self.random.random() < 0.05:
                self.later(self.random.random(), "credit", decision)
            if self.random.random() < 0.05:
                self.later(self.random.random(), "leave", decision)
                self.later(self.random.random() * 2, "return", decision)

    def happen(self, what: str, decision: OpenDecision) -> None:
        timed, random, seat, number = self.timed, self.random, decision.seat, decision.number
        match what:
            case "hand":
                timed.handed_over(seat, number, self.now)
                self.later(self.delay(seat), "answer", decision)
            case "answer" if random.random() < 0.005:
                self.outcomes.add(timed.give_up(seat, number, "as it happens", self.now).kind)
            case "answer":
                sent: int | None = random.randrange(len(decision.options))
                if random.random() < 0.1:
                    sent = random.choice([None, -1, len(decision.options), 10**30])
                    self.later(0.01, "answer", decision)
                outcome = timed.answer(seat, number, sent, self.now)
                self.outcomes.add(outcome.kind)
                assert outcome.corrections_left <= CORRECTIONS
            case "credit":
                timed.credit(0.5)
                for open_one in timed.match.decisions():
                    key = open_one.seat, open_one.number
                    self.credited[key] = self.credited.get(key, 0) + 0.5
            case "leave":
                timed.disconnected(seat)
            case "return":
                timed.connected(seat)
                timed.handed_over(seat, number, self.now)

    def check(self) -> None:
        """The bank is never overdrawn, and nothing is open longer than all its time."""
        control, timed = self.control, self.timed
        most = (control.handover_ms + control.base_ms + control.bank_ms + control.grace_ms) / 1000
        for seat in range(len(self.names)):
            base, bank = timed.time_left(seat, self.now)
            assert 0 <= base <= control.base_ms
            assert 0 <= bank <= control.bank_ms
        for decision in timed.match.decisions():
            key = decision.seat, decision.number
            open_for = self.now - self.put_at.get(key, self.now) - self.credited.get(key, 0)
            self.longest = max(self.longest, open_for)
            assert open_for <= most + 0.002, f"{decision} is open for {open_for} s"

    def run(self) -> None:
        for _ in range(EVENTS_AT_MOST):
            self.ask()
            due = self.timed.next_event_at()
            if due is None:
                break
            if self.events and self.events[0][0] <= due:
                self.now, _, what, decision = heappop(self.events)
                self.happen(what, decision)
            else:
                self.now = max(self.now, due)
                before = self.timed.match.questions, len(self.timed.match.faults)
                self.timed.tick(self.now)
                after = self.timed.match.questions, len(self.timed.match.faults)
                assert after != before or self.timed.over, "a tick that is due does something"
            self.check()
        assert self.timed.over


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_every_match_ends_in_its_time_and_its_record_is_verified(name: str, seats: int) -> None:
    outcomes: set[OutcomeKind] = set()
    causes: set[EndCause] = set()
    for number in range(MATCHES_EACH):
        play = RandomGame(GAMES[name], seats, number)
        random = Random("timed/" + play.name)
        bank_ms = random.choice([0, 700, 10_000])
        driver = Driver(play, TimeControl(base_ms=random.choice([50, 1000]), bank_ms=bank_ms), random)
        driver.run()
        timed = driver.timed
        result = timed.result()
        faults = [[fault.cause for fault in timed.match.faults if fault.seat == seat] for seat in range(seats)]
        for cause, seat_faults in zip(result.end_causes, faults, strict=True):
            assert len(seat_faults) <= FAULTS
            assert EndCause.DISCONNECTED not in seat_faults[:-1], "the first one takes the seat over"
            if seat_faults[-1:] == [EndCause.DISCONNECTED]:
                assert cause is EndCause.DISCONNECTED
            else:
                assert cause == (seat_faults[0] if len(seat_faults) == FAULTS else EndCause.NORMAL)
        for seat, (place, score) in enumerate(zip(result.places, timed.match.game.places(), strict=True)):
            if result.end_causes[seat].is_taken_over:
                assert place == max(result.places) == 1 + result.end_causes.count(EndCause.NORMAL)
            else:
                assert place <= score, "the places of seats that played only get better"
        assert len(verify(write_record(timed.match), play.rules)) == 4
        outcomes |= driver.outcomes
        causes.update(fault.cause for fault in timed.match.faults)
    assert OutcomeKind.ACCEPTED in outcomes, outcomes
    assert OutcomeKind.UNKNOWN_DECISION not in outcomes, "all that was answered was put"
    assert causes & {EndCause.TIMEOUT, EndCause.DISCONNECTED}, causes


@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_match_voided_at_a_random_moment_is_verified(name: str) -> None:
    rules = GAMES[name]
    for number in range(MATCHES_EACH):
        play = RandomGame(rules, rules.usual_seats, number)
        random = Random("void/" + play.name)
        driver = Driver(play, TimeControl(base_ms=50, bank_ms=0), random)
        for _ in range(random.randrange(40)):
            driver.ask()
            due = driver.timed.next_event_at()
            if due is None:
                break
            driver.now = due
            for decision in driver.timed.match.decisions():
                driver.happen("answer", decision)
            driver.timed.tick(due)
        driver.timed.void(EndCause.VOID_SERVER)
        assert driver.timed.next_event_at() is None
        assert "the match is void: void_server" in verify(write_record(driver.timed.match), rules)


# -- twin worlds
def match_in(state: Game, hold_polls: bool, ask_all: bool) -> Match:
    """A match that begins in this state of a game, without a copy's events."""
    rules: Any = type(state)

    def start(self: Any, log: bool = False) -> None:
        self.copy_from(state)
        self.chance = state.chance.fork()
        self.agenda[:] = state.agenda[:]
        self.answers = {}
        self.log = []

    world = type("World", (rules,), {"__slots__": (), "__module__": rules.__module__, "start": start})
    settings = state.settings.changed()
    return Match(world, ["bot"] * state.n, bytes(32), settings, hold_polls=hold_polls, ask_all=ask_all)


def told_to(
    viewer: int, state: Game, hold_polls: bool, ask_all: bool = False, answered_s: float = 0.010
) -> list[object]:
    """All that one seat gets of the question that is open, if everybody who is asked answers after so long.

    What it is asked and when, what is answered to foreign and future decisions, and when the question is closed.
    """
    match = match_in(state, hold_polls, ask_all)
    timed = TimedMatch(match, TimeControl(), 0.0)
    told: list[object] = []
    if match.game.log:
        return ["closed at once"]
    for decision in timed.opened():
        if decision.seat == viewer:
            told += [decision, match.safe_option(viewer), timed.time_left(viewer, 0.0)]
        timed.handed_over(decision.seat, decision.number, 0.0)
    told += [timed.answer(viewer, number, 10**9, 0.005) for number in (0, 1)]
    for decision in match.decisions():
        timed.answer(decision.seat, decision.number, match.safe_option(decision.seat), answered_s)
    told.append(timed.answer(viewer, 0, 0, answered_s + 0.005))
    closed: float | None = answered_s
    while not match.game.log and (closed := timed.next_event_at()) is not None:
        timed.tick(closed)
    return [*told, closed]


@needs_pure
@pytest.mark.parametrize("name", ["steal_and_plunder", "stolen_treasure"])
def test_how_long_a_window_lasts_does_not_tell_who_was_asked(name: str) -> None:
    """Two worlds that a seat cannot tell apart give it the same at the same moments, though others are asked in one."""
    rules, found = GAMES[name], 0
    by_speed = 0  # pairs that would be told apart if windows were not held
    for number in range(300):
        play = RandomGame(rules, rules.usual_seats, number * 5)
        random = Random("window/" + play.name)
        game = play.begin(log=True)
        tables = [table_of(name)(game, viewer) for viewer in range(game.n)]
        for position in play.play(game):
            for event in (position.log or ())[tables[0].heard :]:
                for table in tables:
                    table.hear(event)
            if position.answers or not position.question.window:
                continue
            table = random.choice(tables)
            if (twin := table.redeal(position, random)) is None:
                continue
            found += 1
            one, other = (told_to(table.viewer, world, hold_polls=True) for world in (position, twin))
            assert one == other, f"{play}, seen by {table.viewer}, at {position.question.name}"
            one, other = (told_to(table.viewer, world, hold_polls=False) for world in (position, twin))
            by_speed += one != other
        if found >= PLACES_EACH:
            break
    assert found >= PLACES_EACH
    assert by_speed > 0, "there are windows whose speed would tell"


def who_has_a_choice(world: Game) -> list[int]:
    """List the seats that a poll gives more than one option."""
    poll = world.question
    assert isinstance(poll, Poll)
    return [seat for seat in poll.seats(world) if len(poll.options(world, seat)) > 1]


SLOW_S = 0.150  # well beyond the floor


@needs_pure
@pytest.mark.parametrize("name", EVERY_GAME)
def test_how_long_slow_bots_take_does_not_tell_who_had_a_choice(name: str) -> None:
    """With every question put, its seats and its end follow from what a seat may see, whatever the others hold."""
    rules, found = GAMES[name], 0
    by_speed = 0  # pairs that would be told apart if questions with one option were not put
    for number in range(300):
        play = RandomGame(rules, rules.usual_seats, number * 7 + 1)
        random = Random("slow/" + play.name)
        game = play.begin(log=True)
        tables = [table_of(name)(game, viewer) for viewer in range(game.n)]
        for position in play.play(game):
            for event in (position.log or ())[tables[0].heard :]:
                for table in tables:
                    table.hear(event)
            if position.answers:
                continue
            table = random.choice(tables)
            if (twin := table.redeal(position, random)) is None:
                continue
            found += 1
            worlds = (position, twin)
            if isinstance(position.question, Poll) and not position.question.window:
                assert who_has_a_choice(position) == who_has_a_choice(twin), f"{position.question.name} is a window"
            one, other = (told_to(table.viewer, world, True, True, SLOW_S) for world in worlds)
            assert one == other, f"{play}, seen by {table.viewer}, at {position.question.name}"
            one, other = (told_to(table.viewer, world, True, False, SLOW_S) for world in worlds)
            by_speed += one != other
        if found >= SLOW_PLACES_EACH:
            break
    assert found >= SLOW_PLACES_EACH
    if name not in ("szmal", "greed"):  # there one option is public, or rare
        assert by_speed > 0, "there are questions whose speed would tell"
