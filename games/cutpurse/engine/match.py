"""A match: a game, the answers of its seats and their faults, until there is a result and a record.

No clock, no network, no bot is known here: the driver of a match puts its questions and hands the answers in. An
illegal answer may be corrected twice; then the game's published safe option is taken and the seat has a fault. The
operator of the platform may void a match at any moment.

A seat is *taken over* after three faults, after one fault by a lost connection, or when `take_over` says that its bot
cannot go on. The match then plays the seat on by safe options to the end, so that the others keep a whole game. Every
seat that was taken over comes behind every seat that was not (`placement.final_places`); its score is what its cards
made. A seat with fewer faults keeps the place of its cards, and its end cause is normal.

A question with one option is answered by the match itself, which costs no round trip. With `ask_all` it is put to its
seat like any other: it is numbered, and a missing answer is a fault. Then the time until an answer comes does not show
whether the hidden cards of the seat left it a choice. The choices, events and result are the same either way.

With `hold_polls` a window never closes by itself, not even one in which nobody really has a choice: once all answers
are in it is held until the driver releases it. So a driver with a clock (`clocks.TimedMatch`) can let windows last
equally long, and their speed does not tell who was really asked. Choices, events and record are the same. A window is a
question with `window` set: a poll, or a choice to react, where cards that others do not see decide who has a choice.

    match = Match(GAMES["greed"], seats=["ann", "bob", "cid"], key=key)
    while decision := match.decision():
        match.answer(decision.seat, decision.number, 0)
    match.result().places
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple, final

from cutpurse.engine.agenda import Act, Option
from cutpurse.engine.chance import Chance
from cutpurse.engine.errors import IllegalAnswer, WrongDecision
from cutpurse.engine.game import Game
from cutpurse.engine.knowledge_level import NONE, viewers_at
from cutpurse.engine.placement import final_places
from cutpurse.engine.text import answer_text, option_text
from cutpurse.engine.values import PlainValue

__all__ = [
    "CONDUCT",
    "CORRECTIONS",
    "FAULTS",
    "Chosen",
    "OpenDecision",
    "EndCause",
    "Fault",
    "Match",
    "MatchResult",
    "TakenOver",
]

CORRECTIONS: Final = 2  # illegal answers to one question that may be put right
FAULTS: Final = 3  # faults after which a seat is taken over
# The rule for seats that fail. 1: taken over by three faults only, and placed by its cards; kept to replay old records.
CONDUCT: Final = 2


class EndCause(Enum):
    """Why a seat ended as it did: normal, why it was taken over, or why the match is void."""

    NORMAL = "normal"
    TIMEOUT = "timeout"
    ILLEGAL = "illegal"
    CRASHED = "crashed"
    DISCONNECTED = "disconnected"
    VOID_SERVER = "void_server"  # the platform failed
    VOID_OPERATOR = "void_operator"  # the operator ended the match
    VOID_OUTAGE = "void_outage"  # a language model could not be reached, and the ladder voids such matches

    @property
    def is_void(self) -> bool:
        """Whether the match of a seat that ended so counts for nothing."""
        return self in (EndCause.VOID_SERVER, EndCause.VOID_OPERATOR, EndCause.VOID_OUTAGE)

    @property
    def is_taken_over(self) -> bool:
        """Whether the match played the seat on by safe options, so that it comes behind all seats that played."""
        return self is not EndCause.NORMAL and not self.is_void


_NORMAL: Final = EndCause.NORMAL  # a member of an enum is not looked up for nothing


@dataclass(slots=True)  # whose fields are found in a third of the time of a tuple's
class OpenDecision:
    """A question that is put to a seat, with everything it may answer. Never changes.

    Its number counts the decisions of that seat, from 0: one that counted those of all seats would tell how often the
    others had something to decide, and so who holds what.
    """

    seat: int
    number: int
    ask: str  # the question's name
    options: list[Option]


@final
class Chosen(PlainValue):
    """An answer that took effect."""

    __slots__ = ("cause", "lone", "option", "seat")

    def __init__(self, seat: int, option: Option, cause: EndCause, lone: int | None = None) -> None:
        self.seat = seat
        self.option = option
        self.cause = cause  # NORMAL: the seat's own; otherwise why the safe option was taken for it
        self.lone = lone  # the number of a faulted decision that had one option: only this tells which it was

    def values(self) -> tuple[Any, ...]:
        return self.seat, self.option, self.cause, self.lone


@dataclass(frozen=True, slots=True)
class Fault:
    """A question that a seat left to its safe option."""

    seat: int
    number: int  # of the decision, as `Decision` has it
    place: int  # among the choices of the match, as in its record
    ask: str
    cause: EndCause
    reason: str


class TakenOver(NamedTuple):
    """A seat that was taken over by a call of `Match.take_over`, as a record keeps it."""

    choices: int  # made before
    seat: int
    cause: EndCause


@dataclass(frozen=True, slots=True)
class MatchResult:
    """How a match ended: by seat the scores, the places (1 the best, ties share) and the end causes.

    A seat whose end cause `is_taken_over` has the last place, which it shares with every other such seat.
    A void match has neither scores nor places (empty tuples), and the same end cause for every seat.
    """

    scores: tuple[int, ...]
    places: tuple[int, ...]
    end_causes: tuple[EndCause, ...]

    @property
    def voided(self) -> bool:
        """Whether the match counts for nothing."""
        return self.end_causes[0].is_void


class Match:
    """One match; `game` may be read, never answered directly."""

    def __init__(
        self,
        rules: type[Game],
        seats: Sequence[str],
        key: bytes,
        settings: Mapping[str, object] | None = None,
        log: bool = False,
        hold_polls: bool = False,
        conduct: int = CONDUCT,
        ask_all: bool = False,
        position: Game | None = None,
        knowledge: str | None = None,
    ) -> None:
        """Set up the game and deal, or play on from a position.  Raises SettingsError.

        A match from a position cannot be recorded; its settings are those of the position, which is played on itself.
        With `log`, `game.log` keeps every event. With `hold_polls`, windows wait for `release`. `conduct` is the rule
        for seats that fail, see `CONDUCT`. With `ask_all`, questions with one option are put to their seats too.
        With `knowledge` seats know hidden cards as far as this level goes, and a spectator none; else all that can be
        proven.
        """
        self.rules = rules
        self.seats = tuple(seats)
        self.game = position or rules(len(seats), rules.check(len(seats), settings or {}), Chance(key))
        self.key = key
        # Questions with one option are left out, for their answers follow, unless they were faulted.
        self.choices: list[Chosen] = []
        self.lone_asked = [0] * len(seats)  # decisions with one option put so far, by seat; none without `ask_all`
        self.faults: list[Fault] = []
        self.questions = 0  # how often something was put to seats, or held; a window counts once
        # What is read at every answer is an attribute, for a call takes longer than all else that is done with it.
        self.open: dict[int, OpenDecision] = {}  # the open questions by seat; to be read
        self.held = False  # whether a window has all its answers and waits for `release`; never without `hold_polls`
        self._wrong: dict[int, int] = {}  # illegal answers to the open question, by seat
        self._asked = [0] * len(seats)  # decisions put so far, by seat
        self._played_on: dict[int, EndCause] = {}  # seats that were taken over, and why
        self.taken_over: list[TakenOver] = []  # those of `take_over`; the others follow from the faults
        self._to_take: list[tuple[int, EndCause, str]] = []  # arguments of `take_over` that wait for `release`
        self.conduct = conduct
        self._hold_polls = hold_polls
        self._ask_all = ask_all
        self._last: tuple[int, Option] | None = None  # the answer that will close the window that is held
        self._void: EndCause | None = None
        if position is None:
            if knowledge is not None:
                self.game.remember(*viewers_at([*[knowledge] * len(seats), NONE], len(seats) + 1))
            self.game.start(log)
        elif log:
            position.log = []
        self._advance()

    def fork(self) -> Match:
        """Make an independent copy that continues alike.  Its log, if any, begins anew with what happens next."""
        other = Match.__new__(Match)
        for name, value in vars(self).items():
            setattr(other, name, value.copy() if isinstance(value, list | dict) else value)
        other.game = self.game.fork()
        if self.game.log is not None:
            other.game.log = []
        return other

    @property
    def over(self) -> bool:
        """Whether there is a result."""
        return not self.open and not self.held

    def decisions(self) -> list[OpenDecision]:
        """Return every open question, by seat; none when the match is over or a window is held."""
        return list(self.open.values())

    def decision(self, seat: int | None = None) -> OpenDecision | None:
        """Return the open decision of a seat, or (None) of the lowest seat that has one."""
        if seat is None:
            return next(iter(self.open.values()), None)
        return self.open.get(seat)

    def asked(self, seat: int) -> int:
        """Return how many decisions were put to a seat so far; they are numbered from 0."""
        return self._asked[seat]

    def safe_option(self, seat: int) -> int:
        """Return the index of the safe option of a seat's open decision.  Raises WrongDecision."""
        decision = self.open.get(seat)
        if decision is None:
            raise WrongDecision(f"seat {seat} is asked nothing, so it has no safe option")
        options = decision.options
        safe = self.game.safe_option(seat, options)
        return 0 if safe is options[0] else options.index(safe)

    def corrections_left(self, seat: int) -> int:
        """Return how often a seat may still correct an illegal answer to its open question; 0 if none is open."""
        return min(CORRECTIONS, CORRECTIONS + 1 - self._wrong.get(seat, 0)) if seat in self.open else 0

    def answer(self, seat: int, number: int, answer: Option | int) -> None:
        """Take a seat's answer to decision `number`: an option, or its place in the list.

        Raises WrongDecision if that question is not open, and nothing changes. Raises IllegalAnswer if it was not
        offered: after at most two of them the question stays open for a better one, after the next it is closed with
        the safe option (`decision(seat)` tells which).
        """
        decision = self.open.get(seat)
        if decision is None or decision.number != number:
            decision = self._find(seat, number)
        options = decision.options
        if type(answer) is int:
            option = options[answer] if 0 <= answer < len(options) else None
        else:
            option = _offered(options, answer)
        if option is not None:
            self._take(decision, option, _NORMAL)
            return
        self._wrong[seat] = self._wrong.get(seat, 0) + 1
        problem = self._illegal(decision, answer)
        if self._wrong[seat] > CORRECTIONS:
            self._fault(decision, EndCause.ILLEGAL, problem)
        raise IllegalAnswer(problem)

    def give_up(self, seat: int, number: int, reason: str) -> None:
        """Take the safe option because the bot's own code failed on this decision; it counts as a fault."""
        self.fault(seat, number, EndCause.CRASHED, reason)

    def fault(self, seat: int, number: int, cause: EndCause, reason: str) -> None:
        """Take the safe option for a seat, for this cause.  Raises WrongDecision as `answer` does.

        The cause DISCONNECTED, a lost connection that outlasted the seat's clock, takes the seat over at once.
        """
        self._fault(self._find(seat, number), cause, reason)

    def take_over(self, seat: int, cause: EndCause, reason: str) -> None:
        """Take a seat over whose bot cannot go on: it never started, or its program ended.

        An open decision of the seat is closed as a fault. While a window is held, the seat is taken over after its
        release. Does nothing if the seat was taken over before, or the match is over.

        Raises:
            ValueError: If `cause` is normal or voids a match.
        """
        if not cause.is_taken_over:
            raise ValueError(f"a seat is taken over because its bot failed, not for the cause {cause.value}")
        if self.held:
            self._to_take.append((seat, cause, reason))
            return
        if self.over or seat in self._played_on:
            return
        self.taken_over.append(TakenOver(len(self.choices), seat, cause))
        self._played_on[seat] = cause
        if (decision := self.open.get(seat)) is not None:
            self._fault(decision, cause, reason)

    def is_taken_over(self, seat: int) -> bool:
        """Return whether a seat is played on by safe options."""
        return seat in self._played_on

    def release(self) -> None:
        """Close the window that is held, and go on.  Raises WrongDecision if none is."""
        if self._last is None:
            raise WrongDecision("no window is held: there is nothing to release")
        seat, option = self._last
        self.held, self._last = False, None
        self.game.choose(seat, option)
        self._advance()
        while self._to_take and not self.held:
            self.take_over(*self._to_take.pop(0))

    def void(self, cause: EndCause) -> None:
        """End the match at once, for a cause that voids it: it counts for nothing.

        Also possible when it has just come to its end; a second time changes nothing. First windows that are held are
        released, and questions with one option answered, so that the record is the same as without holding and asking.
        """
        if not cause.is_void:
            raise ValueError(f"the cause {cause.value} voids no match")
        self._do_what_follows()
        self.open.clear()
        self._void = self._void or cause

    def result(self) -> MatchResult:
        """Return how the match ended.  Raises WrongDecision while it goes on."""
        if not self.over:
            what = f"{len(self.open)} decisions are open" if self.open else "a window is held"
            raise WrongDecision(f"the match goes on: {what}")
        if self._void is not None:
            return MatchResult((), (), (self._void,) * self.game.n)
        causes = [self._played_on.get(seat, EndCause.NORMAL) for seat in range(self.game.n)]
        places = self.game.places()
        if self.conduct >= 2 and self._played_on:
            places = final_places(places, self._played_on)
        return MatchResult(tuple(self.game.scores()), tuple(places), tuple(causes))

    def _do_what_follows(self) -> None:
        """Go on to the first question that leaves a seat a choice."""
        while True:
            if self.held:
                self.release()
                continue
            decisions = self.decisions()
            if not decisions or any(len(decision.options) > 1 for decision in decisions):
                return
            for decision in decisions:
                self._take(decision, decision.options[0], _NORMAL)

    def _find(self, seat: int, number: int) -> OpenDecision:
        decision = self.open.get(seat)
        if decision is None or decision.number != number:
            what = f"seat {seat} is asked decision {decision.number}" if decision else f"seat {seat} is asked nothing"
            raise WrongDecision(f"decision {number} is not open for seat {seat}: {what}")
        return decision

    def _illegal(self, decision: OpenDecision, answer: object) -> str:
        offered = decision.options
        first_options = ", ".join(repr(option_text(self.game, option)) for option in offered[:6])
        more = f" and {len(offered) - 6} more" if len(offered) > 6 else ""
        return (
            f"decision {decision.number} of seat {decision.seat} ({decision.ask}) has options "
            f"0-{len(offered) - 1}: {first_options}{more}; it answered {answer_text(answer)}"
        )

    def _fault(self, decision: OpenDecision, cause: EndCause, reason: str) -> None:
        seat = decision.seat
        self.faults.append(Fault(seat, decision.number, len(self.choices), decision.ask, cause, reason))
        if seat not in self._played_on:
            if self.conduct >= 2 and cause is EndCause.DISCONNECTED:
                self._played_on[seat] = cause
            elif sum(fault.seat == seat for fault in self.faults) >= FAULTS:
                first = next(fault for fault in self.faults if fault.seat == seat)
                self._played_on[seat] = first.cause
        self._take(decision, self.game.safe_option(seat, decision.options), cause)

    def _take(self, decision: OpenDecision, option: Option, cause: EndCause) -> None:
        seat, game = decision.seat, self.game
        del self.open[seat]
        if self._wrong:
            self._wrong.pop(seat, None)
        if len(decision.options) > 1:
            self.choices.append(Chosen(seat, option, cause))
        elif cause is not _NORMAL:
            self.choices.append(Chosen(seat, option, cause, decision.number))
        if self.open:
            game.choose(seat, option)
        elif self._hold_polls and game.question.window:
            self._hold(seat, option)
        else:
            game.choose(seat, option)
            self._advance()

    def _hold(self, seat: int, option: Option) -> None:
        self.held, self._last = True, (seat, option)

    def _advance(self) -> None:
        """Answer for seats that are played on, and without `ask_all` what has one option, until a seat is asked."""
        game, decision_counts, played_on, ask_all = self.game, self._asked, self._played_on, self._ask_all
        while seats := game.waiting():
            question = game.question
            for seat in seats:
                options = game.options(seat)
                if len(options) == 1 and (not ask_all or seat in played_on):
                    option = options[0]
                elif seat in played_on:
                    option = game.safe_option(seat, options)
                    self.choices.append(Chosen(seat, option, played_on[seat]))
                else:
                    self.open[seat] = OpenDecision(seat, decision_counts[seat], question.name, options)
                    decision_counts[seat] += 1
                    if len(options) == 1:
                        self.lone_asked[seat] += 1
                    continue
                if question.window and self._hold_polls and not self.open and seat == seats[-1]:
                    self._hold(seat, option)
                    self.questions += 1
                    return
                game.choose(seat, option)
            if self.open:
                self.questions += 1
                return


def _offered(options: list[Option], answer: object) -> Option | None:
    """Return the option that was answered, or None if it was not offered."""
    if isinstance(answer, bool):
        return None
    if isinstance(answer, int):
        return options[answer] if 0 <= answer < len(options) else None
    if isinstance(answer, Act):
        return next((option for option in options if option == answer), None)
    return None
