"""The nonces of a deal: bytes that its seats add once they have the commitment, so that the server cannot choose cards.

The seats of the first match on the board are asked, as far as their bots know of nonces and are not run by the server
itself. The deal waits until each of them has answered, and `WAITS_S` at most. Then the nonces are settled, for all
matches on the board. A nonce that comes later, a second one and one of another length do not count, and each gets one
answer.

This module knows no match, no session and no clock: times (in seconds) are passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, inf
from typing import Final

from cutpurse.engine.clocks import AnswerOutcome, OutcomeKind
from cutpurse.engine.commitment import NONCE_BYTES
from cutpurse.leaderboard.results import Nonces

__all__ = ["WAITS_S", "DealNonces"]

WAITS_S: Final = 1.0  # maximum wait for the nonces of a deal: some round trips around the earth

_ACCEPTED: Final = AnswerOutcome(OutcomeKind.ACCEPTED)
_ILLEGAL: Final = AnswerOutcome(OutcomeKind.ILLEGAL_CLOSED)
_ALREADY: Final = AnswerOutcome(OutcomeKind.ALREADY_DECIDED)
_NOT_ASKED: Final = AnswerOutcome(OutcomeKind.UNKNOWN_DECISION)


class DealNonces:
    """The nonces of one deal. They are asked for once, by the first match on its board that begins."""

    def __init__(self) -> None:
        self.match = ""  # whose seats are asked; empty until the first match begins
        self.until = inf  # when the wait ends
        self.is_settled = False
        # Called with the time when the nonces are settled. They must not raise.
        self.on_settled: list[Callable[[float], None]] = []
        self._nonces: list[bytes] = []  # by seat
        self._awaited: set[int] = set()
        self._answered: set[int] = set()
        self._is_late: set[int] = set()  # seats that were awaited when the wait ended

    @property
    def settled(self) -> Nonces | None:
        """The nonces that the key is made from; None if there are none, or not yet."""
        return Nonces(self.match, tuple(self._nonces)) if self.is_settled and any(self._nonces) else None

    def ask(self, match: str, is_asked: Sequence[bool], now: float) -> None:
        """Begin to wait for the nonces of a match, by seat; settle them at once if no seat is asked."""
        self.match = match
        self.until = now + WAITS_S
        self._nonces = [b""] * len(is_asked)
        self._awaited = {seat for seat, asked in enumerate(is_asked) if asked}
        if not self._awaited:
            self._settle(now)

    def awaits(self, match: str, seat: int) -> bool:
        """Return whether the nonce of a seat is missing, and not too late."""
        return match == self.match and seat in self._awaited

    def take(self, match: str, seat: int, nonce: bytes, now: float) -> AnswerOutcome:
        """Take the nonce of a seat, read at `now`; the last one that is awaited settles them."""
        self.tick(now)
        if match != self.match:
            return _NOT_ASKED
        if seat in self._answered:
            return _ALREADY
        if seat in self._is_late:
            self._is_late.discard(seat)
            self._answered.add(seat)
            return AnswerOutcome(OutcomeKind.TOO_LATE, late_by_ms=max(1, ceil((now - self.until) * 1_000)))
        if seat not in self._awaited:
            return _NOT_ASKED
        self._awaited.discard(seat)
        self._answered.add(seat)
        is_valid = len(nonce) == NONCE_BYTES
        if is_valid:
            self._nonces[seat] = nonce
        if not self._awaited:
            self._settle(now)
        return _ACCEPTED if is_valid else _ILLEGAL

    def tick(self, now: float) -> None:
        """Settle the nonces without those that are too late, once the wait is over."""
        if now >= self.until and not self.is_settled:
            self._is_late, self._awaited = self._awaited, set()
            self._settle(now)

    def credit(self, seconds: float) -> None:
        """Wait longer, after a stall of the server."""
        self.until += seconds

    def _settle(self, now: float) -> None:
        self.is_settled = True
        waiting, self.on_settled = self.on_settled, []
        for settled in waiting:
            settled(now)
