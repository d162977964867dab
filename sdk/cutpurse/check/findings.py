"""The findings of the check of a bot, one per scenario. This module knows no scenario."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from cutpurse.engine.errors import CutpurseError

__all__ = ["CheckStatus", "Failed", "Finding", "Late", "MachineBusy", "Warned"]


class CheckStatus(Enum):
    """The result of a scenario."""

    PASSED = "passed"
    WARNED = "warned"  # it works, but not as well as it could
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """The observation in one scenario and, unless it passed, what to do."""

    scenario: str
    verdict: CheckStatus
    seen: str


class Failed(Exception):
    """Raised by a failed scenario: what was seen, and what to do."""


class Late(Failed):
    """Raised when a limit of time was exceeded, which a busy machine can cause too."""


class MachineBusy(CutpurseError):
    """The machine was too busy to check the bot, which may be faultless."""


class Warned(Exception):
    """Raised by a scenario that works but could be better: what was seen, and what to do."""
