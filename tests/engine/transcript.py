"""Transcripts of timed matches: actions and results, each with an explicit time.

A line is a time in seconds and an action, and after an arrow the result:

    0.000 opened        -> 0#0
    0.000 hand 0#0
    1.150 answer 0#0 1  -> accepted

`0#2` is decision 2 of seat 0, and the 1 after it is the index of an option. `opened` lists new decisions, and `asked`
all open ones. `left 0` is the base time and time bank of seat 0. `next` is the time of the next `tick`, and `tick`
lists the decisions it closed.
"""

from __future__ import annotations

from collections.abc import Callable

from cutpurse.engine.clocks import AnswerOutcome, TimedMatch
from cutpurse.engine.match import EndCause

__all__ = ["play", "told"]


def told(outcome: AnswerOutcome) -> str:
    """Format an outcome as in a transcript."""
    words = [outcome.kind.value]
    if outcome.corrections_left:
        words.append(f"{outcome.corrections_left} left")
    if outcome.options_count:
        words.append(f"of {outcome.options_count}")
    if outcome.late_by_ms:
        words.append(f"by {outcome.late_by_ms} ms")
    return ", ".join(words)


def named(decision: str) -> tuple[int, int]:
    """Parse seat and number of a decision such as 0#2."""
    seat, _, number = decision.partition("#")
    return int(seat), int(number)


def hand(timed: TimedMatch, now: float, *decisions: str) -> None:
    for decision in decisions:
        timed.handed_over(*named(decision), now)


def answer(timed: TimedMatch, now: float, decision: str, option: str = "") -> str:
    return told(timed.answer(*named(decision), int(option) if option else None, now))


def next_event(timed: TimedMatch, now: float) -> str:
    moment = timed.next_event_at()
    return "never" if moment is None else f"{moment:.3f}"


DOINGS: dict[str, Callable[..., str | None]] = {
    "opened": lambda timed, now: " ".join(f"{d.seat}#{d.number}" for d in timed.opened()),
    "asked": lambda timed, now: " ".join(f"{d.seat}#{d.number}" for d in timed.match.decisions()),
    "hand": hand,
    "answer": answer,
    "give-up": lambda timed, now, decision: told(timed.give_up(*named(decision), "KeyError: 7", now)),
    "tick": lambda timed, now: ", ".join(f"{c.seat}#{c.number} {c.cause.value}" for c in timed.tick(now)),
    "left": lambda timed, now, seat: "{} {}".format(*timed.time_left(int(seat), now)),
    "next": next_event,
    "credit": lambda timed, now, seconds: timed.credit(float(seconds)),
    "disconnected": lambda timed, now, seat: timed.disconnected(int(seat)),
    "connected": lambda timed, now, seat: timed.connected(int(seat)),
    "void": lambda timed, now, cause: timed.void(EndCause(cause)),
}


def play(timed: TimedMatch, transcript: str) -> None:
    """Run the actions of a transcript, and compare the results."""
    said, wanted = [], []
    for line in transcript.strip().splitlines():
        done, _, result = line.partition("->")
        moment, verb, *arguments = done.split()
        at = f"{moment} {verb} {' '.join(arguments)} -> "
        said.append(at + (DOINGS[verb](timed, float(moment), *arguments) or ""))
        wanted.append(at + result.strip())
    assert said == wanted
