"""What a language model used, and the limits of it: tokens, money and time of a decision, a match and a day.

    budget = Budget(match=Limit(tokens=50_000), day=Limit(cost_micros=5_000_000))

This module knows no model and no match.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime

from cutpurse.engine.errors import UsageError
from cutpurse.wire.text import format_count

__all__ = ["Budget", "Limit", "Usage"]


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

    def add(self, other: Usage) -> None:
        """Add what was used elsewhere."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

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


class Budget:
    """Limits of a decision, a match and a day.

    The use of the day is counted here. So let all bots that share a budget share one object; another process has its
    own. A day begins at midnight UTC. A call's cost is known only afterwards: the last call may exceed a limit.
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

    def used_today(self) -> Usage:
        """Return the use of the current day, which goes on counting."""
        if (today := self._today()) != self._day:
            self._day, self._used = today, Usage()
        return self._used

    def used_up(self, decision: Usage, match: Usage) -> str:
        """Describe the first limit that is used up: "of the match, 50,012 of 50,000 tokens"; empty if none is.

        Args:
            decision: The use of this decision.
            match: The use of the match, this decision included.
        """
        for limit, usage, what in (
            (self.decision, decision, "decision"),
            (self.match, match, "match"),
            (self.day, self.used_today(), "day"),
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
