"""Kinds of remarkable matches, and what is remarkable about one. Light, since the help of a command loads it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = ["OF_RECORD", "Remark", "RemarkKind"]


class RemarkKind(StrEnum):
    """What is remarkable."""

    UPSET = "upset"
    CLOSE = "close"
    COMEBACK = "comeback"
    STEAL = "steal"


OF_RECORD: Final = frozenset({RemarkKind.COMEBACK, RemarkKind.STEAL})  # kinds that need the record


@dataclass(frozen=True, slots=True)
class Remark:
    """What is remarkable about a match.

    Attributes:
        kind: What it is.
        value: Upset: the winner's chance before. Close: the points between the first two. Comeback: the share of the
            match after which the winner was still last. Steal: cards or money.
        at: The number of choices of the match after it; 0 if it happened at no certain choice.
        is_money: Whether `value` is money.
    """

    kind: RemarkKind
    value: float
    at: int = 0
    is_money: bool = False
