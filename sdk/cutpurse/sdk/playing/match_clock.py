"""The clock of a ladder in local matches, and the thinking times that it measured. This module knows no match."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Final, NamedTuple

from cutpurse.engine.clocks import TimeControl

__all__ = ["MatchClock", "SlowDecision", "Thought", "slowest_by_bot"]

_BUSY: Final = 0.1  # share of a thinking time from which waiting for a processor is worth a word


@dataclass(frozen=True)
class MatchClock:
    """How much time the bots of local matches have.

    Attributes:
        name: Name of the ladder, or the terms as the user wrote them.
        control: Base time, bank and grace.
        now: Returns the current seconds; importable by name, for other processes.
    """

    name: str
    control: TimeControl
    now: Callable[[], float] = perf_counter

    def text(self) -> str:
        """Describe the clock: "the clock of greed is 1 s + 10 s bank"."""
        whose = "the clock" if "+" in self.name else f"the clock of {self.name}"
        return f"{whose} is {self.control.base_ms / 1_000:g} s + {self.control.bank_ms / 1_000:g} s bank"

    def as_json(self) -> dict[str, object]:
        """Return the clock for a JSON document."""
        control = self.control
        return {
            "name": self.name,
            "base_ms": control.base_ms,
            "bank_ms": control.bank_ms,
            "grace_ms": control.grace_ms,
        }


class Thought(NamedTuple):
    """The time that a bot took for one decision."""

    seconds: float
    seat: int
    decision: int  # index of the choice in the match and its record
    waited_s: float = 0.0  # part of it in which the machine gave no processor


class SlowDecision(NamedTuple):
    """The slowest decision of a bot in a run."""

    seconds: float
    bot: int  # index in the bots of the run
    match: int
    decision: int
    waited_s: float = 0.0

    def text(self, name: str, clock: MatchClock, unit: str = "match") -> str:
        """Describe it in one line; `unit` says what `match` counts."""
        line = f"{name}, slowest: {_seconds(self.seconds)} at decision {self.decision} of {unit} {self.match}"
        if self.waited_s >= _BUSY * self.seconds:
            busy = f"the machine was busy, and gave no processor for {_seconds(self.waited_s)} of it"
            return f"{line} ({busy}); {clock.text()}"
        return f"{line}; {clock.text()}"

    def as_json(self, name: str) -> dict[str, object]:
        """Return it for a JSON document."""
        return {
            "bot": name,
            "seconds": round(self.seconds, 6),
            "match": self.match,
            "decision": self.decision,
            "waited_s": round(self.waited_s, 6),
        }


def slowest_by_bot(decisions: Iterable[SlowDecision]) -> tuple[SlowDecision, ...]:
    """Return the slowest of these decisions for each bot, in order of the bots; of equals, the first."""
    slowest: dict[int, SlowDecision] = {}
    for decision in decisions:
        if decision.bot not in slowest or decision.seconds > slowest[decision.bot].seconds:
            slowest[decision.bot] = decision
    return tuple([slowest[bot] for bot in sorted(slowest)])


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1_000:.0f} ms"
