"""A match in which the model behind an MCP client has a seat.

The bot in that seat runs in a thread of its own. It shows its decisions here and waits for answers; the client's calls
come from other threads. A decision that the client lets run out of time gets the safe option, as does every decision
after the client has left. This module knows no MCP.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from cutpurse.engine.match import MatchResult
from cutpurse.llm.budget import Usage
from cutpurse.llm.decision_text import card_lines, decision_text
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.decision import Decision
from cutpurse.wire.text import printable

__all__ = ["ClientMatch", "ClientSeat"]

MARGIN_S: Final = 0.25  # time before the end of the clock in which the safe option is sent
WHY_MOST: Final = 80  # characters of a reason in a note: a match has room for about 16,000 bytes of notes


@dataclass(slots=True)
class _Shown:
    """The decision that the client sees, and its answer."""

    view: Any
    decision: Decision
    text: str
    option: int | None = None  # None: not answered yet


class ClientMatch:
    """One match: its open decision, its result, and what the model has used."""

    def __init__(self, table: str, is_on_server: bool = False) -> None:
        """Create a match that has not begun.

        Args:
            table: The name by which the client refers to the match.
            is_on_server: Whether a server plays it. Then the use of the model is reported to it.
        """
        self.table = table
        self.is_on_server = is_on_server
        self.usage = Usage()
        self.model = ""  # its name, as the client last said
        self.decisions = 0
        self.info: MatchInfo | None = None  # None: the match has not begun
        self.result: MatchResult | None = None
        self.problem = ""  # why the match cannot go on here
        self.has_left = False
        self.withdraw: Callable[[], None] = lambda: None  # ends the search for a match that has not begun
        self._changed = threading.Condition()
        self._shown_decision: _Shown | None = None
        self._last = (-1, "")  # number of the last decision that was closed, and how

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be asked."""
        return self.result is not None or bool(self.problem)

    # -- from the seat
    def begin(self, info: MatchInfo) -> None:
        """Store the facts about the match."""
        with self._changed:
            self.info = info
            self._changed.notify_all()

    def ask(self, view: Any, decision: Decision) -> int:
        """Show a decision and wait for its answer.

        Returns:
            The index of the answer, or of the safe option if the time runs out or the client has left.
        """
        assert self.info is not None
        shown_decision = _Shown(view, decision, decision_text(view, decision, self.info.seats))
        safe = decision.safe.index
        with self._changed:
            self._shown_decision = shown_decision
            self.decisions += 1
            self._changed.notify_all()
            while shown_decision.option is None and not self.has_left and (left_s := _seconds_left(decision)) > 0:
                self._changed.wait(None if math.isinf(left_s) else left_s)
            self._shown_decision = None
            if shown_decision.option is not None:
                self._last = (decision.number, "it is answered")
                return shown_decision.option
            self._last = (decision.number, "its time ran out, and the safe option was taken")
            self.usage.fallbacks += 1
        if self.is_on_server:
            decision.report_usage(model=self.model, fallback="left" if self.has_left else "time")
        return safe

    def end(self, result: MatchResult) -> None:
        """Store the result."""
        with self._changed:
            self.result = result
            self._changed.notify_all()

    def fail(self, problem: str) -> None:
        """Store why the match cannot go on here, unless it is over."""
        with self._changed:
            if not self.is_over:
                self.problem = problem
            self._changed.notify_all()

    # -- from the client
    def answer(self, number: int, option: int, why: str, usage: Usage, model: str = "") -> str:
        """Answer the open decision.

        Args:
            number: Number of the decision.
            option: Index of the option.
            why: The model's reason, for the notes.
            usage: What the model used for this decision.
            model: Name of the model. Default: as before.

        Returns:
            Why the answer is refused; empty if it is taken.
        """
        with self._changed:
            shown_decision = self._shown_decision
            if self.has_left:
                return "you have left the table: the safe options are taken"
            if shown_decision is None or shown_decision.option is not None or number != shown_decision.decision.number:
                return self._refusal(number)
            if not 0 <= option < shown_decision.decision.count:
                return f"option {option} is not offered; there are 0 to {shown_decision.decision.count - 1}"
            self.usage.add(usage)
            self.model = model or self.model
            if self.is_on_server:
                shown_decision.decision.report_usage(
                    usage.input_tokens, usage.output_tokens, usage.cost_micros, self.model
                )
                if why.strip():
                    shown_decision.decision.note(f"why: {printable(why, WHY_MOST)}")
            shown_decision.option = option
            self._last = (number, "it is answered")
            self._changed.notify_all()
        return ""

    def _refusal(self, number: int) -> str:
        last, how = self._last
        if number == last:
            return f"decision {number} is closed: {how}"
        return f"decision {number} is not open" + (" any more" if number < last else "")

    def state(self, wait_s: float, with_cards: bool = False) -> dict[str, Any]:
        """Describe the match to the client.

        Args:
            wait_s: Longest time to wait until there is a decision or the match is over.
            with_cards: Describe the cards in view too.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_shown or self.is_over or self.has_left, wait_s)
            state: dict[str, Any] = {"table": self.table}
            if self.is_over or self.has_left:
                return state | self._outcome()
            if not self._is_shown:
                what = "another seat is to decide" if self.info is not None else "no match has begun yet"
                return state | {"state": "waiting", "text": f"{what}: call `look` to wait on"}
            shown_decision = self._shown_decision
            assert shown_decision is not None
            decision = shown_decision.decision
            state |= {"state": "decision", "decision": decision.number, "options": decision.count}
            if not math.isinf(left_s := _seconds_left(decision)):
                state["seconds_left"] = round(max(0.0, left_s), 1)
            text = shown_decision.text
            if with_cards:
                text += f"\n\nCards in view:\n{card_lines(shown_decision.view, decision)}"
            return state | {"text": text}

    @property
    def _is_shown(self) -> bool:
        return self._shown_decision is not None and self._shown_decision.option is None

    def _outcome(self) -> dict[str, Any]:
        result, info = self.result, self.info
        if result is None:
            state = "left" if self.has_left else "failed"
            return {"state": state, "text": self.problem or "you have left; the safe options are taken for you"}
        assert info is not None
        cause = result.end_causes[info.seat]
        if not result.places:
            return {"state": "over", "seat": info.seat, "text": f"the match is void ({cause.value})"}
        place, score = result.places[info.seat], result.scores[info.seat]
        text = f"The match is over: you have place {place} of {len(result.places)}, score {score:,}"
        return {
            "state": "over",
            "seat": info.seat,
            "place": place,
            "places": list(result.places),
            "scores": list(result.scores),
            "text": text + (f"; your seat was taken over ({cause.value})" if cause.is_taken_over else ""),
        }

    def leave(self) -> None:
        """Take the safe option in every decision from now on, or search for no match any more."""
        with self._changed:
            self.has_left = True
            self._changed.notify_all()
            withdraw = self.withdraw if self.info is None else None
        if withdraw is not None:
            withdraw()

    def row(self) -> dict[str, Any]:
        """Return the match and what the model has used in it, for the list of results."""
        with self._changed:
            info = self.info
            outcome = self._outcome() if self.is_over or self.has_left else {"state": "open"}
            outcome.pop("text", None)
            return {
                "table": self.table,
                "game": info.game if info is not None else "",
                "match": info.match if info is not None else "",
                **outcome,
                "decisions": self.decisions,
                "safe_options": self.usage.fallbacks,
                "input_tokens": self.usage.input_tokens,
                "output_tokens": self.usage.output_tokens,
                "reasoning_tokens": self.usage.reasoning_tokens,
                "cost_micros": self.usage.cost_micros,
            }


class ClientSeat:
    """The bot that sits in the client's seat."""

    def __init__(self, match: ClientMatch) -> None:
        self._match = match

    def start(self, match: MatchInfo) -> None:
        """Begin the match."""
        self._match.begin(match)

    def choose(self, view: Any, decision: Decision) -> int:
        """Return the client's answer."""
        return self._match.ask(view, decision)

    def end(self, result: MatchResult) -> None:
        """End the match."""
        self._match.end(result)


def _seconds_left(decision: Decision) -> float:
    """Return the seconds until the safe option must be sent; infinite where no clock runs."""
    return max(0.0, decision.base_left_s) + decision.bank_left_s - MARGIN_S
