"""What a language model used, and the limits of it: tokens, money and time of a decision, a match and a day.

    budget = Budget(match=Limit(tokens=50_000), day=Limit(cost_micros=5_000_000))

This module knows no model and no match.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.wire.text import format_count

__all__ = ["Budget", "Charge", "Limit", "Usage", "estimate_tokens"]

TOKEN_CHARACTERS: Final = 3  # of a text with unknown tokens; English has more, so estimates are rather too high
GUESSED_OUTPUT: Final = 1_000  # tokens of a reply before there was any
GUESSED_PRICES: Final = (10, 50)  # micros of a token of the prompt and of a reply, before there was any; few cost more


@dataclass(slots=True)
class Usage:
    """What a model used: in a decision, a match or a day."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0  # those of the output tokens that were reasoning
    cost_micros: int = 0  # millionths of a US dollar
    seconds: float = 0.0  # waited for the model, its outages included
    calls: int = 0
    retries: int = 0  # calls after an answer that could not be used
    fallbacks: int = 0  # decisions in which the safe option was taken

    def add(self, other: Usage, times: int = 1) -> None:
        """Add what was used elsewhere; subtract it with `times=-1`."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + times * getattr(other, field.name))

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens

    def text(self) -> str:
        """Format in one line what `Decision.report_usage` does not report."""
        parts = [f"{self.seconds:.1f} s"]
        parts += [f"{self.reasoning_tokens:,} reasoning tokens"] if self.reasoning_tokens else []
        parts += [format_count(self.retries, "retry", "retries")] if self.retries else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that a model may use; None means no limit.

    Attributes:
        tokens: Input and output tokens together.
        cost_micros: Cost in millionths, as in `Usage`.
        seconds: Time waited for the model.
    """

    tokens: int | None = None
    cost_micros: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            if (most := getattr(self, field.name)) is not None and not most >= 0:
                raise UsageError(f"a limit of {most} {field.name}: it is 0 or more, or None for no limit")

    def used_up(self, usage: Usage) -> str:
        """Describe which part is used up; return an empty text if none is."""
        for most, used, what in (
            (self.tokens, usage.tokens, "tokens"),
            (self.cost_micros, usage.cost_micros, "micros"),
            (self.seconds, usage.seconds, "seconds"),
        ):
            if most is not None and used >= most:
                return f"{used:,.0f} of {most:,.0f} {what}"
        return ""

    def seconds_left(self, usage: Usage) -> float:
        """Return the seconds left; infinite without a limit."""
        return math.inf if self.seconds is None else max(0.0, self.seconds - usage.seconds)


def _utc_day() -> date:
    return datetime.now(UTC).date()


def estimate_tokens(characters: int) -> int:
    """Estimate the tokens of a text, rather too high."""
    return -(-characters // TOKEN_CHARACTERS)


class Budget:
    """Limits of a decision, a match and a day.

    The use of the day is counted here. So let all bots that share a budget share one object, in any threads; another
    process has its own. A day begins at midnight UTC.

    A call is reserved before it is made, at the use of the largest call so far. Its own use replaces that when it is
    known. So the last call may exceed a limit, but many calls at once don't.
    """

    def __init__(
        self,
        decision: Limit | None = None,
        match: Limit | None = None,
        day: Limit | None = None,
        *,
        today: Callable[[], date] = _utc_day,
    ) -> None:
        """Create a budget with nothing used.

        Args:
            decision: Limit of each decision. Default: none.
            match: Limit of each match. Default: none.
            day: Limit of each day, of all matches together. Default: none.
            today: Returns the current day.
        """
        self.decision = decision or Limit()
        self.match = match or Limit()
        self.day = day or Limit()
        self._today = today
        self._day = today()
        self._used = Usage()
        self._largest: Usage | None = None  # the largest numbers of any reply; None before the first
        self._reserved: set[Charge] = set()  # of calls that were made and have not ended
        self._wakes: list[Callable[[], object]] = []  # of those who wait for the end of such a call
        self._lock = threading.RLock()  # for all counts, those of decisions and matches included

    def used_today(self) -> Usage:
        """Return the use of the current day, which goes on counting; calls that have not ended are estimates."""
        with self._lock:
            if (today := self._today()) != self._day:
                self._day, self._used = today, Usage()
            return self._used

    def used_up(self, decision: Usage, match: Usage) -> str:
        """Describe the first limit that is used up: "of the match, 50,012 of 50,000 tokens"; empty if none is.

        Args:
            decision: The use of this decision.
            match: The use of the match, this decision included.
        """
        return self._used_up(decision, match, self.used_today())

    def _used_up(self, decision: Usage, match: Usage, day: Usage) -> str:
        for limit, usage, what in (
            (self.decision, decision, "decision"),
            (self.match, match, "match"),
            (self.day, day, "day"),
        ):
            if text := limit.used_up(usage):
                return f"of the {what}, {text}"
        return ""

    def seconds_left(self, decision: Usage, match: Usage) -> float:
        """Return the seconds that the model may still take; infinite without limits."""
        return min(
            self.decision.seconds_left(decision),
            self.match.seconds_left(match),
            self.day.seconds_left(self.used_today()),
        )

    def count(self, decision: Usage, match: Usage, used: Usage) -> None:
        """Count what was used in a decision, in the match and the day too."""
        with self._lock:
            for usage in (decision, match, self.used_today()):
                usage.add(used)

    def reserve(
        self, decision: Usage, match: Usage, characters: int, seconds: float, wake: Callable[[], object]
    ) -> Charge | str:
        """Count an estimate of a call that is to be made.

        Args:
            decision: The use of its decision.
            match: The use of its match.
            characters: Length of the prompt.
            seconds: The most that it may take; infinite if nothing limits it.
            wake: Called, in any thread, when another call ends, if its end must be waited for.

        Returns:
            What the call counts; else why it must not be made. An empty text means that the calls in flight may leave
            room for it: reserve it again after `wake`.
        """
        with self._lock:
            day = self.used_today()
            if not self._used_up(decision, match, day):
                estimate = self._estimate(characters, 0.0 if math.isinf(seconds) else seconds)
                charge = Charge(self, (decision, match, day), estimate)
                self._reserved.add(charge)
                return charge
            ended = Usage()
            ended.add(day)
            for charge in self._reserved:
                if charge.usages[-1] is day:
                    ended.add(charge.counted, -1)
            if not (text := self._used_up(decision, match, ended)):
                self._wakes.append(wake)
            return text

    def _estimate(self, characters: int, seconds: float) -> Usage:
        tokens, largest = estimate_tokens(characters), self._largest
        if largest is not None:
            tokens = max(tokens, largest.input_tokens)
            return Usage(tokens, largest.output_tokens, 0, largest.cost_micros, seconds, calls=1)
        has_price = any(limit.cost_micros is not None for limit in (self.decision, self.match, self.day))
        cost = tokens * GUESSED_PRICES[0] + GUESSED_OUTPUT * GUESSED_PRICES[1] if has_price else 0
        return Usage(tokens, GUESSED_OUTPUT, 0, cost, seconds, calls=1)

    def _settle(self, charge: Charge, used: Usage, is_reply: bool) -> None:
        """Count the use of a call instead of what was counted for it."""
        with self._lock:
            for usage in charge.usages:
                usage.add(charge.counted, -1)
                usage.add(used)
            charge.counted = used
            if is_reply:
                largest = self._largest or Usage()
                self._largest = Usage(
                    max(largest.input_tokens, used.input_tokens),
                    max(largest.output_tokens, used.output_tokens),
                    cost_micros=max(largest.cost_micros, used.cost_micros),
                )
            self._reserved.discard(charge)
            wakes, self._wakes = self._wakes, []
        for wake in wakes:
            wake()


class Charge:
    """What one call counts in a budget: an estimate until its reply comes, if it ever does.

    Attributes:
        usages: The use of the decision, the match and the day that the call belongs to.
        counted: What is counted for it now.
    """

    def __init__(self, budget: Budget, usages: tuple[Usage, ...], estimate: Usage) -> None:
        """Count the estimate."""
        self.usages = usages
        self.counted = estimate
        self._budget = budget
        for usage in usages:
            usage.add(estimate)

    def end(self, seconds: float, *, has_failed: bool = False) -> None:
        """Count a call that ended without a reply.

        Args:
            seconds: How long it took.
            has_failed: Whether the provider did no work for it. Else the estimate stays.
        """
        counted = Usage() if has_failed else self.counted
        self._budget._settle(
            self,
            Usage(counted.input_tokens, counted.output_tokens, 0, counted.cost_micros, seconds, calls=1),
            is_reply=False,
        )

    def reply(self, used: Usage) -> None:
        """Count the use of a reply, also of one that comes after `end`."""
        self._budget._settle(self, used, is_reply=True)
